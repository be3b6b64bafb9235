import { setTimeout as sleep } from 'node:timers/promises'
import { numberToHex, stringify } from 'viem'
import * as z from 'zod'
import { max } from '../core/bigint.ts'
import { AppError } from '../core/errors.ts'
import type { HttpEnvironment } from '../core/http.ts'
import { logger } from '../core/logger.ts'
import { type Result, toResult, unwrap } from '../core/result.ts'
import { sha256 } from '../core/sha256.ts'
import { maxNodeLag } from './blocks.ts'
import { blockRequest, HashedHeader, lowerBlock, parseResult } from './logs.ts'
import { createRpc } from './nodes.ts'
import { type ChainReader, createChainReader } from './reader.ts'
import { findChain, groupByHost, type RpcUrls } from './readers.ts'
import type { EvmChain } from './registry.ts'
import { isLatestHeader } from './request.ts'
import type { Rpc, RpcOptions, RpcOutcome, RpcRequest } from './rpc.ts'

/** Function that returns the reader of the chain with this id. */
export type GetReader = (chainId: number) => ChainReader

/** Callback that reads chains. It runs once for each host, possibly several times, so it must not write anything. */
type Work<T> = (getReader: GetReader) => Promise<T>

/**
 * Merges the values that two hosts returned into one value that both confirm; undefined if the hosts disagree. The host
 * of `older` had the older latest block. `heads` has both latest blocks in the same order, undefined if none was read.
 */
export type CombineValues<T> = (older: T, newer: T, heads: readonly (HashedHeader | undefined)[]) => T | undefined

/**
 * Runs `work` on two RPC hosts of each of these chains and returns the value that both hosts agree on. Values must be
 * equal unless `combine` says otherwise. If the values differ, both hosts run `work` again at the older latest block.
 * If every chain has only one host, `work` runs once, without a comparison.
 * Throws `nodes_disagree` if the values still differ. Throws `second_node_silent` if only one host responds. Throws the
 * error of `work` if both runs throw the same error.
 */
export type RunAgreed = <T>(chainIds: readonly number[], work: Work<T>, combine?: CombineValues<T>) => Promise<T>

/** A chain and one RPC client for each of its hosts, the preferred host first. */
export type Hosts = { readonly chain: EvmChain; readonly rpcs: readonly Rpc[] }

/**
 * Maximum lag, in seconds, of a healthy host's latest block behind another host's: five, plus one for a slow response.
 * On chains with slow blocks the maximum is two blocks instead.
 */
const MAX_LAG_SECONDS = 6
const MAX_LAG_BLOCKS = 2
/**
 * After a disagreement, both hosts read again at one block. That block may be at most this many seconds older than the
 * newest block seen. A host with an older block counts as wrong, not as late.
 */
const MAX_REREAD_AGE_SECONDS = 60n
/** Minimum milliseconds to wait for the second host's result before a third host is called too. */
const MIN_HEDGE_MS = 50

const SIMULATION = 'eth_simulateV1'
const HEADER = 'eth_getBlockByNumber'
const TAGS: readonly unknown[] = ['latest', 'safe', 'finalized']
/** RPC methods without a block parameter whose results still depend on the node's latest block. */
const AT_HEAD = ['eth_getTransactionReceipt']

/**
 * Creates the RunAgreed function for the RPC hosts at these URLs, by chain id. Chains without URLs use the registry's
 * public ones.
 */
export function createAgreement(rpcUrls: RpcUrls, environment: HttpEnvironment): RunAgreed {
  return createAgreementOf((chainId) => {
    const chain = findChain(chainId)
    const groups = groupByHost(rpcUrls[chainId] ?? chain.rpcUrls)
    return { chain, rpcs: groups.map((urls) => createRpc(urls, environment, { chainId })) }
  }, environment)
}

/**
 * Creates the RunAgreed function for the hosts that `findHosts` returns. Calls `findHosts` once for each chain. `now`
 * returns milliseconds.
 */
