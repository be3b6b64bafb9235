import type { Address } from 'viem'
import { requireValue } from '../chain/call.ts'
import type { Evidence } from '../chain/evidence.ts'
import type { BlockHeader } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import { max } from '../core/bigint.ts'
import { type AppError, badResponse } from '../core/errors.ts'
import { logger } from '../core/logger.ts'
import { type Result, toResult, unwrap } from '../core/result.ts'
import { toDate } from '../core/time.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import type { AccountSnapshot, LiveAccount } from '../protocols/protocol.ts'
import { getProtocol } from '../protocols/protocols.ts'
import type { Vault } from '../vaults/vault.ts'
import { hasPlausibleAmounts } from './position.ts'
import { initialProgress, type RecallProgress, type RecordsStore } from './store.ts'
import {
  type ChainAccount,
  createContradictionError,
  deriveUnrecordedEntries,
  LeftOutVaultError,
  readUnrecordedEvents,
  type UnrecordedEvents,
  type VaultWithProgress,
} from './tail.ts'

/**
 * Account's ledger entries (deposits, withdrawals, transfers) in one vault, up to the chain's latest block, and its
 * current amounts there.
 */
export type AccountVault = {
  readonly vault: Vault
  readonly entries: readonly LedgerEntry[]
  readonly live: LiveAccount
  /** Time of the block at which the account's amounts were read. */
  readonly asOf: Date
}

/**
 * Account's state in the vaults that could be read. `errors` has the reasons why vaults were left out, by chain id;
 * undefined if none were.
 */
type AccountVaults = {
  readonly vaults: readonly AccountVault[]
  readonly errors: Readonly<Record<string, string>> | undefined
  readonly evidence: readonly Evidence[]
}

type AccountServices = {
  readonly getReader: (chainId: number) => ChainReader
  readonly records: Pick<RecordsStore, 'listEntries'> & { readonly recallProgress: RecallProgress }
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number
}

/**
 * Reads an account in these vaults: its recorded events, newer events from the chain, and its current amounts. Sends
 * two requests to each chain, one after the other, all chains in parallel. Leaves out a vault whose history is still
 * being recorded. Throws `upstream_*` only if all chains failed and no vault could be read.
 */
export async function readAccountVaults(
  { getReader, records, now }: AccountServices,
  vaults: readonly Vault[],
  account: Address,
): Promise<AccountVaults> {
  const progress = await records.recallProgress(vaults)
  const followed = vaults.map((vault, index) => ({ vault, progress: progress[index] ?? initialProgress(vault) }))
  const byChain = [...Map.groupBy(followed, ({ vault }) => vault.chainId)]
  // `progress` has the block up to which each vault's events are recorded. It was read before these recorded entries,
  // so they are complete up to that block.
  const listed = records
    .listEntries(account, vaults)
    .then((lists) => new Map(vaults.map((vault, index) => [vault, lists[index]])))
  const [recorded, ...chains] = await Promise.all([
    listed,
    ...byChain.map(async ([chainId, ofChain]) => {
      const on = { reader: getReader(chainId), account, now }
      const chain = await toResult(readChain(on, ofChain, listed))
      if ('value' in chain) return { chainId, ...chain.value }
      return { chainId, outcomes: ofChain.map((one): VaultOutcome => [one, chain]), evidence: [] }
    }),
  ])

  const found: AccountVault[] = []
  const failures: AppError[] = []
  const errors: Record<string, string> = {}
  for (const { chainId, outcomes } of chains) {
    const results = outcomes.flatMap(([one, outcome]) => addRecorded(one, recorded.get(one.vault), outcome) ?? [])
    found.push(...results.flatMap((result) => ('value' in result ? [result.value] : [])))
    const failed = results.flatMap((result) => ('error' in result ? [result.error] : []))
    const [first] = failed
    if (!first) continue
    failures.push(...failed)
    errors[chainId] = first instanceof LeftOutVaultError ? first.reason : first.message
    logger.warn('vaults not read', { chainId, code: first.code, reason: String(first.cause) })
  }
  const outage = failures.find((failure) => !(failure instanceof LeftOutVaultError))
  if (outage && Object.keys(errors).length === byChain.length && found.length === 0) throw outage
  const evidence = chains.flatMap((chain) => chain.evidence)
  return { vaults: found, errors: failures.length > 0 ? errors : undefined, evidence }
}

/**
 * Reads an account's ledger entries in one vault up to block `to`. Older entries are recorded; newer ones take one
 * request to the chain. Throws `upstream_*`, also if the account has too many entries or the vault's history is still
 * being recorded.
 */
