import type { Address } from 'viem'
import { readLiveAccount } from '../activity/account-vaults.ts'
import { buildDepositEntry, buildWithdrawalEntry } from '../activity/entry-responses.ts'
import { buildDeposits } from '../activity/history.ts'
import { buildEntryId } from '../activity/ledger-entry.ts'
import { hasPlausibleAmounts } from '../activity/position.ts'
import { buildWithdrawals } from '../activity/withdrawals.ts'
import { createRawComparingReader } from '../chain/agreed-reader.ts'
import type { ChainReader } from '../chain/reader.ts'
import { logger } from '../core/logger.ts'
import { toResult } from '../core/result.ts'
import { runConcurrently } from '../core/side-by-side.ts'
import { toDate } from '../core/time.ts'
import { getProtocol } from '../protocols/protocols.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'
import { getEntryId, isEntryNotice, type Notice } from '../webhooks/event.ts'
import type { AccountEntries } from './account-entries.ts'
import type { Run, VaultRun } from './run.ts'

/** Maximum number of accounts to read per range of blocks. An attacker can create events of thousands of accounts. */
const MAX_READ = 150
/** Maximum milliseconds for reading accounts per range of blocks. No read starts later. */
const READ_MS = 5_000

/**
 * Returns the maximum number of accounts that a run reads from the table, one request each. A run over 2,000 vaults
 * makes at most 250 table requests, most for the vaults' own records. More vaults therefore leave fewer requests.
 */
export function computeMaxAccountReads(vaults: number): number {
  return Math.max(0, 150 - Math.ceil(vaults / 20))
}

type Group = {
  readonly vaultRun: VaultRun
  readonly notices: readonly Notice[]
  readonly accounts: AccountEntries
  /** Keys of webhook events that are already published, so their deposits and withdrawals need no read. */
  readonly known?: ReadonlySet<string>
  /** Minimum version number of the payloads of these webhook events. By default it is the block number. */
  readonly version?: number
}

/**
 * Account's deposits and withdrawals in a vault. `ids` has the ids of all. `entries` has the webhook payloads by id; it
 * is absent if the account's amounts could not be read.
 */
type AccountEvents = {
  readonly ids: ReadonlySet<string>
  readonly entries?: ReadonlyMap<string, Payload>
}

type Payload = ReturnType<typeof buildDepositEntry> | ReturnType<typeof buildWithdrawalEntry>

/**
 * Returns a function that adds to webhook events the deposit or withdrawal that they concern, as of a block. The
 * function reads all accounts with one request. The events up to that block must be recorded. A deposit or withdrawal
 * that cannot be read becomes null; the function never throws. With `isRead: false` it does not read the chain.
 */
export function createEntryReader(
  run: Pick<Run, 'reader' | 'getYield' | 'now' | 'until' | 'entryQueries'>,
  block: bigint,
  { isRead = true }: { readonly isRead?: boolean } = {},
) {
  const until = Math.min(run.until, run.now() + READ_MS)
  let left = MAX_READ
  const isWanted = ({ key, data }: Notice, known?: Group['known']) => !known?.has(key) && (isRead || 'eventId' in data)
  return async <Of extends Group>(groups: readonly Of[]): Promise<Of[]> => {
    const wanted = groups.flatMap(({ vaultRun: { vault }, notices, accounts, known }) => {
      const named = new Set(notices.flatMap((notice) => (isWanted(notice, known) ? (accountOf(notice) ?? []) : [])))
      return [...named].map((account) => ({ vault, account, accounts }))
    })
    const read = wanted.filter(({ account, accounts }) => {
      const isQuery = !accounts.isRead(account)
      if (left === 0 || (isQuery && run.entryQueries.left === 0)) return false
      left -= 1
      if (isQuery) run.entryQueries.left -= 1
      return true
    })
    const shown = await readShown({ ...run, until }, read, isRead ? block : undefined).catch((error: unknown) => {
      warn(run.reader, error)
      return new Map<string, AccountEvents>()
    })
    return groups.map((group) => {
      const { vault } = group.vaultRun
      const version = group.version ?? Number(block)
      const notices = group.notices.map((notice) => {
        const account = accountOf(notice)
        return withEntry(notice, account && shown.get(nameOf(vault, account)), version)
      })
      return { ...group, notices }
    })
  }
}

