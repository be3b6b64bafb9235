import fc from 'fast-check'
import {
  type Address,
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  getAddress,
  type Hash,
  type Hex,
  keccak256,
  numberToHex,
  pad,
  parseAbi,
  parseAbiParameters,
  toEventSelector,
  toFunctionSelector,
  zeroAddress,
  zeroHash,
} from 'viem'
import { describe, expect, test } from 'vitest'
import { handlerAbi, poolAbi } from '../../../lib/bridge/abi.ts'
import {
  addressIn,
  type BridgeDeposit,
  FILLED_RELAY,
  type Fill,
  findFill,
  parseDeposits,
  parseFillOutcome,
  parseMessage,
  paysBack,
  relayHash,
} from '../../../lib/bridge/events.ts'
import type { Log } from '../../../lib/chain/logs.ts'

const POOL = getAddress('0x09aea4b2242abC8bb4BB78D537A67a245A7bEC64')
const HANDLER = getAddress('0x0F7Ae28dE1C8532170AD4ee566B5801485c13a0E')
const TOKEN = getAddress('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913')
const ELSEWHERE = getAddress('0xe35e9842fceaCA96570B734083f4a58e8F7C5f2A')
const TRANSACTION = pad('0xabcdef')

// Written apart from the service's own ABI, so that a mistake there does not hide itself.
const EVENTS = parseAbi([
  'event FundsDeposited(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 indexed destinationChainId, uint256 indexed depositId, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityDeadline, bytes32 indexed depositor, bytes32 recipient, bytes32 exclusiveRelayer, bytes message)',
  'event V3FundsDeposited(address inputToken, address outputToken, uint256 inputAmount, uint256 outputAmount, uint256 indexed destinationChainId, uint32 indexed depositId, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityDeadline, address indexed depositor, address recipient, address exclusiveRelayer, bytes message)',
  'event FilledRelay(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 repaymentChainId, uint256 indexed originChainId, uint256 indexed depositId, uint32 fillDeadline, uint32 exclusivityDeadline, bytes32 exclusiveRelayer, bytes32 indexed relayer, bytes32 depositor, bytes32 recipient, bytes32 messageHash, (bytes32 updatedRecipient, bytes32 updatedMessageHash, uint256 updatedOutputAmount, uint8 fillType) relayExecutionInfo)',
  'struct Call { address target; bytes callData; uint256 value; }',
  'event CallsFailed(Call[] calls, address indexed fallbackRecipient)',
  'event DrainedTokens(address indexed recipient, address indexed token, uint256 indexed amount)',
  'event DepositRequest(address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 assets)',
  'event DepositSync(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
  'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event ExecutedRelayerRefundRoot(uint256 amountToReturn, uint256 indexed chainId, uint256[] refundAmounts, uint32 indexed rootBundleId, uint32 indexed leafId, address l2TokenAddress, address[] refundAddresses, bool deferredRefunds, address caller)',
])
const MESSAGE = parseAbiParameters([
  'Instructions instructions',
  'struct Instructions { Call[] calls; address fallbackRecipient; }',
  'struct Call { address target; bytes callData; uint256 value; }',
])
const HANDLER_CALL = parseAbi([
  'struct Replacement { address token; uint256 offset; }',
  'function makeCallWithBalance(address target, bytes callData, uint256 value, Replacement[] replacement)',
])

/** A log as the chain would hold it, at a place of its own later. */
type Unplaced = Omit<Log, 'logIndex'>

function emit(address: Address, eventName: (typeof EVENTS)[number]['name'], args: Record<string, unknown>): Unplaced {
  const event = EVENTS.find((item) => item.name === eventName)
  if (!event) throw new Error(`There is no event ${eventName}`)
  const data = encodeAbiParameters(
    event.inputs.filter((input) => !('indexed' in input && input.indexed)),
    event.inputs.filter((input) => !('indexed' in input && input.indexed)).map(({ name }) => args[name]) as never,
  )
  const topics = encodeEventTopics({ abi: EVENTS, eventName, args } as never) as [Hash, ...Hash[]]
  // In lower case, as nodes tell it.
  return { address: address.toLowerCase() as Address, topics, data, blockNumber: 7n, transactionHash: TRANSACTION }
}

/** The logs of one transaction, numbered through; its first one is not the block's. */
function placed(logs: readonly Unplaced[], first = 3): Log[] {
  return logs.map((log, i) => ({ ...log, logIndex: first + i }))
}

