import fc from 'fast-check'
import {
  type Address,
  encodeAbiParameters,
  getAddress,
  type Hash,
  type Hex,
  keccak256,
  numberToHex,
  pad,
  toEventSelector,
  toFunctionSelector,
  zeroAddress,
  zeroHash,
} from 'viem'
import { describe, expect, test } from 'vitest'
import { handlerAbi, poolAbi } from '../../../lib/bridge/abi.ts'
import {
  deferringTransactions,
  type Fill,
  findFill,
  findRepayment,
  parseDeposits,
  parseFillOutcome,
  parseMessage,
  parsePayments,
  relayHash,
} from '../../../lib/bridge/events.ts'
import type { BridgeDeposit } from '../../../lib/bridge/transfer.ts'
import {
  type Change,
  callsFailed,
  depositLog,
  depositOf,
  drained,
  ELSEWHERE,
  type Entry,
  emit,
  entryCall,
  fillLog,
  messageDeposit,
  POOL,
  placed,
  requested,
  sharesIssued,
  TOKEN,
  TRANSACTION,
  type Unplaced,
} from '../../support/bridge-events.ts'
import { HANDLER, MESSAGE } from '../../support/oracles.ts'
import { runs } from '../../support/runs.ts'

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
          recipient: deposit.relayData.recipient,
          messageHash: deposit.relayData.message === '0x' ? zeroHash : keccak256(deposit.relayData.message),
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
})

const autoClaimed = (user: Address, vault: Address) =>
  emit(vault, 'Deposit', { sender: user, owner: user, assets: 9n, shares: 9n })

