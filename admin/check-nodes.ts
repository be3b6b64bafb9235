import { setTimeout as sleep } from 'node:timers/promises'
import { numberToHex } from 'viem'
import * as z from 'zod'
import { maxLag } from '../lib/chain/agree.ts'
import { BlockHeader } from '../lib/chain/logs.ts'
import { MULTICALL3 } from '../lib/chain/multicall.ts'
import { groupByHost } from '../lib/chain/readers.ts'
import { EVM_CHAINS, type EvmChain } from '../lib/chain/registry.ts'
import { max } from '../lib/core/bigint.ts'
import { FailedTry, sendOnce } from '../lib/core/http.ts'
import { HOUR } from '../lib/core/time.ts'
import { COMPARISON_REQUESTS, compareNodes } from './compare-nodes.ts'

/** Nodes of a stage, and the functions to call them. */
export type Nodes = {
  readonly chainIds: readonly number[]
  /** Returns the URLs of a chain's nodes in order; they may contain API keys. Throws for a chain that the stage does not read. */
  readonly urlsOf: (chainId: number) => Promise<readonly string[]>
  readonly fetch: typeof fetch
  /** Returns the present time in epoch milliseconds. */
  readonly now: () => number
  readonly say: (line: string) => void
}

const DEADLINE_MS = 10_000
const MAX_PAUSE_SECONDS = 10
/**
 * Numbers of calls per JSON-RPC batch that the check tries with each node. The output shows the largest number that the
 * node accepts.
 */
const BATCHES = [100, 30, 10, 3, 1]
/**
 * Numbers of blocks per request for events that the check tries with each node. The output shows the largest number
 * that the node accepts.
 */
const RANGES = [10_000, 2_000, 500, 100, 10, 5, 1]
const AGES = [365 * 24, 90 * 24, 30 * 24, 7 * 24, 24, 1].map((hours) => hours * HOUR)
/**
 * Maximum number of requests to a node URL that never responds with 429. The requests read the chain id and blocks, try batches and event
 * ranges, compare nodes, and repeat refused calls.
 */
const MAX_REQUESTS = 5 + BATCHES.length + COMPARISON_REQUESTS + 2 * (RANGES.length + 2 * AGES.length + 3)
/** Number of latest blocks over which the check measures the chain's seconds per block. */
const PACE_BLOCKS = 10_000
/** Maximum number of requests to a node URL that limits its rate: the check repeats each request refused with 429 once. */
const MAX_LIMITED_REQUESTS = 2 * MAX_REQUESTS
const OLD_HEAD_SECONDS = 60
const SLOW_MS = 1_000

const UNKNOWN_ACCOUNT = '0x00000000000000000000000000000000000000A1'
const RETURNS_NOTHING = '0x5f5ff3'
/**
 * The check warns about a node that accepts fewer JSON-RPC calls per batch than this. A simulated claim takes ten
 * calls; reading positions also takes ten. A smaller batch would split these calls into several requests.
 */
const FEW_CALLS = 10
/**
 * The check warns about a node that needs more calls than this to read the events of one year. At ten calls a second,
 * that takes over an hour.
 */
const MANY_CALLS = 36_000

const Hex = z.string().regex(/^0x[0-9a-f]+$/i)
const Answer = z.object({
  result: z.unknown().optional(),
  error: z.object({ code: z.number().optional() }).optional(),
})

type NodeCapabilities = {
  readonly chainId: number
  readonly milliseconds: number
  readonly headAge: number
  /**
   * Age in seconds of the last block with the tag, such as `finalized`, that the service reads on this chain. Undefined if the node does
   * not support the tag.
   */
  readonly tagAge: number | undefined
  /** Maximum number of JSON-RPC calls in a batch; 0 if the node accepts no batches. */
  readonly calls: number
  /** Maximum number of blocks in a request for events; undefined if the node returns no events. */
  readonly blocks: number | undefined
  /**
   * Age in seconds of the oldest events that the node returns. Infinity means all events of the chain; 0 means less than an hour, the
   * smallest tested age.
   */
  readonly depth: number
  /** Age in seconds of the oldest state that the node returns. The largest tested age is a year. */
  readonly stateDepth: number
  readonly secondsPerBlock: number
  readonly overrides: boolean
  readonly simulation: boolean
  readonly isLimited: boolean
}

/**
 * Tests the nodes of these EVM chains (default: all of the stage), URL by URL. Returns lines with each node's capabilities and
 * shortcomings, and PASS or FAIL with the reason for each chain. The lines contain only the host of a URL, because a URL can contain an API
 * key.
 */
