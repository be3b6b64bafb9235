import {
  type Address,
  encodeFunctionData,
  getAddress,
  type Hex,
  numberToHex,
  parseAbi,
  parseEther,
  zeroAddress,
} from 'viem'
import { getBalance } from 'viem/actions'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BridgeDeposit, multicallHandlerAbi, spokePoolAbi } from '../../../sandbox/bridge.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import {
  ALICE,
  BOB,
  buildCallWithBalance,
  buildMessageCall,
  CAROL,
  type Call,
  encodeApproval,
  encodeHandlerMessage,
  openBridge,
  RELAYER,
  STRANGER,
  transferOf,
} from './harness.ts'

let bridge: Awaited<ReturnType<typeof openBridge>>
beforeAll(async () => {
  bridge = await openBridge()
})
afterAll(() => bridge.stop())

const amount = () => bridge.destination.units('99.9')

/** Fills a bridge deposit whose message has these calls. Returns the fill's events, except approvals. */
const carry = async (calls: readonly Call[], fallbackRecipient: Address, token?: 'usdt') => {
  const { origin, destination } = bridge
  const deposit = await bridge.deposit({
    recipient: destination.handler,
    message: encodeHandlerMessage(calls, fallbackRecipient),
    ...(token && { inputToken: origin.usdt, outputToken: destination.usdt }),
  })
  const data = encodeFunctionData({ abi: spokePoolAbi, functionName: 'fillRelay', args: bridge.fillArgs(deposit) })
  const [hash] = await destination.act(RELAYER, destination.pool, data)
  const events = await destination.eventsOf(hash)
  return { deposit, names: events.map(({ eventName }) => eventName), events }
}
const refusalOf = (deposit: BridgeDeposit) => bridge.destination.refusal(RELAYER, 'fillRelay', bridge.fillArgs(deposit))
const handlerHolds = () => bridge.destination.balanceOf(bridge.destination.handler)
const balanceOf = async (account: Address) => bridge.destination.balanceOf(account)

describe('calls that work', () => {
  test('run in order, and the rest of the bridged token goes to the fallback', async () => {
    const { destination } = bridge
    const [bob, carol] = [await balanceOf(BOB), await balanceOf(CAROL)]
    const { usdc } = destination
    const calls = [buildMessageCall(usdc, transferOf(BOB, 10n)), buildMessageCall(usdc, transferOf(CAROL, 20n))]
    const { names, events } = await carry(calls, ALICE)
    expect(names).toEqual(['FilledRelay', 'Transfer', 'Transfer', 'Transfer', 'Transfer', 'DrainedTokens'])
    expect(events.at(-1)?.args).toEqual({ recipient: ALICE, token: usdc, amount: amount() - 30n })
    expect([await balanceOf(BOB), await balanceOf(CAROL)]).toEqual([bob + 10n, carol + 20n])
    expect(await handlerHolds()).toBe(0n)
  })

  test('may leave nothing to drain', async () => {
    const { usdc } = bridge.destination
    const { names } = await carry([buildMessageCall(usdc, transferOf(BOB, amount()))], ALICE)
    expect(names).toEqual(['FilledRelay', 'Transfer', 'Transfer'])
    expect(await handlerHolds()).toBe(0n)
  })

  test('without a fallback leave the rest on the handler, where anyone can take it', async () => {
    const { destination } = bridge
    const { usdc } = destination
    await carry([buildMessageCall(usdc, transferOf(BOB, 10n))], zeroAddress)
    expect(await handlerHolds()).toBe(amount() - 10n)

    const data = encodeFunctionData({
      abi: multicallHandlerAbi,
      functionName: 'handleV3AcrossMessage',
      args: [usdc, 0n, zeroAddress, encodeHandlerMessage([], STRANGER)],
    })
    const before = await balanceOf(STRANGER)
    const [hash] = await destination.act(STRANGER, destination.handler, data)
    expect((await destination.eventsOf(hash)).at(-1)).toMatchObject({
      eventName: 'DrainedTokens',
      args: { recipient: STRANGER, amount: amount() - 10n },
    })
    expect(await balanceOf(STRANGER)).toBe(before + amount() - 10n)
  })

  test('may be an empty list', async () => {
    const before = await balanceOf(ALICE)
    await carry([], ALICE)
    expect(await balanceOf(ALICE)).toBe(before + amount())
  })
})