const anyAddress = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => getAddress(`0x${Buffer.from(bytes).toString('hex')}`))
  .filter((address) => address !== zeroAddress)
const anyWord = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
const anyBytes = fc.uint8Array({ maxLength: 100 }).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
const anyUint = fc.oneof(
  fc.constantFrom(0n, 1n, 2n ** 32n, 2n ** 64n, 2n ** 256n - 1n),
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
)
const anyTime = fc.integer({ min: 0, max: 2 ** 32 - 1 })
/** A deposit as today's pools take it: accounts and tokens are words. */
const anyDeposit = fc
  .record({
    depositor: anyAddress.map((address) => pad(address).toLowerCase() as Hex),
    recipient: anyWord,
    exclusiveRelayer: anyWord,
    inputToken: anyWord,
    outputToken: anyWord,
    inputAmount: anyUint,
    outputAmount: anyUint,
    originChainId: fc.constant(42161n),
    depositId: anyUint,
    fillDeadline: anyTime,
    exclusivityDeadline: anyTime,
    message: anyBytes,
  })
  .map((relayData): BridgeDeposit => ({ relayData, destinationChainId: 8453 }))

function depositLog({ relayData, destinationChainId }: BridgeDeposit, pool = POOL): Unplaced {
  return emit(pool, 'FundsDeposited', {
    ...relayData,
    destinationChainId: BigInt(destinationChainId),
    quoteTimestamp: 1,
  })
}

function fillLog({ relayData }: BridgeDeposit, { pool = POOL, amount = relayData.outputAmount } = {}): Unplaced {
  const messageHash = relayData.message === '0x' ? zeroHash : keccak256(relayData.message)
  return emit(pool, 'FilledRelay', {
    ...relayData,
    repaymentChainId: 1n,
    relayer: pad('0x99'),
    messageHash,
    relayExecutionInfo: {
      updatedRecipient: relayData.recipient,
      updatedMessageHash: messageHash,
      updatedOutputAmount: amount,
      fillType: 0,
    },
  })
}

describe('What we know the bridge by', () => {
  const selectorOf = (abi: typeof poolAbi | typeof handlerAbi, name: string) => {
    const item = abi.find((candidate) => candidate.name === name)
    if (item?.type === 'event') return toEventSelector(item)
    if (item?.type === 'function') return toFunctionSelector(item)
    throw new Error(`There is no ${name}`)
  }

  test.for([
    ['FundsDeposited', '0x32ed1a409ef04c7b0227189c3a103dc5ac10e775a15b785dcc510201f7c25ad3'],
    ['V3FundsDeposited', '0xa123dc29aebf7d0c3322c8eeb5b999e859f39937950ed31056532713d0de396f'],
    ['FilledRelay', '0x44b559f101f8fbcc8a0ea43fa91a05a729a5ea6e14a7c75aa750374690137208'],
    ['FilledV3Relay', '0x571749edf1d5c9599318cdbc4e28a6475d65e87fd3b2ddbe1e9a8d5e7a0f0ff7'],
    ['depositV3', '0x7b939232'],
    ['fillStatuses', '0xc35c83fc'],
  ] as const)('%s of the pool is %s', ([name, selector]) => {
    expect(selectorOf(poolAbi, name)).toBe(selector)
  })

  test.for([
    ['CallsFailed', /^0x5296f22c5d0413b66d0bf45c479c4e2ca5b278634bdbd028b48e49502105f966$/],
    ['DrainedTokens', /^0x74d3741e[0-9a-f]{52}4455$/],
    ['makeCallWithBalance', /^0xc41e8295$/],
  ] as const)('%s of the handler is %s', ([name, selector]) => {
    expect(selectorOf(handlerAbi, name)).toMatch(selector)
  })

  test('a fill is searched by the topic of FilledRelay', () => {
    expect(FILLED_RELAY).toBe('0x44b559f101f8fbcc8a0ea43fa91a05a729a5ea6e14a7c75aa750374690137208')
  })
})

