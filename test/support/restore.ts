import * as z from 'zod'
import { ACCOUNTS } from '../../sandbox/accounts.ts'
import type { LocalChain } from '../../sandbox/chains.ts'
import { callRpc } from '../../sandbox/rpc.ts'

/** Goes back to what was built under a name. */
export type Restore = <T>(name: string, build: () => Promise<T>) => Promise<T>

/**
 * What `build` made under this name when it was first asked for, with the chains as they were then, but for what was
 * built under other names since; whatever else was done on them is gone. No contract ever stands where another one did.
 * Anvil computes the root of its whole state for every block, so a chain on which each test leaves its own is slow.
 */
export function restorer(chains: readonly LocalChain[]): Restore {
  const built = new Map<string, unknown>()
  let goBack: () => Promise<unknown> = async () => undefined
  return async <T>(name: string, build: () => Promise<T>) => {
    await goBack()
    if (!built.has(name)) built.set(name, await build())
    const ways = await Promise.all(chains.map(wayBack))
    goBack = () => Promise.all(ways.map((way) => way()))
    // A name stands for one `build`.
    return built.get(name) as T
  }
}

/** Takes a snapshot of a chain; what it returns goes back there, once. */
async function wayBack(chain: LocalChain): Promise<() => Promise<void>> {
  const deployer = ACCOUNTS.admin.address
  const [snapshot] = await callRpc(chain, [{ method: 'evm_snapshot', params: [] }])
  return async () => {
    const [nonce] = await callRpc(chain, [{ method: 'eth_getTransactionCount', params: [deployer, 'latest'] }])
    z.literal(true).parse((await callRpc(chain, [{ method: 'evm_revert', params: [snapshot] }]))[0])
    await callRpc(chain, [{ method: 'anvil_setNonce', params: [deployer, nonce] }])
  }
}
