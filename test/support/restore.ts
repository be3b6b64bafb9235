import * as z from 'zod'
import { ACCOUNTS } from '../../sandbox/accounts.ts'
import type { LocalChain } from '../../sandbox/chains.ts'
import { callRpc } from '../../sandbox/rpc.ts'

/** Builds a state under a name at the first call, and restores that state at each later call. */
export type Restore = <T>(name: string, build: () => Promise<T>) => Promise<T>

/** Takes a snapshot. The returned function restores it and works once. */
export type TakeSnapshot = () => Promise<() => Promise<void>>

/**
 * Returns a function that builds a state under a name once. Each call first undoes all changes since the last call. Otherwise
 * leftovers of tests would slow down all later ones: anvil hashes its whole state for every block, and jobs read every vault in
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
    // The cast is safe because each name is used with only one `build`.
    return built.get(name) as T
  }
}

/**
 * Returns a function that takes snapshots of a chain. Restoring keeps the deployer's nonce, so that no two contracts get the same
 * address.
 */
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