export function createAgreementOf(
  findHosts: (chainId: number) => Hosts,
  { now }: Pick<HttpEnvironment, 'now'> = { now: () => performance.now() },
): RunAgreed {
  const known = new Map<number, HostList>()
  const hostsOf = (chainId: number) => {
    const list = known.get(chainId) ?? hostList(findHosts(chainId))
    known.set(chainId, list)
    return list
  }

  return async (chainIds, work, combine = equal) => {
    const lists = [...new Set(chainIds)].map(hostsOf)
    if (lists.every(({ count }) => count === 1)) return work(readersOf(lists.map((list) => list.take(new Set()))))
    const attempts = await gather(lists, { work, now })
    const pair = findPair(attempts)
    // Hosts at fault are put last. The same holds for a host whose latest block is far from the pair's, or whose
    // response could not be parsed.
    const isOdd = (one: Attempt<unknown>) =>
      pair && (one.failure ? one.atFault.size === 0 : !areNear([...pair, one], newestOf([...pair, one])))
    for (const one of attempts) {
      for (const { list, rpc } of one.seats) if (one.atFault.has(rpc) || isOdd(one)) list.putLast(rpc)
    }
    if (!pair) throw buildSilenceError(attempts)
    const agreed = settle(pair, combine)
    if (agreed) return unwrap(agreed)

    const heads = oldestHeads(pair)
    const simulator = pair[0].canSimulate === pair[1].canSimulate ? undefined : pair.find((one) => one.canSimulate)
    let last: readonly Attempt<unknown>[] = pair
    // The first try reads at the older of the two hosts' latest blocks. The second try reads a few blocks earlier,
    // because some nodes behind a URL may not have that block yet.
    for (const isEarlier of heads.size > 0 ? [false, true] : []) {
      const fixed = { heads, isEarlier, newest: newestOf(pair), simulators: simulator?.seats ?? [] }
      const again = await gather(lists, { work, now, fixed })
      last = again
      if (!isEarlier && again.some((one) => contradicts(one, heads))) throw buildDisagreementError(pair)
      const later = findPair(again, fixed.newest)
      if (!later) continue
      const settled = settle(later, combine)
      if (settled) return unwrap(settled)
      throw buildDisagreementError(later)
    }
    throw last.some(({ failure }) => failure) ? buildSilenceError(last) : buildDisagreementError(pair)
  }
}

type HostList = {
  readonly count: number
  /**
   * Returns the most preferred host that is not in `taken`. A chain's only host is always returned, because no other
   * can serve.
   */
  readonly take: (taken: ReadonlySet<Rpc>) => Seat | undefined
  readonly putLast: (last: Rpc) => void
}

function hostList({ chain, rpcs }: Hosts): HostList {
  let order = rpcs
  const list: HostList = {
    count: rpcs.length,
    take: (taken) => {
      const rpc = rpcs.length === 1 ? rpcs[0] : order.find((one) => !taken.has(one))
      return rpc && { list, chain, rpc, place: rpcs.indexOf(rpc) }
    },
    putLast: (last) => {
      order = [...order.filter((rpc) => rpc !== last), last]
    },
  }
  return list
}

/** One chain's host in an attempt. Logs name the host by `place`, its index, because URLs contain secret keys. */
type Seat = {
  readonly list: HostList
  readonly chain: EvmChain
  readonly rpc: Rpc
  readonly place: number
}

type Heads = Map<number, Map<unknown, HashedHeader>>

type Attempt<T> = {
  readonly seats: readonly Seat[]
  readonly result: Result<T>
  /** An `upstream_*` error of a host; undefined if the callback returned a value or threw another error. */
  readonly failure: AppError | undefined
  /** Hosts that did not respond or refused a call. A host whose response cannot be parsed is not among them. */
  readonly atFault: ReadonlySet<Rpc>
  readonly heads: Heads
  readonly canSimulate: boolean
  readonly took: number
}
type Pair<T> = readonly [older: Attempt<T>, newer: Attempt<T>]

/**
 * Blocks at which hosts read again after a disagreement, in place of tags such as `latest`. `newest` has the newest
 * block time seen on each chain, in seconds since 1970. `simulators` are hosts that simulate transactions for hosts
 * that cannot.
 */
type FixedBlocks = {
  readonly heads: Heads
  readonly isEarlier: boolean
  readonly newest: ReadonlyMap<number, bigint>
  readonly simulators: readonly Seat[]
}

type Run<T> = {
  readonly work: Work<T>
  readonly now: () => number
  readonly fixed?: FixedBlocks
  readonly isOver?: () => boolean
}

