import { encodeWord, isSameAddress } from './calls.ts'
import { toPrintable } from './printable.ts'
import { Refusal } from './refusal.ts'

/** Access to the caller's own blockchain node. */
export type NodeAccess = {
  /** JSON-RPC URL of the node, or one URL for each chain id. */
  readonly url: string | Readonly<Record<number, string>>
  /** Replaces the platform's own `fetch`. */
  readonly fetch?: typeof fetch | undefined
  /** Milliseconds to wait for each response; 15,000 by default. */
  readonly timeoutMs?: number | undefined
}

/** Calls a method of a blockchain node. Throws a Refusal (`node_failed`) if no JSON response arrives. */
export type Rpc = (method: string, params: readonly unknown[]) => Promise<RpcReply>
type RpcReply = { readonly result?: unknown; readonly error?: unknown }

/** Call to simulate; data and value start with 0x. */
export type TriedCall = { readonly to: string; readonly data: string; readonly value?: string }

/** Amounts of tokens that left and reached the user in a simulation, by lower-case token address. */
type Moved = ReadonlyMap<string, { readonly sent: bigint; readonly received: bigint }>

/** Results of simulated transactions and view calls on a node's latest block. */
export type DryRun = {
  /** 32-byte words that each view call returned; an empty list if it reverted. */
  readonly views: readonly (readonly bigint[])[]
  /** 32-byte words that each transaction returned; undefined if it was not simulated. */
  readonly returned: readonly (readonly bigint[] | undefined)[]
  /** Amounts of tokens that left and reached the user. Undefined if the node cannot simulate several transactions, or leaves out logs. */
  readonly moved: Moved | undefined
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/**
 * Gas limit of one view call: one million. It suffices for a vault that invests in many markets. Seven such calls, the most in one
 * simulation, fit into a block of any chain.
 */
const VIEW_GAS = '0xf4240'
const REVERT_CODE = 3

/** Connects to the node of a chain. Throws a Refusal if no node is configured, or if it serves another chain. */
export async function openNode(
  { url, fetch = globalThis.fetch, timeoutMs = 15_000 }: NodeAccess,
  chainId: number,
): Promise<Rpc> {
  const place = typeof url === 'string' ? url : url[chainId]
  if (place === undefined) throw new Refusal('wrong_chain', `You named no node of chain ${chainId}.`)
  const rpc: Rpc = async (method, params) => {
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(), timeoutMs)
    try {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(place, { method: 'POST', headers, body, signal: controller.signal })
      return readFields(await response.json())
    } catch {
      // The node's own error may contain the URL with a key, so it is not passed on.
      throw new Refusal('node_failed', `Your node gave no response to ${method}.`)
    } finally {
      clearTimeout(timer)
    }
  }
  const { result } = await rpc('eth_chainId', [])
  if (typeof result !== 'string' || !/^0x[0-9a-f]{1,16}$/i.test(result)) {
    throw new Refusal('node_failed', 'Your node does not say of which chain it is.')
  }
  if (BigInt(result) !== BigInt(chainId)) {
    throw new Refusal('wrong_chain', `Your node is of chain ${BigInt(result)}; the transactions are for ${chainId}.`)
  }
  return rpc
}

/**
 * Simulates view calls and then a user's transactions in order, on the node's latest block (`eth_simulateV1`). If the node cannot simulate,
 * or leaves out logs, only the transaction with index `first` is tried, by `eth_call`. Throws a Refusal if a transaction reverts.
 */
