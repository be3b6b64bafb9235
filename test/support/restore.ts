import * as z from 'zod'
import { ACCOUNTS } from '../../sandbox/accounts.ts'
import type { LocalChain } from '../../sandbox/chains.ts'
import { callRpc } from '../../sandbox/rpc.ts'

/** Goes back to what was built under a name. */
export type Restore = <T>(name: string, build: () => Promise<T>) => Promise<T>

/** Remembers how something is now; what it returns makes it so again, once. */
export type Remember = () => Promise<() => Promise<void>>

/**
 * What `build` made under this name when it was first asked for, with all that is remembered as it was then, but for what
 * was built under other names since; whatever else was done is gone. What each test leaves would be work for all later
 * ones: anvil computes the root of its whole state for every block, and the jobs look after every vault of the tables.
 */
export function restorer(remembered: readonly Remember[]): Restore {
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

/** Remembers a chain. No contract ever stands where another one did. */
export function rememberChain(chain: LocalChain): Remember {
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
