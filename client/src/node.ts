import { encodeWord, isSame } from './calls.ts'
import { toPrintable } from './printable.ts'
import { Refusal } from './refusal.ts'

/** Access to a node. */
export type NodeAccess = {
  /** JSON-RPC URL, or one for each chain by its id. */
  readonly url: string | Readonly<Record<number, string>>
  /** Platform's own by default. */
  readonly fetch?: typeof fetch | undefined
  /** Milliseconds to wait for each response; 15,000 by default. */
  readonly timeoutMs?: number | undefined
}

/** Calls a node. Throws a Refusal (`node_failed`) if no JSON comes back. */
export type Rpc = (method: string, params: readonly unknown[]) => Promise<RpcReply>
type RpcReply = { readonly result?: unknown; readonly error?: unknown }

/** Call to try; data and value have 0x. */
export type TriedCall = { readonly to: string; readonly data: string; readonly value?: string }

/** Tokens that left and reached the user in a dry run, by lower-case token. */
type Moved = ReadonlyMap<string, { readonly given: bigint; readonly received: bigint }>

/** Results of transactions and views on a node's latest block. */
export type DryRun = {
  /** 32-byte words that each view returned; none if it reverted. */
  readonly views: readonly (readonly bigint[])[]
  /** Words that each transaction returned; undefined if it was not tried. */
  readonly returned: readonly (readonly bigint[] | undefined)[]
  /** Undefined if the node cannot simulate, or leaves out logs. */
  readonly moved: Moved | undefined
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** Gas of a view: one million. That is enough for a vault of many markets, and seven views fit in any chain's block. */
const VIEW_GAS = '0xf4240'
const REVERT_CODE = 3

/** Connects to the node of a chain. Throws a Refusal if there is none, or if it serves another chain. */
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
      // The error may name the URL, which may contain a key.
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
 * Tries a user's transactions in order, after views, all on the node's latest block. If the node cannot simulate, or leaves out
 * logs, it tries only the `first` transaction, by `eth_call`. Throws a Refusal if one reverts.
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
  // Nodes that cannot simulate return an error.
  if (error !== undefined && error !== null) return callFirst(rpc, user, { views, transactions, first })
  const [block] = readList(result)
  const results = readList(readFields(block)['calls']).map(readFields)
  if (results.length !== calls.length) {
    throw new Refusal('node_failed', 'Your node gave no result for each transaction.')
  }
  const tried = results.slice(views.length)
  const reverted = tried.findIndex(({ status }) => status !== '0x1')
  if (reverted >= 0) throw revertOf(reverted, tried[reverted]?.['error'])
  // Only logs show which tokens move.
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
  const [seen, returned] = await Promise.all([
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
  return { views: seen, returned, moved: undefined }
}

function movementsIn(logs: readonly unknown[], user: string): Moved {
  const holder = `0x${encodeWord(user)}`
  const moved = new Map<string, { given: bigint; received: bigint }>()
  for (const log of logs.map(readFields)) {
    const [topic, from, to, id] = readList(log['topics']).map(String)
    const { address, data } = log
    if (topic !== TRANSFER || from === undefined || to === undefined || typeof address !== 'string') continue
    // ERC-20 has the amount as data. ERC-721 has a token id as fourth topic, and moves one.
    const amount = id === undefined ? (readWords(data)[0] ?? 0n) : 1n
    const token = address.toLowerCase()
    const { given, received } = moved.get(token) ?? { given: 0n, received: 0n }
    moved.set(token, {
      given: given + (isSame(from, holder) ? amount : 0n),
      received: received + (isSame(to, holder) ? amount : 0n),
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

/** Returns an error's message, made printable because a contract may have written it. */
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
  // The cast is safe because any object is such a record.
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}
