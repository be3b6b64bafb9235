import { buildRequestName, type OpenRequest, type Snapshot } from '../activity/open-requests.ts'
import type { VaultProgress } from '../activity/store.ts'
import { type BlockHeader, readHashes } from '../chain/logs.ts'
import { MAX_UINT256 } from '../core/codecs.ts'
import { badResponse } from '../core/errors.ts'
import { logger } from '../core/logger.ts'
import type { OpenAmounts } from '../protocols/protocol.ts'
import { getProtocol } from '../protocols/protocols.ts'
import { RequestKind } from '../protocols/request-kind.ts'
import { type Run, saveProgress, type VaultRun } from './run.ts'
import { hasReportableAmounts } from './settle-requests.ts'

const MAX_ASKED = 20
/**
 * Maximum number of waiting requests of one kind that a run reads in all vaults. An attacker can create very many
 * requests; reading them all then takes several runs.
 */
const MAX_REQUESTS = 2_000
/** Maximum number of waiting requests of one kind that a run reads in one vault. */
const MAX_REQUESTS_OF_VAULT = 500
/** Maximum number of requests in one snapshot, so that the snapshot fits into a DynamoDB item. */
const MAX_IN_SNAPSHOT = 400
/** Maximum number of a vault's stored snapshots whose blocks are not final. */
const MAX_SNAPSHOTS = 20

/**
 * Reads the waiting requests of vaults without settlement events, 20 vaults per run. Stores changed amounts as snapshots until
 * their blocks are final. Logs failures instead of throwing.
 */
export async function takeSnapshots(run: Run): Promise<void> {
  const { vaultRuns, reader, openRequests, final, number } = run
  const due = vaultRuns.filter(
    ({ progress, saved, isRefused }) =>
      progress.hasAsked === true && saved !== undefined && progress.through >= final.number && !isRefused,
  )
  const first = (number * MAX_ASKED) % Math.max(1, due.length)
  const inTurn = [...due.slice(first), ...due.slice(0, first)].slice(0, MAX_ASKED)
  if (inTurn.length === 0) return
  try {
    const most = Math.min(MAX_REQUESTS_OF_VAULT, Math.floor(MAX_REQUESTS / inTurn.length))
    const snapshotted = await readRequests(run, inTurn, most)
    const news = await Promise.all(snapshotted.map((of) => findNews(run, of)))
    const hashes = await readHashes(
      reader,
      news.flat().map(({ number }) => number),
    )
    for (const [index, { vaultRun, requests }] of snapshotted.entries()) {
      const { vault, progress } = vaultRun
      const snapshots = (news[index] ?? []).flatMap((snapshot): Snapshot[] => {
        const hash = hashes.get(snapshot.number)
        return hash ? [{ ...snapshot, hash }] : []
      })
      const { isMore, ...page } = nextPage(progress, requests, most)
      const snapshotAt = progress.snapshotAt ?? snapshots[0]?.number
      // The block of the first snapshot is saved before the snapshots, so that a later run finds every stored snapshot.
      if (isMore || !page.hasAsked || snapshotAt !== progress.snapshotAt) {
        vaultRun.progress = { ...progress, ...page, snapshotAt }
        await saveProgress(run, [vaultRun])
      }
      for (const snapshot of snapshots) await openRequests.putSnapshot(vault, snapshot)
    }
  } catch (error) {
    logger.warn('waiting requests not read', { chainId: reader.chain.id, reason: String(error) })
  }
}

/**
 * A vault's stored snapshots of waiting requests. `due` are the snapshots whose blocks are now final. `confirmed` are
 * the due snapshots whose block the chain still has. `next` is the block of the first snapshot that is not due.
 */
export type DueSnapshots = {
  readonly due: readonly Snapshot[]
  readonly confirmed: readonly Snapshot[]
  readonly next: bigint | undefined
}

/**
 * Reads the stored snapshots of waiting requests up to a final block. The map has only vaults with such snapshots.
 * Throws `upstream_*`.
 */
export async function readDueSnapshots(
  { reader, openRequests }: Pick<Run, 'reader' | 'openRequests'>,
  vaultRuns: readonly VaultRun[],
  through: bigint,
): Promise<ReadonlyMap<VaultRun, DueSnapshots>> {
  const marked = vaultRuns.filter(({ progress: { snapshotAt } }) => snapshotAt !== undefined && snapshotAt <= through)
  const found = await Promise.all(marked.map(({ vault }) => openRequests.listSnapshots(vault)))
  const isDue = ({ number }: Snapshot) => number <= through
  const hashes = await readHashes(
    reader,
    found
      .flat()
      .filter(isDue)
      .map(({ number }) => number),
  )
  return new Map(
    marked.map((vaultRun, index) => {
      const snapshots = found[index] ?? []
      const due = snapshots.filter(isDue)
      if (due.some(({ number }) => !hashes.has(number))) throw badResponse('the node does not return a final block')
      const confirmed = due.filter(({ number, hash }) => hashes.get(number) === hash)
      return [vaultRun, { due, confirmed, next: snapshots[due.length]?.number }]
    }),
  )
}