describe('What a fill led to', () => {
  const USERS = [0xa1, 0xb2].map((byte) => getAddress(pad(numberToHex(byte), { size: 20 })))
  const VAULTS = [0xc3, 0xd4].map((byte) => getAddress(pad(numberToHex(byte), { size: 20 })))

  type Success = (user: Address, vault: Address, assets: bigint) => Unplaced[]
  const SUCCESSES: readonly (readonly [Entry, Success])[] = [
    ['requestDeposit', (user, vault, assets) => [requested(user, vault, assets)]],
    ['requestDeposit', (user, vault, assets) => [autoClaimed(user, vault), requested(user, vault, assets)]],
    ['deposit', (user, vault, assets) => [sharesIssued('Deposit')(user, vault, assets)]],
    [
      'syncDeposit',
      (user, vault, assets) => [autoClaimed(user, vault), sharesIssued('DepositSync')(user, vault, assets)],
    ],
  ]
  const anyEnd = fc
    .constantFrom(...SUCCESSES)
    .chain(([entry, succeed]) =>
      fc.constantFrom({ entry, succeed }, { entry, fail: 'refused' as const }, { entry, fail: 'left over' as const }),
    )
  /** One fill of a batch: for whom, where to, and whether the vault takes it. */
  const anyOrder = fc.record({
    user: fc.constantFrom(...USERS),
    vault: fc.constantFrom(...VAULTS),
    amount: fc.bigInt({ min: 1n, max: 2n ** 100n }),
    end: anyEnd,
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
          const deposit = depositOf({ user, vault, amount, id: BigInt(i), entry: end.entry })
          const moved = emit(TOKEN, 'Transfer', { from: POOL, to: HANDLER, value: amount })
          const failed = { result: 'destination_action_failed', returned: amount }
          if ('fail' in end && end.fail === 'refused') {
            const effect = [callsFailed(user), drained(user, amount)]
            return { deposit, logs: [fillLog(deposit), moved, ...effect, ...noise], expected: failed }
          }
          // Calls that did nothing, as those of a vault that is gone; what comes after is somebody else's.
          if ('fail' in end) {
            const others = [callsFailed(ELSEWHERE), drained(ELSEWHERE, 1n), requested(ELSEWHERE, vault, 1n)]
            return { deposit, logs: [fillLog(deposit), moved, drained(user, amount), ...others], expected: failed }
          }
          const logs = [fillLog(deposit), moved, ...end.succeed(user, vault, amount), ...noise]
          return { deposit, logs, expected: { result: 'deposited' } }
        })
        const honest = [...before, ...fills.flatMap(({ logs }) => logs)]
        const logs = placed(
          forgeries.reduce((all, [place, forgery]) => all.toSpliced(place % (all.length + 1), 0, forgery), honest),
        )
        for (const { deposit, expected } of fills) {
          const fill = findFill(logs, POOL, deposit) as Fill
          expect(parseFillOutcome(logs, { pool: POOL, handler: HANDLER, fill, deposit })).toMatchObject(expected)
        }
      }),
      { numRuns: runs(60) },
    )
  })

  const [USER, VAULT] = [USERS[0], VAULTS[0]] as [Address, Address]
  const ordered = depositOf({ user: USER, vault: VAULT, id: 1n, amount: 100n })
  const outcomeOf = (deposit: BridgeDeposit, change: Change, ...effects: Unplaced[]) => {
    const logs = placed([fillLog(deposit, change), ...effects])
    const fill = findFill(logs, POOL, deposit) as Fill
    return parseFillOutcome(logs, { pool: POOL, handler: HANDLER, fill, deposit })
  }
  const request = requested(USER, VAULT, 100n)

  test('is a plain delivery where there is no message, or it goes to the wallet of the depositor', () => {
    const failures = USERS.map((user) => callsFailed(user))
    expect(outcomeOf(messageDeposit({ user: USER, id: 1n, amount: 5n, message: '0x' }), {}, ...failures)).toEqual({
      result: 'delivered',
    })
    const { relayData } = ordered
    const toWallet = { ...ordered, relayData: { ...relayData, recipient: relayData.depositor } }
    expect(outcomeOf(toWallet, {}, ...failures)).toEqual({ result: 'delivered' })
  })

  test('is a deposit only by what the fill really ran, where the depositor agreed to something else', () => {
    expect(outcomeOf(ordered, { amount: 90n }, request)).toEqual({ result: 'deposited', logIndex: 4 })
    expect(outcomeOf(ordered, { recipient: ordered.relayData.depositor })).toEqual({ result: 'delivered' })
    expect(outcomeOf(ordered, { recipient: pad(ELSEWHERE) }, request)).toEqual({ result: 'delivered' })
    expect(outcomeOf(ordered, { message: '0x' }, request)).toEqual({ result: 'delivered' })
    const { message } = depositOf({ user: USER, vault: VAULTS[1] as Address, id: 1n, amount: 100n }).relayData
    expect(outcomeOf(ordered, { message }, requested(USER, VAULTS[1] as Address, 100n))).toEqual({
      result: 'delivered',
    })
    expect(outcomeOf(ordered, { message }, callsFailed(ELSEWHERE), drained(ELSEWHERE, 100n))).toEqual({
      result: 'destination_action_failed',
      returned: 100n,
    })
  })

  test('is not proven by logs that end too early, nor by the event of another kind of deposit', () => {
    expect(outcomeOf(ordered, {})).toEqual({ result: 'unproven' })
    expect(outcomeOf(ordered, {}, sharesIssued('Deposit')(USER, VAULT, 100n))).toEqual({ result: 'unproven' })
    expect(outcomeOf(ordered, {}, requested(ELSEWHERE, VAULT, 100n))).toEqual({ result: 'unproven' })
    expect(outcomeOf(ordered, {}, requested(USER, ELSEWHERE, 100n))).toEqual({ result: 'unproven' })
    const sync = depositOf({ user: USER, vault: VAULT, id: 1n, amount: 100n, entry: 'deposit' })
    expect(outcomeOf(sync, {}, autoClaimed(USER, VAULT))).toEqual({ result: 'unproven' })
  })

  test('of a message that another tool built is told by the vault that it names, and by its own fallback', () => {
    const calls = [
      { target: TOKEN, callData: '0x1234' as const, value: 0n },
      { target: VAULT, callData: entryCall('deposit', USER), value: 0n },
    ]
    const message = encodeAbiParameters(MESSAGE, [{ calls, fallbackRecipient: ELSEWHERE }])
    const foreign = messageDeposit({ user: USER, id: 1n, amount: 100n, message })
    expect(outcomeOf(foreign, {}, sharesIssued('Deposit')(USER, VAULT, 100n))).toMatchObject({ result: 'deposited' })
    expect(outcomeOf(foreign, {}, callsFailed(ELSEWHERE), drained(ELSEWHERE, 100n))).toEqual({
      result: 'destination_action_failed',
      returned: 100n,
    })
    const swap = encodeAbiParameters(MESSAGE, [{ calls: calls.slice(0, 1), fallbackRecipient: ELSEWHERE }])
    const other = messageDeposit({ user: USER, id: 1n, amount: 100n, message: swap })
    expect(outcomeOf(other, {})).toEqual({ result: 'delivered' })
    expect(outcomeOf(other, {}, callsFailed(USER))).toEqual({ result: 'delivered' })
    expect(outcomeOf(other, {}, callsFailed(ELSEWHERE))).toMatchObject({ result: 'destination_action_failed' })
  })
})