export async function dryRun(
  rpc: Rpc,
  user: string,
  { views, transactions, first }: Record<'views' | 'transactions', readonly TriedCall[]> & { readonly first: number },
): Promise<DryRun> {
  const calls = [
    ...views.map(({ to, data }) => ({ from: user, to, data, gas: VIEW_GAS })),
    ...transactions.map((transaction) => ({ from: user, ...transaction })),
  ]
  const { result, error } = await rpc('eth_simulateV1', [{ blockStateCalls: [{ calls }], validation: false }, 'latest'])
  // An error means that the node does not support simulation, so only the transaction `first` is tried, by `eth_call`.
  if (error !== undefined && error !== null) return callFirst(rpc, user, { views, transactions, first })
  const [block] = readList(result)
  const results = readList(readFields(block)['calls']).map(readFields)
  if (results.length !== calls.length) {
    throw new Refusal('node_failed', 'Your node gave no result for each transaction.')
  }
  const tried = results.slice(views.length)
  const reverted = tried.findIndex(({ status }) => status !== '0x1')
  if (reverted >= 0) throw revertOf(reverted, tried[reverted]?.['error'])
  // Only logs show which tokens move, so a simulation without logs is not used.
  if (!tried.every(({ logs }) => Array.isArray(logs))) return callFirst(rpc, user, { views, transactions, first })
  return {
    views: results
      .slice(0, views.length)
      .map(({ status, returnData }) => (status === '0x1' ? readWords(returnData) : [])),
    returned: tried.map(({ returnData }) => readWords(returnData)),
    moved: movementsIn(
      tried.flatMap(({ logs }) => readList(logs)),
      user,
    ),
  }
}

async function callFirst(
  rpc: Rpc,
  user: string,
  { views, transactions, first }: Record<'views' | 'transactions', readonly TriedCall[]> & { readonly first: number },
): Promise<DryRun> {
  const call = (tried: TriedCall) => rpc('eth_call', [{ from: user, ...tried }, 'latest'])
  const [viewWords, returned] = await Promise.all([
    Promise.all(views.map(async (view) => readWords((await call(view)).result))),
    Promise.all(
      transactions.map(async (transaction, index) => {
        if (index !== first) return undefined
        const { result, error } = await call(transaction)
        if (typeof result === 'string') return readWords(result)
        throw isRevert(error) ? revertOf(index, error) : failed('eth_call', error)
      }),
    ),
  ])
  return { views: viewWords, returned, moved: undefined }
}

function movementsIn(logs: readonly unknown[], user: string): Moved {
  const holder = `0x${encodeWord(user)}`
  const moved = new Map<string, { sent: bigint; received: bigint }>()
  for (const log of logs.map(readFields)) {
    const [topic, from, to, id] = readList(log['topics']).map(String)
    const { address, data } = log
    if (topic !== TRANSFER || from === undefined || to === undefined || typeof address !== 'string') continue
    // An ERC-20 transfer has the amount as data. An ERC-721 transfer has a token id as fourth topic, and moves one token.
    const amount = id === undefined ? (readWords(data)[0] ?? 0n) : 1n
    const token = address.toLowerCase()
    const { sent, received } = moved.get(token) ?? { sent: 0n, received: 0n }
    moved.set(token, {
      sent: sent + (isSameAddress(from, holder) ? amount : 0n),
      received: received + (isSameAddress(to, holder) ? amount : 0n),
    })
  }
  return moved
}

function isRevert(error: unknown): boolean {
  const { code, message } = readFields(error)
  return code === REVERT_CODE || /\brevert/i.test(String(message))
}

function failed(method: string, error: unknown): Refusal {
  return new Refusal('node_failed', `Your node refuses ${method}: ${textOf(error)}.`)
}

function revertOf(index: number, error: unknown): Refusal {
  return new Refusal('reverted', `Transaction ${index + 1} reverts at your node: ${textOf(error)}.`)
}

/** Returns an error's message, without unprintable characters because a contract may have written it. */
function textOf(error: unknown): string {
  const { message } = readFields(error)
  return typeof message === 'string' ? toPrintable(message) : 'without a reason'
}

function readWords(data: unknown): bigint[] {
  if (typeof data !== 'string' || !/^0x([0-9a-f]{64})+$/i.test(data)) return []
  return (data.slice(2).match(/.{64}/g) ?? []).map((text) => BigInt(`0x${text}`))
}

function readList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function readFields(value: unknown): Readonly<Record<string, unknown>> {
  // The cast is safe because any object is a record with text keys and unknown values.
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}
