import {
  type Address,
  encodeFunctionData,
  encodePacked,
  keccak256,
  toEventSelector,
  toFunctionSelector,
  zeroAddress,
  zeroHash,
} from 'viem'
import { getBlock, getCode, readContract, simulateContract } from 'viem/actions'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ACCOUNTS } from '../../../sandbox/accounts.ts'
import { installPool, multicallHandlerAbi, readDeposits, spokePoolAbi } from '../../../sandbox/bridge.ts'
import { compiledContract } from '../../../sandbox/contracts.ts'
import { WETH } from '../../support/oracles.ts'
import { catchErrorName } from '../harness.ts'
import { ALICE, BOB, encodeAddressWord, encodeApproval, openBridge, RELAYER, STRANGER } from './harness.ts'

let bridge: Awaited<ReturnType<typeof openBridge>>
beforeAll(async () => {
  bridge = await openBridge()
})
afterAll(() => bridge.stop())

/** Function selectors of Across's deployed contracts. */
const SELECTORS = {
  depositV3: '0x7b939232',
  deposit: '0xad5425c6',
  fillRelay: '0xdeff4b24',
  fillStatuses: '0xc35c83fc',
  getV3RelayHash: '0xd7e1583a',
  makeCallWithBalance: '0xc41e8295',
  drainLeftoverTokens: '0xef8738d3',
}
const TOPICS = {
  FundsDeposited: '0x32ed1a409ef04c7b0227189c3a103dc5ac10e775a15b785dcc510201f7c25ad3',
  V3FundsDeposited: '0xa123dc29aebf7d0c3322c8eeb5b999e859f39937950ed31056532713d0de396f',
  FilledRelay: '0x44b559f101f8fbcc8a0ea43fa91a05a729a5ea6e14a7c75aa750374690137208',
  FilledV3Relay: '0x571749edf1d5c9599318cdbc4e28a6475d65e87fd3b2ddbe1e9a8d5e7a0f0ff7',
  CallsFailed: '0x5296f22c5d0413b66d0bf45c479c4e2ca5b278634bdbd028b48e49502105f966',
  DrainedTokens: '0x74d3741ef03417659087d2ec6af11dade8713f9b7f592569d60cf1ea0c9a4455',
}

describe('the interface', () => {
  test('has the real contracts’ selectors and topics, both in our contracts and in our ABI', async () => {
    const contracts = await Promise.all(['LegacySpokePool', 'MulticallHandler'].map((name) => compiledContract(name)))
    for (const abi of [contracts.flatMap((contract) => [...contract.abi]), [...spokePoolAbi, ...multicallHandlerAbi]]) {
      const selectors = abi.flatMap((item) =>
        item.type === 'function' ? [[item.name, toFunctionSelector(item)] as const] : [],
      )
      const topics = abi.flatMap((item) => (item.type === 'event' ? [[item.name, toEventSelector(item)] as const] : []))
      expect(Object.fromEntries(selectors)).toMatchObject(SELECTORS)
      expect(Object.fromEntries(topics)).toMatchObject(TOPICS)
    }
  })

  test('has every error and event of the contracts in our ABI', async () => {
    const names = (abi: readonly { type: string; name?: string }[]) =>
      abi.filter(({ type }) => type === 'error' || type === 'event').map(({ name }) => name)
    const { abi: pool } = await compiledContract('SpokePool')
    const { abi: handler } = await compiledContract('MulticallHandler')
    // The service's ABIs omit the errors of reentrancy guards, because no client of the service handles them.
    const guards = ['ReentrancyGuardReentrantCall']
    expect(names(spokePoolAbi)).toEqual(
      expect.arrayContaining(names(pool as never).filter((name) => !guards.includes(String(name)))),
    )
    expect(names(multicallHandlerAbi)).toEqual(
      expect.arrayContaining(
        names(handler as never).filter((name) => ![...guards, 'SafeERC20FailedOperation'].includes(String(name))),
      ),
    )
  })

  test('has the real addresses, the real buffers and its chain’s id', async () => {
    const { client, pool, handler, chainId } = bridge.origin
    expect([pool, handler]).toEqual([
      '0x09aea4b2242abC8bb4BB78D537A67a245A7bEC64',
      '0x0F7Ae28dE1C8532170AD4ee566B5801485c13a0E',
    ])
    expect(await getCode(client, { address: handler })).toMatch(/^0x60/)
    const read = (functionName: 'depositQuoteTimeBuffer' | 'fillDeadlineBuffer' | 'chainId' | 'getCurrentTime') =>
      readContract(client, { address: pool, abi: spokePoolAbi, functionName })
    expect(await read('depositQuoteTimeBuffer')).toBe(3600)
    expect(await read('fillDeadlineBuffer')).toBe(21_600)
    expect(await read('chainId')).toBe(BigInt(chainId))
    expect(await read('getCurrentTime')).toBe((await getBlock(client)).timestamp)
  })

  test('has the local chains’ relayer as its operator', async () => {
    const { client, pool } = bridge.origin
    const [item] = (await compiledContract('SpokePool')).abi.filter(
      (entry) => 'name' in entry && entry.name === 'OPERATOR',
    )
    if (!item) throw new Error('There is no OPERATOR')
    expect(await readContract(client, { address: pool, abi: [item], functionName: 'OPERATOR' })).toBe(
      ACCOUNTS.relayer.address,
    )
  })
})

