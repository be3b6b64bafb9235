import fc from 'fast-check'
import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
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
  type Fill,
  type FillResult,
  findFill,
  findPossiblePayments,
  hashRelay,
  parseDeposits,
  parseFillResult,
  parseMessage,
  parsePayments,
  parseTerms,
  pickTerms,
} from '../../../lib/bridge/events.ts'
import type { BridgeDeposit } from '../../../lib/bridge/transfer.ts'
import type { Log } from '../../../lib/chain/logs.ts'
import {
  buildCallsFailedLog,
  buildDepositRequestLog,
  buildDrainedLog,
  buildEventLog,
  buildMessageDeposit,
  buildVaultBridgeDeposit,
  createDepositLogBuilder,
  type DepositFunction,
  depositLog,
  encodeVaultDeposit,
  type FillChange,
  fillLog,
  numberLogs,
  POOL,
  SOURCE_POOL,
  TOKEN,
  TRANSACTION_HASH,
  type UnindexedLog,
} from '../../support/bridge-events.ts'
import { encodeCall, HANDLER, MESSAGE_PARAMETERS } from '../../support/oracles.ts'
import { scaleSampleCount } from '../../support/runs.ts'

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
/** Deposits as the current pool contract reports them. Accounts and tokens are 32-byte words. */
const anyDeposit: fc.Arbitrary<BridgeDeposit> = fc.record({
  relayData: fc.record({
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
  }),
  destinationChainId: fc.constantFrom(1, 10, 56, 137, 8453, 42161),
  quoteTimestamp: anyTime,
})