describe('The relay hash', () => {
  /** keccak256(abi.encode(relayData, destinationChainId)), put together word by word. */
  function hashByHand({ relayData, destinationChainId }: BridgeDeposit): Hash {
    const word = (value: bigint | number) => BigInt(value).toString(16).padStart(64, '0')
    const message = relayData.message.slice(2)
    const words = [
      // The relay data has a part of variable length, so first comes the place where it starts.
      word(64),
      word(destinationChainId),
      relayData.depositor.slice(2),
      relayData.recipient.slice(2),
      relayData.exclusiveRelayer.slice(2),
      relayData.inputToken.slice(2),
      relayData.outputToken.slice(2),
      word(relayData.inputAmount),
      word(relayData.outputAmount),
      word(relayData.originChainId),
      word(relayData.depositId),
      word(relayData.fillDeadline),
      word(relayData.exclusivityDeadline),
      word(12 * 32),
      word(message.length / 2),
      message.padEnd(Math.ceil(message.length / 64) * 64, '0'),
    ]
    return keccak256(`0x${words.join('')}`)
  }

  test('is that of the relay data and the destination, encoded word by word', () => {
    fc.assert(
      fc.property(anyDeposit, fc.constantFrom(1, 10, 56, 137, 8453, 42161), (deposit, destinationChainId) => {
        const there = { ...deposit, destinationChainId }
        expect(relayHash(there)).toBe(hashByHand(there))
      }),
    )
  })

  test('is another one when any part is another', () => {
    fc.assert(
      fc.property(anyDeposit, (deposit) => {
        const { relayData } = deposit
        const others = [
          { ...deposit, destinationChainId: 10 },
          ...variations(relayData).map((other) => ({ ...deposit, relayData: other })),
        ]
        expect(new Set([deposit, ...others].map(relayHash)).size).toBe(others.length + 1)
      }),
      { numRuns: 30 },
    )
  })
})

type RelayData = BridgeDeposit['relayData']

/** The relay data twelve times, each with another part changed. */
function variations(relayData: RelayData): RelayData[] {
  return Object.entries(relayData).map(([name, value]) => {
    const other =
      typeof value === 'bigint'
        ? value ^ 1n
        : typeof value === 'number'
          ? (value ^ 1) >>> 0
          : name === 'message'
            ? `${value}00`
            : `${value.slice(0, -1)}${value.endsWith('0') ? '1' : '0'}`
    return { ...relayData, [name]: other }
  })
}

describe('The deposits of a transaction', () => {
  test('are those of its logs, in order and whole', () => {
    fc.assert(
      fc.property(fc.array(anyDeposit, { maxLength: 4 }), (deposits) => {
        expect(parseDeposits(placed(deposits.map((deposit) => depositLog(deposit))), POOL, 42161)).toEqual(deposits)
      }),
    )
  })

  test('are the same in the event of old, whose accounts are addresses and whose id is a small number', () => {
    const anyOldDeposit = fc.tuple(
      fc.record({
        depositor: anyAddress,
        recipient: anyAddress,
        exclusiveRelayer: anyAddress,
        inputToken: anyAddress,
        outputToken: anyAddress,
      }),
      anyDeposit,
      fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    )
    fc.assert(
      fc.property(anyOldDeposit, ([addresses, { relayData, destinationChainId }, id]) => {
        const log = emit(POOL, 'V3FundsDeposited', {
          ...relayData,
          ...addresses,
          depositId: id,
          destinationChainId: BigInt(destinationChainId),
          quoteTimestamp: 1,
        })
        const words = Object.fromEntries(
          Object.entries(addresses).map(([name, address]) => [name, pad(address).toLowerCase()]),
        )
        const expected = { relayData: { ...relayData, ...words, depositId: BigInt(id) }, destinationChainId }
        expect(parseDeposits(placed([log]), POOL, 42161)).toEqual([expected])
      }),
    )
  })

  test('are none where another contract emits the event', () => {
    fc.assert(
      fc.property(anyDeposit, (deposit) => {
        expect(parseDeposits(placed([depositLog(deposit, ELSEWHERE)]), POOL, 42161)).toEqual([])
      }),
    )
  })

  test('leave out logs that only look like the event', () => {
    const [deposit] = fc.sample(anyDeposit, 1) as [BridgeDeposit]
    const { data, ...log } = depositLog(deposit)
    const cut = { ...log, data: data.slice(0, -64) as Hex }
    const bare = { ...log, data, topics: [log.topics[0] as Hash] as [Hash] }
    const anonymous = { ...log, data, topics: [] as [] }
    expect(parseDeposits(placed([cut, bare, anonymous, { ...log, data }]), POOL, 42161)).toEqual([deposit])
  })
})