type VaultRequests = {
  readonly vaultRun: VaultRun
  readonly requests: readonly OpenRequest[]
  readonly said: readonly { readonly amounts: OpenAmounts | undefined; readonly block: BlockHeader }[]
}

async function readRequests(
  { reader, openRequests }: Pick<Run, 'reader' | 'openRequests'>,
  vaultRuns: readonly VaultRun[],
  most: number,
): Promise<VaultRequests[]> {
  const listed = await Promise.all(
    vaultRuns.map(async ({ vault, progress: { askedUpTo } }) => {
      const listOpen = (kind: RequestKind) =>
        openRequests.list(vault, { kind, lastId: MAX_UINT256, after: askedUpTo?.[kind], most })
      return (await Promise.all(RequestKind.options.map(listOpen))).flat()
    }),
  )
  const plans = vaultRuns.flatMap(({ vault }, index) =>
    (listed[index] ?? []).flatMap((request) => getProtocol(vault).openRequest?.(vault, request) ?? []),
  )
  if (plans.length === 0) return vaultRuns.map((vaultRun) => ({ vaultRun, requests: [], said: [] }))
  const { values, block, blocks } = await reader.readEach(plans)
  let next = 0
  return vaultRuns.map((vaultRun, index) => {
    const requests = listed[index] ?? []
    const said = requests.map(() => ({ amounts: values[next], block: blocks[next++] ?? block }))
    return { vaultRun, requests, said }
  })
}

/**
 * Builds snapshots of the requests whose amounts have changed, one for each block. Ignores amounts that were read at a
 * block whose events are already recorded, because such a read comes from a node that lags.
 */
async function findNews(
  { openRequests }: Pick<Run, 'openRequests'>,
  { vaultRun: { vault, progress }, requests, said }: VaultRequests,
): Promise<Omit<Snapshot, 'hash'>[]> {
  const news = requests.flatMap(({ timestamp: _, reported: __, settled, ...request }, index) => {
    const { amounts, block } = said[index] ?? {}
    return amounts &&
      block &&
      isPossible(amounts) &&
      block.number > progress.through &&
      hasReportableAmounts({ settled }, amounts)
      ? [{ request: { ...request, ...amounts }, block }]
      : []
  })
  if (news.length === 0) return []
  const kept = progress.snapshotAt === undefined ? [] : await openRequests.listSnapshots(vault)
  if (kept.length >= MAX_SNAPSHOTS) return []
  // Snapshots are processed in the order of their blocks. Each new snapshot must therefore have a later block than all
  // stored ones.
  const last = kept.at(-1)?.number ?? 0n
  const keptNames = new Set(kept.flatMap((snapshot) => snapshot.requests.map(buildRequestName)))
  const unknown = news.filter(({ request, block }) => block.number > last && !keptNames.has(buildRequestName(request)))
  const blocks = new Map(unknown.map(({ block }) => [block.number, block]))
  const inOrder = [...blocks.values()].toSorted((one, other) => Number(one.number - other.number))
  return inOrder.map((block) => {
    const ofBlock = unknown.filter((one) => one.block.number === block.number)
    return { ...block, requests: ofBlock.slice(0, MAX_IN_SNAPSHOT).map(({ request }) => request) }
  })
}

/** Returns true if all amounts have at most 256 bits. A vault's contract can report false amounts. */
function isPossible({ pending, claimable, cancelled, given = 0n }: OpenAmounts): boolean {
  return [pending, claimable, cancelled, given].every((amount) => amount <= MAX_UINT256)
}

/**
 * Returns the request after which the next run continues to read. `hasAsked` is true if any request waits, `isMore` if
 * one run cannot read all requests.
 */
function nextPage(
  { askedUpTo: before = {} }: VaultProgress,
  requests: readonly OpenRequest[],
  most: number,
): Pick<VaultProgress, 'hasAsked' | 'askedUpTo'> & { readonly isMore: boolean } {
  let [askedUpTo, isMore] = [before, false]
  for (const kind of RequestKind.options) {
    const ofKind = requests.filter((request) => request.kind === kind)
    const isPage = ofKind.length === most
    isMore ||= isPage || askedUpTo[kind] !== undefined
    const { [kind]: _, ...ofOthers } = askedUpTo
    askedUpTo = isPage ? { ...ofOthers, [kind]: ofKind.at(-1) } : ofOthers
  }
  return { askedUpTo, isMore, hasAsked: isMore || requests.length > 0 }
}
