import { expect, onTestFinished, test } from 'vitest'
import { deployBridge, deployBridgeTokens } from '../../sandbox/bridge.ts'
import { playStates } from '../../sandbox/chains/states.ts'
import { startChain } from '../../sandbox/chains.ts'
import { createRelayer } from '../../sandbox/relayer.ts'

/** A chain with the bridge, whose clock is so many seconds behind. */
async function bridgedChain(chainId: number, secondsBehind: number) {
  const chain = await startChain({ chainId, startsAt: Math.floor(Date.now() / 1000) - secondsBehind })
  onTestFinished(chain.stop)
  const tokens = await deployBridgeTokens(chain, ['USDC'])
  await deployBridge(chain, tokens)
  return { ...chain, tokens, vaults: [] }
}

test('A state that cannot be made is named with its reason; all others are made, also where the clocks of chains differ', async () => {
  const chains = await Promise.all([bridgedChain(8453, 0), bridgedChain(42161, 100)])
  const requestSlowFill = () => Promise.reject(new Error('The pool is paused'))
  const relayer = { ...createRelayer({ chains }), requestSlowFill }
  const { questions, missing } = await playStates(chains, relayer, async () => undefined)
  expect(missing).toEqual([{ name: 'transfer bridging slowly', why: 'The pool is paused' }])
  expect(questions).not.toHaveProperty('transfer bridging slowly')
  expect(questions).toHaveProperty('transfer bridging')
  expect(questions).toHaveProperty('transfer refunded')
  expect(questions).toHaveProperty('deposit into a paused vault')
})
