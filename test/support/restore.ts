import * as z from 'zod'
import { ACCOUNTS } from '../../sandbox/accounts.ts'
import type { LocalChain } from '../../sandbox/chains.ts'
import { callRpc } from '../../sandbox/rpc.ts'

/** Restores the state that was built under a name. */
export type Restore = <T>(name: string, build: () => Promise<T>) => Promise<T>

/** Takes a snapshot; the result restores it, once. */
export type TakeSnapshot = () => Promise<() => Promise<void>>

/**
 * Returns a function that builds a state under a name once. Each call first undoes everything since the last call's build.
 * Leftovers of tests would cost all later ones: anvil hashes its whole state for every block, and the jobs read every vault in
 * the tables.
 */
export function createRestore(remembered: readonly TakeSnapshot[]): Restore {
  const built = new Map<string, unknown>()
  let goBack: () => Promise<unknown> = async () => undefined
  return async <T>(name: string, build: () => Promise<T>) => {
    await goBack()
    if (!built.has(name)) built.set(name, await build())
    const ways = await Promise.all(remembered.map((remember) => remember()))
    goBack = () => Promise.all(ways.map((way) => way()))
    // A name stands for one `build`.
    return built.get(name) as T
  }
}

/** Takes snapshots of a chain. It keeps the deployer's nonce, so that no contract gets another one's address. */
export function createChainSnapshots(chain: LocalChain): TakeSnapshot {
  const deployer = ACCOUNTS.admin.address
  return async () => {
    const [snapshot] = await callRpc(chain, [{ method: 'evm_snapshot', params: [] }])
    return async () => {
      const [nonce] = await callRpc(chain, [{ method: 'eth_getTransactionCount', params: [deployer, 'latest'] }])
      z.literal(true).parse((await callRpc(chain, [{ method: 'evm_revert', params: [snapshot] }]))[0])
      await callRpc(chain, [{ method: 'anvil_setNonce', params: [deployer, nonce] }])
    }
  }
}
