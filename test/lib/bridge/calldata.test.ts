import fc from 'fast-check'
import {
  type Address,
  concat,
  decodeAbiParameters,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionData,
  getAddress,
  type Hex,
  maxUint256,
  pad,
  size,
  slice,
} from 'viem'
import { describe, expect, test } from 'vitest'
import {
  type BridgeRequest,
  type BridgeTerms,
  encodeBridgeDeposit,
  encodeMessage,
  verifyBridgeDeposit,
} from '../../../lib/bridge/calldata.ts'
import type { Transaction } from '../../../lib/chain/transaction.ts'
import type { DepositOperation } from '../../../lib/protocols/calldata.ts'
import { OPERATIONS } from '../../../lib/protocols/operations.ts'
import { someVault } from '../../support/clients.ts'
import { type Call, listMutants } from '../../support/mutants.ts'
import {
  decodeBridgeDeposit,
  HANDLER_ABI,
  MESSAGE_PARAMETERS,
  POOL_ABI,
  TOKEN_ABI,
  VAULT_ABI,
} from '../../support/oracles.ts'
import { scaleSampleCount } from '../../support/runs.ts'

const [deposit] = OPERATIONS.erc4626.deposits
const [requestDeposit, syncDeposit = requestDeposit] = OPERATIONS.lagoon.deposits

const ABI = [...POOL_ABI, ...HANDLER_ABI, ...TOKEN_ABI, ...VAULT_ABI]
const NOBODY: Address = '0x0000000000000000000000000000000000000000'
const CHAINS = [1, 10, 56, 137, 8453, 42161]

type Replacement = { readonly token: Address; readonly offset: bigint }
/** A message call in which the handler contract replaces placeholders in the calldata by its token balance. */
type WithBalance = {
  readonly target: Address
  readonly inner: Call
  readonly value: bigint
  readonly replacement: readonly Replacement[]
}
type Step = { readonly target: Address; readonly value: bigint; readonly call: Call | WithBalance }
type Message = { readonly calls: readonly Step[]; readonly fallbackRecipient: Address }
type Plan = {
  readonly to: Address
  readonly value: bigint
  readonly depositor: Address
  readonly recipient: Address
  readonly inputToken: Address
  readonly outputToken: Address
  readonly inputAmount: bigint
  readonly outputAmount: bigint
  readonly destinationChainId: bigint
  readonly exclusiveRelayer: Address
  readonly quoteTimestamp: number
  readonly fillDeadline: number
  readonly exclusivity: number
  readonly message?: Message
}

// The cast is needed, because viem's types require one known function. `call` may name any function of the ABI.
const encodeCall = (call: Call): Hex => encodeFunctionData({ abi: ABI, ...call } as never)
type DepositPlan = Plan & { readonly message: Message }

const isWithBalance = (call: Call | WithBalance): call is WithBalance => 'replacement' in call

function encodeStep({ target, value, call }: Step) {
  if (!isWithBalance(call)) return { target, value, callData: encodeCall(call) }
  const args = [call.target, encodeCall(call.inner), call.value, call.replacement] as const
  return { target, value, callData: encodeFunctionData({ abi: ABI, functionName: 'makeCallWithBalance', args }) }
}

function encodePlanMessage(message: Message | undefined): Hex {
  if (!message) return '0x'
  const { calls, fallbackRecipient } = message
  return encodeAbiParameters(MESSAGE_PARAMETERS, [{ calls: calls.map(encodeStep), fallbackRecipient }])
}

const argsOf = (plan: Plan, message: Hex) =>
  [
    plan.depositor,
    plan.recipient,
    plan.inputToken,
    plan.outputToken,
    plan.inputAmount,
    plan.outputAmount,
    plan.destinationChainId,
    plan.exclusiveRelayer,
    plan.quoteTimestamp,
    plan.fillDeadline,
    plan.exclusivity,
    message,
  ] as const

function encodePlan(plan: Plan, message = encodePlanMessage(plan.message)): Transaction {
  const data = encodeFunctionData({ abi: ABI, functionName: 'depositV3', args: argsOf(plan, message) })
  return { to: plan.to, data, value: plan.value }
}

const decodeCall = (data: Hex): Call => decodeFunctionData({ abi: ABI, data }) as Call

function decodeStep({ target, value, callData }: { target: Address; value: bigint; callData: Hex }): Step {
  const call = decodeCall(callData)
  if (call.functionName !== 'makeCallWithBalance') return { target, value, call }
  const [innerTarget, data, innerValue, replacement] = call.args as unknown as [Address, Hex, bigint, Replacement[]]
  return { target, value, call: { target: innerTarget, inner: decodeCall(data), value: innerValue, replacement } }
}

