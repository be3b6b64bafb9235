import {
  encodeAbiParameters,
  encodeFunctionData,
  type Hash,
  keccak256,
  maxUint256,
  parseAbiParameters,
  zeroHash,
} from 'viem'
import { readContract } from 'viem/actions'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type BridgeDeposit,
  installPool,
  relayDataOf,
  relayHashOf,
  spokePoolAbi,
} from '../../../../infra/local/bridge.ts'
import { ALICE, approval, BOB, openBridge, RELAYER, STRANGER, word } from './harness.ts'

let bridge: Awaited<ReturnType<typeof openBridge>>
beforeAll(async () => {
  bridge = await openBridge()
})
afterAll(() => bridge.stop())

const FAST = 0
const REPLACED_SLOW = 1
const SLOW = 2
const [UNFILLED, REQUESTED, FILLED] = [0n, 1n, 2n]

const fillData = (deposit: BridgeDeposit) =>
  encodeFunctionData({ abi: spokePoolAbi, functionName: 'fillRelay', args: bridge.fillArgs(deposit) })
const fill = (deposit: BridgeDeposit, by = RELAYER) =>
  bridge.destination.act(by, bridge.destination.pool, fillData(deposit)).then(([hash]) => hash)
const refusal = (deposit: BridgeDeposit, by = RELAYER, change = {}) =>
  bridge.destination.refusal(by, 'fillRelay', bridge.fillArgs(deposit, change))
const requestSlowFill = (deposit: BridgeDeposit) => {
  const data = encodeFunctionData({
    abi: spokePoolAbi,
    functionName: 'requestSlowFill',
    args: [relayDataOf(deposit)],
  })
  return bridge.destination.act(STRANGER, bridge.destination.pool, data).then(([hash]) => hash)
}
const slowFillArgs = (deposit: BridgeDeposit, updatedOutputAmount: bigint, chainId = 42161n) =>
  [{ relayData: relayDataOf(deposit), chainId, updatedOutputAmount }, 0, []] as const
const statusOf = (deposit: BridgeDeposit) => bridge.destination.fillStatus(relayHashOf(deposit))

test('The relay hash is the same by the pool, by the relayer and by hand', async () => {
  const deposit = await bridge.deposit({ message: '0xc0ffee', exclusiveRelayer: BOB, exclusivityParameter: 9 })
  const { depositor, recipient, exclusiveRelayer, inputToken, outputToken, inputAmount, outputAmount } = deposit
  const byHand = keccak256(
    encodeAbiParameters(
      parseAbiParameters(
        '(bytes32, bytes32, bytes32, bytes32, bytes32, uint256, uint256, uint256, uint256, uint32, uint32, bytes), uint256',
      ),
      [
        [
          ...([depositor, recipient, exclusiveRelayer, inputToken, outputToken, inputAmount, outputAmount] as const),
          8453n,
          deposit.depositId,
          deposit.fillDeadline,
          deposit.exclusivityDeadline,
          '0xc0ffee',
        ],
        42161n,
      ],
    ),
  )
  expect(relayHashOf(deposit)).toBe(byHand)
  const { client, pool: address } = bridge.destination
  const args = [relayDataOf(deposit)] as const
  const byPool = readContract(client, { address, abi: spokePoolAbi, functionName: 'getV3RelayHash', args })
  expect(await byPool).toBe(byHand)
})