/**
 * Runs the callback on hosts until two hosts respond at nearly the same latest block, or no host is left. The next host
 * replaces a failed or lagging host. A third host starts once the second host takes twice as long as the first.
 */
async function gather<T>(lists: readonly HostList[], run: Run<T>): Promise<Attempt<T>[]> {
  const newest = run.fixed?.newest
  let isOver = false
  const done: Attempt<T>[] = []
  const taken = new Set<Rpc>()
  const unparsed = new Set<Rpc>()
  const running = new Map<Promise<unknown>, readonly Seat[]>()
  // Maximum number of further attempts. A host whose response cannot be parsed may be tried again.
  let left = lists.reduce((sum, { count }) => sum + count, 0)

  const start = (): boolean => {
    const seats = lists
      .map((list) => list.take(new Set([...taken, ...unparsed])) ?? list.take(taken))
      .filter((seat) => seat !== undefined)
    if (left === 0 || seats.length < lists.length) return false
    left -= 1
    for (const { rpc } of seats) taken.add(rpc)
    const attempting = attempt(seats, { ...run, isOver: () => isOver }).then((one) => {
      done.push(one)
      running.delete(attempting)
      if (!one.failure) return
      for (const { rpc } of seats.filter((seat) => !one.atFault.has(seat.rpc))) {
        // A host that is not at fault may serve again, beside another host of the other chain.
        taken.delete(rpc)
        // Every host responded, so any of them may have sent what cannot be parsed. Other hosts are tried before them.
        if (one.atFault.size === 0) unparsed.add(rpc)
      }
    })
    // An attempt may fail after two others have agreed. Nobody needs its error then, so the rejection is ignored.
    attempting.catch(() => {})
    running.set(attempting, seats)
    return true
  }

  start()
  start()
  let isHedged = false
  while (!findPair(done, newest) && !failAlike(done)) {
    // A response that cannot be parsed counts too: it may be what the contract really returns, and the second host shows it.
    const first = done.find(({ failure, atFault }) => !failure || atFault.size === 0)
    const neededAttempts = first ? 1 : 2
    if (running.size < neededAttempts && start()) continue
    if (running.size === 0) break
    const wait = first && !isHedged && sleep(Math.max(first.took, MIN_HEDGE_MS), SLOW, { ref: false })
    if ((await Promise.race([...running.keys(), ...(wait ? [wait] : [])])) === SLOW) {
      isHedged = true
      start()
    }
  }
  isOver = true
  for (const { list, rpc } of [...running.values()].flat()) list.putLast(rpc)
  return done
}

const SLOW = 'slow'

async function attempt<T>(
  seats: readonly Seat[],
  { work, now, fixed, isOver = () => false }: Run<T>,
): Promise<Attempt<T>> {
  const begun = now()
  const heads: Heads = new Map()
  const atFault = new Set<Rpc>()
  let canSimulate = true
  const observed = seats.map(({ chain, rpc, ...seat }): Seat => {
    const noted = new Map<unknown, HashedHeader>()
    heads.set(chain.id, noted)
    const blocks = fixed && blocksOf(chain, fixed)
    const simulator = fixed?.simulators.find((one) => one.chain === chain)?.rpc ?? rpc
    const sendAndNote: Rpc = async (requests, options) => {
      if (isOver()) throw new AppError('upstream_unavailable', { cause: new Error('a pair of other hosts is found') })
      // Hosts are compared by their latest header, so requests that depend on it ask for it too.
      const needsHeader = requests.some(dependsOnHead) && !requests.some(isLatestHeader)
      const withHeader = needsHeader ? [...requests, blockRequest('latest')] : requests
      const sent = blocks ? withHeader.map((request) => atBlock(request, blocks)) : withHeader
      const isDryRun = (index: number) => requests[index]?.method === SIMULATION
      const outcomes = await sendToBoth(sent, [rpc, simulator], options)
      noteHeads(noted, withHeader, outcomes)
      // A failed simulation does not fail the host. A host that cannot simulate still serves other calls.
      const isFailedDryRun = (outcome: RpcOutcome, index: number) => isDryRun(index) && 'error' in outcome
      if (outcomes.some((outcome, index) => isRefused(outcome) && !isDryRun(index))) {
        throw new AppError('upstream_unavailable', { cause: new Error('node: refused') })
      }
      if (outcomes.some(isFailedDryRun)) canSimulate = false
      return outcomes
        .slice(0, requests.length)
        .map((outcome, index) => (isFailedDryRun(outcome, index) ? UNSUPPORTED : outcome))
    }
    const recordFault: Rpc = async (requests, options) => {
      try {
        return requests.length > 0 ? await sendAndNote(requests, options) : []
      } catch (error) {
        atFault.add(rpc)
        throw error
      }
    }
    return { ...seat, chain, rpc: recordFault }
  })
  const result = await toResult(work(readersOf(observed)))
  const failure = 'error' in result && result.error.code.startsWith('upstream_') ? result.error : undefined
  return { seats, result, failure, atFault, heads, canSimulate, took: now() - begun }
}

