import { encodeFunctionData, type Hash, type Hex } from 'viem'
import { getTransaction, getTransactionReceipt } from 'viem/actions'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type BridgeDeposit, multicallHandlerAbi, readDeposits, spokePoolAbi } from '../../../sandbox/bridge.ts'
import { deployYieldVault } from '../../../sandbox/deploy.ts'
import { createBundler } from '../../support/bundler.ts'
import { createTransferTroubles, REFUND_WAYS } from '../../support/transfer-troubles.ts'
import { depositMessage } from '../../support/transfers.ts'
import {
  ALICE,
  BOB,
  CAROL,
  type DepositOptions,
  encodeAddressWord,
  encodeApproval,
  encodeHandlerMessage,
  openBridge,
  RELAYER,
  STRANGER,
} from './harness.ts'

let bridge: Awaited<ReturnType<typeof openBridge>>
let troubles: ReturnType<typeof createTransferTroubles>
beforeAll(async () => {
  bridge = await openBridge()
  const { origin, destination, relayer } = bridge
  troubles = createTransferTroubles({ chains: [origin.chain, destination.chain], relayer })
})
afterAll(() => bridge.stop())
// The relayer fills all open transfers, so that none of them affects the next test.
afterEach(() => bridge.relayer.fillAll())

const depositCall = async (options: DepositOptions = {}) => {
  const { origin } = bridge
  const args = await bridge.argsOf(options)
  const [, , token] = args
  await origin.mint(ALICE, args[4], token)
  await origin.act(ALICE, token, encodeApproval(origin.pool, 10n ** 30n))
  return { target: origin.pool, callData: encodeFunctionData({ abi: spokePoolAbi, functionName: 'depositV3', args }) }
}
const depositsIn = async (hash: Hash) =>
  (await readDeposits(bridge.origin.chain)).filter(({ transactionHash }) => transactionHash === hash)

describe('a waiting deposit', () => {
  const waiting = async () =>
    troubles.sendWaiting(8453, ALICE, await depositCall({ inputAmount: 90n, outputAmount: 80n }))
  const isGone = async (hash: Hash) => {
    const { client } = bridge.origin
    await expect(getTransaction(client, { hash })).rejects.toThrow('could not be found')
    await expect(getTransactionReceipt(client, { hash })).rejects.toThrow('could not be found')
  }

  test('that is sped up is made by the transaction with the higher fee', async () => {
    const { hash, speedUp, mine } = await waiting()
    const replacement = await speedUp()
    await mine()
    await isGone(hash)
    expect(await depositsIn(replacement)).toMatchObject([{ depositor: encodeAddressWord(ALICE), inputAmount: 90n }])
  })

  test('that is replaced twice is made as its last replacement says', async () => {
    const other = await depositCall({ inputAmount: 70n, outputAmount: 60n })
    const { hash, speedUp, replace, mine } = await waiting()
    const second = await speedUp()
    const last = await replace(other)
    await mine()
    await isGone(hash)
    await isGone(second)
    expect(await depositsIn(last)).toMatchObject([{ inputAmount: 70n }])
  })

  test('that is cancelled is never made', async () => {
    const before = await readDeposits(bridge.origin.chain)
    const { hash, cancel, mine } = await waiting()
    const replacement = await cancel()
    await mine()
    await isGone(hash)
    const { client } = bridge.origin
    expect(await getTransactionReceipt(client, { hash: replacement })).toMatchObject({ status: 'success', logs: [] })
    expect(await readDeposits(bridge.origin.chain)).toEqual(before)
  })

  test('that is not replaced is made', async () => {
    const { hash, mine } = await waiting()
    await mine()
    expect(await depositsIn(hash)).toHaveLength(1)
  })
})