describe('a fill', () => {
  test('gives the recipient exactly the output amount, and is told before the tokens move', async () => {
    const { destination } = bridge
    const deposit = await bridge.deposit({ recipient: BOB })
    expect(await statusOf(deposit)).toBe(UNFILLED)
    const before = await destination.balanceOf(BOB)
    const events = await destination.eventsOf(await fill(deposit))
    expect(events.map(({ eventName }) => eventName)).toEqual(['FilledRelay', 'Transfer'])
    expect(events[0]?.args).toEqual({
      inputToken: deposit.inputToken,
      outputToken: deposit.outputToken,
      inputAmount: deposit.inputAmount,
      outputAmount: deposit.outputAmount,
      repaymentChainId: 42161n,
      originChainId: 8453n,
      depositId: deposit.depositId,
      fillDeadline: deposit.fillDeadline,
      exclusivityDeadline: 0,
      exclusiveRelayer: zeroHash,
      relayer: word(RELAYER),
      depositor: word(ALICE),
      recipient: word(BOB),
      messageHash: zeroHash,
      relayExecutionInfo: {
        updatedRecipient: word(BOB),
        updatedMessageHash: zeroHash,
        updatedOutputAmount: deposit.outputAmount,
        fillType: FAST,
      },
    })
    expect(await destination.balanceOf(BOB)).toBe(before + deposit.outputAmount)
    expect(await statusOf(deposit)).toBe(FILLED)
  })

  test('works with a USDT-like token', async () => {
    const { origin, destination } = bridge
    const deposit = await bridge.deposit({ inputToken: origin.usdt, outputToken: destination.usdt, recipient: BOB })
    const before = await destination.balanceOf(BOB, destination.usdt)
    await fill(deposit)
    expect(await destination.balanceOf(BOB, destination.usdt)).toBe(before + deposit.outputAmount)
  })

  test('may be made by anybody who pays, once', async () => {
    const { destination } = bridge
    const deposit = await bridge.deposit()
    await destination.mint(STRANGER, deposit.outputAmount)
    await destination.act(STRANGER, destination.usdc, approval(destination.pool, maxUint256))
    await fill(deposit, STRANGER)
    expect(await refusal(deposit)).toBe('RelayFilled')
  })

  test('with other parameters than the deposit is a fill of something else', async () => {
    const { destination } = bridge
    const deposit = await bridge.deposit()
    const args = bridge.fillArgs(deposit, { outputAmount: 1n })
    await destination.act(
      RELAYER,
      destination.pool,
      encodeFunctionData({ abi: spokePoolAbi, functionName: 'fillRelay', args }),
    )
    expect(await statusOf(deposit)).toBe(UNFILLED)
    await fill(deposit)
    expect(await statusOf(deposit)).toBe(FILLED)
  })

  test('with a message to a plain account only pays it', async () => {
    const deposit = await bridge.deposit({ recipient: BOB, message: '0x1234' })
    const [filled, ...more] = await bridge.destination.eventsOf(await fill(deposit))
    expect(filled?.args).toMatchObject({ messageHash: keccak256('0x1234') })
    expect(more.map(({ eventName }) => eventName)).toEqual(['Transfer'])
  })

  test('to a recipient or of a token that is on no EVM chain is refused', async () => {
    const deposit = await bridge.deposit()
    const solana = `0x01${'00'.repeat(31)}`
    expect(await refusal(deposit, RELAYER, { recipient: solana })).toBe('InvalidAddress')
    expect(await refusal(deposit, RELAYER, { outputToken: solana })).toBe('InvalidAddress')
  })

  test('after its deadline, by the clock of the destination, is refused', async () => {
    const { origin, destination } = bridge
    const [deposit, other] = [await bridge.deposit({ deadlineIn: 3000 }), await bridge.deposit({ deadlineIn: 3000 })]
    await origin.pass(4000)
    await fill(deposit)
    expect(await statusOf(deposit)).toBe(FILLED)
    await destination.pass(4000)
    expect(await refusal(other)).toBe('ExpiredFillDeadline')
  })

  test('is the exclusive relayer’s while the exclusivity lasts', async () => {
    const { destination } = bridge
    const ahead = (await destination.now()) + 500
    const deposit = await bridge.deposit({ exclusiveRelayer: STRANGER, exclusivityParameter: ahead })
    expect(await refusal(deposit)).toBe('NotExclusiveRelayer')
    await destination.mint(STRANGER, deposit.outputAmount)
    const other = await bridge.deposit({ exclusiveRelayer: STRANGER, exclusivityParameter: ahead })
    await fill(deposit, STRANGER)
    await destination.pass(600)
    await fill(other)
    expect(await statusOf(other)).toBe(FILLED)
  })

  test('several are made in one transaction, or none of them', async () => {
    const { destination } = bridge
    const deposits = [await bridge.deposit({ recipient: BOB }), await bridge.deposit(), await bridge.deposit()]
    const multicall = (of: readonly BridgeDeposit[]) => [of.map(fillData)]
    const data = encodeFunctionData({
      abi: spokePoolAbi,
      functionName: 'multicall',
      args: [deposits.slice(0, 2).map(fillData)],
    })
    const [hash] = await destination.act(RELAYER, destination.pool, data)
    const fills = (await destination.eventsOf(hash)).filter(({ eventName }) => eventName === 'FilledRelay')
    expect(fills.map(({ args }) => args['depositId'])).toEqual(deposits.slice(0, 2).map(({ depositId }) => depositId))
    expect(await destination.refusal(RELAYER, 'multicall', multicall(deposits))).toBe('RelayFilled')
  })

  test('none are made while fills are paused', async () => {
    const { destination } = bridge
    const deposit = await bridge.deposit()
    const pause = (to: boolean) =>
      destination.act(
        RELAYER,
        destination.pool,
        encodeFunctionData({ abi: spokePoolAbi, functionName: 'pauseFills', args: [to] }),
      )
    expect(await destination.refusal(STRANGER, 'pauseFills', [true])).toBe('InvalidMerkleProof')
    await pause(true)
    expect(await refusal(deposit)).toBe('FillsArePaused')
    expect(await destination.refusal(STRANGER, 'requestSlowFill', [relayDataOf(deposit)])).toBe('FillsArePaused')
    await pause(false)
    await fill(deposit)
    expect(await statusOf(deposit)).toBe(FILLED)
  })

  test('by a pool of old is told in the event of old, with the same status', async () => {
    const { destination } = bridge
    const deposit = await bridge.deposit({ message: '0x5151', recipient: BOB })
    await installPool(destination.chain, { contract: 'LegacySpokePool' })
    let hash: Hash | undefined
    try {
      hash = await fill(deposit)
    } finally {
      await installPool(destination.chain)
    }
    const [filled] = await destination.eventsOf(hash)
    expect(filled).toMatchObject({
      eventName: 'FilledV3Relay',
      args: {
        outputAmount: deposit.outputAmount,
        depositId: Number(deposit.depositId),
        relayer: RELAYER,
        depositor: ALICE,
        recipient: BOB,
        message: '0x5151',
        relayExecutionInfo: {
          updatedRecipient: BOB,
          updatedMessage: '0x5151',
          updatedOutputAmount: deposit.outputAmount,
          fillType: FAST,
        },
      },
    })
    expect(await statusOf(deposit)).toBe(FILLED)
  })
})