async function sendToBoth(
  requests: readonly RpcRequest[],
  [rpc, simulator]: readonly [Rpc, Rpc],
  options: RpcOptions | undefined,
): Promise<RpcOutcome[]> {
  if (rpc === simulator) return rpc(requests, options)
  const isDryRun = ({ method }: RpcRequest) => method === SIMULATION
  const [dryRuns, others] = await Promise.all([
    simulator(requests.filter(isDryRun), options),
    rpc(
      requests.filter((request) => !isDryRun(request)),
      options,
    ),
  ])
  // The cast is right: `dryRuns` and `others` together have one outcome for each request.
  return requests.map((request) => (isDryRun(request) ? dryRuns : others).shift() as RpcOutcome)
}

const UNSUPPORTED: RpcOutcome = { error: { code: -32_601, refusal: 'unsupported' } }

function readersOf(seats: readonly (Seat | undefined)[]): GetReader {
  const readers = new Map(seats.flatMap((seat) => (seat ? [[seat.chain.id, readerOf(seat)] as const] : [])))
  return (chainId) => {
    const reader = readers.get(chainId)
    if (!reader) throw new Error(`Chain ${chainId} is not one of the chains of this work.`)
    return reader
  }
}

function readerOf({ chain, rpc, list }: Seat): ChainReader {
  return createChainReader(chain, rpc, { nodes: Math.min(2, list.count) })
}

/** Records, for each tag such as `latest`, the lowest block header that the host has returned. */
function noteHeads(
  noted: Map<unknown, HashedHeader>,
  requests: readonly RpcRequest[],
  outcomes: readonly RpcOutcome[],
): void {
  for (const [index, { method, params }] of requests.entries()) {
    const [tag] = params
    if (method !== HEADER || !TAGS.includes(tag)) continue
    const header = parseResult(
      tag === 'latest' ? HashedHeader : HashedHeader.optional().catch(undefined),
      outcomes[index],
    )
    if (header) noted.set(tag, lowerBlock(header, noted.get(tag) ?? header))
  }
}

function dependsOnHead({ method, params }: RpcRequest): boolean {
  return AT_HEAD.includes(method) || params.some((param) => TAGS.includes(param))
}

function isRefused(outcome: RpcOutcome): boolean {
  return 'error' in outcome && (outcome.error.refusal === 'archive' || outcome.error.refusal === 'unserved')
}

/**
 * Returns the blocks that replace tags such as `latest` when hosts read again. With `isEarlier` the blocks are older,
 * so that all nodes behind a URL have them.
 */
function blocksOf(chain: EvmChain, { heads, isEarlier }: FixedBlocks): ReadonlyMap<unknown, HashedHeader> {
  const back = isEarlier ? maxNodeLag(chain) : 0n
  const ofChain = heads.get(chain.id) ?? new Map<unknown, HashedHeader>()
  return new Map([...ofChain].map(([tag, head]) => [tag, { ...head, number: max(0n, head.number - back) }]))
}

function atBlock({ method, params }: RpcRequest, blocks: ReadonlyMap<unknown, HashedHeader>): RpcRequest {
  const block = blocks.get(params.find((param) => blocks.has(param)))
  if (!block) return { method, params }
  const atNumber = params.map((param) => (blocks.has(param) ? numberToHex(block.number) : param))
  if (method !== SIMULATION) return { method, params: atNumber }
  // Node software differs in the default time of a simulated block, so both hosts get the same time.
  const time = numberToHex(block.timestamp + 1n)
  const { blockStateCalls, ...rest } = SimulationParameters.parse(params[0])
  const withTime = blockStateCalls.map((one) => ({ ...one, blockOverrides: { time } }))
  return { method, params: [{ ...rest, blockStateCalls: withTime }, ...atNumber.slice(1)] }
}

