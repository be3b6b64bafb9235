import type { Address } from 'viem'
import { buildRequestName, type OpenRequest, type RequestKey, type Snapshot } from '../activity/open-requests.ts'
import type { OpenRequestsStore } from '../activity/open-requests-store.ts'
import { toBlockFields } from '../chain/logs.ts'
import { runConcurrently } from '../core/side-by-side.ts'
import { toSeconds } from '../core/time.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import type { RequestKind } from '../protocols/request-kind.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'
import type { Notice } from '../webhooks/event.ts'
import { buildClaimableNotices } from './entry-notices.ts'
import { areRequestsEnded, findClaimedRequests, findUnreportedAmounts, settleRequest } from './settle-requests.ts'

type Slice = {
  readonly through: number
  /** Lists an account's ledger entries up to the end of the processed block range; undefined if there are too many. */
  readonly entriesOf: (account: Address) => Promise<readonly LedgerEntry[] | undefined>
  readonly steps: { left: number }
}

/**
 * Tracks the waiting requests of a vault without settlement events through a range of final blocks. Writes nothing;
 * `list` returns the changes.
 */
export function trackOpenRequests(
  openRequests: Pick<OpenRequestsStore, 'get'>,
  vault: VaultOnChain,
  { through, entriesOf, steps }: Slice,
) {
  const { chainId, address } = vault
  // The key is only the beginning of the events' keys. Each key continues with the request and its amount.
  const ofVault = { chainId, vault: address, key: `${chainId}#${address}` }
  const changed = new Map<string, OpenRequest>()
  const ended = new Map<string, OpenRequest>()
  const get = async (requests: readonly RequestKey[]) => {
    const waiting = new Map(
      (await openRequests.get(vault, requests)).map((request) => [buildRequestName(request), request]),
    )
    return requests.map(buildRequestName).flatMap((name) => {
      const request = waiting.get(name)
      return request ? [changed.get(name) ?? request] : []
    })
  }

  return {
    /**
     * Builds the webhook events of a snapshot of waiting requests, and the seconds that its settled requests waited.
     * Skips requests once `steps.left`, the limit of computation, is used up.
     */
    async settle(
      snapshot: Snapshot,
    ): Promise<{ readonly notices: Notice[]; readonly waited: Readonly<Record<RequestKind, number[]>> }> {
      const at = { ...ofVault, transactionHash: null, ...toBlockFields(snapshot) }
      const said = new Map(snapshot.requests.map((one) => [buildRequestName(one), one]))
      const waited: Record<RequestKind, number[]> = { deposit: [], withdrawal: [] }
      const notices = await runConcurrently(await get(snapshot.requests), async (request) => {
        const amounts = said.get(buildRequestName(request))
        const entries = await entriesOf(request.account)
        steps.left -= (entries?.length ?? 0) ** 2
        if (!amounts || steps.left < 0) return []
        const upTo = entries?.filter(({ blockNumber }) => blockNumber <= snapshot.number)
        const followed = entries?.filter(({ blockNumber }) => blockNumber <= Math.max(through, Number(snapshot.number)))
        const settled = upTo && settleRequest(request, amounts, upTo, followed)
        // An account with too many ledger entries gets one webhook event without amounts, and its request counts as ended.
        if (!entries || areRequestsEnded(request, entries, { amounts, number: snapshot.number }))
          ended.set(buildRequestName(request), request)
        if (settled) changed.set(buildRequestName(request), settled.request)
        const found = settled || amounts.claimable > 0n ? buildClaimableNotices(request, settled?.parts, at) : []
        const seconds = Number(snapshot.timestamp - toSeconds(request.timestamp))
        // The account may have requested more since the snapshot, so the request's timestamp may be later than the snapshot.
        if (found.length > 0 && seconds > 0) waited[request.kind].push(seconds)
        return found
      })
      return { notices: notices.flat(), waited }
    },

    /**
     * Builds the `deposit.claimable` or `withdrawal.claimable` webhook events that are missing before the claim
     * `entry`. They have the claimed amounts that no earlier event reported as claimable. `before` are the account's
     * earlier ledger entries.
     */
    async findUnreported(entry: LedgerEntry, before: readonly LedgerEntry[]): Promise<Notice[]> {
      const taken = new Map(findTakenBy(entry, before).map((of) => [buildRequestName(of.request), of]))
      if (taken.size === 0) return []
      const { transactionHash, blockNumber, timestamp } = entry
      const at = { ...ofVault, transactionHash, blockNumber, timestamp }
      return (await get([...taken.values()].map(({ request }) => request))).flatMap((request) => {
        const of = taken.get(buildRequestName(request))
        return of ? buildClaimableNotices(request, findUnreportedAmounts(of, request), at) : []
      })
    },

    /** Lists the changed requests that still wait, and the requests that have ended. */
    list: () => ({
      changed: [...changed].flatMap(([name, request]) => (ended.has(name) ? [] : [request])),
      ended: [...ended.values()],
    }),
  }
}

/** Finds the requests that a claim or withdrawal pays out, from the account's earlier entries; empty if it pays out none. */
function findTakenBy(entry: LedgerEntry, before: readonly LedgerEntry[]) {
  if (entry.kind === 'paid') return findClaimedRequests('withdrawal', entry, before)
  if (entry.kind === 'claim') return findClaimedRequests('deposit', entry, before)
  return entry.kind === 'withdraw' && entry.isClaim ? findClaimedRequests('withdrawal', entry, before) : []
}