function accountOf(notice: Notice): Address | undefined {
  if (!isEntryNotice(notice) || getEntryId(notice) === null) return undefined
  return notice.data.userAddress ?? undefined
}

function nameOf({ address }: VaultOnChain, account: Address): string {
  return `${address} ${account}`
}

/**
 * Adds to a webhook event the deposit or withdrawal that it concerns. A reverting event keeps the id of its deposit or
 * withdrawal only if that was read, or if the account no longer has it.
 */
function withEntry(notice: Notice, shown: AccountEvents | undefined, lowest: number): Notice {
  if (!isEntryNotice(notice)) return notice
  const id = getEntryId(notice)
  const entry = (id && shown?.entries?.get(id)) || null
  const isKnown = entry !== null || (id !== null && shown?.ids.has(id) === false)
  const isReverted = notice.type === 'deposit.reverted' || notice.type === 'withdrawal.reverted'
  const unknownId = 'depositId' in notice.data ? { depositId: null } : { withdrawalId: null }
  const version = Math.max(notice.data.version, lowest)
  // The cast is right: ids of deposits and of withdrawals differ, so the entry is of the event's kind.
  return { ...notice, data: { ...notice.data, entry, version, ...(isReverted && !isKnown && unknownId) } } as Notice
}

type Wanted = { readonly vault: VaultOnChain; readonly account: Address; readonly accounts: AccountEntries }

/** Reads accounts' deposits and withdrawals at a block; without a block, only their ids. Throws if the table is unreachable. */
async function readShown(
  { reader, getYield, now, until }: Pick<Run, 'reader' | 'getYield' | 'now' | 'until'>,
  wanted: readonly Wanted[],
  at: bigint | undefined,
): Promise<Map<string, AccountEvents>> {
  const shown = new Map<string, AccountEvents>()
  if (wanted.length === 0) return shown
  const compared = createRawComparingReader(reader)
  const plans = wanted.map(({ vault, account }) => getProtocol(vault).account(vault, account))
  const read = at === undefined ? undefined : await toResult(compared.readEach(plans, { at }))
  if (read && 'error' in read) warn(reader, read.error)
  const { values, block } = read && 'value' in read ? read.value : { values: [] }
  await runConcurrently(wanted.entries(), async ([index, { vault, account, accounts }]) => {
    const accountRead = values[index]
    const entries = now() < until ? await accounts.all(account) : undefined
    if (!entries) return
    const ids = new Set(entries.map(buildEntryId))
    shown.set(nameOf(vault, account), { ids })
    // An account with too many requests is skipped, because dividing amounts between them takes too long.
    if (!accountRead || !block || !(await accounts.ofRequests(account))) return
    const live = await toResult(readLiveAccount(accountRead, compared, block.number, async () => entries))
    if ('error' in live || !hasPlausibleAmounts(entries, live.value)) return
    const ofVault = { vault, live: live.value }
    const { annualYield } = await getYield(vault, live.value.sharePrice, toDate(block.timestamp))
    shown.set(nameOf(vault, account), {
      ids,
      entries: new Map<string, Payload>([
        ...buildDeposits(entries, live.value).map(
          (of) => [buildEntryId(of.entry), buildDepositEntry(ofVault, of, annualYield)] as const,
        ),
        ...buildWithdrawals(entries, live.value).map(
          (of) => [buildEntryId(of.entry), buildWithdrawalEntry(ofVault, of, annualYield)] as const,
        ),
      ]),
    })
  })
  return shown
}

function warn({ chain }: ChainReader, error: unknown): void {
  logger.warn('entries of events not read', { chainId: chain.id, reason: String(error) })
}
