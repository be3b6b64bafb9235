import type { LedgerEntry } from '../../../lib/activity/ledger-entry.ts'
import { buildClaimableNotices } from '../../../lib/activity/notices.ts'
import type { OpenRequest } from '../../../lib/activity/open-requests.ts'
import type { OpenRequestsStore } from '../../../lib/activity/open-requests-store.ts'
import { addWaits } from '../../../lib/activity/settlement-waits.ts'
import type { VaultProgress } from '../../../lib/activity/store.ts'
import { sideBySide } from '../../../lib/aws/dynamo.ts'
import { type BlockHeader, toStoredBlock } from '../../../lib/chain/logs.ts'
import type { ChainReader } from '../../../lib/chain/reader.ts'
import { MAX_UINT256 } from '../../../lib/codecs.ts'
import type { OpenAmounts } from '../../../lib/protocols/protocol.ts'
import { getProtocol } from '../../../lib/protocols/protocols.ts'
import { RequestKind } from '../../../lib/protocols/request-kind.ts'
import type { VaultOnChain } from '../../../lib/protocols/vault-on-chain.ts'
import { toSeconds } from '../../../lib/time.ts'
import type { Notice } from '../../../lib/webhooks/event.ts'

/** A vault whose events do not tell of settlements. */
type AskedVault = { readonly vault: VaultOnChain; readonly progress: VaultProgress }

/** Of how many requests of a kind a vault is asked in one run. */
const ASKED_AT_ONCE = 100

/**
 * Asks vaults what became of requests that wait, in one round trip, and gives for each what it says of them. Throws
 * `upstream_*`.
 */
export async function askRequests(
  { reader, openRequests }: { readonly reader: ChainReader; readonly openRequests: Pick<OpenRequestsStore, 'list'> },
  vaults: readonly AskedVault[],
): Promise<(readonly AskedRequest[])[]> {
  const listed = await Promise.all(
    vaults.map(async ({ vault, progress: { generation, askedUpTo } }) => {
      const listOpen = (kind: RequestKind) =>
        openRequests.list(
          { ...vault, generation },
          { kind, lastId: MAX_UINT256, after: askedUpTo?.[kind], most: ASKED_AT_ONCE },
        )
      return (await Promise.all(RequestKind.options.map(listOpen))).flat()
    }),
  )
  const plans = vaults.flatMap(({ vault }, index) =>
    (listed[index] ?? []).flatMap((request) => getProtocol(vault).openRequest?.(vault, request) ?? []),
  )
  if (plans.length === 0) return listed.map(() => [])
  const { values, block, blocks } = await reader.readEach(plans)
  let next = 0
  return listed.map((requests) =>
    requests.map((request) => {
      const place = next++
      return { request, amounts: values[place], block: blocks[place] ?? block }
    }),
  )
}

/** A request that waits, what its vault says of it, undefined where it does not, and the block then. */
export type AskedRequest = {
  readonly request: OpenRequest
  readonly amounts: OpenAmounts | undefined
  readonly block: BlockHeader
}

type Dependencies = {
  readonly openRequests: Pick<OpenRequestsStore, 'record' | 'close'>
  /** What happened to an account; undefined where that is too much. */
  readonly entriesOf: (account: OpenRequest['account']) => Promise<readonly LedgerEntry[] | undefined>
  readonly tell: (notices: readonly Notice[]) => Promise<void>
}

/**
 * Tells clients of requests of a vault of which nothing waits any more and something can be claimed, once the block at which
 * that was seen first is final, and forgets these and those of which there is nothing. Returns what of the vault's progress
 * changes by it, undefined where nothing does. Throws what `tell` throws.
 */
export async function settleAsked(
  { openRequests, entriesOf, tell }: Dependencies,
  { vault, progress }: AskedVault,
  asked: readonly AskedRequest[],
  final: BlockHeader,
): Promise<Pick<VaultProgress, 'waits' | 'hasUntold' | 'askedUpTo'> | undefined> {
  const reading = { ...vault, generation: progress.generation }
  const isSettled = ({ amounts }: AskedRequest) => amounts?.pending === 0n && (amounts.claimable ?? 0n) > 0n
  const isGone = ({ amounts }: AskedRequest) => amounts?.pending === 0n && amounts.claimable === 0n
  const isFinal = ({ request }: AskedRequest) => (request.settledAt?.number ?? final.number + 1n) <= final.number
  const done = asked.filter((one) => isSettled(one) && isFinal(one))
  const gone = asked.filter(isGone)
  const seen = asked.flatMap(({ request: { settledAt, ...request }, ...one }) => {
    const isNew = isSettled({ request, ...one }) !== (settledAt !== undefined) && one.amounts?.pending !== undefined
    return isNew ? [settledAt ? request : { ...request, settledAt: one.block }] : []
  })
  // Before anything is told of it, so that it is the same whenever it is told.
  if (seen.length > 0) await openRequests.record([{ reading, opened: seen }])

  const notices: Notice[] = []
  await sideBySide(done, async ({ request, block }) => {
    const { chainId, address } = vault
    const { settledAt = block } = request
    // Its requests name it; no event of the vault does.
    const at = {
      key: `${chainId}#${address}`,
      chainId,
      vault: address,
      transactionHash: null,
      ...toStoredBlock(settledAt),
    }
    notices.push(...buildClaimableNotices(request, await entriesOf(request.account), at))
  })
  if (notices.length > 0) await tell(notices)
  await openRequests.close(
    reading,
    [...done, ...gone].map(({ request }) => request),
  )

  let { waits = {}, askedUpTo = {} } = progress
  let isMore = false
  for (const kind of RequestKind.options) {
    const ofKind = asked.filter(({ request }) => request.kind === kind)
    const seconds = done.flatMap(({ request: { kind: of, timestamp, settledAt } }) =>
      of === kind && settledAt ? [Number(settledAt.timestamp - toSeconds(timestamp))] : [],
    )
    if (seconds.length > 0) waits = { ...waits, [kind]: addWaits(waits[kind] ?? [], seconds) }
    const isPage = ofKind.length === ASKED_AT_ONCE
    isMore ||= isPage || askedUpTo[kind] !== undefined
    const { [kind]: _, ...ofOthers } = askedUpTo
    askedUpTo = isPage ? { ...ofOthers, [kind]: ofKind.at(-1)?.request } : ofOthers
  }
  const hasUntold = isMore || asked.length > done.length + gone.length
  return isMore || !hasUntold || done.length > 0 ? { waits, askedUpTo, hasUntold } : undefined
}
