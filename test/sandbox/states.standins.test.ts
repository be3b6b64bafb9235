import { expect, onTestFinished, test } from 'vitest'
import { deployBridge, deployBridgeTokens } from '../../sandbox/bridge.ts'
import { prepareStates } from '../../sandbox/chains/states.ts'
import { startChain } from '../../sandbox/chains.ts'
import { deployToken } from '../../sandbox/deploy.ts'
import { createRelayer } from '../../sandbox/relayer.ts'
import { createRewardOperator, installDistributor } from '../../sandbox/rewards.ts'
import { callRpc } from '../../sandbox/rpc.ts'

/** Starts a local chain with the bridge. The chain's clock is `secondsBehind` seconds behind. */
async function bridgedChain(chainId: number, secondsBehind: number) {
  const chain = await startChain({ chainId, startsAt: Math.floor(Date.now() / 1000) - secondsBehind })
  onTestFinished(chain.stop)
  const tokens = await deployBridgeTokens(chain, ['USDC'])
  await deployBridge(chain, tokens)
  await installDistributor(chain)
  const options = { name: 'Reward', symbol: 'REWARD', decimals: 18 }
  const rewardToken = { chainId, ...options, address: await deployToken(chain, options) }
  return { ...chain, tokens, vaults: [], rewardToken, unlisted: [rewardToken] }
}

test('A failed state is reported with its reason while all others are prepared, even with different chain clocks', async () => {
  const chains = await Promise.all([bridgedChain(8453, 0), bridgedChain(42161, 100)])
  const requestSlowFill = () => Promise.reject(new Error('The pool is paused'))
  const relayer = { ...createRelayer({ chains }), requestSlowFill }
  const grant = () => Promise.reject(new Error('The tree is disputed'))
  const rewards = { ...createRewardOperator({ chains }), grant }
  const { questions, missing } = await prepareStates(chains, { relayer, rewards }, async () => undefined)
  expect(missing).toEqual([
    { name: 'rewards', why: 'The tree is disputed' },
    { name: 'transfer bridging slowly', why: 'The pool is paused' },
  ])
  expect(questions).not.toHaveProperty('rewards claimable')
  expect(questions).not.toHaveProperty('transfer bridging slowly')
  expect(questions).toHaveProperty('transfer bridging')
  expect(questions).toHaveProperty('transfer refunded')
  expect(questions).toHaveProperty('deposit into a paused vault')
})

test('A transfer is refunded after its deadline by both chains’ clocks, whichever chain is behind', async () => {
  const chains = await Promise.all([bridgedChain(8453, 100), bridgedChain(42161, 0)])
  const relayer = createRelayer({ chains })
  const rewards = createRewardOperator({ chains })
  const { questions, missing } = await prepareStates(chains, { relayer, rewards }, async () => undefined)
  expect(missing).toEqual([])
  const [, hash] = /cross-chain\/(0x\w+)\//.exec(questions['transfer refunded']?.path ?? '') ?? []
  const refunded = (await relayer.listDeposits()).find(({ deposit }) => deposit.transactionHash === hash)
  const [payment] = await callRpc(chains[0] as (typeof chains)[0], [
    { method: 'eth_getTransactionReceipt', params: [refunded?.refundTransaction] },
  ])
  const { blockNumber } = payment as { blockNumber: string }
  const [block] = await callRpc(chains[0] as (typeof chains)[0], [
    { method: 'eth_getBlockByNumber', params: [blockNumber, false] },
  ])
  expect(Number((block as { timestamp: string }).timestamp)).toBeGreaterThan(refunded?.deposit.fillDeadline ?? Infinity)
})
