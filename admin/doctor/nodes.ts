import * as z from 'zod'
import { BlockHeader } from '../../lib/chain/logs.ts'
import { groupByHost } from '../../lib/chain/readers.ts'
import type { EvmChain } from '../../lib/chain/registry.ts'
import { FailedTry, sendOnce } from '../../lib/core/http.ts'
import { compareNodes } from '../compare-nodes.ts'
import { type Finding, formatCount, guideSection, joinFirstNames } from './finding.ts'

/** Services with which the checks call chain nodes. */
export type NodeEnvironment = {
  readonly fetch: typeof fetch
  /** Returns the present time in epoch milliseconds. */
  readonly now: () => number
  /** Time limit of one request to a node, in milliseconds. */
  readonly questionMs: number
}

/** State of a chain's nodes: the usable hosts, the problems, and the newest block that a node returned. */
export type ChainNodes = {
  readonly chain: EvmChain
  readonly isConfigured: boolean
  readonly hosts: number
  /** Problems of unusable nodes, with their host names. */
  readonly problems: readonly string[]
  readonly goodHosts: number
  readonly differences: readonly string[]
  readonly head: BlockHeader | undefined
}

type Urls = readonly [string, ...string[]]

const OLD_HEAD_SECONDS = 60
const Hex = z.string().regex(/^0x[0-9a-f]{1,16}$/i)
const Answer = z.object({
  result: z.unknown().optional(),
  error: z.object({ code: z.number().optional() }).optional(),
})

/**
 * Reads the chain id and the last block from all nodes of a chain, with two requests to each URL. Compares the usable hosts if there are
 * two, with three more requests each.
 */
export async function readNodes(
  environment: NodeEnvironment,
  chain: EvmChain,
  configured: Urls | undefined,
): Promise<ChainNodes> {
  const urls = configured ?? chain.rpcUrls
  const groups = groupByHost(urls)
  const nodes = await Promise.all(urls.map(async (url) => ({ url, result: await askNode(environment, chain, url) })))
  const good = nodes.filter(({ result }) => typeof result !== 'string').map(({ url }) => url)
  const heads = nodes.flatMap(({ result }) => (typeof result === 'string' ? [] : result))
  const goodHosts = groups.filter((group) => group.some((url) => good.includes(url))).length
  const compared = nodes.flatMap(({ url, result }) => {
    if (typeof result === 'string') return []
    const askIt = (method: string, params: readonly unknown[]) =>
      ask(environment, url, method, params).catch((error: unknown) => {
        if (error instanceof FailedTry || error instanceof z.ZodError) return undefined
        throw error
      })
    return [{ name: new URL(url).host, head: result.number, ask: askIt }]
  })
  return {
    chain,
    isConfigured: configured !== undefined,
    hosts: groups.length,
    goodHosts,
    // Only the contradictions between hosts are used, because they stop users from signing. Results that one host does
    // not return are ignored: another host may return them.
    differences: goodHosts < 2 ? [] : (await compareNodes(compared)).differences,
    problems: nodes.flatMap(({ url, result }) =>
      typeof result === 'string' ? [`${new URL(url).host} ${result}`] : [],
    ),
    head: heads.toSorted((left, right) => Number(right.timestamp - left.timestamp))[0],
  }
}

/** Returns the last block of the node at this URL, or its problem. */
async function askNode(environment: NodeEnvironment, chain: EvmChain, url: string): Promise<BlockHeader | string> {
  try {
    const [id, head] = await Promise.all([
      ask(environment, url, 'eth_chainId', []),
      ask(environment, url, 'eth_getBlockByNumber', ['latest', false]),
    ])
    const chainId = Number(Hex.parse(id))
    if (chainId !== chain.id) return `is chain ${chainId}`
    const block = BlockHeader.parse(head)
    const age = Math.round(environment.now() / 1000 - Number(block.timestamp))
    return age > OLD_HEAD_SECONDS ? `has a last block of ${age} s ago` : block
  } catch (error) {
    if (error instanceof z.ZodError) return 'answers nonsense'
    if (error instanceof FailedTry) return `does not answer: ${error.message}`
    throw error
  }
}

async function ask({ fetch, questionMs }: NodeEnvironment, url: string, method: string, params: readonly unknown[]) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const answer = await sendOnce({ fetch }, { url, body }, AbortSignal.timeout(questionMs))
  if (answer.status >= 400) throw new FailedTry('upstream_unavailable', `HTTP status ${answer.status}`)
  const { result, error } = Answer.parse(answer.body)
  if (error) throw new FailedTry('upstream_unavailable', `error ${error.code}`)
  return result
}

type Settings = {
  readonly hasVaults: boolean
  readonly isProduction: boolean
  readonly isLocal: boolean
  readonly command: (text: string) => string
}

/**
 * Checks that a chain can be read and that its hosts agree. The mark is FAIL for a disagreement. Other problems are FAIL if the chain has
 * vaults, else WARN.
 */
export function checkChainNodes(
  { chain, isConfigured, hosts, goodHosts, problems, differences }: ChainNodes,
  { hasVaults, isProduction, isLocal, command }: Settings,
): Finding {
  const finding = { name: `nodes of ${chain.name}` }
  const bad = hasVaults ? 'FAIL' : 'WARN'
  const lookCloser = command(`check-nodes --chain ${chain.id}`)
  const guide = guideSection('nodes', 'What a node must support')
  if (differences.length > 0) {
    const remedy = `${lookCloser}, and docs/runbooks/nodes-disagree.md`
    return { ...finding, mark: 'FAIL', result: differences.join('; '), remedy }
  }
  if (goodHosts < Math.min(2, hosts)) {
    const result = `${goodHosts} of ${formatCount(hosts, 'host')} can be used: ${joinFirstNames(problems)}`
    return { ...finding, mark: bad, result, remedy: lookCloser }
  }
  if (hosts === 1 && !isLocal) {
    const result = 'one host alone is asked, and believed whatever it says'
    return { ...finding, mark: hasVaults && isProduction ? 'FAIL' : 'WARN', result, remedy: guide }
  }
  if (problems.length > 0) {
    return {
      ...finding,
      mark: 'WARN',
      result: `of ${formatCount(hosts, 'host')}, ${joinFirstNames(problems)}`,
      remedy: lookCloser,
    }
  }
  if (!isConfigured && hasVaults) {
    return { ...finding, mark: 'WARN', result: 'the public ones, which are for trying out', remedy: guide }
  }
  return { ...finding, mark: 'ok', result: `${formatCount(hosts, 'host')}${isConfigured ? '' : ', public'}` }
}