describe('The fill of a deposit', () => {
  test('is found among those of others, with what it delivered', () => {
    fc.assert(
      fc.property(anyDeposit, anyUint, fc.integer({ min: 0, max: 12 }), (deposit, amount, place) => {
        const others = variations(deposit.relayData).map((relayData) => fillLog({ ...deposit, relayData }))
        const logs = placed(others.toSpliced(place, 0, fillLog(deposit, { amount })))
        expect(findFill(logs, POOL, deposit)).toEqual({
          transactionHash: TRANSACTION,
          blockNumber: 7n,
          logIndex: 3 + place,
          outputAmount: amount,
        })
      }),
    )
  })

  test('is none with any part changed, or of another contract', () => {
    fc.assert(
      fc.property(anyDeposit, (deposit) => {
        const others = variations(deposit.relayData).map((relayData) => fillLog({ ...deposit, relayData }))
        expect(findFill(placed([...others, fillLog(deposit, { pool: ELSEWHERE })]), POOL, deposit)).toBeUndefined()
      }),
    )
  })

  test('is found for a deposit that was told by the event of old', () => {
    const someone = getAddress('0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65')
    const [{ relayData }] = fc.sample(anyDeposit, 1) as [BridgeDeposit]
    const addresses = { depositor: someone, recipient: HANDLER, exclusiveRelayer: someone }
    const tokens = { inputToken: TOKEN, outputToken: TOKEN }
    const args = { ...relayData, ...addresses, ...tokens, depositId: 5, destinationChainId: 8453n, quoteTimestamp: 1 }
    const [deposit] = parseDeposits(placed([emit(POOL, 'V3FundsDeposited', args)]), POOL, 42161) as [BridgeDeposit]
    const words = Object.entries({ ...addresses, ...tokens }).map(([name, address]) => [name, pad(address)])
    const filled = { ...relayData, depositId: 5n, ...Object.fromEntries(words) }
    expect(findFill(placed([fillLog({ ...deposit, relayData: filled })]), POOL, deposit)).toMatchObject({ logIndex: 3 })
  })
})

/** A deposit into `vault` for `user`, as our messages say it. */
type Order = { readonly user: Address; readonly vault: Address; readonly id: bigint; readonly amount: bigint }

function depositOf({ user, vault, id, amount }: Order): BridgeDeposit {
  const withBalance = (target: Address, callData: Hex) => ({
    target: HANDLER,
    callData: encodeFunctionData({
      abi: HANDLER_CALL,
      functionName: 'makeCallWithBalance',
      args: [target, callData, 0n, [{ token: TOKEN, offset: 4n }]],
    }),
    value: 0n,
  })
  const calls = [
    { target: TOKEN, callData: '0x1234' as const, value: 0n },
    withBalance(TOKEN, '0x5678'),
    withBalance(vault, '0x9abc'),
  ]
  return {
    relayData: {
      depositor: pad(user).toLowerCase() as Hex,
      recipient: pad(HANDLER).toLowerCase() as Hex,
      exclusiveRelayer: zeroHash,
      inputToken: pad('0x77'),
      outputToken: pad(TOKEN).toLowerCase() as Hex,
      inputAmount: amount + 5n,
      outputAmount: amount,
      originChainId: 42161n,
      depositId: id,
      fillDeadline: 2_000_000_000,
      exclusivityDeadline: 0,
      message: encodeAbiParameters(MESSAGE, [{ calls, fallbackRecipient: user }]),
    },
    destinationChainId: 8453,
  }
}

const callsFailed = (user: Address, handler = HANDLER) =>
  emit(handler, 'CallsFailed', { calls: [], fallbackRecipient: user })
const drained = (user: Address, amount: bigint, handler = HANDLER) =>
  emit(handler, 'DrainedTokens', { recipient: user, token: TOKEN, amount })
const requested = (user: Address, vault: Address, assets: bigint) =>
  emit(vault, 'DepositRequest', { controller: user, owner: HANDLER, requestId: 3n, sender: HANDLER, assets })
const sharesIssued = (eventName: 'Deposit' | 'DepositSync') => (user: Address, vault: Address, assets: bigint) =>
  emit(vault, eventName, { sender: HANDLER, owner: user, assets, shares: assets })