export async function readAccountEntries(
  { getReader, records, now }: AccountServices,
  { vault, account, to }: { readonly vault: Vault; readonly account: Address; readonly to: bigint },
): Promise<readonly LedgerEntry[]> {
  const [progress = initialProgress(vault)] = await records.recallProgress([vault])
  const followed = { vault, progress }
  const on = { reader: getReader(vault.chainId), account, now }
  const [[recorded], tails] = await Promise.all([
    records.listEntries(account, [vault]),
    readUnrecordedEvents(on, [followed], to),
  ])
  const before = entriesBefore(followed, recorded)
  if (!before) throw tooManyEvents()
  return [...before, ...(await deriveUnrecordedEntries(on, followed, unwrap(requireValue(tails.get(vault))), to))]
}

type LiveTail = {
  readonly entries: readonly LedgerEntry[]
  readonly live: Result<LiveAccount>
  readonly asOf: Date
}

type VaultOutcome = readonly [VaultWithProgress, Result<LiveTail>]

/**
 * Joins an account's recorded ledger entries in a vault with its newer entries. Returns undefined for an unreadable
 * vault that the account never used.
 */
function addRecorded(
  followed: VaultWithProgress,
  recorded: readonly LedgerEntry[] | undefined,
  outcome: Result<LiveTail>,
): Result<AccountVault> | undefined {
  if ('error' in outcome) return outcome
  const { vault } = followed
  const { entries: tail, live, asOf } = outcome.value
  const before = entriesBefore(followed, recorded)
  const entries = [...(before ?? []), ...tail]
  if ('error' in live) return !before || entries.length > 0 ? live : undefined
  if (!before) return { error: tooManyEvents() }
  if (hasPlausibleAmounts(entries, live.value)) return { value: { vault, entries, live: live.value, asOf } }
  return entries.length > 0 ? { error: createContradictionError() } : undefined
}

/**
 * Returns the recorded ledger entries up to the block `through`. Later entries are also in the events read from the
 * chain, so they would count twice.
 */
function entriesBefore(
  { progress: { through } }: VaultWithProgress,
  recorded: readonly LedgerEntry[] | undefined,
): readonly LedgerEntry[] | undefined {
  return recorded?.filter(({ blockNumber }) => blockNumber <= through)
}

function tooManyEvents(): LeftOutVaultError {
  return new LeftOutVaultError('The user has too many events in a vault to show at once')
}

type Recorded = ReadonlyMap<Vault, readonly LedgerEntry[] | undefined>

async function readChain(
  on: ChainAccount,
  followed: readonly VaultWithProgress[],
  listed: Promise<Recorded>,
): Promise<{ readonly outcomes: VaultOutcome[]; readonly evidence: Evidence[] }> {
  const plans = followed.map(({ vault }) => getProtocol(vault).account(vault, on.account))
  const { blocks, values, evidence } = await on.reader.readEach(plans, { withHash: true })
  // All calls read events up to one block number. The block "latest" may differ between calls, so events could be missing or count twice.
  const to = blocks.map(({ number }) => number).reduce(max, 0n)
  const [tails, chainEvidence] = await Promise.all([readUnrecordedEvents(on, followed, to), evidence()])
  const outcomes = followed.map(async (one, index): Promise<VaultOutcome> => {
    const [block, tail] = [blocks[index], tails.get(one.vault)]
    if (!block || !tail) throw badResponse('a vault is missing')
    return [one, await toResult(readVault(on, one, { tail, account: values[index], block, listed }))]
  })
  return { outcomes: await Promise.all(outcomes), evidence: [chainEvidence] }
}

type VaultRead = {
  readonly tail: Result<UnrecordedEvents>
  readonly account: AccountSnapshot | undefined
  readonly block: BlockHeader
  readonly listed: Promise<Recorded>
}

async function readVault(
  on: ChainAccount,
  followed: VaultWithProgress,
  { tail, account, block, listed }: VaultRead,
): Promise<LiveTail> {
  const entries = await deriveUnrecordedEntries(on, followed, unwrap(tail), block.number)
  const listEntries = async () => {
    const before = entriesBefore(followed, (await listed).get(followed.vault))
    if (!before) throw tooManyEvents()
    return [...before, ...entries]
  }
  const live = account
    ? await toResult(readLiveAccount(account, on.reader, block.number, listEntries))
    : { error: badResponse('the vault cannot be read') }
  return { entries, live, asOf: toDate(block.timestamp) }
}

/**
 * Returns an account's current amounts in a vault, computed from its AccountSnapshot. Reads the chain again if the
 * snapshot lacks amounts of requests. Throws `upstream_bad_answer` if the vault's contract did not report a needed
 * amount. Reading again may throw other `upstream_*`, and the errors of the caller's function `listEntries`.
 */
export async function readLiveAccount(
  { shares, price, deposits, redemptions }: AccountSnapshot,
  ...finishing: Parameters<AccountSnapshot['deposits']>
): Promise<LiveAccount> {
  const amounts = { shares: shares(), ...price() }
  const requests = await Promise.all([deposits(...finishing), redemptions(...finishing)])
  return { ...amounts, ...requests[0], ...requests[1] }
}
