import { type Address, encodeFunctionData, parseAbi } from 'viem'
import { readContract } from 'viem/actions'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { settle } from '../../../sandbox/curator.ts'
import { deployLagoonVault, deployYieldVault, type LagoonGeneration } from '../../../sandbox/deploy.ts'
import { ADMIN, SAFE, VALUER } from '../harness.ts'
import { LAGOON } from '../lagoon-abi.ts'
import { ALICE, approval, callOf, callWithBalance, messageOf, openBridge } from './harness.ts'

let bridge: Awaited<ReturnType<typeof openBridge>>
beforeAll(async () => {
  bridge = await openBridge()
})
afterAll(() => bridge.stop())

const YIELD = parseAbi([
  'function deposit(uint256 assets, address receiver) returns (uint256)',
  'function balanceOf(address) view returns (uint256)',
  'function pause()',
])

type Token = 'usdc' | 'usdt'
type Kind = { readonly calldata: `0x${string}`; readonly token?: Token }

/** A deposit of 100 dollars on the origin whose message deposits what arrives into a vault for Alice. */
const send = async (vault: Address, { calldata, token = 'usdc' }: Kind) => {
  const { origin, destination } = bridge
  const asset = destination[token]
  const withBalance = (target: Address, data: `0x${string}`, offset: bigint) =>
    callWithBalance(destination.handler, target, data, [{ token: asset, offset }])
  const calls = [
    callOf(asset, approval(vault, 0n)),
    withBalance(asset, approval(vault, 0n), 36n),
    withBalance(vault, calldata, 4n),
  ]
  const message = messageOf(calls, ALICE)
  return bridge.deposit({
    recipient: destination.handler,
    depositor: ALICE,
    inputToken: origin[token],
    outputToken: asset,
    outputAmount: 99_900_000n,
    message,
  })
}
const requesting = (): Kind => {
  const args = [0n, ALICE, bridge.destination.handler] as const
  return { calldata: encodeFunctionData({ abi: LAGOON, functionName: 'requestDeposit', args }) }
}
const openVault = (generation: LagoonGeneration, token: Token = 'usdc', whitelisted = false) => {
  const { chain, [token]: asset } = bridge.destination
  return deployLagoonVault(chain, { generation, asset, name: 'Vault', symbol: 'V', whitelisted })
}
const act = (vault: Address, from: Address, data: `0x${string}`) => bridge.destination.act(from, vault, data)
const pending = (vault: Address) =>
  readContract(bridge.destination.client, {
    address: vault,
    abi: LAGOON,
    functionName: 'pendingDepositRequest',
    args: [0n, ALICE],
  })
const shares = (vault: Address) =>
  readContract(bridge.destination.client, { address: vault, abi: YIELD, functionName: 'balanceOf', args: [ALICE] })

/** Fills everything; what the fill of this deposit told. */
const fillEvents = async (deposit: Awaited<ReturnType<typeof send>>) => {
  const relays = await bridge.relayer.fillAll()
  const relay = relays.find(({ deposit: { depositId } }) => depositId === deposit.depositId)
  return bridge.destination.eventsOf(relay?.fillTransaction)
}
const expectHandlerEmpty = async (vault: Address, token: Token = 'usdc') => {
  const { handler, balanceOf, allowance, [token]: asset } = bridge.destination
  expect(await balanceOf(handler, asset)).toBe(0n)
  expect(await allowance(handler, vault, asset)).toBe(0n)
}