export async function checkNodes(nodes: Nodes, chainIds = nodes.chainIds): Promise<string[]> {
  const chains = EVM_CHAINS.filter(({ id }) => chainIds.includes(id))
  const count = `${chains.length} ${chains.length === 1 ? 'chain' : 'chains'}`
  const most = `at most ${MAX_REQUESTS} requests to each URL, ${MAX_LIMITED_REQUESTS} where it limits them`
  nodes.say(`Asking the nodes of ${count}, ${most}. Solana is not asked.`)
  const reports = await Promise.all(chains.map((chain) => checkChain(nodes, chain)))
  return reports.flat()
}

async function checkChain(nodes: Nodes, chain: EvmChain): Promise<string[]> {
  const urls = await nodes.urlsOf(chain.id)
  const lines = [`${chain.name} (${chain.id})`]
  const capabilities = new Map<string, NodeCapabilities>()
  for (const [index, url] of urls.entries()) {
    const { host } = new URL(url)
    nodes.say(`${chain.name}: ${host} …`)
    const one = await probe(nodes, chain, url)
    if (typeof one !== 'string' && one.chainId === chain.id) capabilities.set(url, one)
    const sublines = typeof one === 'string' ? [one] : describe(chain, one)
    lines.push(`  ${index + 1}. ${host}`, ...sublines.map((line) => `     ${line}`))
  }
  return [...lines, `  ${await judgeChain(nodes, chain, capabilities)}`, '']
}

/** Returns PASS or FAIL for a chain, with the reason. PASS needs two hosts that agree and return recent events. */
async function judgeChain(
  nodes: Nodes,
  chain: EvmChain,
  capabilities: ReadonlyMap<string, NodeCapabilities>,
): Promise<string> {
  const hosts = groupByHost([...capabilities.keys()])
  const lack = [
    { does: 'can be used', of: () => true },
    { does: 'returns events', of: ({ blocks }: NodeCapabilities) => blocks !== undefined },
    { does: `returns events of the last ${timeText(HOUR)}`, of: ({ depth }: NodeCapabilities) => depth >= HOUR },
  ].flatMap(({ does, of }) => {
    const able = hosts.filter((urls) =>
      urls.some((url) => [capabilities.get(url)].some((one) => one && of(one))),
    ).length
    return able < 2 ? [able === 0 ? `no host ${does}` : `only 1 host ${does}`] : []
  })
  const compared = hosts.length < 2 ? undefined : await compareUrls(nodes, chain, [...capabilities.keys()])
  if (compared?.differences[0]) return `FAIL: ${compared.differences.join('; ')}`
  // Missing capabilities are reported before missing responses (`silent`), because they concern more hosts.
  if (lack[0] || !compared) return `FAIL: ${lack[0]}, and what users sign and what is recorded needs 2`
  if (compared.silent[0]) return `FAIL: ${compared.silent.join('; ')}`
  return `PASS: ${hosts.length} hosts agree at block ${compared.block}`
}

async function compareUrls(nodes: Nodes, chain: EvmChain, urls: readonly string[]) {
  const heads = await Promise.all(
    urls.map(async (url) => {
      const { ask } = openNode(nodes, url)
      const { data } = BlockHeader.safeParse(await ask('eth_getBlockByNumber', 'latest', false))
      const askWith = (method: string, params: readonly unknown[]) => ask(method, ...params)
      return { name: new URL(url).host, head: data?.number, time: data?.timestamp ?? 0n, ask: askWith }
    }),
  )
  const compared = await compareNodes(
    heads.flatMap(({ head, ...node }) => (head === undefined ? [] : { ...node, head })),
  )
  const headless = heads.flatMap(({ head, name }) =>
    head === undefined ? [`${name} does not return its last block`] : [],
  )
  const newest = heads.reduce((latest, { time }) => max(latest, time), 0n)
  const late = heads.filter(({ time }) => time > 0n && newest - time > maxLag(chain))
  const behind = late.map(({ name, time }) => `${name} is ${newest - time} s behind`)
  // A node whose last block is late is reported only if fewer than two other nodes are on time. With two, the service
  // sends the late node no requests until it catches up.
  return { ...compared, silent: [...headless, ...(urls.length - late.length < 2 ? behind : []), ...compared.silent] }
}