describe('a speed-up by message', () => {
  const openVault = async (symbol: string) => {
    const { chain, usdc: asset } = bridge.destination
    const address = await deployYieldVault(chain, { make: 'plain', asset, name: symbol, symbol })
    const { usdc: token } = bridge.destination
    const message: Hex = depositMessage({ token, vault: address, user: ALICE, entry: 'deposit' })
    return { address, message, sharesOf: (account: typeof ALICE) => bridge.destination.balanceOf(account, address) }
  }

  test('that empties the message leaves the money on the handler', async () => {
    const { destination } = bridge
    const vault = await openVault('V')
    const deposit = await bridge.deposit({ recipient: destination.handler, message: vault.message })
    const before = await destination.balanceOf(destination.handler)
    const { fill } = await troubles.fillChanged(deposit, { message: '0x' })
    expect(await destination.balanceOf(destination.handler)).toBe(before + deposit.outputAmount - 1n)
    expect(await vault.sharesOf(ALICE)).toBe(0n)
    expect((await destination.eventsOf(fill)).map(({ eventName }) => eventName)).toEqual(['FilledRelay', 'Transfer'])
    // Anyone can take the tokens that a fill left at the handler contract.
    const { handler, usdc } = destination
    const args = [usdc, 0n, BOB, encodeHandlerMessage([], BOB)] as const
    const data = encodeFunctionData({
      ...{ abi: multicallHandlerAbi, functionName: 'handleV3AcrossMessage', args },
    })
    await destination.act(BOB, handler, data)
    expect(await destination.balanceOf(handler)).toBe(0n)
  })

  test('goes into another vault', async () => {
    const { destination } = bridge
    const [old, other] = [await openVault('OLD'), await openVault('NEW')]
    const deposit = await bridge.deposit({ recipient: destination.handler, message: old.message })
    const { speedUp, fill } = await troubles.fillChanged(deposit, { message: other.message })
    expect(await bridge.origin.eventsOf(speedUp)).toMatchObject([{ eventName: 'RequestedSpeedUpDeposit' }])
    expect(await old.sharesOf(ALICE)).toBe(0n)
    expect(await other.sharesOf(ALICE)).toBeGreaterThan(0n)
    const [filled] = await destination.eventsOf(fill)
    expect(filled?.args['depositId']).toBe(deposit.depositId)
  })

  test('goes to another recipient', async () => {
    const { destination } = bridge
    const deposit = await bridge.deposit({ recipient: ALICE })
    const before = await destination.balanceOf(CAROL)
    await troubles.fillChanged(deposit, { recipient: CAROL, outputAmount: 5n })
    expect(await destination.balanceOf(CAROL)).toBe(before + 5n)
  })
})

describe('a reorganisation', () => {
  test('drops a deposit, which is included again with another id', async () => {
    const { origin, relayer } = bridge
    const { target, callData } = await depositCall({ recipient: BOB })
    let firstDeposit: BridgeDeposit | undefined
    const { hash } = await troubles.reorganise({
      ...{ chainId: 8453, token: origin.usdc },
      include: async () => (await origin.act(ALICE, target, callData))[0] as Hash,
      async between(first) {
        firstDeposit = (await relayer.listDeposits({ transactionHash: first }))[0]?.deposit
      },
    })
    const [again] = await depositsIn(hash)
    expect(again?.depositId).toBe((firstDeposit?.depositId ?? 0n) + 1n)
    const {
      depositId: _,
      blockNumber: __,
      logIndex: ___,
      transactionHash: ____,
      ...terms
    } = firstDeposit as BridgeDeposit
    expect(again).toMatchObject(terms)
    expect(await relayer.listDeposits({ transactionHash: hash })).toMatchObject([{ state: 'waiting', deposit: again }])
    // The relayer has forgotten the deposit whose block was dropped.
    const deposits = (await relayer.listDeposits()).map(({ deposit }) => deposit)
    expect(deposits.filter(({ originChainId }) => originChainId === 8453)).toEqual(await readDeposits(origin.chain))
  })

  test('has a user operation included again by another bundler', async () => {
    const { origin } = bridge
    const { accounts, sign, include, outcomesOf } = await createBundler(origin.chain)
    const [{ address: depositor }, other] = accounts
    await origin.mint(depositor, 111_000_000n)
    const args = await bridge.argsOf({ depositor, inputAmount: 111_000_000n, outputAmount: 1n })
    const operation = await sign(accounts[0], [
      { target: origin.usdc, callData: encodeApproval(origin.pool, 111_000_000n) },
      { target: origin.pool, callData: encodeFunctionData({ abi: spokePoolAbi, functionName: 'depositV3', args }) },
    ])
    let first: BridgeDeposit | undefined
    const { dropped, hash } = await troubles.reorganise({
      ...{ chainId: 8453, token: origin.usdc },
      include: () => include([operation], STRANGER),
      async between(hash) {
        first = (await depositsIn(hash))[0]
      },
      again: async () => include([await sign(other, []), operation], RELAYER),
    })
    expect(hash).not.toBe(dropped)
    const outcomes = await outcomesOf(hash)
    expect(outcomes[1]).toEqual({ userOpHash: operation.userOpHash, sender: depositor, success: true })
    const [again] = await depositsIn(hash)
    expect(again).toMatchObject({ depositor: encodeAddressWord(depositor), inputAmount: 111_000_000n })
    expect(again?.depositId).not.toBe(first?.depositId)
  })
})

