import { encodeFunctionData, parseUnits, zeroAddress } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Backends, startBackends } from '../../../sandbox/backends.ts'
import { bridgeContracts, spokePoolAbi } from '../../../sandbox/bridge.ts'
import { transact } from '../../../sandbox/transactions.ts'
import { ALICE, approval, balanceOf, RELAYER } from './harness.ts'

let backends: Backends
beforeAll(async () => {
  backends = await startBackends({ bridgedChainIds: [56] })
})
afterAll(() => backends.stop())

type Chain = Backends['chains'][number]
const tokenOf = (chain: Chain, symbol: string) => {
  const token = chain.tokens.find((candidate) => candidate.symbol === symbol)
  if (!token) throw new Error(`There is no ${symbol}`)
  return token
}

/** The route as a stranger would take it: what the API quotes for 100 whole tokens, deposited and filled. */
const bridge = async (from: Chain, to: Chain, symbol: string) => {
  const [input, output] = [tokenOf(from, symbol), tokenOf(to, symbol)]
  const amount = parseUnits('100', input.decimals)
  const query = new URLSearchParams({
    inputToken: input.address,
    outputToken: output.address,
    originChainId: `${from.chainId}`,
    destinationChainId: `${to.chainId}`,
    amount: `${amount}`,
    allowUnmatchedDecimals: 'true',
  })
  const response = await fetch(`${backends.providers.url}/api/suggested-fees?${query}`)
  const quote: Readonly<Record<'spokePoolAddress' | 'outputAmount' | 'timestamp' | 'fillDeadline', string>> =
    JSON.parse(await response.text())
  const { pool } = bridgeContracts(from.chainId)
  expect(quote.spokePoolAddress).toBe(pool)

  const { outputAmount, timestamp, fillDeadline } = quote
  const args = [
    ...([ALICE, ALICE, input.address, output.address, amount, BigInt(outputAmount), BigInt(to.chainId)] as const),
    ...([zeroAddress, Number(timestamp), Number(fillDeadline), 0, '0x'] as const),
  ] as const
  const data = encodeFunctionData({ abi: spokePoolAbi, functionName: 'depositV3', args })
  const before = await balanceOf(to, ALICE, output.address)
  await transact(from, [
    { label: 'approve', from: ALICE, to: input.address, data: approval(pool, amount) },
    { label: 'depositV3', from: ALICE, to: pool, data },
  ])
  await backends.relayer.fillAll()
  return (await balanceOf(to, ALICE, output.address)) - before
}

test('every token goes both ways between the two chains, at what the API quotes', async () => {
  const [base, arbitrum] = backends.chains
  if (!base || !arbitrum) throw new Error('There are not two chains')
  for (const { symbol, decimals } of base.tokens) {
    expect(await bridge(base, arbitrum, symbol)).toBe(parseUnits('99.9', decimals))
    expect(await bridge(arbitrum, base, symbol)).toBe(parseUnits('99.9', decimals))
  }
})

test('a further chain has dollars of its own decimals, which go to the others and back', async () => {
  const [base, , bsc] = backends.chains
  if (!base || !bsc) throw new Error('There is no third chain')
  expect(bsc).toMatchObject({ chainId: 56, vaults: [] })
  expect(bsc.tokens.map(({ symbol, decimals }) => [symbol, decimals])).toEqual([
    ['USDC', 18],
    ['USDT', 18],
  ])
  expect(await bridge(base, bsc, 'USDC')).toBe(parseUnits('99.9', 18))
  expect(await bridge(bsc, base, 'USDT')).toBe(parseUnits('99.9', 6))
})

test('deposits of the chains are not taken for each other, for their ids differ', async () => {
  const relays = await backends.relayer.look()
  const ids = relays.map(({ deposit }) => deposit.depositId)
  expect(new Set(ids).size).toBe(ids.length)
  const firsts = backends.chains.map(
    ({ chainId }) => relays.find(({ deposit }) => deposit.originChainId === chainId)?.deposit.depositId,
  )
  expect(firsts).toEqual(backends.chains.map(({ chainId }) => BigInt(chainId)))
})

test('the relayer is told what to do beside the API, and has a name', async () => {
  const response = await fetch(`${backends.providers.url}/relayer`)
  expect(await response.json()).toMatchObject({ address: RELAYER, running: true })
})