describe('a call that fails', () => {
  const failing = () => {
    const { usdc } = bridge.destination
    return [buildMessageCall(usdc, transferOf(BOB, 10n)), buildMessageCall(usdc, transferOf(BOB, amount() * 2n))]
  }

  test('reverts the earlier calls and gives the full amount to the fallback', async () => {
    const { destination } = bridge
    const [alice, bob] = [await balanceOf(ALICE), await balanceOf(BOB)]
    const { deposit, names, events } = await carry(failing(), ALICE)
    expect(names).toEqual(['FilledRelay', 'Transfer', 'CallsFailed', 'Transfer', 'DrainedTokens'])
    expect(events[2]?.args).toEqual({ calls: failing(), fallbackRecipient: ALICE })
    expect(events[4]?.args).toEqual({ recipient: ALICE, token: destination.usdc, amount: amount() })
    expect([await balanceOf(ALICE), await balanceOf(BOB)]).toEqual([alice + amount(), bob])
    expect(await refusalOf(deposit)).toBe('RelayFilled')
  })

  test('makes the fill fail without a fallback; the error has the calls and the failed one’s index', async () => {
    const { destination } = bridge
    const message = encodeHandlerMessage(failing(), zeroAddress)
    const deposit = await bridge.deposit({ recipient: destination.handler, message })
    expect(await refusalOf(deposit)).toMatch(/^CallReverted 1 /)
    expect((await bridge.relayer.fillAll()).map(({ deposit: { depositId } }) => depositId)).not.toContain(
      deposit.depositId,
    )
    const [relay] = await bridge.relayer.listDeposits({ originChainId: 8453, depositId: deposit.depositId })
    expect(relay).toMatchObject({ state: 'waiting', fillError: expect.stringContaining('CallReverted') })
    await bridge.relayer.ignore(deposit)
  })

  test('includes a call of a plain account with calldata, but not one without', async () => {
    const { destination } = bridge
    const bad = await bridge.deposit({
      recipient: destination.handler,
      message: encodeHandlerMessage([buildMessageCall(CAROL, '0x'), buildMessageCall(BOB, '0x12345678')], zeroAddress),
    })
    expect(await refusalOf(bad)).toMatch(/^InvalidCall 1 /)
    await bridge.relayer.ignore(bad)
    const { names } = await carry([buildMessageCall(BOB, '0x')], ALICE)
    expect(names).not.toContain('CallsFailed')
  })
})

describe('a call with the balance', () => {
  const SINK = parseAbi(['function transferFrom(address from, address to, uint256 value)'])

  test('gets the balance as its first argument (offset 4) or its second (offset 36)', async () => {
    const { destination } = bridge
    const { usdc, handler } = destination
    const before = await balanceOf(BOB)
    const spend = encodeFunctionData({ abi: SINK, functionName: 'transferFrom', args: [handler, BOB, 0n] })
    const { names } = await carry(
      [
        buildCallWithBalance(handler, usdc, encodeApproval(handler, 0n), [{ token: usdc, offset: 36n }]),
        buildCallWithBalance(handler, usdc, spend, [{ token: usdc, offset: 68n }]),
      ],
      ALICE,
    )
    expect(names).toEqual(['FilledRelay', 'Transfer', 'Approval', 'Transfer'])
    expect(await balanceOf(BOB)).toBe(before + amount())
    expect(await destination.allowance(handler, handler)).toBe(0n)
    expect(await handlerHolds()).toBe(0n)

    // The target contract stores its first argument. So the test sees the balance that the handler wrote into the calldata.
    const { address, noted } = await deployNote()
    await carry(
      [buildCallWithBalance(handler, address, `0xdeadbeef${'00'.repeat(64)}`, [{ token: usdc, offset: 4n }])],
      ALICE,
    )
    expect(await noted()).toBe(amount())
  })

  test('gets the balance OR-ed into the existing calldata', async () => {
    const { handler, usdc } = bridge.destination
    const { address, noted } = await deployNote()
    const callData: Hex = `0xdeadbeef${'0'.repeat(63)}1`
    await carry([buildCallWithBalance(handler, address, callData, [{ token: usdc, offset: 4n }])], ALICE)
    expect(await noted()).toBe(amount() | 1n)
  })

  test('gets and sends the native balance if the token is zero', async () => {
    const { destination } = bridge
    const { client, chain, handler } = destination
    const { address, noted } = await deployNote()
    await callRpc(chain, [{ method: 'anvil_setBalance', params: [handler, `0x${parseEther('2').toString(16)}`] }])
    const callData: Hex = `0xdeadbeef${'00'.repeat(32)}`
    await carry([buildCallWithBalance(handler, address, callData, [{ token: zeroAddress, offset: 4n }])], ALICE)
    expect(await noted()).toBe(parseEther('2'))
    expect(await getBalance(client, { address: handler })).toBe(0n)
    expect(await getBalance(client, { address })).toBe(parseEther('2'))
  })

  test('fails if the offset is beyond the calldata or the call itself fails', async () => {
    const { usdc, handler } = bridge.destination
    const beyond = buildCallWithBalance(handler, usdc, encodeApproval(BOB, 0n), [{ token: usdc, offset: 37n }])
    expect((await carry([beyond], ALICE)).names).toContain('CallsFailed')
    const failing = buildCallWithBalance(handler, usdc, '0x12345678', [])
    expect((await carry([failing], ALICE)).names).toContain('CallsFailed')
  })

  let notes = 0n

  async function deployNote(): Promise<{ address: Address; noted: () => Promise<bigint> }> {
    const { chain } = bridge.destination
    notes += 1n
    const address = getAddress(numberToHex(0x7e57_0000n + notes, { size: 20 }))
    // The bytecode is PUSH1 4 CALLDATALOAD PUSH1 0 SSTORE.
    await callRpc(chain, [{ method: 'anvil_setCode', params: [address, '0x60043560005500'] }])
    const slot = `0x${'0'.repeat(64)}`
    const noted = async () =>
      BigInt(String((await callRpc(chain, [{ method: 'eth_getStorageAt', params: [address, slot, 'latest'] }]))[0]))
    return { address, noted }
  }
})

