import { deployBridge } from '../../sandbox/bridge.ts'
import { startChain } from '../../sandbox/chains.ts'
import { deployToken } from '../../sandbox/deploy.ts'
import { createRelayer } from '../../sandbox/relayer.ts'
import { callRpc } from '../../sandbox/rpc.ts'
import { test as base, startConfiguredService } from './cross-chain.ts'

/** Chain id of BNB Smart Chain and the address of its USDC. */
export const BNB = { CHAIN: 56, USDC: '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d' } as const

/** Test fixtures that add a third chain, BNB Smart Chain, where USDC has 18 decimals. */
export const test = base
  .extend('sharedWithBnb', { scope: 'file' }, async ({ sharedService }, { onCleanup }) => {
    const { CHAIN, USDC } = BNB
    const chain = await startChain({ chainId: CHAIN })
    const token = { chainId: CHAIN, address: USDC, name: 'Binance-Peg USD Coin', symbol: 'USDC', decimals: 18 }
    const code = await callRpc(chain, [{ method: 'eth_getCode', params: [await deployToken(chain, token), 'latest'] }])
    // The token's name and symbol are in its storage, so the copied bytecode lacks them. No test reads them.
    await callRpc(chain, [{ method: 'anvil_setCode', params: [USDC, ...code] }])
    await deployBridge(chain, [token])

    const chains = [...sharedService.backends.chains, { ...chain, tokens: [token], vaults: [] }]
    const { stop, ...configured } = await startConfiguredService(sharedService, {
      chains,
      relayer: createRelayer({ chains }),
    })
    onCleanup(async () => {
      await stop()
      await chain.stop()
    })
    return configured
  })
  .extend('withBnb', ({ service: _, sharedWithBnb }) => {
    sharedWithBnb.bridge.answer = undefined
    return sharedWithBnb
  })
