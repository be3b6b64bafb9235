import * as z from 'zod'
import { ACCOUNTS } from '../../sandbox/accounts.ts'
import type { LocalChain } from '../../sandbox/chains.ts'
import { callRpc } from '../../sandbox/rpc.ts'

/** Restores a named state of chains and tables. The first call with a name builds the state instead. */
export type StateRestorer = <T>(name: string, build: () => Promise<T>) => Promise<T>

/** Takes a snapshot. The returned function restores the snapshot once. */
export type SnapshotTaker = () => Promise<() => Promise<void>>

/**
 * Creates a function that builds a named state once and restores it at later calls. Each call first undoes the changes since
 * the previous one. Otherwise leftovers would slow down later tests: anvil hashes its whole state per block, and jobs read
 * every stored vault.
 */
export function createStateRestorer(remembered: readonly SnapshotTaker[]): StateRestorer {
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
 * Creates a function that takes snapshots of a local chain. Restoring keeps the deployer's nonce, so that no two contracts get
 * the same address.
 */
export function createChainSnapshotTaker(chain: LocalChain): SnapshotTaker {
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