describe('a deposit', () => {
  test('takes the tokens and emits every parameter, with its id and its deadline', async () => {
    const { origin, destination } = bridge
    const balanceBefore = await origin.balanceOf(origin.pool)
    const deposit = await bridge.deposit({ message: '0x1234', recipient: BOB, deadlineIn: 60 })
    expect(await origin.balanceOf(origin.pool)).toBe(balanceBefore + origin.units('100'))
    const now = await origin.now()
    expect(deposit).toMatchObject({
      originChainId: 8453,
      destinationChainId: 42161,
      depositor: encodeAddressWord(ALICE),
      recipient: encodeAddressWord(BOB),
      inputToken: encodeAddressWord(origin.usdc),
      outputToken: encodeAddressWord(destination.usdc),
      inputAmount: origin.units('100'),
      outputAmount: destination.units('99.9'),
      exclusiveRelayer: zeroHash,
      exclusivityDeadline: 0,
      message: '0x1234',
    })
    expect(Math.abs(deposit.quoteTimestamp - now)).toBeLessThan(10)
    expect(deposit.fillDeadline - deposit.quoteTimestamp).toBe(60)
  })

  test('gets the next id, also among several in one transaction', async () => {
    const { origin } = bridge
    const first = await bridge.deposit()
    const args = await bridge.argsOf({ inputAmount: 1n, outputAmount: 1n })
    const data = encodeFunctionData({ abi: spokePoolAbi, functionName: 'depositV3', args })
    await origin.mint(ALICE, 2n)
    await origin.act(ALICE, origin.usdc, encodeApproval(origin.pool, 2n))
    const multicall = encodeFunctionData({ abi: spokePoolAbi, functionName: 'multicall', args: [[data, data]] })
    const [hash] = await origin.act(ALICE, origin.pool, multicall)
    const together = (await readDeposits(origin.chain)).filter(({ transactionHash }) => transactionHash === hash)
    expect(together.map(({ depositId }) => depositId)).toEqual([first.depositId + 1n, first.depositId + 2n])
    const counter = { address: origin.pool, abi: spokePoolAbi, functionName: 'numberOfDeposits' } as const
    expect(BigInt(await readContract(origin.client, counter))).toBe(first.depositId + 3n)
  })

  test('is the same in all its forms', async () => {
    const { origin } = bridge
    const args = await bridge.argsOf({ message: '0xab' })
    const [depositor, recipient, input, output, inAmount, outAmount, chainId, exclusive, quoted, deadline, , message] =
      args
    const words = [
      encodeAddressWord(depositor),
      encodeAddressWord(recipient),
      encodeAddressWord(input),
      encodeAddressWord(output),
      inAmount,
      outAmount,
      chainId,
    ] as const
    const addresses = [depositor, recipient, input, output, inAmount, outAmount, chainId] as const
    const calls = [
      encodeFunctionData({ abi: spokePoolAbi, functionName: 'depositV3', args }),
      encodeFunctionData({
        abi: spokePoolAbi,
        functionName: 'deposit',
        args: [...words, encodeAddressWord(exclusive), quoted, deadline, 0, message],
      }),
      encodeFunctionData({
        abi: spokePoolAbi,
        functionName: 'depositNow',
        args: [...words, encodeAddressWord(exclusive), 7200, 0, message],
      }),
      encodeFunctionData({
        abi: spokePoolAbi,
        functionName: 'depositV3Now',
        args: [...addresses, exclusive, 7200, 0, message],
      }),
      encodeFunctionData({
        abi: spokePoolAbi,
        functionName: 'unsafeDeposit',
        args: [...words, encodeAddressWord(exclusive), 7n, quoted, deadline, 0, message],
      }),
    ]
    const deposits = []
    for (const data of calls) {
      await origin.mint(ALICE, inAmount)
      await origin.act(ALICE, origin.usdc, encodeApproval(origin.pool, inAmount))
      const [hash] = await origin.act(ALICE, origin.pool, data)
      const deposit = (await readDeposits(origin.chain)).find(({ transactionHash }) => transactionHash === hash)
      if (!deposit) throw new Error('No event')
      deposits.push(deposit)
    }
    const [first, ...others] = deposits
    if (!first) throw new Error('No deposit')
    const varying = ['transactionHash', 'blockNumber', 'depositId', 'quoteTimestamp', 'fillDeadline', 'logIndex']
    const same = (deposit: object) => Object.entries(deposit).filter(([name]) => !varying.includes(name))
    for (const other of others) expect(same(other)).toEqual(same(first))
    for (const { quoteTimestamp, fillDeadline } of deposits) expect(fillDeadline - quoteTimestamp).toBe(7200)

    // The contract function `unsafeDeposit` derives the deposit's id from the sender, the depositor and a number that
    // the sender chooses. The pool's deposit counter stays the same.
    const id = BigInt(keccak256(encodePacked(['address', 'bytes32', 'uint256'], [ALICE, encodeAddressWord(ALICE), 7n])))
    expect(deposits.at(-1)?.depositId).toBe(id)
    const unsafe = { address: origin.pool, abi: spokePoolAbi, functionName: 'getUnsafeDepositId' } as const
    expect(await readContract(origin.client, { ...unsafe, args: [ALICE, encodeAddressWord(ALICE), 7n] })).toBe(id)
    expect((await bridge.deposit()).depositId).toBe((deposits.at(-2)?.depositId ?? 0n) + 1n)
  })

  test('takes a USDT-like token, and calldata with an integrator at its end', async () => {
    const { origin, destination } = bridge
    const deposit = await bridge.deposit({ inputToken: origin.usdt, outputToken: destination.usdt })
    expect(deposit.inputToken).toBe(encodeAddressWord(origin.usdt))
    await origin.mint(ALICE, 5n)
    await origin.act(ALICE, origin.usdc, encodeApproval(origin.pool, 5n))
    const args = await bridge.argsOf({ inputAmount: 5n })
    const data = encodeFunctionData({ abi: spokePoolAbi, functionName: 'depositV3', args })
    await origin.act(ALICE, origin.pool, `${data}1dc0de0042`)
    expect((await readDeposits(origin.chain)).at(-1)).toMatchObject({ inputAmount: 5n, message: '0x' })
  })

  test('to a chain that does not exist is still accepted', async () => {
    expect(await bridge.deposit({ destinationChainId: 534_352 })).toMatchObject({ destinationChainId: 534_352 })
  })
})

