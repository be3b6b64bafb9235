import { inBatches } from '../../batches.ts'
import { type BlockHeader, toBlockFields } from '../../chain/logs.ts'
import type { ChainReader } from '../../chain/reader.ts'
import { MAX_UINT256 } from '../../codecs.ts'
import { logger } from '../../logger.ts'
import type { OpenAmounts } from '../../protocols/protocol.ts'
import { getProtocol } from '../../protocols/protocols.ts'
import { RequestKind } from '../../protocols/request-kind.ts'
import type { VaultOnChain } from '../../protocols/vault-on-chain.ts'
import { toSeconds } from '../../time.ts'
import type { Notice } from '../../webhooks/event.ts'
import { buildRevertedNotice } from '../latest-notices.ts'
import type { LedgerEntry } from '../ledger-entry.ts'
import { buildClaimableNotices, type SettledAt } from '../notices.ts'
import { type LatestPart, type Look, MOST_LATEST_PARTS, type OpenRequest } from '../open-requests.ts'
import type { OpenRequestsStore } from '../open-requests-store.ts'
import { addWaits } from '../settlement-waits.ts'
import type { VaultProgress } from '../store.ts'
import {
  decideLook,
  followLook,
  followRequest,
  isClosed,
  isMoreOpen,
  judgeRequest,
  toClaimablePart,
  toLook,
} from './judge-requests.ts'
import { publishOf } from './publish-notices.ts'
import { type Run, save, type VaultRun } from './run.ts'
import { accountEntries } from './slice-notices.ts'

/** So many vaults a run asks what became of requests. */
const MOST_ASKED = 20

/**
 * Asks vaults of which no event tells that requests are settled, in turn where they are many. `latestEntries` is what happened
 * after the last final block in those of which clients want to be told also what is not final.
 */
export async function askVaults(run: Run, latestEntries: ReadonlyMap<VaultRun, readonly LedgerEntry[]>): Promise<void> {
  const { vaultRuns, reader, records, openRequests, final, number } = run
  const due = vaultRuns.filter(
    ({ progress, saved, isRefused }) =>
      progress.hasAsked === true && saved !== undefined && progress.through >= final.number && !isRefused,
  )
  const first = (number * MOST_ASKED) % Math.max(1, due.length)
  const inTurn = [...due.slice(first), ...due.slice(0, first)].slice(0, MOST_ASKED)
  if (inTurn.length === 0) return
  try {
    const most = Math.min(ASKED_OF_VAULT, Math.floor(ASKED_AT_ONCE / inTurn.length))
    const asked = await askRequests({ reader, openRequests }, inTurn, most)
    for (const [index, vaultRun] of inTurn.entries()) {
      const { vault, progress } = vaultRun
      const entries = latestEntries.get(vaultRun)
      const entriesOf = accountEntries(records, { vault, progress, entries: entries ?? [] })
      const publish = async (notices: readonly Notice[]) => (await publishOf(run, [{ vaultRun, notices }])).length > 0
      const changed = await settleAsked({ openRequests, entriesOf, publish }, vaultRun, asked[index] ?? [], {
        final,
        most,
        wantsLatest: entries !== undefined,
      })
      if (changed) vaultRun.progress = { ...progress, ...changed }
      if (changed) await save(run, [vaultRun])
    }
  } catch (error) {
    logger.warn('requests not asked for', { chainId: reader.chain.id, reason: String(error) })
  }
}

/** A vault whose events do not tell of settlements. */
type AskedVault = { readonly vault: VaultOnChain; readonly progress: VaultProgress }

/**
 * Of how many requests of a kind vaults are asked in one run, all together, and one vault: they share a run between them, so
 * that one with very many, which anybody can make, has a turn of all of them the sooner.
 */
const ASKED_AT_ONCE = 2_000
const ASKED_OF_VAULT = 500
/**
 * To judge a request takes as many steps as the square of what happened to its account. Of a vault a run takes so many, about
 * a tenth of a second, and one request more; the others wait for the next run.
 */
const MOST_STEPS = 2_000_000
/** Of so many accounts it is read together what happened to them. */
const JUDGED_AT_ONCE = 8

/**
 * Asks vaults what became of requests that wait, `most` of each kind, in one round trip, and gives for each what it says of
 * them. Throws `upstream_*`.
 */