/** Returns the capabilities of the node at this URL, or the reason why they are unknown. */
async function probe(nodes: Nodes, chain: EvmChain, url: string): Promise<NodeCapabilities | string> {
  const node = openNode(nodes, url)
  const started = nodes.now()
  const chainId = Hex.safeParse(await node.ask('eth_chainId')).data
  const milliseconds = nodes.now() - started
  const head = BlockHeader.safeParse(await node.ask('eth_getBlockByNumber', 'latest', false)).data
  if (chainId === undefined || !head) return `DOES NOT ANSWER: ${node.failure()}. Nothing is read from it.`
  const tagged = BlockHeader.safeParse(await node.ask('eth_getBlockByNumber', chain.finality.tag, false)).data
  const ageOf = ({ timestamp }: BlockHeader) => Math.max(0, Math.round(nodes.now() / 1000 - Number(timestamp)))

  const calls = (await firstOf(BATCHES, node.takesBatch)) ?? 0
  const headNumber = Number(head.number)
  const takesEvents = (from: number, blocks: number) =>
    node.takes('eth_getLogs', {
      address: UNKNOWN_ACCOUNT,
      fromBlock: numberToHex(from),
      toBlock: numberToHex(Math.min(headNumber, from + blocks - 1)),
    })
  const blocks = await firstOf(RANGES, (range) => takesEvents(Math.max(0, headNumber - range + 1), range))
  const paceFrom = Math.max(1, headNumber - PACE_BLOCKS)
  const early = BlockHeader.safeParse(await node.ask('eth_getBlockByNumber', numberToHex(paceFrom), false)).data
  const secondsPerBlock =
    early && head.number > early.number
      ? Number(head.timestamp - early.timestamp) / Number(head.number - early.number)
      : chain.blockSeconds
  const depth =
    blocks === undefined
      ? 0
      : await firstReached([Number.POSITIVE_INFINITY, ...AGES], (from) => takesEvents(from, blocks))

  // Account balances are not read at the first block of the chain. No tested node returns the oldest states of Arbitrum
  // and OP Mainnet, from before the upgrades of these chains.
  const stateDepth = await firstReached(AGES, (from) =>
    node.takes('eth_getBalance', UNKNOWN_ACCOUNT, numberToHex(from)),
  )

  /** Returns the first of these ages, in seconds, for which `holds` returns true for the block of that age; 0 if none. */
  async function firstReached(ages: readonly number[], holds: (from: number) => Promise<boolean>): Promise<number> {
    const reaches = (age: number) => {
      if (age === Number.POSITIVE_INFINITY) return holds(0)
      const from = headNumber - Math.ceil(age / secondsPerBlock)
      return from > 0 && holds(from)
    }
    return (await firstOf(ages, reaches)) ?? 0
  }

  const call = { to: MULTICALL3, data: '0x' }
  return {
    chainId: Number(chainId),
    milliseconds,
    headAge: ageOf(head),
    tagAge: tagged && ageOf(tagged),
    calls,
    blocks,
    depth,
    stateDepth,
    secondsPerBlock,
    overrides: await node.takes('eth_call', call, 'latest', { [MULTICALL3]: { code: RETURNS_NOTHING } }),
    simulation: await node.takes(
      'eth_simulateV1',
      { blockStateCalls: [{ calls: [{ from: UNKNOWN_ACCOUNT, ...call }] }] },
      'latest',
    ),
    isLimited: node.isLimited(),
  }
}

async function firstOf(
  candidates: readonly number[],
  holds: (candidate: number) => boolean | Promise<boolean>,
): Promise<number | undefined> {
  for (const candidate of candidates) if (await holds(candidate)) return candidate
  return undefined
}

/**
 * Returns functions that send requests to the node at this URL. They bypass the service's retries and its switches to other nodes, so that
 * the check sees each refusal.
 */