describe('A selector of the bridge', () => {
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
  function hashByHand({ relayData, destinationChainId }: BridgeDeposit): Hash {
    const word = (value: bigint | number) => BigInt(value).toString(16).padStart(64, '0')
    const message = relayData.message.slice(2)
    const words = [
      // The relay data have a variable length, so their ABI encoding begins with an offset.
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

  test('is the hash of relay data and destination, encoded word by word', () => {
    fc.assert(
      fc.property(anyDeposit, (deposit) => {
        expect(hashRelay(deposit)).toBe(hashByHand(deposit))
      }),
    )
  })
})

type RelayData = BridgeDeposit['relayData']

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

describe('The terms of a deposit', () => {
  const TERMS = ['recipient', 'inputToken', 'outputToken', 'inputAmount', 'outputAmount', 'fillDeadline', 'message']
  const ACCOUNTS = ['depositor', 'recipient', 'inputToken', 'outputToken', 'exclusiveRelayer'] as const

  /** Deposits as they occur in calldata. Accounts and tokens are 20-byte addresses. */
  const anyCall = fc
    .tuple(anyDeposit, fc.tuple(anyAddress, anyAddress, anyAddress, anyAddress, anyAddress))
    .map(([deposit, accounts]): BridgeDeposit => {
      const words = Object.fromEntries(ACCOUNTS.map((name, i) => [name, pad(accounts[i] as Address).toLowerCase()]))
      return { ...deposit, relayData: { ...deposit.relayData, ...words } }
    })
  const calldataOf = ({ relayData, destinationChainId, quoteTimestamp }: BridgeDeposit, exclusivity = 0) => {
    const [depositor, recipient, inputToken, outputToken, exclusiveRelayer] = ACCOUNTS.map((name) =>
      getAddress(`0x${relayData[name].slice(-40)}`),
    )
    const amounts = [relayData.inputAmount, relayData.outputAmount, BigInt(destinationChainId)]
    const times = [quoteTimestamp, relayData.fillDeadline, exclusivity]
    const accounts = [depositor, recipient, inputToken, outputToken]
    return encodeCall('depositV3', [...accounts, ...amounts, exclusiveRelayer, ...times, relayData.message])
  }

  test('are the same in calldata and event, whatever id and exclusivity the pool sets', () => {
    fc.assert(
      fc.property(anyCall, anyTime, anyUint, (deposit, exclusivity, depositId) => {
        const [parsed] = parseDeposits(numberLogs([depositLog(deposit)]), POOL, 42161)
        const terms = pickTerms(parsed?.deposit as BridgeDeposit)
        const { depositor } = deposit.relayData
        expect(terms).toMatchObject({ depositor: getAddress(`0x${depositor.slice(-40)}`) })
        expect(terms).toMatchObject({ quotedAt: deposit.quoteTimestamp })
        expect(parseTerms(calldataOf(deposit, exclusivity))).toEqual(terms)
        const relayData = { ...deposit.relayData, depositId, exclusivityDeadline: exclusivity }
        expect(pickTerms({ ...deposit, relayData })).toEqual(terms)
      }),
    )
  })

  test('differ after a change of any part', () => {
    fc.assert(
      fc.property(anyCall, (deposit) => {
        const parts = variations(deposit.relayData).filter((changed) =>
          [...TERMS, 'depositor'].some(
            (name) => changed[name as keyof RelayData] !== deposit.relayData[name as keyof RelayData],
          ),
        )
        const others = [
          ...parts.map((relayData) => ({ ...deposit, relayData })),
          { ...deposit, destinationChainId: deposit.destinationChainId + 1 },
          { ...deposit, quoteTimestamp: (deposit.quoteTimestamp ^ 1) >>> 0 },
        ]
        expect(others).toHaveLength(TERMS.length + 3)
        const hashes = [deposit, ...others].flatMap((one) => [pickTerms(one).hash, parseTerms(calldataOf(one))?.hash])
        expect(new Set(hashes).size).toBe(others.length + 1)
      }),
    )
  })

  test('are not read from other calls or truncated calldata', () => {
    const [deposit] = fc.sample(anyCall, 1) as [BridgeDeposit]
    const calldata = calldataOf(deposit)
    expect(parseTerms(encodeVaultDeposit('deposit', SOURCE_POOL))).toBeUndefined()
    expect(
      parseTerms(encodeFunctionData({ abi: poolAbi, functionName: 'fillStatuses', args: [zeroHash] })),
    ).toBeUndefined()
    expect(parseTerms('0x')).toBeUndefined()
    expect(parseTerms(calldata.slice(0, 200) as Hex)).toBeUndefined()
  })
})

describe('The deposits of a transaction', () => {
  const depositsIn = (logs: readonly Log[]) => parseDeposits(logs, POOL, 42161).map(({ deposit }) => deposit)

  test('are those of its logs, in order and complete', () => {
    fc.assert(
      fc.property(fc.array(anyDeposit, { maxLength: 4 }), (deposits) => {
        const logs = numberLogs(deposits.map((deposit) => depositLog(deposit)))
        const expected = deposits.map((deposit, index) => ({ deposit, log: logs[index] }))
        expect(parseDeposits(logs, POOL, 42161)).toEqual(expected)
      }),
    )
  })

  test('are read from the old event too, with addresses and a 32-bit id', () => {
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
      fc.property(anyOldDeposit, ([addresses, { relayData, destinationChainId, quoteTimestamp }, id]) => {
        const log = buildEventLog(POOL, 'V3FundsDeposited', {
          ...relayData,
          ...addresses,
          depositId: id,
          destinationChainId: BigInt(destinationChainId),
          quoteTimestamp,
        })
        const words = Object.fromEntries(
          Object.entries(addresses).map(([name, address]) => [name, pad(address).toLowerCase()]),
        )
        const old = { ...relayData, ...words, depositId: BigInt(id) }
        expect(depositsIn(numberLogs([log]))).toEqual([{ relayData: old, destinationChainId, quoteTimestamp }])
      }),
    )
  })

  test('are not read from an event of another contract', () => {
    fc.assert(
      fc.property(anyDeposit, (deposit) => {
        expect(depositsIn(numberLogs([depositLog(deposit, SOURCE_POOL)]))).toEqual([])
      }),
    )
  })

  test('leave out logs that only look like the event', () => {
    const [deposit] = fc.sample(anyDeposit, 1) as [BridgeDeposit]
    const { data, ...log } = depositLog(deposit)
    const cut = { ...log, data: data.slice(0, -64) as Hex }
    const bare = { ...log, data, topics: [log.topics[0] as Hash] as [Hash] }
    const anonymous = { ...log, data, topics: [] as [] }
    expect(depositsIn(numberLogs([cut, bare, anonymous, { ...log, data }]))).toEqual([deposit])
  })
})

describe('The fill of a deposit', () => {
  test('is sped up if amount, recipient or message changed, but not if a slow fill paid less', () => {
    const deposit = buildVaultBridgeDeposit({ user: SOURCE_POOL, vault: TOKEN, id: 1n, amount: 100n })
    const isSpedUp = (change: FillChange) => findFill(numberLogs([fillLog(deposit, change)]), POOL, deposit)?.isSpedUp
    expect(isSpedUp({})).toBe(false)
    expect(isSpedUp({ amount: 90n })).toBe(true)
    expect(isSpedUp({ recipient: pad(SOURCE_POOL) })).toBe(true)
    expect(isSpedUp({ message: '0x' })).toBe(true)
    expect(isSpedUp({ amount: 90n, isSlow: true })).toBe(false)
    expect(isSpedUp({ message: '0x', isSlow: true })).toBe(true)
  })

  test('is found among other fills, with its delivered amount', () => {
    fc.assert(
      fc.property(anyDeposit, anyUint, fc.integer({ min: 0, max: 12 }), (deposit, amount, place) => {
        const others = variations(deposit.relayData).map((relayData) => fillLog({ ...deposit, relayData }))
        const logs = numberLogs(others.toSpliced(place, 0, fillLog(deposit, { amount })))
        expect(findFill(logs, POOL, deposit)).toEqual({
          transactionHash: TRANSACTION_HASH,
          blockNumber: 7n,
          logIndex: 3 + place,
          outputAmount: amount,
          recipient: deposit.relayData.recipient,
          messageHash: deposit.relayData.message === '0x' ? zeroHash : keccak256(deposit.relayData.message),
          isSpedUp: amount !== deposit.relayData.outputAmount,
        })
      }),
    )
  })

  test('is not found with any part changed, or of another contract', () => {
    fc.assert(
      fc.property(anyDeposit, (deposit) => {
        const others = variations(deposit.relayData).map((relayData) => fillLog({ ...deposit, relayData }))
        expect(
          findFill(numberLogs([...others, fillLog(deposit, { pool: SOURCE_POOL })]), POOL, deposit),
        ).toBeUndefined()
      }),
    )
  })
})

const autoClaimed = (user: Address, vault: Address) =>
  buildEventLog(vault, 'Deposit', { sender: user, owner: user, assets: 9n, shares: 9n })

describe('The result of a fill', () => {
  const USERS = [0xa1, 0xb2].map((byte) => getAddress(pad(numberToHex(byte), { size: 20 })))
  const VAULTS = [0xc3, 0xd4].map((byte) => getAddress(pad(numberToHex(byte), { size: 20 })))

  type Success = (user: Address, vault: Address, assets: bigint) => UnindexedLog[]
  const SUCCESSES: readonly (readonly [DepositFunction, Success])[] = [
    ['requestDeposit', (user, vault, assets) => [buildDepositRequestLog(user, vault, assets)]],
    [
      'requestDeposit',
      (user, vault, assets) => [autoClaimed(user, vault), buildDepositRequestLog(user, vault, assets)],
    ],
    ['deposit', (user, vault, assets) => [createDepositLogBuilder('Deposit')(user, vault, assets)]],
    [
      'syncDeposit',
      (user, vault, assets) => [autoClaimed(user, vault), createDepositLogBuilder('DepositSync')(user, vault, assets)],
    ],
  ]
  const anyEnd = fc
    .constantFrom(...SUCCESSES)
    .chain(([entry, succeed]) =>
      fc.constantFrom({ entry, succeed }, { entry, fail: 'refused' as const }, { entry, fail: 'left over' as const }),
    )
  const anyOrder = fc.record({
    user: fc.constantFrom(...USERS),
    vault: fc.constantFrom(...VAULTS),
    amount: fc.bigInt({ min: 1n, max: 2n ** 100n }),
    end: anyEnd,
  })
  /** Logs that third parties can cause between two fills: calls of the handler contract, and deposits for any user. */
  const anyNoise = fc.oneof(
    fc.constantFrom(...USERS).map((user) => buildCallsFailedLog(user)),
    fc
      .tuple(fc.constantFrom(...USERS), fc.bigInt({ min: 1n, max: 99n }))
      .map(([user, amount]) => buildDrainedLog(user, amount)),
    fc
      .tuple(fc.constantFrom(...USERS), fc.constantFrom(...VAULTS))
      .map(([user, vault]) => buildDepositRequestLog(user, vault, 1n)),
    fc
      .tuple(fc.constantFrom(...USERS), fc.constantFrom(...VAULTS))
      .map(([user, vault]) => createDepositLogBuilder('Deposit')(user, vault, 1n)),
  )
  /** Logs that unrelated contracts can emit anywhere in a transaction, even between a fill and its effects. */
  const anyForgery = fc.oneof(
    fc.constantFrom(...USERS).map((user) => buildCallsFailedLog(user, SOURCE_POOL)),
    fc.constantFrom(...USERS).map((user) => buildDrainedLog(user, 1n, SOURCE_POOL)),
    fc.constantFrom(...USERS).map((user) => buildDepositRequestLog(user, SOURCE_POOL, 1n)),
    fc.constantFrom(...USERS).map((user) => createDepositLogBuilder('DepositSync')(user, SOURCE_POOL, 1n)),
    fc
      .constantFrom(...USERS)
      .map((user) =>
        fillLog(buildVaultBridgeDeposit({ user, vault: SOURCE_POOL, id: 0n, amount: 1n }), { pool: SOURCE_POOL }),
      ),
  )
  const anyBatch = fc.array(fc.record({ order: anyOrder, noise: fc.array(anyNoise, { maxLength: 4 }) }), {
    minLength: 1,
    maxLength: 5,
  })

  test('depends only on its own message, whatever else is in the transaction', () => {
    const anyTransaction = fc.tuple(
      anyBatch,
      fc.array(anyNoise, { maxLength: 4 }),
      fc.array(fc.tuple(fc.nat(), anyForgery), { maxLength: 6 }),
    )
    fc.assert(
      fc.property(anyTransaction, ([batch, before, forgeries]) => {
        const fills = batch.map(({ order, noise }, i) => {
          const { user, vault, amount, end } = order
          const deposit = buildVaultBridgeDeposit({ user, vault, amount, id: BigInt(i), entry: end.entry })
          const moved = buildEventLog(TOKEN, 'Transfer', { from: POOL, to: HANDLER, value: amount })
          const failed = { kind: 'action_failed', account: user, amount, vaultAddress: null }
          if ('fail' in end && end.fail === 'refused') {
            const effect = [buildCallsFailedLog(user), buildDrainedLog(user, amount)]
            return { deposit, logs: [fillLog(deposit), moved, ...effect, ...noise], expected: failed }
          }
          // This fill calls an address without a contract, so it causes no deposit and the tokens are left over. The
          // logs in `others` belong to other fills.
          if ('fail' in end) {
            const others = [
              buildCallsFailedLog(SOURCE_POOL),
              buildDrainedLog(SOURCE_POOL, 1n),
              buildDepositRequestLog(SOURCE_POOL, vault, 1n),
            ]
            return {
              deposit,
              logs: [fillLog(deposit), moved, buildDrainedLog(user, amount), ...others],
              expected: failed,
            }
          }
          const logs = [fillLog(deposit), moved, ...end.succeed(user, vault, amount), ...noise]
          const expected = { kind: 'vault_deposited', account: user, amount, vaultAddress: vault }
          return { deposit, logs, expected }
        })
        const honest = [...before, ...fills.flatMap(({ logs }) => logs)]
        const logs = numberLogs(
          forgeries.reduce((all, [place, forgery]) => all.toSpliced(place % (all.length + 1), 0, forgery), honest),
        )
        for (const { deposit, expected } of fills) {
          const fill = findFill(logs, POOL, deposit) as Fill
          expect(parseFillResult(logs, { pool: POOL, handler: HANDLER, fill, deposit })).toMatchObject(expected)
        }
      }),
      { numRuns: scaleSampleCount(60) },
    )
  })

  const [USER, VAULT] = [USERS[0], VAULTS[0]] as [Address, Address]
  const OTHER_VAULT = VAULTS[1] as Address
  const ordered = buildVaultBridgeDeposit({ user: USER, vault: VAULT, id: 1n, amount: 100n })
  const resultOf = (deposit: BridgeDeposit, change: FillChange, ...effects: UnindexedLog[]) => {
    const logs = numberLogs([fillLog(deposit, change), ...effects])
    const fill = findFill(logs, POOL, deposit) as Fill
    return parseFillResult(logs, { pool: POOL, handler: HANDLER, fill, deposit })
  }
  /**
   * Builds the expected result of a fill. The log that proves the result is `after` logs behind the fill's own log.
   */
  const result = (kind: FillResult['kind'], account: Address | null, amount: bigint | null, after = 0): FillResult => ({
    ...{ kind, logIndex: 3 + after, amount, account, vaultAddress: null, shares: null },
  })
  const taken = (
    vaultAddress: Address,
    account: Address,
    amount: bigint,
    after: number,
    shares: bigint | null = null,
  ) => ({
    ...result('vault_deposited', account, amount, after),
    ...{ vaultAddress, shares },
  })
  const request = buildDepositRequestLog(USER, VAULT, 100n)
  const sent = (to: Address, value: bigint, from: Address = HANDLER) =>
    buildEventLog(TOKEN, 'Transfer', { from, to, value })
  const arrived = sent(HANDLER, 100n, POOL)

  test('is a plain delivery if there is no handler, whatever the message', () => {
    const failures = USERS.map((user) => buildCallsFailedLog(user))
    for (const message of ['0x', ordered.relayData.message] as const) {
      const { depositor: recipient } = ordered.relayData
      const toWallet = { ...ordered, relayData: { ...ordered.relayData, recipient, message } }
      expect(resultOf(toWallet, {}, ...failures)).toEqual(result('delivered', USER, 100n))
      expect(resultOf(toWallet, { amount: 90n }, ...failures)).toEqual(result('delivered', USER, 90n))
    }
  })

  test('is a delivery to the recipient that the depositor signed later', () => {
    expect(resultOf(ordered, { recipient: ordered.relayData.depositor })).toEqual(result('delivered', USER, 100n))
    expect(resultOf(ordered, { recipient: pad(SOURCE_POOL) }, request)).toEqual(result('delivered', SOURCE_POOL, 100n))
  })

  test('is undelivered at the handler without a message, whatever third parties do with the tokens', () => {
    const undelivered = result('undelivered', null, 100n)
    const silent = buildMessageDeposit({ user: USER, id: 1n, amount: 100n, message: '0x' })
    for (const effects of [
      [],
      [arrived],
      [arrived, request],
      [arrived, buildCallsFailedLog(USER), buildDrainedLog(SOURCE_POOL, 100n)],
    ]) {
      expect(resultOf(silent, {}, ...effects)).toEqual(undelivered)
      expect(resultOf(ordered, { message: '0x' }, ...effects)).toEqual(undelivered)
    }
    expect(resultOf(ordered, { message: '0x', amount: 90n })).toEqual(result('undelivered', null, 90n))
  })

  test('is undelivered if a message without a deposit moves nothing', () => {
    const message = encodeAbiParameters(MESSAGE_PARAMETERS, [{ calls: [], fallbackRecipient: zeroAddress }])
    const undelivered = result('undelivered', null, 100n)
    expect(resultOf(buildMessageDeposit({ user: USER, id: 1n, amount: 100n, message }), {}, arrived)).toEqual(
      undelivered,
    )
    expect(resultOf(ordered, { message }, arrived)).toEqual(undelivered)
  })

  test('is the deposit with the shares that the vault minted for it', () => {
    const deposit = buildVaultBridgeDeposit({ user: USER, vault: VAULT, id: 1n, amount: 100n, entry: 'deposit' })
    const minted = buildEventLog(VAULT, 'Deposit', { sender: HANDLER, owner: USER, assets: 100n, shares: 77n })
    expect(resultOf(deposit, {}, arrived, sent(VAULT, 100n), minted)).toEqual(taken(VAULT, USER, 100n, 3, 77n))
    expect(resultOf(ordered, {}, request)).toEqual(taken(VAULT, USER, 100n, 1))
    expect(resultOf(ordered, { amount: 90n }, buildDepositRequestLog(USER, VAULT, 90n))).toEqual(
      taken(VAULT, USER, 90n, 1),
    )
  })

  test('is the deposit into another vault or for another account, as a later message says', () => {
    const { message } = buildVaultBridgeDeposit({ user: USER, vault: OTHER_VAULT, id: 1n, amount: 100n }).relayData
    const there = buildDepositRequestLog(USER, OTHER_VAULT, 100n)
    const moved = [arrived, sent(OTHER_VAULT, 100n)]
    expect(resultOf(ordered, { message }, ...moved, there)).toEqual(taken(OTHER_VAULT, USER, 100n, 3))
    const forOther = buildDepositRequestLog(SOURCE_POOL, OTHER_VAULT, 100n)
    expect(resultOf(ordered, { message }, ...moved, forOther)).toEqual(taken(OTHER_VAULT, SOURCE_POOL, 100n, 3))
    const minted = buildEventLog(OTHER_VAULT, 'Deposit', { sender: HANDLER, owner: USER, assets: 100n, shares: 7n })
    expect(resultOf(ordered, { message }, ...moved, minted)).toEqual(taken(OTHER_VAULT, USER, 100n, 3, 7n))
    // The handler contract sent no tokens to the vault, so the vault's event cannot belong to this fill.
    expect(resultOf(ordered, { message }, arrived, there)).toEqual(result('delivered', null, 100n))
    expect(
      resultOf(ordered, { message }, arrived, sent(SOURCE_POOL, 100n), buildDepositRequestLog(USER, OTHER_VAULT, 9n)),
    ).toEqual(result('delivered', SOURCE_POOL, 100n))
  })

  test('is the failure of a later message with its own fallback', () => {
    const { message } = buildVaultBridgeDeposit({ user: USER, vault: OTHER_VAULT, id: 1n, amount: 100n }).relayData
    expect(
      resultOf(ordered, { message }, buildCallsFailedLog(SOURCE_POOL), buildDrainedLog(SOURCE_POOL, 100n)),
    ).toEqual(result('action_failed', SOURCE_POOL, 100n, 1))
  })

  test('is not proven by incomplete logs or by an event of another kind of deposit', () => {
    expect(resultOf(ordered, {})).toBeUndefined()
    expect(resultOf(ordered, {}, createDepositLogBuilder('Deposit')(USER, VAULT, 100n))).toBeUndefined()
    expect(resultOf(ordered, {}, buildDepositRequestLog(SOURCE_POOL, VAULT, 100n))).toBeUndefined()
    expect(resultOf(ordered, {}, buildDepositRequestLog(USER, SOURCE_POOL, 100n))).toBeUndefined()
    expect(resultOf(ordered, {}, buildCallsFailedLog(SOURCE_POOL), buildDrainedLog(SOURCE_POOL, 100n))).toBeUndefined()
    expect(resultOf(ordered, {}, buildDrainedLog(USER, 99n))).toBeUndefined()
    const sync = buildVaultBridgeDeposit({ user: USER, vault: VAULT, id: 1n, amount: 100n, entry: 'deposit' })
    expect(resultOf(sync, {}, autoClaimed(USER, VAULT))).toBeUndefined()
  })

  test('of another tool’s message follows from its own vault and fallback', () => {
    const calls = [
      { target: TOKEN, callData: '0x1234' as const, value: 0n },
      { target: VAULT, callData: encodeVaultDeposit('deposit', USER), value: 0n },
    ]
    const message = encodeAbiParameters(MESSAGE_PARAMETERS, [{ calls, fallbackRecipient: SOURCE_POOL }])
    const foreign = buildMessageDeposit({ user: USER, id: 1n, amount: 100n, message })
    expect(resultOf(foreign, {}, createDepositLogBuilder('Deposit')(USER, VAULT, 100n))).toEqual(
      taken(VAULT, USER, 100n, 1, 100n),
    )
    expect(resultOf(foreign, {}, buildCallsFailedLog(SOURCE_POOL), buildDrainedLog(SOURCE_POOL, 100n))).toEqual(
      result('action_failed', SOURCE_POOL, 100n, 1),
    )
    const swap = encodeAbiParameters(MESSAGE_PARAMETERS, [{ calls: calls.slice(0, 1), fallbackRecipient: SOURCE_POOL }])
    const other = buildMessageDeposit({ user: USER, id: 1n, amount: 100n, message: swap })
    expect(resultOf(other, {}, sent(USER, 100n))).toEqual(result('delivered', USER, 100n))
    expect(resultOf(other, {}, sent(USER, 60n), buildDrainedLog(SOURCE_POOL, 40n))).toEqual(
      result('delivered', SOURCE_POOL, 100n),
    )
    expect(resultOf(other, {}, buildCallsFailedLog(USER))).toEqual(result('delivered', null, 100n))
    expect(resultOf(other, {}, buildCallsFailedLog(SOURCE_POOL))).toEqual(result('action_failed', SOURCE_POOL, null, 1))
  })
})

describe('A refund of the pool', () => {
  const user = getAddress(pad('0xa1', { size: 20 }))
  const deposit = buildVaultBridgeDeposit({ user, vault: SOURCE_POOL, id: 1n, amount: 100n })
  type Leaf = {
    readonly pool?: Address
    readonly token?: Address
    readonly payments?: readonly (readonly [Address, bigint])[]
    readonly deferred?: boolean
  }
  const buildLeaf = ({ pool = POOL, token = TOKEN, payments = [[user, 105n]], deferred = false }: Leaf) =>
    buildEventLog(pool, 'ExecutedRelayerRefundRoot', {
      amountToReturn: 0n,
      chainId: 42161n,
      refundAmounts: payments.map(([, amount]) => amount),
      rootBundleId: 1,
      leafId: 2,
      l2TokenAddress: token,
      refundAddresses: payments.map(([account]) => account),
      deferredRefunds: deferred,
      caller: SOURCE_POOL,
    })
  const claim = (caller: Address, token: Address, amount: bigint) =>
    buildEventLog(POOL, 'ClaimedRelayerRefund', {
      l2TokenAddress: pad(token),
      refundAddress: pad(SOURCE_POOL),
      amount,
      caller,
    })
  const transfer = (to: Address, value: bigint, { from = POOL, token = TOKEN } = {}) =>
    buildEventLog(token, 'Transfer', { from, to, value })
  const refunds = (...logs: UnindexedLog[]) => {
    const payments = parsePayments(numberLogs(logs), POOL, deposit)
    const amounts = (wanted: boolean) => payments.flatMap(({ amount, isOwed }) => (isOwed === wanted ? [amount] : []))
    return { paid: amounts(false), owed: amounts(true) }
  }

  test('is each payment to the depositor in a leaf, and each later claim', () => {
    const parts = [
      [SOURCE_POOL, 1n],
      [user, 2n],
      [user, 3n],
    ] as const
    expect(refunds(buildLeaf({}), buildLeaf({ payments: parts }))).toEqual({ paid: [105n, 5n], owed: [] })
    expect(refunds(claim(user, TOKEN, 7n))).toEqual({ paid: [7n], owed: [] })
    expect(parsePayments(numberLogs([buildLeaf({}), claim(user, TOKEN, 7n)]), POOL, deposit)).toMatchObject([
      { log: { logIndex: 3 }, amount: 105n },
      { log: { logIndex: 4 }, amount: 7n },
    ])
  })

  test('of a leaf with deferred payments is paid if the token moved, and else owed', () => {
    const deferred = buildLeaf({
      payments: [
        [SOURCE_POOL, 1n],
        [user, 105n],
        [user, 3n],
      ],
      deferred: true,
    })
    expect(refunds(transfer(user, 105n), deferred)).toEqual({ paid: [105n], owed: [3n] })
    expect(refunds(transfer(user, 3n), transfer(user, 105n), deferred)).toEqual({ paid: [108n], owed: [] })
    // Token transfers count only directly before the refund event, and only with the right recipient, amount, sender
    // and token.
    const others = [
      transfer(SOURCE_POOL, 105n),
      transfer(user, 104n),
      transfer(user, 105n, { from: SOURCE_POOL }),
      transfer(user, 105n, { token: SOURCE_POOL }),
    ]
    expect(refunds(...others, deferred, transfer(user, 105n))).toEqual({ paid: [], owed: [108n] })
    const before = buildLeaf({ payments: [[SOURCE_POOL, 1n]] })
    expect(refunds(transfer(user, 105n), before, deferred)).toEqual({ paid: [], owed: [108n] })
    // One token transfer counts for only one of two payments in the same refund event.
    const twice = buildLeaf({
      payments: [
        [user, 5n],
        [user, 5n],
      ],
      deferred: true,
    })
    expect(refunds(transfer(user, 5n), twice)).toEqual({ paid: [5n], owed: [5n] })
  })

  test('excludes other pools, tokens and accounts, and is only owed if it is deferred', () => {
    const nothing = { paid: [], owed: [] }
    const others = [
      buildLeaf({ pool: SOURCE_POOL }),
      buildLeaf({ token: SOURCE_POOL }),
      buildLeaf({ payments: [[SOURCE_POOL, 105n]] }),
    ]
    expect(refunds(...others)).toEqual(nothing)
    expect(refunds(buildLeaf({ deferred: true }), buildLeaf({ payments: [] }))).toEqual({ paid: [], owed: [105n] })
    expect(refunds(buildLeaf({ payments: [[SOURCE_POOL, 105n]], deferred: true }))).toEqual(nothing)
    expect(refunds(claim(SOURCE_POOL, TOKEN, 7n), claim(user, SOURCE_POOL, 7n))).toEqual(nothing)
  })

  test('is found by each transaction that pays or owes something, once', () => {
    const leads = (...logs: UnindexedLog[]) =>
      findPossiblePayments(numberLogs(logs), POOL, deposit, 0n).map(({ txHash }) => txHash)
    expect(leads(buildLeaf({}), buildLeaf({ deferred: true }), claim(user, TOKEN, 7n))).toEqual([TRANSACTION_HASH])
    const [first, second] = [pad('0x1'), pad('0x2')]
    const logs = [first, second, first].map((transactionHash) => ({
      ...buildLeaf({ deferred: true }),
      transactionHash,
    }))
    expect(leads(...logs)).toEqual([first, second])
    const others = [
      buildLeaf({ payments: [], deferred: true }),
      buildLeaf({ token: SOURCE_POOL }),
      claim(SOURCE_POOL, TOKEN, 7n),
    ]
    expect(leads(...others)).toEqual([])
  })
})

describe('A message', () => {
  test('names its account and its vault', () => {
    fc.assert(
      fc.property(anyAddress, anyAddress, (account, vault) => {
        expect(parseMessage(buildVaultBridgeDeposit({ user: account, vault, id: 1n, amount: 1n }))).toEqual({
          fallbackRecipient: account,
          deposit: { vault, account, operation: expect.objectContaining({ name: 'requestDeposit' }) },
        })
      }),
    )
  })

  test('in another form is not parsed', () => {
    fc.assert(
      fc.property(anyDeposit, (deposit) => {
        expect(parseMessage(deposit)).toBeUndefined()
      }),
    )
  })
})