describe('a deposit is refused', () => {
  const refusal = async (options: Parameters<typeof bridge.argsOf>[0], value?: bigint) =>
    bridge.origin.refusal(ALICE, 'depositV3', await bridge.argsOf(options), value)

  // The times exceed the pool's limits by 100 seconds. The arguments use the newest block's time, but the simulation
  // runs in a later block.
  test.for([
    ['with a quote of the future', { quotedIn: 100 }, 'InvalidQuoteTimestamp'],
    ['with a quote of more than an hour ago', { quotedIn: -3700 }, 'InvalidQuoteTimestamp'],
    ['with a deadline more than six hours ahead', { deadlineIn: 21_700 }, 'InvalidFillDeadline'],
    ['without an output token', { outputToken: zeroAddress }, 'InvalidOutputToken'],
    ['with an exclusivity for nobody', { exclusivityParameter: 5 }, 'InvalidExclusiveRelayer'],
  ] as const)('%s', async ([, options, error]) => {
    expect(await refusal(options)).toBe(error)
  })

  test('that sends the native coin for another token, or another amount of it', async () => {
    const inputToken = WETH[bridge.origin.chainId]
    if (!inputToken) throw new Error('The origin has no wrapped coin')
    expect(await refusal({}, 1n)).toBe('MsgValueDoesNotMatchInputAmount')
    expect(await refusal({ inputAmount: 5n }, 5n)).toBe('MsgValueDoesNotMatchInputAmount')
    expect(await refusal({ inputToken, inputAmount: 5n }, 4n)).toBe('MsgValueDoesNotMatchInputAmount')
    await expect(refusal({ inputToken, inputAmount: 5n }, 5n)).rejects.toThrow('The call went through')
  })

  test('by a depositor whose address is not an EVM address', async () => {
    const [, recipient, input, output, inAmount, outAmount, chainId, , quoted, deadline] = await bridge.argsOf()
    const amounts = [inAmount, outAmount, chainId] as const
    const solana = `0x01${'00'.repeat(31)}` as const
    const args = [
      solana,
      encodeAddressWord(recipient),
      encodeAddressWord(input),
      encodeAddressWord(output),
      ...amounts,
      zeroHash,
      quoted,
      deadline,
      0,
      '0x',
    ]
    expect(await bridge.origin.refusal(ALICE, 'deposit', args)).toBe('InvalidAddress')
  })

  test('without the tokens or the allowance', async () => {
    const { origin } = bridge
    const args = await bridge.argsOf({ depositor: STRANGER })
    const { client, pool } = origin
    const simulate = simulateContract(client, {
      address: pool,
      abi: spokePoolAbi,
      functionName: 'depositV3',
      args,
      account: STRANGER,
    })
    // The selector belongs to the error ERC20InsufficientAllowance(address,uint256,uint256).
    expect(await catchErrorName(simulate)).toBe('0xfb8f41b2')
  })

  test('at the edges of its windows, but not within them', async () => {
    // The pool compares the deposit's times with the time of the block. The test mines each deposit, because a
    // simulation would use another block time.
    const at = async (options: Parameters<typeof bridge.argsOf>[0]) => {
      const deposit = bridge.deposit({ ...options, inputAmount: 1n })
      return deposit.then(
        () => 'taken',
        () => 'refused',
      )
    }
    expect(await at({ quotedIn: -3500 })).toBe('taken')
    expect(await at({ deadlineIn: 21_600 })).toBe('taken')
    expect(await at({ deadlineIn: -1 })).toBe('taken')
    expect(await at({ quotedIn: -3601 })).toBe('refused')
  })

  test('while deposits are paused, which only the operator can do', async () => {
    const { origin } = bridge
    const pause = (to: boolean) =>
      origin.act(
        RELAYER,
        origin.pool,
        encodeFunctionData({ abi: spokePoolAbi, functionName: 'pauseDeposits', args: [to] }),
      )
    expect(await origin.refusal(STRANGER, 'pauseDeposits', [true])).toBe('InvalidMerkleProof')
    const [hash] = await pause(true)
    expect(await origin.eventsOf(hash)).toMatchObject([{ eventName: 'PausedDeposits', args: { isPaused: true } }])
    const paused = { address: origin.pool, abi: spokePoolAbi, functionName: 'pausedDeposits' } as const
    expect(await readContract(origin.client, paused)).toBe(true)
    expect(await refusal({})).toBe('DepositsArePaused')
    await pause(false)
    expect(await bridge.deposit()).toMatchObject({ depositor: encodeAddressWord(ALICE) })
  })
})