describe('What the pool paid back to a depositor', () => {
  const user = getAddress(pad('0xa1', { size: 20 }))
  const deposit = depositOf({ user, vault: ELSEWHERE, id: 1n, amount: 100n })
  type Leaf = {
    readonly pool?: Address
    readonly token?: Address
    readonly payments?: readonly (readonly [Address, bigint])[]
    readonly deferred?: boolean
  }
  const leaf = ({ pool = POOL, token = TOKEN, payments = [[user, 105n]], deferred = false }: Leaf) =>
    emit(pool, 'ExecutedRelayerRefundRoot', {
      amountToReturn: 0n,
      chainId: 42161n,
      refundAmounts: payments.map(([, amount]) => amount),
      rootBundleId: 1,
      leafId: 2,
      l2TokenAddress: token,
      refundAddresses: payments.map(([account]) => account),
      deferredRefunds: deferred,
      caller: ELSEWHERE,
    })
  const claim = (caller: Address, token: Address, amount: bigint) =>
    emit(POOL, 'ClaimedRelayerRefund', { l2TokenAddress: pad(token), refundAddress: pad(ELSEWHERE), amount, caller })
  const paid = (...logs: Unplaced[]) => parsePayments(placed(logs), POOL, deposit).map(({ amount }) => amount)

  test('is every part of a leaf that names it, in the token, and what it claimed later', () => {
    expect(
      paid(
        leaf({}),
        leaf({
          payments: [
            [ELSEWHERE, 1n],
            [user, 2n],
            [user, 3n],
          ],
        }),
      ),
    ).toEqual([105n, 5n])
    expect(paid(claim(user, TOKEN, 7n))).toEqual([7n])
  })

  test('of a leaf that defers some, is what the token itself says that the leaf paid', () => {
    const transfer = (to: Address, value: bigint, { from = POOL, token = TOKEN } = {}) =>
      emit(token, 'Transfer', { from, to, value })
    const deferred = leaf({
      payments: [
        [ELSEWHERE, 1n],
        [user, 105n],
        [user, 3n],
      ],
      deferred: true,
    })
    expect(paid(transfer(user, 105n), deferred)).toEqual([105n])
    expect(paid(transfer(user, 3n), transfer(user, 105n), deferred)).toEqual([108n])
    // Not what others pay or get, nor another amount, nor in another token, nor after the leaf or before the one before.
    const others = [
      transfer(ELSEWHERE, 105n),
      transfer(user, 104n),
      transfer(user, 105n, { from: ELSEWHERE }),
      transfer(user, 105n, { token: ELSEWHERE }),
    ]
    expect(paid(...others, deferred, transfer(user, 105n))).toEqual([])
    expect(paid(transfer(user, 105n), leaf({ payments: [[ELSEWHERE, 1n]] }), deferred)).toEqual([])
    // Each counts once, whichever payment it is for.
    const twice = leaf({
      payments: [
        [user, 5n],
        [user, 5n],
      ],
      deferred: true,
    })
    expect(paid(transfer(user, 5n), twice)).toEqual([5n])
    expect(deferringTransactions(placed([leaf({}), deferred]), POOL, deposit)).toEqual([TRANSACTION])
    expect(deferringTransactions(placed([leaf({}), leaf({ payments: [], deferred: true })]), POOL, deposit)).toEqual([])
  })

  test('is nothing of other pools, tokens and accounts, and nothing that is deferred', () => {
    expect(
      paid(leaf({ pool: ELSEWHERE }), leaf({ token: ELSEWHERE }), leaf({ payments: [[ELSEWHERE, 105n]] })),
    ).toEqual([])
    expect(paid(leaf({ deferred: true }), leaf({ payments: [] }))).toEqual([])
    expect(paid(claim(ELSEWHERE, TOKEN, 7n), claim(user, ELSEWHERE, 7n))).toEqual([])
  })
})