describe('leftovers', () => {
  test('of another token go to the recipient that a call names', async () => {
    const { destination } = bridge
    const { handler, usdt } = destination
    await destination.mint(handler, 500n, usdt)
    const before = await destination.balanceOf(BOB, usdt)
    const data = encodeFunctionData({
      abi: multicallHandlerAbi,
      functionName: 'drainLeftoverTokens',
      args: [usdt, BOB],
    })
    const { events } = await carry([buildMessageCall(handler, data)], ALICE)
    expect(events.filter(({ eventName }) => eventName === 'DrainedTokens').map(({ args }) => args)).toEqual([
      { recipient: BOB, token: usdt, amount: 500n },
      { recipient: ALICE, token: destination.usdc, amount: amount() },
    ])
    expect(await destination.balanceOf(BOB, usdt)).toBe(before + 500n)
  })

  test('of native coins go to that recipient too', async () => {
    const { client, chain, handler } = bridge.destination
    await callRpc(chain, [{ method: 'anvil_setBalance', params: [handler, '0x7'] }])
    const before = await getBalance(client, { address: CAROL })
    const data = encodeFunctionData({
      abi: multicallHandlerAbi,
      functionName: 'drainLeftoverTokens',
      args: [zeroAddress, CAROL],
    })
    await carry([buildMessageCall(handler, data)], ALICE)
    expect(await getBalance(client, { address: CAROL })).toBe(before + 7n)
  })
})

test('only the handler itself may call the functions meant for its messages', async () => {
  const { usdc, handlerRefusal } = bridge.destination
  expect(await handlerRefusal(STRANGER, 'attemptCalls', [[]])).toBe('NotSelf')
  expect(await handlerRefusal(STRANGER, 'makeCallWithBalance', [usdc, '0x', 0n, []])).toBe('NotSelf')
  expect(await handlerRefusal(STRANGER, 'drainLeftoverTokens', [usdc, STRANGER])).toBe('NotSelf')
})

test('an allowance from a third party blocks an approval of a USDT-like token until it is set to zero', async () => {
  const { destination } = bridge
  const { usdt, handler } = destination
  const grief = encodeFunctionData({
    abi: multicallHandlerAbi,
    functionName: 'handleV3AcrossMessage',
    args: [usdt, 0n, zeroAddress, encodeHandlerMessage([buildMessageCall(usdt, encodeApproval(BOB, 1n))], zeroAddress)],
  })
  await destination.act(STRANGER, handler, grief)
  expect(await destination.allowance(handler, BOB, usdt)).toBe(1n)

  expect((await carry([buildMessageCall(usdt, encodeApproval(BOB, 5n))], ALICE, 'usdt')).names).toContain('CallsFailed')
  const mended = await carry(
    [buildMessageCall(usdt, encodeApproval(BOB, 0n)), buildMessageCall(usdt, encodeApproval(BOB, 5n))],
    ALICE,
    'usdt',
  )
  expect(mended.names).not.toContain('CallsFailed')
  expect(await destination.allowance(handler, BOB, usdt)).toBe(5n)
})

test('an invalid message makes the fill fail', async () => {
  const { destination } = bridge
  const deposit = await bridge.deposit({ recipient: destination.handler, message: '0x1234' })
  expect(await refusalOf(deposit)).toBe('execution reverted')
})