async function askRequests(
  { reader, openRequests }: { readonly reader: ChainReader; readonly openRequests: Pick<OpenRequestsStore, 'list'> },
  vaults: readonly AskedVault[],
  most: number,
): Promise<(readonly AskedRequest[])[]> {
  const listed = await Promise.all(
    vaults.map(async ({ vault, progress: { askedUpTo } }) => {
      const listOpen = (kind: RequestKind) =>
        openRequests.list(vault, { kind, lastId: MAX_UINT256, after: askedUpTo?.[kind], most })
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
type AskedRequest = {
  readonly request: OpenRequest
  readonly amounts: OpenAmounts | undefined
  readonly block: BlockHeader
}

type Dependencies = {
  readonly openRequests: Pick<OpenRequestsStore, 'put' | 'close'>
  /** What happened to an account; undefined where that is too much. */
  readonly entriesOf: (account: OpenRequest['account']) => Promise<readonly LedgerEntry[] | undefined>
  /** False where it is not published. */
  readonly publish: (notices: readonly Notice[]) => Promise<boolean>
}

/**
 * Tells clients what more can be claimed of requests of a vault, once the block at which that was seen first is final; where
 * `wantsLatest`, at once, and then that it is final or not so. Forgets requests of which everything was claimed or taken back.
 * Returns what of the vault's progress changes by it, undefined where nothing does.
 */
async function settleAsked(
  { openRequests, entriesOf, publish }: Dependencies,
  { vault, progress }: AskedVault,
  asked: readonly AskedRequest[],
  { final, most, wantsLatest }: { readonly final: BlockHeader; readonly most: number; readonly wantsLatest: boolean },
): Promise<Pick<VaultProgress, 'waits' | 'hasAsked' | 'askedUpTo'> | undefined> {
  const isDue = ({ look, check }: OpenRequest) =>
    look !== undefined &&
    !look.isJudged &&
    look.number <= final.number &&
    (check === undefined || check.number <= final.number)
  const followed = asked.map(({ request, amounts, block }) => {
    const said = amounts && toLook(request, amounts, block)
    return { request, said, now: said ? followRequest(request, said) : request }
  })
  const notices: Notice[] = []
  const kept: OpenRequest[] = []
  const gone: OpenRequest[] = []

  const changed = new Map<OpenRequest, OpenRequest>()
  const early = followed.flatMap(({ request, said, now }) => {
    if (now !== request) changed.set(request, now)
    const { look, latest = [] } = now
    // A look that was due may have been told as final already, by a run that was killed.
    if (!look || !said || !wantsLatest || isDue(now) || isDue(request)) return []
    // Of what was told too early an answer may take something back.
    const isDoubtful = !look.isJudged && latest.length > 0 && isMoreOpen(look, said)
    return now !== request || isDoubtful ? [{ request, now, look: said }] : []
  })
  await judgeInOrder(early, entriesOf, ({ request, now, look }, entries) => {
    const { latest = [] } = now
    const judged = entries && judgeRequest(now, look, entries)
    if (!judged?.isKnown || (now === request && judged.contradicted.length === 0)) return
    const added = judged.parts.slice(0, MOST_LATEST_PARTS - latest.length)
    const { number, timestamp } = look
    const parts = added.map(({ id, all, amount }) => ({ id, all, amount, number, timestamp }))
    const told = { ...now, look, check: undefined }
    changed.set(request, { ...told, latest: [...latest, ...parts] })
    for (const part of judged.contradicted) notices.push(buildPartReverted(vault, now, part))
    for (const part of parts) notices.push(...buildPartNotices(vault, now, part, { isFinal: false }))
    if (judged.contradicted.length > 0) kept.push({ ...told, latest: [...judged.upheld, ...parts] })
  })
  // Before anything is told of it, so that it is the same whenever it is told, and can be taken back.
  await openRequests.put(vault, [...changed.values()])

  const seconds: Record<RequestKind, number[]> = { deposit: [], withdrawal: [] }
  const due = followed.flatMap(({ now, said }) => (now.look && isDue(now) ? [{ now, look: now.look, said }] : []))
  await judgeInOrder(due, entriesOf, ({ now: request, look: first, said }, entries) => {
    const { latest = [], kind } = request
    const { look, check } = entries ? decideLook(request, first, said, entries) : { look: first }
    if (check) {
      kept.push({ ...request, look, check })
      return
    }
    const judged = entries && judgeRequest(request, look, entries)
    const { parts, upheld = [], contradicted = latest } = judged ?? {}
    if (parts ? parts.length + upheld.length > 0 : look.claimable > 0n) {
      for (const part of upheld) notices.push(...buildPartNotices(vault, request, part, { isFinal: true }))
      notices.push(...buildClaimableNotices(request, parts, toSettledAt(vault, look)))
      const waited = Number(look.timestamp - toSeconds(request.timestamp))
      // Of requests that were made since it tells nothing.
      if (waited > 0) seconds[kind].push(waited)
    }
    for (const part of contradicted) notices.push(buildPartReverted(vault, request, part))
    // What is too much to be looked through is told once.
    const isGone = entries
      ? isClosed(
          request,
          entries.filter(({ blockNumber }) => blockNumber <= final.number),
        )
      : look.claimable > 0n
    if (isGone) gone.push(request)
    else
      kept.push({
        ...request,
        look: judged ? followLook(request, look, entries) : { ...look, isJudged: true },
        check: undefined,
        published: judged?.published ?? request.published,
        latest: [],
      })
  })
  if (notices.length > 0 && !(await publish(notices))) return undefined
  await openRequests.put(vault, kept)
  await openRequests.close(vault, gone)

  let { waits = {}, askedUpTo = {} } = progress
  let isMore = false
  for (const kind of RequestKind.options) {
    const ofKind = asked.filter(({ request }) => request.kind === kind)
    if (seconds[kind].length > 0) waits = { ...waits, [kind]: addWaits(waits[kind] ?? [], seconds[kind]) }
    const isPage = ofKind.length === most
    isMore ||= isPage || askedUpTo[kind] !== undefined
    const { [kind]: _, ...ofOthers } = askedUpTo
    askedUpTo = isPage ? { ...ofOthers, [kind]: ofKind.at(-1)?.request } : ofOthers
  }
  const hasAsked = isMore || asked.length > gone.length
  return isMore || !hasAsked || notices.length > 0 ? { waits, askedUpTo, hasAsked } : undefined
}

/**
 * Judges requests, those with the earliest look first, by what happened to their accounts, as far as a run has steps for it:
 * the others have their turn before those that come later.
 */
async function judgeInOrder<Of extends { readonly now: OpenRequest; readonly look: Look }>(
  requests: readonly Of[],
  entriesOf: Dependencies['entriesOf'],
  judge: (of: Of, entries: readonly LedgerEntry[] | undefined) => void,
): Promise<void> {
  const waiting = requests.toSorted((one, other) => Number(one.look.number - other.look.number))
  let steps = MOST_STEPS
  for (const some of inBatches(waiting, JUDGED_AT_ONCE)) {
    if (steps < 0) return
    const read = await Promise.all(some.map(async (of) => ({ of, entries: await entriesOf(of.now.account) })))
    for (const { of, entries } of read) {
      if (steps >= 0) judge(of, entries)
      steps -= (entries?.length ?? 0) ** 2
    }
  }
}

/** Where a vault was asked, as notices have it: its requests name what was settled, no event of the vault does. */
function toSettledAt({ chainId, address }: VaultOnChain, block: BlockHeader): SettledAt {
  return { key: `${chainId}#${address}`, chainId, vault: address, transactionHash: null, ...toBlockFields(block) }
}

/** The notices of a part of a request of which clients were told before it was final: then, or once it is. */
function buildPartNotices(
  vault: VaultOnChain,
  request: OpenRequest,
  part: LatestPart,
  { isFinal }: { readonly isFinal: boolean },
): Notice[] {
  const at = isFinal ? undefined : `${part.number}#${part.timestamp}`
  return buildClaimableNotices(request, [toClaimablePart(part)], toSettledAt(vault, part), at)
}

/** The notice that a part of a request that clients were told can be claimed cannot. */
function buildPartReverted(vault: VaultOnChain, request: OpenRequest, part: LatestPart): Notice {
  const keys = buildPartNotices(vault, request, part, { isFinal: false }).map(({ key }) => key)
  // Each part has one notice.
  return buildRevertedNotice(vault, { kind: request.kind, key: keys[0] as string, ...toBlockFields(part) })
}
