import type { Address } from 'viem'
import { buildLocationKey } from '../activity/ledger-entry.ts'
import { buildClaimableNotices, type SettledAt } from '../activity/notices.ts'
import { nameOf, type OpenRequest, type RequestKey, type Snapshot } from '../activity/open-requests.ts'
import type { OpenRequestsStore } from '../activity/open-requests-store.ts'
import { type BlockHeader, toBlockFields } from '../chain/logs.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import type { RequestKind } from '../protocols/request-kind.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'
import { sideBySide } from '../side-by-side.ts'
import { toSeconds } from '../time.ts'
import type { Notice } from '../webhooks/event.ts'
import { findTaken, findUnreported, isEnded, settleRequest } from './settle-requests.ts'

/** The last log index that has its place in a block. */
const LAST_LOG = 999_999

type Slice = {
  /** The last block before the slice. */
  readonly through: number
  /** What happened to an account up to the end of the slice; undefined where that is too much. */
  readonly entriesOf: (account: Address) => Promise<readonly LedgerEntry[] | undefined>
  /** Steps that the slice has left. */
  readonly steps: { left: number }
}

/** Follows the waiting requests of a vault whose events do not tell of settlements through a slice that is final. */
export function followRequests(
  openRequests: Pick<OpenRequestsStore, 'get'>,
  vault: VaultOnChain,
  { through, entriesOf, steps }: Slice,
) {
  const changed = new Map<string, OpenRequest>()
  const ended = new Map<string, OpenRequest>()
  const get = async (requests: readonly RequestKey[]) =>
    (await openRequests.get(vault, requests)).map((request) => changed.get(nameOf(request)) ?? request)

  return {
    /**
     * The notices of a snapshot, and the seconds that its settled requests have waited; nothing of requests for which no
     * steps are left.
     */
    async settle(
      snapshot: Snapshot,
    ): Promise<{ readonly notices: Notice[]; readonly waited: Readonly<Record<RequestKind, number[]>> }> {
      const at = toSnapshotAt(vault, snapshot)
      const said = new Map(snapshot.requests.map((one) => [nameOf(one), one]))
      const notices: Notice[] = []
      const waited: Record<RequestKind, number[]> = { deposit: [], withdrawal: [] }
      await sideBySide(await get(snapshot.requests), async (request) => {
        const amounts = said.get(nameOf(request))
        const entries = await entriesOf(request.account)
        steps.left -= (entries?.length ?? 0) ** 2
        if (!amounts || steps.left < 0) return
        const upTo = entries?.filter(({ blockNumber }) => blockNumber <= snapshot.number)
        const followed = entries?.filter(({ blockNumber }) => blockNumber <= Math.max(through, Number(snapshot.number)))
        const settled = upTo && settleRequest(request, amounts, upTo, followed)
        // What is too much to be looked through is told once.
        if (!entries || isEnded(request, entries)) ended.set(nameOf(request), request)
        if (settled) changed.set(nameOf(request), settled.request)
        const found = settled || amounts.claimable > 0n ? buildClaimableNotices(request, settled?.parts, at) : []
        notices.push(...found)
        const seconds = Number(snapshot.timestamp - toSeconds(request.timestamp))
        // More may have been requested since.
        if (found.length > 0 && seconds > 0) waited[request.kind].push(seconds)
      })
      return { notices, waited }
    },

    /** The notices of what a claim takes that no snapshot has reported as claimable. */
    async findUnreported(entry: LedgerEntry, before: readonly LedgerEntry[]): Promise<Notice[]> {
      const taken = new Map(findTakenBy(entry, before).map((of) => [nameOf(of.request), of]))
      if (taken.size === 0) return []
      const at = toClaimAt(entry)
      return (await get([...taken.values()].map(({ request }) => request))).flatMap((request) => {
        const of = taken.get(nameOf(request))
        return of ? buildClaimableNotices(request, findUnreported(of, request), at) : []
      })
    },

    /** The requests that are changed by it, and those that have ended. */
    list: () => ({
      changed: [...changed].flatMap(([name, request]) => (ended.has(name) ? [] : [request])),
      ended: [...ended.values()],
    }),
  }
}

/** The requests that an entry took from, by what happened to its account before; none where it claims nothing. */
function findTakenBy(entry: LedgerEntry, before: readonly LedgerEntry[]) {
  if (entry.kind === 'claim') return findTaken('deposit', entry, before)
  return entry.kind === 'withdraw' && entry.isClaim ? findTaken('withdrawal', entry, before) : []
}

/** What keys of notices begin with where no event tells of a settlement: the request and its amount name it. */
function requestsKey({ chainId, vault }: Pick<SettledAt, 'chainId' | 'vault'>): string {
  return `${chainId}#${vault}`
}

/** A snapshot's block, as notices have it: after all events of the block. */
function toSnapshotAt({ chainId, address: vault }: VaultOnChain, block: BlockHeader): SettledAt {
  const at = { chainId, vault, transactionHash: null, ...toBlockFields(block) }
  return { ...at, key: requestsKey(at), place: `${buildLocationKey({ ...at, logIndex: LAST_LOG })}#~` }
}

/** A claim, as the notices of what it takes have it: just before its own. */
function toClaimAt(entry: LedgerEntry): SettledAt {
  const { chainId, vault, transactionHash, blockNumber, timestamp } = entry
  const at = { chainId, vault, transactionHash, blockNumber, timestamp }
  return { ...at, key: requestsKey(at), place: `${buildLocationKey(entry)}#!` }
}