function decodePlan({ to, data, value }: Transaction): Plan {
  const { message, ...deposit } = decodeBridgeDeposit(data)
  if (message === '0x') return { to, value, ...deposit }
  const [{ calls, fallbackRecipient }] = decodeAbiParameters(MESSAGE_PARAMETERS, message)
  return { to, value, ...deposit, message: { calls: calls.map(decodeStep), fallbackRecipient } }
}

/**
 * Builds the deposit that the bridge's documentation requires for a request. It shares no code with the tested
 * encoder.
 */
function planOf({ request, terms }: Setting): Plan {
  const { account, route, inputAmount, isInCoin, deposit: into } = request
  const { source, destination } = route
  return {
    to: source.pool,
    value: isInCoin ? inputAmount : 0n,
    depositor: account,
    recipient: into ? destination.handler : account,
    inputToken: source.token,
    outputToken: destination.token,
    inputAmount,
    outputAmount: terms.outputAmount,
    destinationChainId: BigInt(destination.chainId),
    exclusiveRelayer: terms.exclusiveRelayer,
    quoteTimestamp: terms.quoteTimestamp,
    fillDeadline: terms.fillDeadline,
    exclusivity: terms.exclusivityParameter,
    ...(into && { message: messageOf(into, account, destination.handler) }),
  }
}

function messageOf({ vault, operation }: DepositSetting['request']['deposit'], account: Address, handler: Address) {
  const reset: Call = { functionName: 'approve', args: [vault.address, 0n] }
  const depositing = (): Call => {
    if (operation === requestDeposit) return { functionName: 'requestDeposit', args: [0n, account, handler] }
    if (operation === syncDeposit) return { functionName: 'syncDeposit', args: [0n, account, NOBODY] }
    return { functionName: 'deposit', args: [0n, account] }
  }
  const withBalance = (target: Address, inner: Call, offset: bigint): Step => ({
    target: handler,
    value: 0n,
    call: { target, inner, value: 0n, replacement: [{ token: vault.asset, offset }] },
  })
  return {
    calls: [
      { target: vault.asset, value: 0n, call: reset },
      withBalance(vault.asset, reset, 36n),
      withBalance(vault.address, depositing(), 4n),
    ],
    fallbackRecipient: account,
  }
}

type Setting = { readonly request: BridgeRequest; readonly terms: BridgeTerms; readonly stranger: Address }
type DepositSetting = Setting & { readonly request: Required<BridgeRequest> }

const anyAddress = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => getAddress(`0x${Buffer.from(bytes).toString('hex')}`))
  .filter((address) => BigInt(address) > 0n)
const anyAmount = fc.oneof(
  fc.constantFrom(2n, 2n ** 128n, maxUint256 - 1n),
  fc.bigInt({ min: 2n, max: maxUint256 - 1n }),
)
const anyTime = fc.oneof(fc.integer({ min: 1, max: 2 ** 32 - 2 }), fc.integer({ min: 1.7e9, max: 1.9e9 }))
const anyOperation = fc.constantFrom<DepositOperation>(deposit, requestDeposit, syncDeposit)
const anyIntegrator = fc.option(
  fc.integer({ min: 0, max: 0xffff }).map((id): Hex => `0x${id.toString(16).padStart(4, '0')}`),
  { nil: undefined },
)

const settingsWith = (operations: fc.Arbitrary<DepositOperation>): fc.Arbitrary<DepositSetting> =>
  fc
    .record({
      parties: fc.uniqueArray(anyAddress, { minLength: 9, maxLength: 9 }),
      chains: fc.shuffledSubarray(CHAINS, { minLength: 2, maxLength: 2 }),
      amounts: fc.uniqueArray(anyAmount, { minLength: 2, maxLength: 2 }),
      decimals: fc.tuple(fc.constantFrom(6, 8, 18), fc.constantFrom(6, 8, 18)),
      operation: operations,
      wraps: fc.constantFrom('no coin', 'the coin', 'the coin that is paid'),
      quoteTimestamp: anyTime,
      fillDeadline: anyTime,
      exclusivityParameter: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 300 }), anyTime),
    })
    .map(({ parties, chains, amounts, decimals, operation, wraps, ...times }) => {
      const wrapsCoin = wraps !== 'no coin'
      const [address, asset, account, pool, inputToken, handler, stranger, destinationPool, exclusiveRelayer] =
        parties as [Address, Address, Address, Address, Address, Address, Address, Address, Address]
      const [chainId, sourceChainId] = chains as [number, number]
      const [inputAmount, outputAmount] = amounts as [bigint, bigint]
      const [inputDecimals, outputDecimals] = decimals
      return {
        request: {
          account,
          route: {
            source: { chainId: sourceChainId, pool, handler, token: inputToken, decimals: inputDecimals, wrapsCoin },
            destination: { chainId, pool: destinationPool, handler, token: asset, decimals: outputDecimals, wrapsCoin },
          },
          inputAmount,
          isInCoin: wraps === 'the coin that is paid',
          deposit: { vault: someVault({ address, asset, chainId }), operation },
        },
        terms: {
          outputAmount,
          exclusiveRelayer: times.exclusivityParameter === 0 ? NOBODY : exclusiveRelayer,
          ...times,
        },
        stranger,
      }
    })