describe('a slow fill', () => {
  const execute = async (deposit: BridgeDeposit, amount: bigint) => {
    const args = slowFillArgs(deposit, amount)
    const data = encodeFunctionData({ abi: spokePoolAbi, functionName: 'executeSlowRelayLeaf', args })
    const [hash] = await bridge.destination.act(RELAYER, bridge.destination.pool, data)
    return bridge.destination.eventsOf(hash)
  }

  test('is asked for by anybody, once, and is still no fill', async () => {
    const { destination } = bridge
    const deposit = await bridge.deposit({ message: '0x99' })
    const [event] = await destination.eventsOf(await requestSlowFill(deposit))
    expect(event).toMatchObject({
      eventName: 'RequestedSlowFill',
      args: { originChainId: 8453n, depositId: deposit.depositId, messageHash: keccak256('0x99') },
    })
    expect(await statusOf(deposit)).toBe(REQUESTED)
    expect(await destination.refusal(BOB, 'requestSlowFill', [relayDataOf(deposit)])).toBe('InvalidSlowFillRequest')
  })

  test('pays another amount from the pool’s own tokens, to nobody’s credit', async () => {
    const { destination } = bridge
    const deposit = await bridge.deposit({ recipient: BOB })
    await requestSlowFill(deposit)
    const [pool, bob] = [await destination.balanceOf(destination.pool), await destination.balanceOf(BOB)]
    const amount = destination.units('99.95')
    const [filled, transfer] = await execute(deposit, amount)
    expect(filled).toMatchObject({
      eventName: 'FilledRelay',
      args: {
        outputAmount: deposit.outputAmount,
        repaymentChainId: 0n,
        relayer: zeroHash,
        relayExecutionInfo: { updatedOutputAmount: amount, fillType: SLOW },
      },
    })
    expect(transfer).toMatchObject({ eventName: 'Transfer', args: { value: amount } })
    expect(await destination.balanceOf(BOB)).toBe(bob + amount)
    expect(await destination.balanceOf(destination.pool)).toBe(pool - amount)
    expect(await statusOf(deposit)).toBe(FILLED)
  })

  test('that was asked for may be overtaken by a relayer, whose fill says so', async () => {
    const deposit = await bridge.deposit()
    await requestSlowFill(deposit)
    const [filled] = await bridge.destination.eventsOf(await fill(deposit))
    expect(filled?.args).toMatchObject({ relayExecutionInfo: { fillType: REPLACED_SLOW } })
    expect(await bridge.destination.refusal(RELAYER, 'executeSlowRelayLeaf', slowFillArgs(deposit, 1n))).toBe(
      'RelayFilled',
    )
  })

  test('is nobody’s but the operator’s, and of this chain', async () => {
    const { destination } = bridge
    const deposit = await bridge.deposit()
    const args = slowFillArgs(deposit, 1n)
    expect(await destination.refusal(STRANGER, 'executeSlowRelayLeaf', args)).toBe('InvalidMerkleProof')
    const elsewhere = slowFillArgs(deposit, 1n, 10n)
    expect(await destination.refusal(RELAYER, 'executeSlowRelayLeaf', elsewhere)).toBe('InvalidMerkleProof')
  })

  test('is not asked for within the exclusivity, nor after the deadline', async () => {
    const { destination } = bridge
    const ahead = (await destination.now()) + 500
    const exclusive = await bridge.deposit({ exclusiveRelayer: STRANGER, exclusivityParameter: ahead })
    expect(await destination.refusal(BOB, 'requestSlowFill', [relayDataOf(exclusive)])).toBe(
      'NoSlowFillsInExclusivityWindow',
    )
    const late = await bridge.deposit({ deadlineIn: -5000 })
    expect(await destination.refusal(BOB, 'requestSlowFill', [relayDataOf(late)])).toBe('ExpiredFillDeadline')
    expect(await destination.refusal(RELAYER, 'executeSlowRelayLeaf', slowFillArgs(late, 1n))).toBe(
      'ExpiredFillDeadline',
    )
  })
})