describe('A debt is paid back', () => {
  const owed = (...debts: [deadline: bigint, amount: bigint][]) =>
    debts.map(([deadline, amount]) => ({ deadline, amount }))
  const at = (...payments: [timestamp: bigint, amount: bigint][]) =>
    payments.map(([timestamp, amount]) => ({ timestamp, amount }))

  test('by payments after its deadline that cover it and every older one', () => {
    expect(findRepayment(owed([10n, 100n]), at([20n, 100n]))).toEqual({ timestamp: 20n, amount: 100n })
    expect(findRepayment(owed([10n, 100n]), at([20n, 60n], [30n, 40n]))).toEqual({ timestamp: 30n, amount: 40n })
    expect(findRepayment(owed([5n, 100n], [10n, 100n]), at([20n, 100n]))).toBeUndefined()
    expect(findRepayment(owed([5n, 100n], [10n, 100n]), at([8n, 100n], [20n, 100n]))).toMatchObject({
      timestamp: 20n,
    })
    expect(findRepayment(owed([5n, 100n], [10n, 100n]), at([20n, 200n]))).toMatchObject({ timestamp: 20n })
    expect(findRepayment(owed([10n, 100n]), at([9n, 100n], [10n, 100n], [20n, 99n]))).toBeUndefined()
  })

  test('never unless all that was paid after the oldest deadline covers all that is owed', () => {
    const any = (max: bigint) => fc.tuple(fc.bigInt(0n, 100n), fc.bigInt(1n, max))
    const byTime = (left: readonly bigint[], right: readonly bigint[]) => Number((left[0] ?? 0n) - (right[0] ?? 0n))
    fc.assert(
      fc.property(
        fc.array(any(50n), { minLength: 1, maxLength: 6 }),
        fc.array(any(80n), { maxLength: 8 }),
        (debts, paid) => {
          const [sortedDebts, sortedPayments] = [debts.toSorted(byTime), paid.toSorted(byTime)]
          const payment = findRepayment(owed(...sortedDebts), at(...sortedPayments))
          const since = sortedDebts[0]?.[0] ?? 0n
          const useful = sortedPayments.filter(([time]) => time > since && (!payment || time <= payment.timestamp))
          const total = (list: readonly (readonly [bigint, bigint])[]) =>
            list.reduce((sum, [, amount]) => sum + amount, 0n)
          if (payment) {
            expect(total(useful)).toBeGreaterThanOrEqual(total(sortedDebts))
            expect(payment.timestamp).toBeGreaterThan(sortedDebts.at(-1)?.[0] ?? 0n)
          }
          const after = sortedPayments.filter(([time]) => time > (sortedDebts.at(-1)?.[0] ?? 0n))
          if (total(after) >= total(sortedDebts)) expect(payment).toBeDefined()
        },
      ),
    )
  })
})

describe('A message', () => {
  test('says whom it serves and which vault it ends at', () => {
    fc.assert(
      fc.property(anyAddress, anyAddress, (account, vault) => {
        expect(parseMessage(depositOf({ user: account, vault, id: 1n, amount: 1n }))).toEqual({
          fallbackRecipient: account,
          deposit: { vault, account, operation: expect.objectContaining({ name: 'requestDeposit' }) },
        })
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
