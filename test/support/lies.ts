import { type Address, type Hash, type Hex, numberToHex, padHex } from 'viem'
import type { LocalChain } from '../../sandbox/chains.ts'
import { callRpc } from '../../sandbox/rpc.ts'
import type { RecordingProxy } from './wire.ts'

/** Storage words that a lying node reports instead of the real ones. Contract addresses and slots are in lower case. */
export type StorageOverrides = Readonly<Record<Address, Readonly<Record<Hex, Hex>>>>

type Diff = Readonly<Record<Address, { readonly storage?: Readonly<Record<Hex, Hex>> }>>

/** Returns the storage words that transactions in `act` change. Then reverts the chain to its previous state. */
export async function readStateChanges(chain: LocalChain, act: () => Promise<unknown>): Promise<StorageOverrides> {
  const [snapshot] = await callRpc(chain, [{ method: 'evm_snapshot', params: [] }])
  const headOf = async () => Number((await callRpc(chain, [{ method: 'eth_blockNumber', params: [] }]))[0])
  const before = await headOf()
  await act()
  const lie: Record<Address, Record<Hex, Hex>> = {}
  for (let number = before + 1; number <= (await headOf()); number += 1) {
    const [block] = await callRpc(chain, [{ method: 'eth_getBlockByNumber', params: [numberToHex(number), false] }])
    for (const hash of (block as { transactions: Hash[] }).transactions) {
      const tracer = { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }
      const [traced] = await callRpc(chain, [{ method: 'debug_traceTransaction', params: [hash, tracer] }])
      const { pre, post } = traced as { pre: Diff; post: Diff }
      for (const address of [...Object.keys(pre), ...Object.keys(post)] as Address[]) {
        const gone = Object.keys(pre[address]?.storage ?? {}).map((slot) => [slot, padHex('0x', { size: 32 })])
        const changed = { ...Object.fromEntries(gone), ...post[address]?.storage }
        if (Object.keys(changed).length > 0) lie[address] = { ...lie[address], ...changed }
      }
    }
  }
  await callRpc(chain, [{ method: 'evm_revert', params: [snapshot] }])
  return lie
}

type Call = { readonly method: string; readonly params: readonly unknown[] }
type Overrides = Readonly<Record<string, object>>

/** Makes a node's proxy report these storage words in all contract calls, simulations and storage reads. */
export function overrideStorage(wire: RecordingProxy, lie: StorageOverrides): void {
  const withLie = (overrides: Overrides = {}) => {
    const lower = Object.fromEntries(Object.entries(overrides).map(([address, of]) => [address.toLowerCase(), of]))
    const overridden = Object.entries(lie).map(([address, stateDiff]) => [address, { ...lower[address], stateDiff }])
    return { ...lower, ...Object.fromEntries(overridden) }
  }
  const changed = ({ method, params, ...call }: Call): Call => {
    if (method === 'eth_call') {
      const [transaction, block, overrides] = params
      return { ...call, method, params: [transaction, block, withLie(overrides as Overrides)] }
    }
    if (method === 'eth_simulateV1') {
      const [{ blockStateCalls, ...options }, block] = params as [{ blockStateCalls: object[] }, unknown]
      const blocks = blockStateCalls.map((one) => ({ ...one, stateOverrides: withLie() }))
      return { ...call, method, params: [{ ...options, blockStateCalls: blocks }, block] }
    }
    return { ...call, method, params }
  }
  wire.rewriteRequest = (body) => {
    const calls: Call | Call[] = JSON.parse(body)
    return JSON.stringify(Array.isArray(calls) ? calls.map(changed) : changed(calls))
  }
}
