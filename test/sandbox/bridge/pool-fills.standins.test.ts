import {
  type Address,
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  type Hash,
  keccak256,
  maxUint256,
  parseAbi,
  parseAbiParameters,
  zeroHash,
} from 'viem'
import { getBalance, readContract } from 'viem/actions'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ACCOUNTS } from '../../../sandbox/accounts.ts'
import type { RefundLeaf } from '../../../sandbox/bridge/refund-bundle.ts'
import {
  type BridgeDeposit,
  installPool,
  relayDataOf,
  relayHashOf,
  type SpeedUp,
  signSpeedUp,
  spokePoolAbi,
} from '../../../sandbox/bridge.ts'
import { WETH } from '../../support/oracles.ts'
import {
  ALICE,
  BOB,
  buildMessageCall,
  encodeAddressWord,
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

test('A fill of the wrapped coin pays a plain account the coin, and a contract the token', async () => {
  const { destination } = bridge
  const outputToken = WETH[destination.chainId]
  if (!outputToken) throw new Error('The destination has no wrapped coin')
  const plain = '0x00000000000000000000000000000000000c0111'
  await fill(await bridge.deposit({ outputToken, outputAmount: 7n, recipient: plain }))
  await fill(await bridge.deposit({ outputToken, outputAmount: 9n, recipient: destination.handler }))
  expect(await getBalance(destination.client, { address: plain })).toBe(7n)
  expect(await destination.balanceOf(plain, outputToken)).toBe(0n)
  expect(await destination.balanceOf(destination.handler, outputToken)).toBe(9n)
})

test('The pool, the relayer and a calculation by hand give the same relay hash', async () => {
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
  test('gives the recipient exactly the output amount, and its event precedes the transfer', async () => {
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
      relayer: encodeAddressWord(RELAYER),
      depositor: encodeAddressWord(ALICE),
      recipient: encodeAddressWord(BOB),
      messageHash: zeroHash,
      relayExecutionInfo: {
        updatedRecipient: encodeAddressWord(BOB),
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

  test('may be made once, by anyone who pays', async () => {
    const { destination } = bridge
    const deposit = await bridge.deposit()
    await destination.mint(STRANGER, deposit.outputAmount)
    await destination.act(STRANGER, destination.usdc, encodeApproval(destination.pool, maxUint256))
    await fill(deposit, STRANGER)
    expect(await refusal(deposit)).toBe('RelayFilled')
  })

  test('with parameters that differ from the deposit does not count as its fill', async () => {
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

  test('without a message to a contract only pays it, whether or not it could read one', async () => {
    for (const recipient of [bridge.destination.handler, bridge.destination.usdt]) {
      const [filled, ...more] = await bridge.destination.eventsOf(await fill(await bridge.deposit({ recipient })))
      expect(filled?.args).toMatchObject({ messageHash: zeroHash })
      expect(more.map(({ eventName }) => eventName)).toEqual(['Transfer'])
    }
  })

  test('with a recipient or token that is not an EVM address is refused', async () => {
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

  test('is reserved for the exclusive relayer while the exclusivity lasts', async () => {
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

  test('in one transaction with others succeeds or reverts with all of them', async () => {
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

  test('is refused while fills are paused', async () => {
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

  test('by an old pool has the old event and the same status', async () => {
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

  test('can be requested once, by anyone, and is not yet a fill', async () => {
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

  test('pays another amount from the pool’s own tokens and credits no relayer', async () => {
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

  test('can be overtaken by a relayer after the request, and the fill reports it', async () => {
    const deposit = await bridge.deposit()
    await requestSlowFill(deposit)
    const [filled] = await bridge.destination.eventsOf(await fill(deposit))
    expect(filled?.args).toMatchObject({ relayExecutionInfo: { fillType: REPLACED_SLOW } })
    expect(await bridge.destination.refusal(RELAYER, 'executeSlowRelayLeaf', slowFillArgs(deposit, 1n))).toBe(
      'RelayFilled',
    )
  })

  test('is executed only by the operator, for this chain', async () => {
    const { destination } = bridge
    const deposit = await bridge.deposit()
    const args = slowFillArgs(deposit, 1n)
    expect(await destination.refusal(STRANGER, 'executeSlowRelayLeaf', args)).toBe('InvalidMerkleProof')
    const elsewhere = slowFillArgs(deposit, 1n, 10n)
    expect(await destination.refusal(RELAYER, 'executeSlowRelayLeaf', elsewhere)).toBe('InvalidMerkleProof')
  })

  test('cannot be requested during the exclusivity or after the deadline', async () => {
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

describe('a speed-up', () => {
  const ALICE_KEY = ACCOUNTS.users[0].privateKey
  const agreed = async ({ originChainId, depositId, depositor }: BridgeDeposit, change: Partial<SpeedUp> = {}) =>
    signSpeedUp(ALICE_KEY, {
      ...{ originChainId, depositId, depositor, recipient: encodeAddressWord(BOB), message: '0x' },
      outputAmount: bridge.destination.units('99'),
      ...change,
    })
  const updateArgs = (deposit: BridgeDeposit, { outputAmount, recipient, message, signature }: SpeedUp) =>
    [...bridge.fillArgs(deposit), outputAmount, recipient, message, signature] as const
  const refusedFill = (deposit: BridgeDeposit, speedUp: SpeedUp, by = RELAYER) =>
    bridge.destination.refusal(by, 'fillRelayWithUpdatedDeposit', updateArgs(deposit, speedUp))

  test('is published on the origin unchanged by anyone with the depositor’s signature', async () => {
    const { origin } = bridge
    const deposit = await bridge.deposit()
    const { outputAmount, signature } = await agreed(deposit, { message: '0x77' })
    const args = [ALICE, deposit.depositId, outputAmount, BOB, '0x77', signature] as const
    const data = encodeFunctionData({ abi: spokePoolAbi, functionName: 'speedUpV3Deposit', args })
    const [event] = await origin.eventsOf((await origin.act(STRANGER, origin.pool, data))[0])
    expect(event).toMatchObject({
      eventName: 'RequestedSpeedUpDeposit',
      args: {
        updatedOutputAmount: outputAmount,
        depositId: deposit.depositId,
        depositor: encodeAddressWord(ALICE),
        updatedRecipient: encodeAddressWord(BOB),
        updatedMessage: '0x77',
        depositorSignature: signature,
      },
    })
    const less = [ALICE, deposit.depositId, outputAmount - 1n, BOB, '0x77', signature]
    expect(await origin.refusal(ALICE, 'speedUpV3Deposit', less)).toBe('InvalidDepositorSignature')
  })

  test('pays the agreed amount to the agreed recipient, and its event has the old and the new terms', async () => {
    const { destination } = bridge
    const deposit = await bridge.deposit({ recipient: destination.handler, message: encodeHandlerMessage([], ALICE) })
    const speedUp = await agreed(deposit)
    const args = updateArgs(deposit, speedUp)
    const data = encodeFunctionData({ abi: spokePoolAbi, functionName: 'fillRelayWithUpdatedDeposit', args })
    const before = await destination.balanceOf(BOB)
    const [hash] = await destination.act(RELAYER, destination.pool, data)
    const [filled, ...more] = await destination.eventsOf(hash)
    expect(filled).toMatchObject({
      eventName: 'FilledRelay',
      args: {
        outputAmount: deposit.outputAmount,
        recipient: encodeAddressWord(destination.handler),
        messageHash: keccak256(deposit.message),
        relayExecutionInfo: {
          updatedRecipient: encodeAddressWord(BOB),
          updatedMessageHash: zeroHash,
          updatedOutputAmount: speedUp.outputAmount,
          fillType: FAST,
        },
      },
    })
    expect(more.map(({ eventName }) => eventName)).toEqual(['Transfer'])
    expect(await destination.balanceOf(BOB)).toBe(before + speedUp.outputAmount)
    expect(await statusOf(deposit)).toBe(FILLED)
    expect(await refusal(deposit)).toBe('RelayFilled')
  })

  test('runs the agreed message, not the deposited one', async () => {
    const { destination } = bridge
    const carrying = (amount: bigint) =>
      encodeHandlerMessage([buildMessageCall(destination.usdc, transferOf(BOB, amount))], ALICE)
    const deposit = await bridge.deposit({ recipient: destination.handler, message: carrying(5n) })
    const speedUp = await agreed(deposit, { recipient: encodeAddressWord(destination.handler), message: carrying(7n) })
    const args = updateArgs(deposit, speedUp)
    const data = encodeFunctionData({ abi: spokePoolAbi, functionName: 'fillRelayWithUpdatedDeposit', args })
    const before = await destination.balanceOf(BOB)
    const [filled] = await destination.eventsOf((await destination.act(RELAYER, destination.pool, data))[0])
    expect(await destination.balanceOf(BOB)).toBe(before + 7n)
    expect(filled?.args).toMatchObject({ relayExecutionInfo: { updatedMessageHash: keccak256(carrying(7n)) } })
  })

  test('needs the depositor’s signature for this deposit and chain, and the exclusive relayer', async () => {
    const deposit = await bridge.deposit()
    const other = await bridge.deposit()
    const speedUp = await agreed(deposit)
    const wrong = [
      { ...speedUp, outputAmount: speedUp.outputAmount + 1n },
      { ...speedUp, recipient: encodeAddressWord(STRANGER) },
      { ...speedUp, message: '0x00' as const },
      await agreed(other),
      await agreed(deposit, { originChainId: 42161 }),
      await signSpeedUp(ACCOUNTS.users[1].privateKey, speedUp),
    ]
    for (const one of wrong) expect(await refusedFill(deposit, one)).toBe('InvalidDepositorSignature')
    const ahead = (await bridge.destination.now()) + 500
    const exclusive = await bridge.deposit({ exclusiveRelayer: BOB, exclusivityParameter: ahead })
    expect(await refusedFill(exclusive, await agreed(exclusive))).toBe('NotExclusiveRelayer')
  })
})

describe('a refund', () => {
  const leafOf = (refunds: readonly (readonly [Address, bigint])[], change: Partial<RefundLeaf> = {}): RefundLeaf => ({
    amountToReturn: 0n,
    chainId: 8453n,
    refundAmounts: refunds.map(([, amount]) => amount),
    leafId: 0,
    l2TokenAddress: bridge.origin.usdc,
    refundAddresses: refunds.map(([account]) => account),
    ...change,
  })
  const LEAF = parseAbiParameters('(uint256, uint256, uint256[], uint32, address, address[])')
  const hashOf = ({ amountToReturn, chainId, refundAmounts, leafId, l2TokenAddress, refundAddresses }: RefundLeaf) =>
    keccak256(
      encodeAbiParameters(LEAF, [[amountToReturn, chainId, refundAmounts, leafId, l2TokenAddress, refundAddresses]]),
    )
  /** Publishes the Merkle root of a refund bundle on the origin chain. Returns the bundle's id. */
  const bring = async (root: Hash): Promise<number> => {
    const args = [root, zeroHash] as const
    const data = encodeFunctionData({ abi: spokePoolAbi, functionName: 'relayRootBundle', args })
    const [event] = await bridge.origin.eventsOf((await bridge.origin.act(RELAYER, bridge.origin.pool, data))[0])
    expect(event).toMatchObject({ eventName: 'RelayedRootBundle', args: { relayerRefundRoot: root } })
    return Number(event?.args['rootBundleId'])
  }
  const execute = async (bundleId: number, leaf: RefundLeaf, proof: readonly Hash[] = []) => {
    const args = [bundleId, leaf, proof] as const
    const data = encodeFunctionData({ abi: spokePoolAbi, functionName: 'executeRelayerRefundLeaf', args })
    return bridge.origin.eventsOf((await bridge.origin.act(STRANGER, bridge.origin.pool, data))[0])
  }
  const refused = (...args: readonly unknown[]) => bridge.origin.refusal(STRANGER, 'executeRelayerRefundLeaf', args)
  const blacklist = (account: Address, functionName: 'blacklist' | 'unBlacklist') =>
    bridge.origin.act(
      STRANGER,
      bridge.origin.usdc,
      encodeFunctionData({ abi: parseAbi([`function ${functionName}(address)`]), args: [account] }),
    )

  test('has several leaves with several accounts each, and its event follows the transfers', async () => {
    const { origin } = bridge
    await bridge.deposit()
    const leaves = [
      leafOf([
        [ALICE, 30n],
        [BOB, 3n],
      ]),
      leafOf([[BOB, 4n]], { leafId: 1 }),
      leafOf([[ALICE, 5n]], { leafId: 2, l2TokenAddress: origin.usdt }),
    ] as const
    const [a, b, c] = leaves.map(hashOf) as [Hash, Hash, Hash]
    const pair = (x: Hash, y: Hash) => keccak256(concat(x < y ? [x, y] : [y, x]))
    const bundleId = await bring(pair(pair(a, b), c))
    const before = await origin.balanceOf(ALICE)
    const events = await execute(bundleId, leaves[0], [b, c])
    expect(events.map(({ eventName }) => eventName)).toEqual(['Transfer', 'Transfer', 'ExecutedRelayerRefundRoot'])
    expect(events[2]?.args).toEqual({
      amountToReturn: 0n,
      chainId: 8453n,
      refundAmounts: [30n, 3n],
      rootBundleId: bundleId,
      leafId: 0,
      l2TokenAddress: origin.usdc,
      refundAddresses: [ALICE, BOB],
      deferredRefunds: false,
      caller: STRANGER,
    })
    expect(await origin.balanceOf(ALICE)).toBe(before + 30n)
    expect(await refused(bundleId, leaves[0], [b, c])).toBe('ClaimedMerkleLeaf')
    expect(await refused(bundleId, leaves[1], [b, c])).toBe('InvalidMerkleProof')
    expect(await execute(bundleId, leaves[1], [a, c])).toHaveLength(2)
    expect(await execute(bundleId, leaves[2], [pair(a, b)])).toHaveLength(2)
  })

  test('needs a bundle of the operator for this chain and an amount for each account', async () => {
    const { origin } = bridge
    expect(await origin.refusal(STRANGER, 'relayRootBundle', [zeroHash, zeroHash])).toBe('InvalidMerkleProof')
    const leaf = leafOf([[ALICE, 1n]])
    const bundleId = await bring(hashOf(leaf))
    expect(await refused(bundleId, leafOf([[ALICE, 2n]]), [])).toBe('InvalidMerkleProof')
    const elsewhere = leafOf([], { chainId: 1n })
    expect(await refused(await bring(hashOf(elsewhere)), elsewhere, [])).toBe('InvalidChainId')
    const uneven = leafOf([[ALICE, 1n]], { refundAmounts: [] })
    expect(await refused(await bring(hashOf(uneven)), uneven, [])).toBe('InvalidMerkleLeaf')
  })

  test('pays no account while the pool holds too little for all', async () => {
    const { origin } = bridge
    const leaf = leafOf([
      [ALICE, 1n],
      [BOB, await origin.balanceOf(origin.pool)],
    ])
    const bundleId = await bring(hashOf(leaf))
    expect(await refused(bundleId, leaf, [])).toBe('InsufficientSpokePoolBalanceToExecuteLeaf')
    await origin.mint(origin.pool, 1n)
    expect(await execute(bundleId, leaf)).toHaveLength(3)
    await origin.mint(origin.pool, leaf.refundAmounts[1] ?? 0n)
  })

  test('that a token refuses is kept for the account and paid to the recipient that it names', async () => {
    const { origin } = bridge
    const leaf = leafOf([
      [ALICE, 30n],
      [BOB, 3n],
    ])
    const bundleId = await bring(hashOf(leaf))
    await blacklist(ALICE, 'blacklist')
    const events = await execute(bundleId, leaf)
    await blacklist(ALICE, 'unBlacklist')
    // The refund pays Bob, although the token rejects the payment to Alice. The event does not say that Alice is unpaid.
    expect(events.map(({ eventName }) => eventName)).toEqual(['Transfer', 'ExecutedRelayerRefundRoot'])
    expect(events[1]?.args).toMatchObject({ refundAddresses: [ALICE, BOB], deferredRefunds: true })

    const args = [encodeAddressWord(origin.usdc), encodeAddressWord(BOB)] as const
    expect(await origin.refusal(BOB, 'claimRelayerRefund', args)).toBe('NoRelayerRefundToClaim')
    const data = encodeFunctionData({ abi: spokePoolAbi, functionName: 'claimRelayerRefund', args })
    const [transfer, claimed] = await origin.eventsOf((await origin.act(ALICE, origin.pool, data))[0])
    expect(transfer?.args).toMatchObject({ from: origin.pool, to: BOB, value: 30n })
    expect(claimed).toMatchObject({
      eventName: 'ClaimedRelayerRefund',
      args: {
        l2TokenAddress: encodeAddressWord(origin.usdc),
        refundAddress: encodeAddressWord(BOB),
        amount: 30n,
        caller: ALICE,
      },
    })
    expect(await origin.refusal(ALICE, 'claimRelayerRefund', args)).toBe('NoRelayerRefundToClaim')
  })
})