const SimulationParameters = z.looseObject({ blockStateCalls: z.array(z.looseObject({})) })

/**
 * Returns the first two attempts that responded at nearly the same latest block, the attempt with the older block
 * first. When hosts read again, `newest` is given, and a block may be up to a minute older than it.
 */
function findPair<T>(attempts: readonly Attempt<T>[], newest?: ReadonlyMap<number, bigint>): Pair<T> | undefined {
  const served = attempts.filter(({ failure }) => !failure)
  for (const [index, one] of served.entries()) {
    const other = served
      .slice(index + 1)
      .find((other) => areNear([one, other], newest ?? newestOf([one, other]), newest && MAX_REREAD_AGE_SECONDS))
    if (other) return isOlder(one, other) ? [one, other] : [other, one]
  }
  return undefined
}

function areNear(
  attempts: readonly Attempt<unknown>[],
  newest: ReadonlyMap<number, bigint>,
  seconds?: bigint,
): boolean {
  return attempts.every(({ seats, heads }) =>
    seats.every(({ chain }) => {
      const head = heads.get(chain.id)?.get('latest')
      return !head || (newest.get(chain.id) ?? 0n) - head.timestamp <= (seconds ?? maxLag(chain))
    }),
  )
}

/**
 * True if an attempt found another timestamp for a block than an earlier attempt did (`heads`). One of the two hosts is
 * then wrong.
 */
function contradicts({ heads: seen }: Attempt<unknown>, heads: Heads): boolean {
  return [...heads].some(([chainId, tags]) => {
    const [head, own] = [tags.get('latest'), seen.get(chainId)?.get('latest')]
    return head && own && head.number === own.number && head.timestamp !== own.timestamp
  })
}

/**
 * Returns the maximum seconds that a healthy host's latest block may lag behind another's: six, or the time of two
 * blocks if longer.
 */
export function maxLag({ blockSeconds }: EvmChain): bigint {
  return BigInt(Math.ceil(Math.max(MAX_LAG_BLOCKS * blockSeconds, MAX_LAG_SECONDS)))
}

function newestOf(attempts: readonly Attempt<unknown>[]): ReadonlyMap<number, bigint> {
  const newest = new Map<number, bigint>()
  for (const { heads } of attempts) {
    for (const [chainId, tags] of heads) {
      const { timestamp = 0n } = tags.get('latest') ?? {}
      newest.set(chainId, max(timestamp, newest.get(chainId) ?? 0n))
    }
  }
  return newest
}

function isOlder(one: Attempt<unknown>, other: Attempt<unknown>): boolean {
  const [number, otherNumber] = [one, other].map((attempt) => firstHead(attempt)?.number ?? 0n)
  return (number ?? 0n) <= (otherNumber ?? 0n)
}

function firstHead({ seats: [seat], heads }: Attempt<unknown>): HashedHeader | undefined {
  return seat && heads.get(seat.chain.id)?.get('latest')
}

function settle<T>(pair: Pair<T>, combine: CombineValues<T>): Result<T> | undefined {
  const [older, newer] = pair
  if (!older.seats.every(({ chain }) => areOfOneChain(chain, pair))) return undefined
  if ('value' in older.result && 'value' in newer.result) {
    const value = combine(older.result.value, newer.result.value, [firstHead(older), firstHead(newer)])
    return value === undefined ? undefined : { value }
  }
  if ('error' in older.result && 'error' in newer.result) {
    return textOfError(older.result.error) === textOfError(newer.result.error) ? older.result : undefined
  }
  // The only host that can simulate is trusted if it reports a revert. A false revert can only withhold a transaction.
  const [refused, other] = 'error' in older.result ? [older, newer] : [newer, older]
  return refused.canSimulate && !other.canSimulate ? refused.result : undefined
}

/**
 * True if the latest blocks of two hosts can belong to one chain. Hashes are compared only for the same block, or for a
 * parent and its child. For a larger distance a comparison would cost another request, so the older hash stays
 * unconfirmed.
 */