const anyDeposit = settingsWith(anyOperation)
const anyPayment = anyDeposit.map(
  ({ request: { deposit: _, ...request }, ...setting }): Setting => ({ ...setting, request }),
)
const anySetting = fc.oneof(anyDeposit, anyPayment)

const check = ({ request, terms }: Setting, ...transactions: readonly Transaction[]) =>
  verifyBridgeDeposit(request, terms, transactions)

function passes(setting: Setting, transaction: Transaction): boolean {
  try {
    check(setting, transaction)
    return true
  } catch {
    return false
  }
}

/**
 * Options of tests that change calldata, or the request that the calldata must match. A few random requests suffice,
 * because every request is tested with every change.
 */
const FEW = { numRuns: scaleSampleCount(2) }
/**
 * Distance between two changed bytes. It does not divide the 32 bytes of a word, so every position in a word gets
 * changed.
 */
const STRIDE = 3

describe('The calldata of a bridge deposit', () => {
  test('decodes to exactly its request and its terms', () => {
    fc.assert(
      fc.property(anySetting, anyIntegrator, (setting, integrator) => {
        const transaction = encodeBridgeDeposit(setting.request, setting.terms, integrator)
        expect(decodePlan(transaction)).toEqual(planOf(setting))
      }),
    )
  })

  test('has the coin only as payment, and only for a pool that wraps it', () => {
    fc.assert(
      fc.property(anySetting, (setting) => {
        const { request, terms } = setting
        const { source } = request.route
        const encoded = (isInCoin: boolean) => encodeBridgeDeposit({ ...request, isInCoin }, terms)
        const passesFor = (isInCoin: boolean, wrapsCoin: boolean, paid: boolean) =>
          passes(
            {
              ...setting,
              request: { ...request, isInCoin, route: { ...request.route, source: { ...source, wrapsCoin } } },
            },
            encoded(paid),
          )
        expect(passesFor(true, true, true)).toBe(true)
        expect(passesFor(true, false, true)).toBe(false)
        expect(passesFor(true, true, false)).toBe(false)
        expect(passesFor(false, true, true)).toBe(false)
        expect(passesFor(false, true, false)).toBe(true)
      }),
      FEW,
    )
  })

  test('matches the expected bytes, followed only by the integrator id', () => {
    fc.assert(
      fc.property(anySetting, anyIntegrator, (setting, integrator) => {
        const { data } = encodeBridgeDeposit(setting.request, setting.terms, integrator)
        const plain = encodePlan(planOf(setting)).data
        expect(data).toBe(integrator === undefined ? plain : concat([plain, '0x1dc0de', integrator]))
      }),
    )
  })

  test('has the message of the quote', () => {
    fc.assert(
      fc.property(anySetting, (setting) => {
        expect(encodeMessage(setting.request)).toBe(encodePlanMessage(planOf(setting).message))
      }),
    )
  })

  test('has a word of zeros as each placeholder for the handler’s balance', () => {
    fc.assert(
      fc.property(anyDeposit, ({ request }) => {
        const [{ calls }] = decodeAbiParameters(MESSAGE_PARAMETERS, encodeMessage(request))
        const offsets = calls.slice(1).map(({ callData }) => {
          const [, data, , replacement] = decodeFunctionData({ abi: ABI, data: callData }).args as unknown as [
            Address,
            Hex,
            bigint,
            Replacement[],
          ]
          const offset = Number(replacement[0]?.offset)
          expect(slice(data, offset, offset + 32)).toBe(pad('0x'))
          return { offset, size: size(data) }
        })
        const words = request.deposit.operation === deposit ? 2 : 3
        expect(offsets).toEqual([
          { offset: 36, size: 4 + 2 * 32 },
          { offset: 4, size: 4 + words * 32 },
        ])
      }),
    )
  })
})