describe('a refund', () => {
  const leafOf = (deposit: BridgeDeposit, leafId: number, change = {}) => ({
    amountToReturn: 0n,
    chainId: 8453n,
    refundAmounts: [deposit.inputAmount, 3n],
    leafId,
    l2TokenAddress: bridge.origin.usdc,
    refundAddresses: [ALICE, BOB],
    ...change,
  })

  test('pays depositors and relayers on the origin, and is told after the tokens have moved', async () => {
    const { origin } = bridge
    const deposit = await bridge.deposit()
    const before = await origin.balanceOf(ALICE)
    const args = [77, leafOf(deposit, 0), []] as const
    const data = encodeFunctionData({ abi: spokePoolAbi, functionName: 'executeRelayerRefundLeaf', args })
    const [hash] = await origin.act(RELAYER, origin.pool, data)
    const events = await origin.eventsOf(hash)
    expect(events.map(({ eventName }) => eventName)).toEqual(['Transfer', 'Transfer', 'ExecutedRelayerRefundRoot'])
    expect(events[2]?.args).toEqual({
      amountToReturn: 0n,
      chainId: 8453n,
      refundAmounts: [deposit.inputAmount, 3n],
      rootBundleId: 77,
      leafId: 0,
      l2TokenAddress: origin.usdc,
      refundAddresses: [ALICE, BOB],
      deferredRefunds: false,
      caller: RELAYER,
    })
    expect(await origin.balanceOf(ALICE)).toBe(before + deposit.inputAmount)
    expect(await origin.refusal(RELAYER, 'executeRelayerRefundLeaf', args)).toBe('ClaimedMerkleLeaf')
  })

  test('is nobody’s but the operator’s, of this chain, and has an amount for each account', async () => {
    const { origin } = bridge
    const deposit = await bridge.deposit()
    const refused = (by: typeof RELAYER, change = {}) =>
      origin.refusal(by, 'executeRelayerRefundLeaf', [78, leafOf(deposit, 0, change), []])
    expect(await refused(STRANGER)).toBe('InvalidMerkleProof')
    expect(await refused(RELAYER, { chainId: 1n })).toBe('InvalidChainId')
    expect(await refused(RELAYER, { refundAmounts: [] })).toBe('InvalidMerkleLeaf')
  })
})