function openNode(nodes: Nodes, url: string) {
  let isLimited = false
  let failure = 'no answer'

  /** Returns the JSON of a successful response, else undefined. Repeats a request refused with 429 after a pause. */
  async function post(body: unknown, triesLeft = 1): Promise<unknown> {
    try {
      const request = { url, body: JSON.stringify(body) }
      const answer = await sendOnce(nodes, request, AbortSignal.timeout(DEADLINE_MS))
      failure = `HTTP status ${answer.status}`
      if (answer.status < 300) return answer.body
      if (answer.status !== 429) return undefined
      isLimited = true
      if (triesLeft === 0) return undefined
      await sleep(Math.min(answer.retryAfterSeconds ?? 1, MAX_PAUSE_SECONDS) * 1000)
      return await post(body, triesLeft - 1)
    } catch (error) {
      if (!(error instanceof FailedTry)) throw error
      failure = error.message
      return undefined
    }
  }

  const ask = async (method: string, ...params: unknown[]): Promise<unknown> => {
    const answer = Answer.safeParse(await post({ jsonrpc: '2.0', id: 1, method, params })).data
    if (answer?.error) failure = `error ${answer.error.code}`
    return answer?.result
  }
  return {
    ask,
    /** Returns whether the node returns a result for a call. Repeats a refused call once, because nodes sometimes fail. */
    takes: async (method: string, ...params: unknown[]): Promise<boolean> =>
      ((await ask(method, ...params)) ?? (await ask(method, ...params))) !== undefined,
    async takesBatch(calls: number): Promise<boolean> {
      const batch = Array.from({ length: calls }, (_, id) => ({
        jsonrpc: '2.0',
        id,
        method: 'eth_chainId',
        params: [],
      }))
      const answer = await post(batch)
      return Array.isArray(answer) && answer.length === calls
    },
    failure: () => failure,
    isLimited: () => isLimited,
  }
}

/** Describes the node's capabilities, then the features of the service that will not work with this node. */
function describe(chain: EvmChain, node: NodeCapabilities): string[] {
  const { chainId, calls, blocks, depth, stateDepth, overrides, simulation } = node
  if (chainId !== chain.id) {
    return [`WRONG CHAIN: it is chain ${chainId}, not ${chain.id}. Nothing is read from it: take it out.`]
  }
  return [
    [
      `head ${timeText(node.headAge)} old`,
      `${chain.finality.tag} ${node.tagAge === undefined ? 'unknown' : `${timeText(node.tagAge)} old`}`,
      `${node.milliseconds} ms`,
    ].join(', '),
    [
      calls === 0 ? 'no batches' : `${calls} ${calls === 1 ? 'call' : 'calls'} a request`,
      blocks === undefined ? 'no events' : `events of ${blocks} blocks a call, ${depthText(depth)}`,
      `states ${depthText(stateDepth)}`,
      overrides ? 'state overrides' : 'no state overrides',
      simulation ? 'simulation' : 'no simulation',
    ].join(', '),
    ...listLimitations(chain, node).map((lack) => `- ${lack}`),
  ]
}

function listLimitations(chain: EvmChain, node: NodeCapabilities): string[] {
  const { blocks, depth, stateDepth, secondsPerBlock, tagAge } = node
  const callsAYear = blocks === undefined ? 0 : Math.ceil((365 * 24 * HOUR) / secondsPerBlock / blocks)
  const lines: readonly (readonly [boolean, string])[] = [
    [
      blocks === undefined,
      'Positions and history of vaults cannot be read, nor transfers between chains to their end.',
    ],
    [
      blocks !== undefined && depth !== Number.POSITIVE_INFINITY,
      `Positions of vaults older than ${timeText(depth || HOUR)} cannot be read, unless another node has their past.`,
    ],
    [
      stateDepth < Math.max(...AGES),
      `Yields older than ${timeText(stateDepth || HOUR)} cannot be read, unless two other nodes have those states.`,
    ],
    [
      callsAYear > MANY_CALLS,
      `A year of the past takes ${callsAYear} calls for events: new vaults take long to be read.`,
    ],
    [!node.overrides, 'Each reading of an async vault takes about ten calls more.'],
    [!node.simulation, 'Deposits and claims are handed out without having been tried ("simulation": "unavailable").'],
    [node.calls < FEW_CALLS, 'Each reading takes several requests.'],
    [node.isLimited, 'It limited these few requests (429): in use it will do so often.'],
    [tagAge === undefined, `Without the tag "${chain.finality.tag}" what is final is told by age alone.`],
    [node.headAge > OLD_HEAD_SECONDS, 'What is shown is as old as its head.'],
    [node.milliseconds > SLOW_MS, 'It is slow: an answer may take 3 s in all, then the next node is asked.'],
  ]
  return lines.flatMap(([isLacking, line]) => (isLacking ? [line] : []))
}

function depthText(depth: number): string {
  if (depth === Number.POSITIVE_INFINITY) return 'of the whole past'
  return depth === 0 ? `of less than ${timeText(HOUR)}` : `of the last ${timeText(depth)} at least`
}

function timeText(seconds: number): string {
  if (seconds < 2 * 60) return `${seconds} s`
  if (seconds < 2 * HOUR) return `${Math.round(seconds / 60)} minutes`
  if (seconds < 2 * 24 * HOUR) return `${Math.round(seconds / HOUR)} hours`
  return `${Math.round(seconds / (24 * HOUR))} days`
}