describe('The verification of a bridge deposit', () => {
  test('accepts the right deposit, with or without an integrator id', () => {
    fc.assert(
      fc.property(anySetting, anyIntegrator, (setting, integrator) => {
        const { request, terms } = setting
        expect(() => check(setting, encodeBridgeDeposit(request, terms, integrator))).not.toThrow()
        expect(() => check(setting, encodePlan(planOf(setting)))).not.toThrow()
      }),
    )
  })

  const settings = {
    ...Object.fromEntries(
      Object.entries({ deposit, requestDeposit, syncDeposit }).map(([name, operation]) => [
        `deposit by ${name}`,
        settingsWith(fc.constant(operation)),
      ]),
    ),
    'transfer to a wallet': anyPayment,
  }

  test.for(Object.entries(settings))('refuses a %s that differs in one place', ([, ofKind]) => {
    fc.assert(
      fc.property<[Setting]>(ofKind, (setting) => {
        const { request, stranger } = setting
        const { account, route, deposit } = request
        const vaults = deposit ? [deposit.vault.address] : []
        const parties = [
          stranger,
          account,
          ...vaults,
          route.destination.token,
          route.destination.handler,
          route.source.token,
        ]
        for (const mutant of listMutants(planOf(setting), parties)) {
          expect(passes(setting, encodePlan(mutant))).toBe(false)
        }
      }),
      FEW,
    )
  })

  const withCall = (plan: DepositPlan, index: number, change: (step: Step) => Partial<Step>): DepositPlan => ({
    ...plan,
    message: {
      ...plan.message,
      calls: plan.message.calls.map((step, i) => (i === index ? { ...step, ...change(step) } : step)),
    },
  })
  const call = (functionName: string, ...args: unknown[]): Call => ({ functionName, args })
  const WRONG: Readonly<Record<string, (plan: DepositPlan, setting: DepositSetting) => readonly Transaction[]>> = {
    'that is left out': () => [],
    'made twice': (plan) => [encodePlan(plan), encodePlan(plan)],
    'with depositV3Now': (plan) => {
      const args = argsOf(plan, encodePlanMessage(plan.message)).toSpliced(8, 1)
      return [{ ...encodePlan(plan), data: encodeCall({ functionName: 'depositV3Now', args }) }]
    },
    'that transfers the tokens': (plan, { stranger }) => [
      { ...encodePlan(plan), data: encodeCall(call('transfer', stranger, plan.inputAmount)) },
    ],
    'without a message': (plan) => [encodePlan(plan, '0x')],
    'whose message is an address': (plan, { stranger }) => [encodePlan(plan, pad(stranger))],
    'that is approved without the balance': (plan) => [
      encodePlan(withCall(plan, 1, ({ call }) => ({ target: plan.outputToken, call: (call as WithBalance).inner }))),
    ],
    'that is made without the balance': (plan, { request }) => [
      encodePlan(
        withCall(plan, 2, ({ call }) => ({ target: request.deposit.vault.address, call: (call as WithBalance).inner })),
      ),
    ],
    'whose handler drains to a third party': (plan, { stranger }) => [
      encodePlan(
        withCall(plan, 2, () => ({
          target: plan.recipient,
          call: call('drainLeftoverTokens', plan.outputToken, stranger),
        })),
      ),
    ],
    'that names a referral': (plan, { request: { account, route }, stranger }) => [
      encodePlan(
        withCall(plan, 2, ({ call: of }) => ({
          call: {
            ...(of as WithBalance),
            inner: call('requestDeposit', 0n, account, route.destination.handler, stranger),
          },
        })),
      ),
    ],
  }

  test.for(Object.entries(WRONG))('refuses a deposit %s', ([, wrong]) => {
    fc.assert(
      fc.property(anyDeposit, (setting) => {
        const plan = planOf(setting)
        const message = plan.message as Message
        const transactions = wrong({ ...plan, message }, setting)
        expect(() => check(setting, ...transactions)).toThrow()
      }),
    )
  })

  test.for<[string, (plan: Plan, setting: DepositSetting) => Transaction]>([
    ['with a message', (plan, setting) => encodePlan(plan, encodeMessage(setting.request))],
    ['with a byte for a message', (plan) => encodePlan(plan, '0x00')],
    ['to the handler', (plan, { request }) => encodePlan({ ...plan, recipient: request.route.destination.handler })],
    ['that is a deposit into a vault', (_, { request, terms }) => encodeBridgeDeposit(request, terms)],
  ])('refuses a transfer to a wallet %s', ([, wrong]) => {
    fc.assert(
      fc.property(anyDeposit, (setting) => {
        const { deposit: _, ...request } = setting.request
        const plan = planOf({ ...setting, request })
        expect(() => check({ ...setting, request }, wrong(plan, setting))).toThrow()
      }),
    )
  })

  test('refuses a deposit that is cut anywhere', () => {
    fc.assert(
      fc.property(anySetting, fc.nat(), (setting, at) => {
        const right = encodePlan(planOf(setting))
        const end = at % size(right.data)
        expect(passes(setting, { ...right, data: end === 0 ? '0x' : slice(right.data, 0, end) })).toBe(false)
      }),
    )
  })

  const withVault = ({ request }: DepositSetting, vault: object) => ({
    request: { ...request, deposit: { ...request.deposit, vault: { ...request.deposit.vault, ...vault } } },
  })
  const withEnd = ({ request }: DepositSetting, end: 'source' | 'destination', change: object) => ({
    request: { ...request, route: { ...request.route, [end]: { ...request.route[end], ...change } } },
  })
  const OTHERS: Record<string, (setting: DepositSetting) => Partial<Setting>> = {
    vault: (setting) => withVault(setting, { address: setting.stranger }),
    asset: (setting) => withVault(setting, { asset: setting.stranger }),
    'destination token': (setting) => withEnd(setting, 'destination', { token: setting.stranger }),
    destination: (setting) => withEnd(setting, 'destination', { chainId: setting.request.route.source.chainId }),
    user: ({ request, stranger }) => ({ request: { ...request, account: stranger } }),
    pool: (setting) => withEnd(setting, 'source', { pool: setting.stranger }),
    'source token': (setting) => withEnd(setting, 'source', { token: setting.stranger }),
    handler: (setting) => withEnd(setting, 'destination', { handler: setting.stranger }),
    end: ({ request: { deposit: _, ...request } }) => ({ request }),
    amount: ({ request }) => ({ request: { ...request, inputAmount: request.inputAmount + 1n } }),
    operation: ({ request }) => ({
      request: {
        ...request,
        deposit: {
          ...request.deposit,
          operation: request.deposit.operation === deposit ? syncDeposit : deposit,
        },
      },
    }),
    output: ({ terms }) => ({ terms: { ...terms, outputAmount: terms.outputAmount - 1n } }),
    'quote time': ({ terms }) => ({ terms: { ...terms, quoteTimestamp: terms.quoteTimestamp + 1 } }),
    'exclusive relayer': ({ terms, stranger }) => ({ terms: { ...terms, exclusiveRelayer: stranger } }),
    exclusivity: ({ terms }) => ({ terms: { ...terms, exclusivityParameter: terms.exclusivityParameter + 1 } }),
    deadline: ({ terms }) => ({ terms: { ...terms, fillDeadline: terms.fillDeadline + 1 } }),
  }

  test.for(Object.entries(OTHERS).map(([what, change]) => ({ what, change })))(
    'refuses the right deposit of a request with another $what',
    ({ change }) => {
      fc.assert(
        fc.property(anyDeposit, (setting) => {
          const { request, terms } = { ...setting, ...change(setting) }
          const deposit = encodeBridgeDeposit(request, terms, undefined)
          expect(() => check(setting, deposit)).toThrow()
        }),
        FEW,
      )
    },
  )

  test('accepts a changed byte only if the decoded deposit is the same', () => {
    let passed = 0
    fc.assert(
      fc.property(anyDeposit, fc.integer({ min: 1, max: 255 }), fc.nat(STRIDE - 1), (setting, flip, start) => {
        const plan = planOf(setting)
        const { to, value, data } = encodePlan(plan)
        const right = Buffer.from(data.slice(2), 'hex')
        for (const [index, byte] of right.entries()) {
          if (index % STRIDE !== start) continue
          const changed: Transaction = {
            to,
            value,
            data: `0x${Buffer.from(right.with(index, byte ^ flip)).toString('hex')}`,
          }
          if (!passes(setting, changed)) continue
          passed += 1
          expect(decodePlan(changed)).toEqual(plan)
        }
      }),
      // One sample suffices, because a third of its 1,500 bytes are changed one after another.
      { numRuns: scaleSampleCount(1), endOnFailure: true },
    )
    // Some changed bytes are padding. The verification accepts them, because padding has no meaning.
    expect(passed).toBeGreaterThan(0)
  })
})