describe('a refund', () => {
  test.for(REFUND_WAYS)('is paid %s', async (way) => {
    const { origin, relayer } = bridge
    const deposits = [await bridge.deposit({ inputAmount: 11n }), await bridge.deposit({ inputAmount: 13n })]
    for (const deposit of deposits) await relayer.ignore(deposit)
    // The relayer advances the clock past the later of the two deadlines, so both deposits expire.
    await relayer.expire(deposits[1] as BridgeDeposit)
    const before = await origin.balanceOf(ALICE)
    const hashes = await troubles.refund(deposits, way, 100n)

    const sum = { alone: 24n, together: 124n, deferred: 0n, claimed: 124n }[way]
    expect(await origin.balanceOf(ALICE)).toBe(before + sum)
    const events = (await Promise.all(hashes.map((hash) => origin.eventsOf(hash)))).flat()
    const paid = (refundAmounts: bigint[], deferredRefunds = false) => ({
      eventName: 'ExecutedRelayerRefundRoot',
      args: { refundAddresses: [ALICE], refundAmounts, deferredRefunds },
    })
    const claim = { eventName: 'ClaimedRelayerRefund', args: { refundAddress: encodeAddressWord(ALICE), amount: 124n } }
    expect(events.filter(({ eventName }) => eventName !== 'Transfer')).toMatchObject(
      {
        alone: [paid([11n]), paid([13n])],
        together: [paid([124n])],
        deferred: [paid([124n], true)],
        claimed: [paid([124n], true), claim],
      }[way],
    )
    for (const { depositId } of deposits) {
      const state = way === 'deferred' ? 'refund_deferred' : 'refunded'
      expect(await relayer.listDeposits({ originChainId: 8453, depositId })).toMatchObject([{ state }])
    }
    if (way === 'deferred') await relayer.claimRefund(deposits[0] as BridgeDeposit)
  })
})

test('Dust that a third party deposits in a victim’s name expires and is owed to the victim', async () => {
  const { origin, relayer } = bridge
  const before = await origin.balanceOf(BOB)
  const dust = await troubles.dust(BOB, 21, { chainId: 8453, token: origin.usdc })
  expect(dust).toHaveLength(21)
  for (const deposit of dust) expect(deposit).toMatchObject({ depositor: encodeAddressWord(BOB), inputAmount: 1n })
  expect(await origin.balanceOf(BOB)).toBe(before)
  expect(await relayer.fillAll()).toEqual([])
  await relayer.expire(dust[0] as BridgeDeposit)
  const states = (await relayer.listDeposits({ transactionHash: dust[0]?.transactionHash as Hash })).map(
    ({ state }) => state,
  )
  expect(states).toEqual(Array(21).fill('expired'))
  await troubles.refund(dust, 'together')
  expect(await origin.balanceOf(BOB)).toBe(before + 21n)
})