function areOfOneChain(chain: EvmChain, pair: Pair<unknown>): boolean {
  const [one, other] = pair.map(({ heads }) => heads.get(chain.id)?.get('latest'))
  if (!one || !other) return true
  const [older, newer] = one.number <= other.number ? [one, other] : [other, one]
  if (older.number === newer.number) return older.hash === newer.hash && older.timestamp === newer.timestamp
  if (older.timestamp > newer.timestamp) return false
  if (newer.number === older.number + 1n) return newer.parentHash === older.hash
  return newer.number - older.number <= BigInt(Math.ceil(Number(maxLag(chain)) / chain.blockSeconds))
}

function oldestHeads(pair: Pair<unknown>): Heads {
  const oldest: Heads = new Map()
  for (const { heads } of pair) {
    for (const [chainId, tags] of heads) {
      const known = oldest.get(chainId) ?? new Map<unknown, HashedHeader>()
      for (const [tag, header] of tags) known.set(tag, lowerBlock(header, known.get(tag) ?? header))
      if (known.size > 0) oldest.set(chainId, known)
    }
  }
  return oldest
}

/** True if two attempts failed with the same error and a replacement of their hosts cannot help. */
function failAlike([one, other]: readonly Attempt<unknown>[]): boolean {
  if (!one?.failure || !other?.failure || textOfError(one.failure) !== textOfError(other.failure)) return false
  return [one, other].every(({ seats, atFault }) =>
    seats.every(({ rpc, list }) => !atFault.has(rpc) || list.count === 1),
  )
}

function equal<T>(older: T, newer: T): T | undefined {
  return serializeForComparison(older) === serializeForComparison(newer) ? older : undefined
}

/**
 * Serializes a value, so that the values of two hosts can be compared. A Map is written as its entries. Throws an Error
 * for a function, because functions cannot be compared.
 */
export function serializeForComparison(value: unknown): string {
  return stringify(value, (key, one: unknown) => {
    if (typeof one === 'function') throw new Error(`${key} is a function: two of them cannot be compared.`)
    return one instanceof Map ? [...one] : one
  })
}

function textOfError({ code, details }: AppError): string {
  return serializeForComparison([code, details])
}

function buildDisagreementError(pair: Pair<unknown>): AppError {
  const hashes = pair.map(({ result, heads }) =>
    digest([
      'error' in result ? [result.error.code, result.error.details] : result.value,
      [...heads.values()].map((tags) => tags.get('latest')?.hash),
    ]),
  )
  const hosts = pair.flatMap(({ seats }) => seats)
  for (const place of placesOf(hosts)) logger.warn('nodes disagree', { ...place, hashes })
  return new AppError('nodes_disagree')
}

function buildSilenceError(attempts: readonly Attempt<unknown>[]): AppError {
  const failures = attempts.flatMap(({ failure }) => failure ?? [])
  const [cause] = failures
  if (cause && failures.length === attempts.length) return cause
  const isLate = (one: Attempt<unknown>) => !one.failure && !areNear([one], newestOf(attempts))
  const silent = attempts.flatMap((one) => one.seats.filter(({ rpc }) => one.atFault.has(rpc) || isLate(one)))
  const reason = cause ? String(cause.cause) : 'a node that is behind'
  for (const place of placesOf(silent)) logger.warn('second node silent', { ...place, code: cause?.code, reason })
  return new AppError('second_node_silent', { cause })
}

/** Returns the hosts' indexes by chain, for logs. Logs contain no URLs, because URLs contain secret keys. */
function placesOf(seats: readonly Seat[]): { readonly chainId: number; readonly hosts: readonly number[] }[] {
  const ofChains = Map.groupBy(
    seats.filter(({ list }) => list.count > 1),
    ({ chain }) => chain.id,
  )
  return [...ofChains].map(([chainId, ofChain]) => {
    const hosts = [...new Set(ofChain.map(({ place }) => place))].toSorted((one, other) => one - other)
    return { chainId, hosts }
  })
}

/** Returns a short hash of a value for logs; `unreadable` if a host's value is nested too deeply for JSON. */
function digest(value: unknown): string {
  try {
    return sha256(serializeForComparison(value)).slice(0, 16)
  } catch {
    return 'unreadable'
  }
}