test('exclusivity is none, a period from now, or a time', async () => {
  const { origin } = bridge
  const exclusive = async (exclusivityParameter: number) => {
    const { exclusivityDeadline } = await bridge.deposit({ exclusivityParameter, exclusiveRelayer: STRANGER })
    return exclusivityDeadline
  }
  expect(await exclusive(0)).toBe(0)
  expect((await exclusive(60)) - (await origin.now())).toBe(60)
  expect((await exclusive(31_536_000)) - (await origin.now())).toBe(31_536_000)
  expect(await exclusive(31_536_001)).toBe(31_536_001)
})

test('an old pool emits the same deposit in the old event', async () => {
  const { origin } = bridge
  await installPool(origin.chain, { contract: 'LegacySpokePool' })
  try {
    const deposit = await bridge.deposit({ message: '0x77' })
    const events = await origin.eventsOf(deposit.transactionHash)
    expect(events.map(({ eventName }) => eventName)).toEqual(['Transfer', 'V3FundsDeposited'])
    expect(events[1]?.args).toMatchObject({ depositor: ALICE, depositId: Number(deposit.depositId), message: '0x77' })
    expect(deposit).toMatchObject({ depositor: encodeAddressWord(ALICE), inputAmount: origin.units('100') })
  } finally {
    await installPool(origin.chain)
  }
})

test('events of a look-alike of the pool at another address are ignored', async () => {
  const { origin } = bridge
  const address: Address = '0x00000000000000000000000000000000000f04ed'
  await installPool(origin.chain, { address })
  await origin.mint(ALICE, 10n)
  await origin.act(ALICE, origin.usdc, encodeApproval(address, 10n))
  const before = await readDeposits(origin.chain)
  const args = await bridge.argsOf({ inputAmount: 10n })
  const [hash] = await origin.act(
    ALICE,
    address,
    encodeFunctionData({ abi: spokePoolAbi, functionName: 'depositV3', args }),
  )
  expect((await origin.eventsOf(hash)).at(-1)).toMatchObject({ eventName: 'FundsDeposited', args: { depositId: 0n } })
  expect(await readDeposits(origin.chain)).toEqual(before)
})
