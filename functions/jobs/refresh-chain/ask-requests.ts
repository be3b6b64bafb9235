import { followRequest, judgeRequest } from '../../../lib/activity/asked-requests.ts'
import type { LedgerEntry } from '../../../lib/activity/ledger-entry.ts'
import { buildClaimableNotices } from '../../../lib/activity/notices.ts'
import type { OpenRequest } from '../../../lib/activity/open-requests.ts'
import type { OpenRequestsStore } from '../../../lib/activity/open-requests-store.ts'
import { addWaits } from '../../../lib/activity/settlement-waits.ts'
import type { VaultProgress } from '../../../lib/activity/store.ts'
import { type BlockHeader, toStoredBlock } from '../../../lib/chain/logs.ts'
import type { ChainReader } from '../../../lib/chain/reader.ts'
import { MAX_UINT256 } from '../../../lib/codecs.ts'
import { logger } from '../../../lib/logger.ts'
import type { OpenAmounts } from '../../../lib/protocols/protocol.ts'
import { getProtocol } from '../../../lib/protocols/protocols.ts'
import { RequestKind } from '../../../lib/protocols/request-kind.ts'
import type { VaultOnChain } from '../../../lib/protocols/vault-on-chain.ts'
import { sideBySide } from '../../../lib/side-by-side.ts'
import { toSeconds } from '../../../lib/time.ts'
import type { Notice } from '../../../lib/webhooks/event.ts'
import { publishOf } from './publish-notices.ts'
import { RUN_EVERY_MS, type Run, save } from './run.ts'
import { accountEntries } from './slice-notices.ts'

/** So many vaults a run asks what became of requests. */
const MOST_ASKED = 20

/** Asks vaults of which no event tells that requests are settled, in turn where they are many. */
export async function askVaults(run: Run): Promise<void> {
  const { vaultRuns, reader, records, openRequests, final, now } = run
  const due = vaultRuns.filter(
    ({ progress, saved, isRefused }) =>
      progress.hasAsked === true && saved !== undefined && progress.through >= final.number && !isRefused,
  )
  const first = (Math.floor(now() / RUN_EVERY_MS) * MOST_ASKED) % Math.max(1, due.length)
  const inTurn = [...due.slice(first), ...due.slice(0, first)].slice(0, MOST_ASKED)
  if (inTurn.length === 0) return
  try {
    const asked = await askRequests({ reader, openRequests }, inTurn)
    for (const [index, vaultRun] of inTurn.entries()) {
      const { vault, progress } = vaultRun
      const entriesOf = accountEntries(records, { vault, progress, entries: [] })
      const publish = async (notices: readonly Notice[]) => {
        if (progress.eventsAfter === undefined) return true
        return (await publishOf(run, [{ vaultRun, notices }])).length > 0
      }
      const changed = await settleAsked({ openRequests, entriesOf, publish }, vaultRun, asked[index] ?? [], final)
      if (changed) vaultRun.progress = { ...progress, ...changed }
      if (changed) await save(run, [vaultRun])
    }
  } catch (error) {
    logger.warn('requests not asked for', { chainId: reader.chain.id, reason: String(error) })
  }
}

/** A vault whose events do not tell of settlements. */
type AskedVault = { readonly vault: VaultOnChain; readonly progress: VaultProgress }

/** Of how many requests of a kind a vault is asked in one run. */
const ASKED_AT_ONCE = 100
/**
 * To judge a request takes as many steps as the square of what happened to its account. Of a vault a run takes so many, about
 * a tenth of a second, and one request more; the others wait for the next run.
 */
const MOST_STEPS = 2_000_000

/**
 * Asks vaults what became of requests that wait, in one round trip, and gives for each what it says of them. Throws
 * `upstream_*`.
 */
async function askRequests(
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
 * Tells clients what more can be claimed of requests of a vault, once the block at which that was seen first is final, and
 * forgets those of which everything was claimed or taken back. Returns what of the vault's progress changes by it,
 * undefined where nothing does.
 */
async function settleAsked(
  { openRequests, entriesOf, publish }: Dependencies,
  { vault, progress }: AskedVault,
  asked: readonly AskedRequest[],
  final: BlockHeader,
): Promise<Pick<VaultProgress, 'waits' | 'hasAsked' | 'askedUpTo'> | undefined> {
  const reading = { ...vault, generation: progress.generation }
  const followed = asked.map(({ request, amounts, block }) => ({
    request,
    now: amounts ? followRequest(request, { amounts, block }) : request,
  }))
  // Before anything is told of it, so that it is the same whenever it is told.
  await openRequests.put(
    reading,
    followed.flatMap(({ request, now }) => (now === request ? [] : [now])),
  )

  const notices: Notice[] = []
  const kept: OpenRequest[] = []
  const gone: OpenRequest[] = []
  let steps = MOST_STEPS
  const seconds: Record<RequestKind, number[]> = { deposit: [], withdrawal: [] }
  await sideBySide(followed, async ({ now: request }) => {
    const { look, account, kind } = request
    if (!look || look.isJudged || look.number > final.number) return
    const entries = await entriesOf(account)
    if (steps < 0) return
    steps -= (entries?.length ?? 0) ** 2
    const judged = entries && judgeRequest(request, look, entries)
    if (judged ? judged.parts.length > 0 : look.claimable > 0n) {
      const { chainId, address } = vault
      // Its requests name it; no event of the vault does.
      const at = {
        key: `${chainId}#${address}`,
        chainId,
        vault: address,
        transactionHash: null,
        ...toStoredBlock(look),
      }
      notices.push(...buildClaimableNotices(request, judged?.parts, at))
      seconds[kind].push(Number(look.timestamp - toSeconds(request.timestamp)))
    }
    // What is too much to be looked through is told once.
    const isGone = judged ? judged.isGone : look.claimable > 0n
    if (isGone) gone.push(request)
    else kept.push({ ...request, look: { ...look, isJudged: true }, published: judged?.published })
  })
  if (notices.length > 0 && !(await publish(notices))) return undefined
  await openRequests.put(reading, kept)
  await openRequests.close(reading, gone)

  let { waits = {}, askedUpTo = {} } = progress
  let isMore = false
  for (const kind of RequestKind.options) {
    const ofKind = asked.filter(({ request }) => request.kind === kind)
    if (seconds[kind].length > 0) waits = { ...waits, [kind]: addWaits(waits[kind] ?? [], seconds[kind]) }
    const isPage = ofKind.length === ASKED_AT_ONCE
    isMore ||= isPage || askedUpTo[kind] !== undefined
    const { [kind]: _, ...ofOthers } = askedUpTo
    askedUpTo = isPage ? { ...ofOthers, [kind]: ofKind.at(-1)?.request } : ofOthers
  }
  const hasAsked = isMore || asked.length > gone.length
  return isMore || !hasAsked || notices.length > 0 ? { waits, askedUpTo, hasAsked } : undefined
}