describe.each(['0.1', '0.4', '0.5', '0.6', 'unknown'] as const)('into a Lagoon %s vault', (generation) => {
  test.each(['usdc', 'usdt'] as const)('of %s, the user has the request, and the handler nothing', async (token) => {
    const { destination } = bridge
    const vault = await openVault(generation, token)
    const events = await fillEvents(await send(vault, { ...requesting(), token }))
    expect(events.map(({ eventName }) => eventName)).not.toContain('CallsFailed')
    expect(events.at(0)?.eventName).toBe('FilledRelay')
    expect(events.find(({ eventName }) => eventName === 'DepositRequest')).toMatchObject({
      address: vault,
      args: { controller: ALICE, owner: destination.handler, sender: destination.handler, assets: 99_900_000n },
    })
    expect(await pending(vault)).toBe(99_900_000n)
    await expectHandlerEmpty(vault, token)

    await settle(destination.chain, vault)
    await act(
      vault,
      ALICE,
      encodeFunctionData({ abi: LAGOON, functionName: 'deposit', args: [99_900_000n, ALICE, ALICE] }),
    )
    expect(await shares(vault)).toBeGreaterThan(0n)
  })

  test('a slow fill of another amount is requested to the last unit', async () => {
    const vault = await openVault(generation)
    const deposit = await send(vault, requesting())
    await bridge.relayer.requestSlowFill(deposit)
    await bridge.relayer.executeSlowFill(deposit, 99_987_654n)
    expect(await pending(vault)).toBe(99_987_654n)
    await expectHandlerEmpty(vault)
  })

  test('that is paused, the user holds the full amount as tokens', async () => {
    const { destination } = bridge
    const vault = await openVault(generation)
    const deposit = await send(vault, requesting())
    await act(vault, ADMIN, encodeFunctionData({ abi: LAGOON, functionName: 'pause' }))
    const before = await destination.balanceOf(ALICE)
    const events = await fillEvents(deposit)
    expect(events.map(({ eventName }) => eventName)).toEqual([
      'FilledRelay',
      'Transfer',
      'CallsFailed',
      'Transfer',
      'DrainedTokens',
    ])
    expect(await destination.balanceOf(ALICE)).toBe(before + 99_900_000n)
    await expectHandlerEmpty(vault)
  })

  test('whose next epoch has begun since an unsettled request, the user holds the tokens', async () => {
    const vault = await openVault(generation)
    await fillEvents(await send(vault, requesting()))
    await act(vault, VALUER, encodeFunctionData({ abi: LAGOON, functionName: 'updateNewTotalAssets', args: [0n] }))
    const events = await fillEvents(await send(vault, requesting()))
    expect(events.map(({ eventName }) => eventName)).toContain('CallsFailed')
    expect(await pending(vault)).toBe(99_900_000n)
  })
})

test('a whitelisted vault refuses the handler, though it knows the user', async () => {
  const vault = await openVault('0.5', 'usdc', true)
  const events = await fillEvents(await send(vault, requesting()))
  expect(events.map(({ eventName }) => eventName)).toContain('CallsFailed')
})

test('a batch of a deposit that works and one that fails gives each what is its own', async () => {
  const { destination, relayer } = bridge
  const [good, bad] = [await openVault('0.6'), await openVault('0.6')]
  await act(bad, ADMIN, encodeFunctionData({ abi: LAGOON, functionName: 'pause' }))
  const deposits = [await send(good, requesting()), await send(bad, requesting())]
  const [hash] = await relayer.fillTogether(deposits)
  const names = (await destination.eventsOf(hash)).map(({ eventName }) => eventName)
  const [first, second] = [names.indexOf('FilledRelay'), names.lastIndexOf('FilledRelay')]
  expect(names.indexOf('DepositRequest')).toBeGreaterThan(first)
  expect(names.indexOf('DepositRequest')).toBeLessThan(second)
  expect(names.indexOf('CallsFailed')).toBeGreaterThan(second)
  expect([await pending(good), await pending(bad)]).toEqual([99_900_000n, 0n])
})

test('into a vault that gives shares at once, the user has the shares', async () => {
  const { chain, usdt: asset } = bridge.destination
  const vault = await deployYieldVault(chain, { asset, name: 'Savings', symbol: 'SV' })
  const depositing = encodeFunctionData({ abi: YIELD, functionName: 'deposit', args: [0n, ALICE] })
  await fillEvents(await send(vault, { calldata: depositing, token: 'usdt' }))
  expect(await shares(vault)).toBe(99_900_000n)
  await expectHandlerEmpty(vault, 'usdt')

  await act(vault, ADMIN, encodeFunctionData({ abi: YIELD, functionName: 'pause' }))
  const before = await bridge.destination.balanceOf(ALICE, asset)
  await fillEvents(await send(vault, { calldata: depositing, token: 'usdt' }))
  expect(await bridge.destination.balanceOf(ALICE, asset)).toBe(before + 99_900_000n)
})

test('into a vault that takes deposits at once while its valuation stands', async () => {
  const { chain, handler } = bridge.destination
  const vault = await openVault('0.5')
  await fillEvents(await send(vault, requesting()))
  await act(
    vault,
    SAFE,
    encodeFunctionData({ abi: LAGOON, functionName: 'updateTotalAssetsLifespan', args: [86_400n] }),
  )
  await settle(chain, vault)
  // Requests are refused now.
  const refused = await fillEvents(await send(vault, requesting()))
  expect(refused.map(({ eventName }) => eventName)).toContain('CallsFailed')
  const args = [0n, ALICE, handler] as const
  const before = await shares(vault)
  await fillEvents(
    await send(vault, { calldata: encodeFunctionData({ abi: LAGOON, functionName: 'syncDeposit', args }) }),
  )
  expect((await shares(vault)) - before).toBeGreaterThan(0n)
  await expectHandlerEmpty(vault)
})