const autoClaimed = (user: Address, vault: Address) =>
  emit(vault, 'Deposit', { sender: user, owner: user, assets: 9n, shares: 9n })

describe('What a fill led to', () => {
  const USERS = [0xa1, 0xb2].map((byte) => getAddress(pad(numberToHex(byte), { size: 20 })))
  const VAULTS = [0xc3, 0xd4].map((byte) => getAddress(pad(numberToHex(byte), { size: 20 })))

  const anySuccess = fc.constantFrom(
    (user: Address, vault: Address, assets: bigint) => [requested(user, vault, assets)],
    (user: Address, vault: Address, assets: bigint) => [autoClaimed(user, vault), requested(user, vault, assets)],
    (user: Address, vault: Address, assets: bigint) => [sharesIssued('Deposit')(user, vault, assets)],
    (user: Address, vault: Address, assets: bigint) => [sharesIssued('DepositSync')(user, vault, assets)],
  )
  /** One fill of a batch: for whom, where to, and whether the vault takes it. */
  const anyOrder = fc.record({
    user: fc.constantFrom(...USERS),
    vault: fc.constantFrom(...VAULTS),
    amount: fc.bigInt({ min: 1n, max: 2n ** 100n }),
    end: fc.oneof(
      anySuccess.map((succeed) => ({ succeed })),
      fc.constantFrom('refused' as const, 'left over' as const),
    ),
  })
  /** What strangers may cause between two fills: calls of the handler, and deposits for whom they like. */
  const anyNoise = fc.oneof(
    fc.constantFrom(...USERS).map((user) => callsFailed(user)),
    fc
      .tuple(fc.constantFrom(...USERS), fc.bigInt({ min: 1n, max: 99n }))
      .map(([user, amount]) => drained(user, amount)),
    fc.tuple(fc.constantFrom(...USERS), fc.constantFrom(...VAULTS)).map(([user, vault]) => requested(user, vault, 1n)),
    fc
      .tuple(fc.constantFrom(...USERS), fc.constantFrom(...VAULTS))
      .map(([user, vault]) => sharesIssued('Deposit')(user, vault, 1n)),
  )
  /** What other contracts may emit at any place, also between our fill and what it leads to. */
  const anyForgery = fc.oneof(
    fc.constantFrom(...USERS).map((user) => callsFailed(user, ELSEWHERE)),
    fc.constantFrom(...USERS).map((user) => drained(user, 1n, ELSEWHERE)),
    fc.constantFrom(...USERS).map((user) => requested(user, ELSEWHERE, 1n)),
    fc.constantFrom(...USERS).map((user) => sharesIssued('DepositSync')(user, ELSEWHERE, 1n)),
    fc
      .constantFrom(...USERS)
      .map((user) => fillLog(depositOf({ user, vault: ELSEWHERE, id: 0n, amount: 1n }), { pool: ELSEWHERE })),
  )
  const anyBatch = fc.array(fc.record({ order: anyOrder, noise: fc.array(anyNoise, { maxLength: 4 }) }), {
    minLength: 1,
    maxLength: 5,
  })

  test('is decided by its own message alone, whatever else is in the transaction', () => {
    const anyTransaction = fc.tuple(
      anyBatch,
      fc.array(anyNoise, { maxLength: 4 }),
      fc.array(fc.tuple(fc.nat(), anyForgery), { maxLength: 6 }),
    )
    fc.assert(
      fc.property(anyTransaction, ([batch, before, forgeries]) => {
        const fills = batch.map(({ order, noise }, i) => {
          const { user, vault, amount, end } = order
          const deposit = depositOf({ user, vault, amount, id: BigInt(i) })
          const moved = emit(TOKEN, 'Transfer', { from: POOL, to: HANDLER, value: amount })
          const failed = { status: 'destination_action_failed', returned: amount }
          if (end === 'refused') {
            const effect = [callsFailed(user), drained(user, amount)]
            return { deposit, logs: [fillLog(deposit), moved, ...effect, ...noise], expected: failed }
          }
          // Calls that did nothing, as those of a vault that is gone; what comes after is somebody else's.
          if (end === 'left over') {
            const others = [callsFailed(ELSEWHERE), drained(ELSEWHERE, 1n), requested(ELSEWHERE, vault, 1n)]
            return { deposit, logs: [fillLog(deposit), moved, drained(user, amount), ...others], expected: failed }
          }
          const logs = [fillLog(deposit), moved, ...end.succeed(user, vault, amount), ...noise]
          return { deposit, logs, expected: { status: 'completed' } }
        })
        const honest = [...before, ...fills.flatMap(({ logs }) => logs)]
        const logs = placed(
          forgeries.reduce((all, [place, forgery]) => all.toSpliced(place % (all.length + 1), 0, forgery), honest),
        )
        for (const { deposit, expected } of fills) {
          const fill = findFill(logs, POOL, deposit) as Fill
          expect(parseFillOutcome(logs, { pool: POOL, handler: HANDLER, fill, deposit })).toEqual(expected)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('is a plain delivery where there is no message', () => {
    const [plain] = fc.sample(anyDeposit, 1) as [BridgeDeposit]
    const deposit = { ...plain, relayData: { ...plain.relayData, message: '0x' as const } }
    const logs = placed([fillLog(deposit), ...USERS.map((user) => callsFailed(user))])
    const fill = findFill(logs, POOL, deposit) as Fill
    expect(parseFillOutcome(logs, { pool: POOL, handler: HANDLER, fill, deposit })).toEqual({ status: 'completed' })
  })
})

describe('A refund', () => {
  type Refund = {
    readonly pool: Address
    readonly token: Address
    readonly payments: readonly (readonly [Address, bigint])[]
  }
  const refundLog = ({ pool, token, payments }: Refund) =>
    emit(pool, 'ExecutedRelayerRefundRoot', {
      amountToReturn: 0n,
      chainId: 42161n,
      refundAmounts: payments.map(([, amount]) => amount),
      rootBundleId: 1,
      leafId: 2,
      l2TokenAddress: token,
      refundAddresses: payments.map(([account]) => account),
      deferredRefunds: false,
      caller: ELSEWHERE,
    })

  test('is a payment of the pool to the depositor in the token of the deposit, of at least as much', () => {
    const user = getAddress(pad('0xa1', { size: 20 }))
    const { relayData, ...rest } = depositOf({ user, vault: ELSEWHERE, id: 1n, amount: 100n })
    const deposit = { ...rest, relayData: { ...relayData, inputToken: pad(TOKEN).toLowerCase() as Hex } }
    const { inputAmount } = relayData
    const right: Refund = { pool: POOL, token: TOKEN, payments: [[user, inputAmount]] }
    const isRefund = (...refunds: Refund[]) => paysBack(placed(refunds.map(refundLog)), POOL, deposit)

    expect(isRefund(right)).toBe(true)
    expect(isRefund({ ...right, payments: [[user, inputAmount * 7n]] })).toBe(true)
    expect(isRefund({ ...right, payments: [[ELSEWHERE, 1n], ...right.payments] })).toBe(true)
    expect(isRefund({ ...right, pool: ELSEWHERE }, right)).toBe(true)

    expect(isRefund()).toBe(false)
    expect(isRefund({ ...right, payments: [[user, inputAmount - 1n]] })).toBe(false)
    expect(
      isRefund({
        ...right,
        payments: [
          [ELSEWHERE, inputAmount],
          [user, 1n],
        ],
      }),
    ).toBe(false)
    expect(isRefund({ ...right, payments: [[ELSEWHERE, inputAmount]] })).toBe(false)
    expect(isRefund({ ...right, payments: [] })).toBe(false)
    expect(isRefund({ ...right, token: ELSEWHERE })).toBe(false)
    expect(isRefund({ ...right, pool: ELSEWHERE })).toBe(false)
  })
})

describe('A message', () => {
  test('says whom it serves and which vault it ends at', () => {
    fc.assert(
      fc.property(anyAddress, anyAddress, (user, vault) => {
        expect(parseMessage(depositOf({ user, vault, id: 1n, amount: 1n }))).toEqual({ user, target: vault })
      }),
    )
  })

  test('that is none of ours is none, whatever it is', () => {
    fc.assert(
      fc.property(anyDeposit, (deposit) => {
        expect(parseMessage(deposit)).toBeUndefined()
      }),
    )
  })
})

test('The address in a word is its last twenty bytes, with its checksum', () => {
  fc.assert(
    fc.property(anyAddress, (address) => {
      expect(addressIn(pad(address).toLowerCase() as Hex)).toBe(address)
    }),
  )
})
