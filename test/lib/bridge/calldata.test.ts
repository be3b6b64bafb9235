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
  parseAbi,
  parseAbiParameters,
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

const [deposit] = OPERATIONS.erc4626.deposits
const [requestDeposit, syncDeposit = requestDeposit] = OPERATIONS.lagoon.deposits

// Written apart from the service's own ABI, so that a mistake there does not hide itself.
const ABI = parseAbi([
  'struct Replacement { address token; uint256 offset; }',
  'function depositV3(address depositor, address recipient, address inputToken, address outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, address exclusiveRelayer, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityParameter, bytes message)',
  'function depositV3Now(address depositor, address recipient, address inputToken, address outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, address exclusiveRelayer, uint32 fillDeadlineOffset, uint32 exclusivityParameter, bytes message)',
  'function makeCallWithBalance(address target, bytes callData, uint256 value, Replacement[] replacement)',
  'function drainLeftoverTokens(address token, address destination)',
  'function approve(address spender, uint256 amount)',
  'function increaseAllowance(address spender, uint256 amount)',
  'function transfer(address to, uint256 amount)',
  'function requestDeposit(uint256 assets, address controller, address owner)',
  'function requestDeposit(uint256 assets, address controller, address owner, address referral)',
  'function syncDeposit(uint256 assets, address receiver, address referral)',
  'function deposit(uint256 assets, address receiver)',
  'function deposit(uint256 assets, address receiver, address controller)',
  'function mint(uint256 shares, address receiver)',
  'function requestRedeem(uint256 shares, address controller, address owner)',
])
const MESSAGE = parseAbiParameters([
  'Instructions instructions',
  'struct Instructions { Call[] calls; address fallbackRecipient; }',
  'struct Call { address target; bytes callData; uint256 value; }',
])
const NOBODY: Address = '0x0000000000000000000000000000000000000000'
const CHAINS = [1, 10, 56, 137, 8453, 42161]

type Args = readonly (bigint | number | Address | Hex)[]
/** A call of a token or of a vault. */
type Inner = { readonly functionName: string; readonly args: Args }
type Replacement = { readonly token: Address; readonly offset: bigint }
/** A call that the handler makes with its balance put in. */
type WithBalance = {
  readonly target: Address
  readonly inner: Inner
  readonly value: bigint
  readonly replacement: readonly Replacement[]
}
type Step = { readonly target: Address; readonly value: bigint; readonly call: Inner | WithBalance }
type Message = { readonly calls: readonly Step[]; readonly fallbackRecipient: Address }
/** Everything that a deposit through the bridge says, field by field. */
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
  readonly message: Message
}

const encodeInner = (call: Inner): Hex => encodeFunctionData({ abi: ABI, ...call } as never)
const isWithBalance = (call: Inner | WithBalance): call is WithBalance => 'replacement' in call

function encodeStep({ target, value, call }: Step) {
  if (!isWithBalance(call)) return { target, value, callData: encodeInner(call) }
  const args = [call.target, encodeInner(call.inner), call.value, call.replacement] as const
  return { target, value, callData: encodeFunctionData({ abi: ABI, functionName: 'makeCallWithBalance', args }) }
}

function encodePlanMessage({ calls, fallbackRecipient }: Message): Hex {
  return encodeAbiParameters(MESSAGE, [{ calls: calls.map(encodeStep), fallbackRecipient }])
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

const decodeInner = (data: Hex): Inner => decodeFunctionData({ abi: ABI, data }) as Inner

function decodeStep({ target, value, callData }: { target: Address; value: bigint; callData: Hex }): Step {
  const call = decodeInner(callData)
  if (call.functionName !== 'makeCallWithBalance') return { target, value, call }
  const [innerTarget, data, innerValue, replacement] = call.args as unknown as [Address, Hex, bigint, Replacement[]]
  return { target, value, call: { target: innerTarget, inner: decodeInner(data), value: innerValue, replacement } }
}

/** What a transaction says, read by an ABI of its own. */
function decodePlan({ to, data, value }: Transaction): Plan {
  const { functionName, args } = decodeFunctionData({ abi: ABI, data })
  if (functionName !== 'depositV3') throw new Error(`This is no deposit but ${functionName}`)
  const [depositor, recipient, inputToken, outputToken, inputAmount, outputAmount, destinationChainId] = args
  const [exclusiveRelayer, quoteTimestamp, fillDeadline, exclusivity, message] = args.slice(7) as [
    Address,
    number,
    number,
    number,
    Hex,
  ]
  const [{ calls, fallbackRecipient }] = decodeAbiParameters(MESSAGE, message)
  return {
    ...{ to, value, depositor, recipient, inputToken, outputToken, inputAmount, outputAmount, destinationChainId },
    ...{ exclusiveRelayer, quoteTimestamp, fillDeadline, exclusivity },
    message: { calls: calls.map(decodeStep), fallbackRecipient },
  }
}

/** What a request must become: the specification, once more. */
function planOf({ request, terms }: Setting): Plan {
  const { vault, user, route, operation, inputAmount } = request
  const { handler } = route
  const reset: Inner = { functionName: 'approve', args: [vault.address, 0n] }
  const depositing = (): Inner => {
    if (operation === requestDeposit) return { functionName: 'requestDeposit', args: [0n, user, handler] }
    if (operation === syncDeposit) return { functionName: 'syncDeposit', args: [0n, user, NOBODY] }
    return { functionName: 'deposit', args: [0n, user] }
  }
  const withBalance = (target: Address, inner: Inner, offset: bigint): Step => ({
    target: handler,
    value: 0n,
    call: { target, inner, value: 0n, replacement: [{ token: vault.asset, offset }] },
  })
  return {
    to: route.pool,
    value: 0n,
    depositor: user,
    recipient: handler,
    inputToken: route.inputToken,
    outputToken: vault.asset,
    inputAmount,
    outputAmount: terms.outputAmount,
    destinationChainId: BigInt(vault.chainId),
    exclusiveRelayer: terms.exclusiveRelayer,
    quoteTimestamp: terms.quoteTimestamp,
    fillDeadline: terms.fillDeadline,
    exclusivity: terms.exclusivityParameter,
    message: {
      calls: [
        { target: vault.asset, value: 0n, call: reset },
        withBalance(vault.asset, reset, 36n),
        withBalance(vault.address, depositing(), 4n),
      ],
      fallbackRecipient: user,
    },
  }
}

type Setting = { readonly request: BridgeRequest; readonly terms: BridgeTerms; readonly stranger: Address }

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

const settingsWith = (operations: fc.Arbitrary<DepositOperation>): fc.Arbitrary<Setting> =>
  fc
    .record({
      parties: fc.uniqueArray(anyAddress, { minLength: 9, maxLength: 9 }),
      chains: fc.shuffledSubarray(CHAINS, { minLength: 2, maxLength: 2 }),
      amounts: fc.uniqueArray(anyAmount, { minLength: 2, maxLength: 2 }),
      decimals: fc.tuple(fc.constantFrom(6, 8, 18), fc.constantFrom(6, 8, 18)),
      operation: operations,
      quoteTimestamp: anyTime,
      fillDeadline: anyTime,
      exclusivityParameter: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 300 }), anyTime),
    })
    .map(({ parties, chains, amounts, decimals, operation, ...times }) => {
      const [address, asset, user, pool, inputToken, handler, stranger, destinationPool, exclusiveRelayer] =
        parties as [Address, Address, Address, Address, Address, Address, Address, Address, Address]
      const [chainId, sourceChainId] = chains as [number, number]
      const [inputAmount, outputAmount] = amounts as [bigint, bigint]
      const [inputDecimals, outputDecimals] = decimals
      return {
        request: {
          vault: someVault({ address, asset, chainId }),
          user,
          route: { sourceChainId, pool, inputToken, inputDecimals, destinationPool, handler, outputDecimals },
          operation,
          inputAmount,
        },
        terms: {
          outputAmount,
          exclusiveRelayer: times.exclusivityParameter === 0 ? NOBODY : exclusiveRelayer,
          ...times,
        },
        stranger,
      }
    })
const anySetting = settingsWith(anyOperation)

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

/** Enough for a change that is wrong for every request, of whichever operation. */
const FEW = { numRuns: 5 }

describe('what is encoded', () => {
  test('A deposit decodes to exactly its request and its terms', () => {
    fc.assert(
      fc.property(anySetting, anyIntegrator, (setting, integrator) => {
        const transaction = encodeBridgeDeposit(setting.request, setting.terms, integrator)
        expect(decodePlan(transaction)).toEqual(planOf(setting))
      }),
    )
  })

  test('It is that to the byte, with nothing behind it but the integrator id', () => {
    fc.assert(
      fc.property(anySetting, anyIntegrator, (setting, integrator) => {
        const { data } = encodeBridgeDeposit(setting.request, setting.terms, integrator)
        const plain = encodePlan(planOf(setting)).data
        expect(data).toBe(integrator === undefined ? plain : concat([plain, '0x1dc0de', integrator]))
      }),
    )
  })

  test('The message that is quoted is the one that is sent', () => {
    fc.assert(
      fc.property(anySetting, (setting) => {
        expect(encodeMessage(setting.request)).toBe(encodePlanMessage(planOf(setting).message))
      }),
    )
  })

  test('Each placeholder of an amount is a word of zeros, into which the balance can be put', () => {
    fc.assert(
      fc.property(anySetting, ({ request }) => {
        const [{ calls }] = decodeAbiParameters(MESSAGE, encodeMessage(request))
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
        const words = request.operation === deposit ? 2 : 3
        expect(offsets).toEqual([
          { offset: 36, size: 4 + 2 * 32 },
          { offset: 4, size: 4 + words * 32 },
        ])
      }),
    )
  })
})

describe('the last look at a deposit through the bridge', () => {
  test('The right one passes, with an integrator id or without', () => {
    fc.assert(
      fc.property(anySetting, anyIntegrator, (setting, integrator) => {
        const { request, terms } = setting
        expect(() => check(setting, encodeBridgeDeposit(request, terms, integrator))).not.toThrow()
        expect(() => check(setting, encodePlan(planOf(setting)))).not.toThrow()
      }),
    )
  })

  /** What becomes of the right plan, or of its transaction. */
  type Wrong = (plan: Plan, setting: Setting) => readonly Transaction[]

  const withPlan =
    (change: (plan: Plan, setting: Setting) => Partial<Plan>): Wrong =>
    (plan, setting) => [encodePlan({ ...plan, ...change(plan, setting) })]
  const withData =
    (change: (data: Hex, plan: Plan, setting: Setting) => Hex): Wrong =>
    (plan, setting) => {
      const right = encodePlan(plan)
      return [{ ...right, data: change(right.data, plan, setting) }]
    }
  const withMessage = (change: (message: Message, setting: Setting) => Partial<Message>) =>
    withPlan(({ message }, setting) => ({ message: { ...message, ...change(message, setting) } }))
  const withRawMessage =
    (change: (message: Hex, setting: Setting) => Hex): Wrong =>
    (plan, setting) => [encodePlan(plan, change(encodePlanMessage(plan.message), setting))]
  const withCalls = (change: (calls: readonly [Step, Step, Step], setting: Setting) => readonly Step[]) =>
    withMessage(({ calls }, setting) => ({ calls: change(calls as unknown as [Step, Step, Step], setting) }))
  const withStep = (index: number, change: (step: Step, setting: Setting) => Partial<Step>) =>
    withCalls((calls, setting) => calls.map((step, i) => (i === index ? { ...step, ...change(step, setting) } : step)))
  const withBalanceCall = (index: number, change: (call: WithBalance, setting: Setting) => Partial<WithBalance>) =>
    withStep(index, (step, setting) => {
      const call = step.call as WithBalance
      return { call: { ...call, ...change(call, setting) } }
    })
  /** The call of a token or a vault in a step, wherever it stands. */
  const withInner = (index: number, change: (inner: Inner, setting: Setting) => Inner) =>
    withStep(index, ({ call }, setting) => ({
      call: isWithBalance(call) ? { ...call, inner: change(call.inner, setting) } : change(call, setting),
    }))
  const withArgument = (index: number, argument: number, value: (setting: Setting) => bigint | Address) =>
    withInner(index, ({ functionName, args }, setting) => ({
      functionName,
      args: args.with(argument, value(setting)),
    }))
  const instead = (index: number, call: (setting: Setting) => Inner) => withInner(index, (_, setting) => call(setting))

  const STEPS = ['reset', 'approval', 'deposit'] as const
  const each = <T>(of: readonly T[], mutations: (item: T, index: number) => Record<string, Wrong>) =>
    Object.assign({}, ...of.map(mutations)) as Record<string, Wrong>
  const swapped = ([first, second, third]: readonly [Step, Step, Step]) => [
    [second, first, third],
    [first, third, second],
    [third, second, first],
    [second, third, first],
    [third, first, second],
  ]

  const CALL: Record<string, Wrong> = {
    'to a stranger': withPlan((_, { stranger }) => ({ to: stranger })),
    'to the handler': withPlan(({ recipient }) => ({ to: recipient })),
    'to the input token': withPlan(({ inputToken }) => ({ to: inputToken })),
    'that pays native coin': withPlan(() => ({ value: 1n })),
    'by a stranger': withPlan((_, { stranger }) => ({ depositor: stranger })),
    'by the handler': withPlan(({ recipient }) => ({ depositor: recipient })),
    'by nobody': withPlan(() => ({ depositor: NOBODY })),
    'for a stranger': withPlan((_, { stranger }) => ({ recipient: stranger })),
    'straight to the user': withPlan(({ depositor }) => ({ recipient: depositor })),
    'straight to the vault': withPlan((_, { request }) => ({ recipient: request.vault.address })),
    'for nobody': withPlan(() => ({ recipient: NOBODY })),
    'of another token': withPlan((_, { stranger }) => ({ inputToken: stranger })),
    "of the destination's token": withPlan(({ outputToken }) => ({ inputToken: outputToken })),
    'into another token': withPlan((_, { stranger }) => ({ outputToken: stranger })),
    "into the source's token": withPlan(({ inputToken }) => ({ outputToken: inputToken })),
    'into no token': withPlan(() => ({ outputToken: NOBODY })),
    'of one unit more': withPlan(({ inputAmount }) => ({ inputAmount: inputAmount + 1n })),
    'of one unit less': withPlan(({ inputAmount }) => ({ inputAmount: inputAmount - 1n })),
    'of everything': withPlan(() => ({ inputAmount: maxUint256 })),
    'of nothing': withPlan(() => ({ inputAmount: 0n })),
    'that yields one unit more': withPlan(({ outputAmount }) => ({ outputAmount: outputAmount + 1n })),
    'that yields one unit less': withPlan(({ outputAmount }) => ({ outputAmount: outputAmount - 1n })),
    'that yields the input': withPlan(({ inputAmount }) => ({ outputAmount: inputAmount })),
    'that yields nothing': withPlan(() => ({ outputAmount: 0n })),
    'to the next chain': withPlan(({ destinationChainId }) => ({ destinationChainId: destinationChainId + 1n })),
    'to its own chain': withPlan((_, { request }) => ({ destinationChainId: BigInt(request.route.sourceChainId) })),
    'to no chain': withPlan(() => ({ destinationChainId: 0n })),
    'that a stranger fills': withPlan((_, { stranger }) => ({ exclusiveRelayer: stranger })),
    'that only a stranger fills': withPlan((_, { stranger }) => ({ exclusiveRelayer: stranger, exclusivity: 600 })),
    'that nobody may fill for a while': withPlan(({ exclusivity }) => ({ exclusivity: exclusivity + 1 })),
    'quoted a second later': withPlan(({ quoteTimestamp }) => ({ quoteTimestamp: quoteTimestamp + 1 })),
    'quoted a second earlier': withPlan(({ quoteTimestamp }) => ({ quoteTimestamp: quoteTimestamp - 1 })),
    'that expires a second later': withPlan(({ fillDeadline }) => ({ fillDeadline: fillDeadline + 1 })),
    'that expires a second earlier': withPlan(({ fillDeadline }) => ({ fillDeadline: fillDeadline - 1 })),

    'that is left out': () => [],
    'made twice': (plan) => [encodePlan(plan), encodePlan(plan)],
    'followed by another': (plan, { stranger }) => [encodePlan(plan), { ...encodePlan(plan), to: stranger }],
    'after another': (plan, { stranger }) => [{ ...encodePlan(plan), to: stranger }, encodePlan(plan)],
    'without data': withData(() => '0x'),
    'without arguments': withData((data) => slice(data, 0, 4)),
    'cut behind its arguments': withData((data) => slice(data, 0, 4 + 12 * 32)),
    'that deposits as of now': withData((_, plan) => {
      const args = argsOf(plan, encodePlanMessage(plan.message)).toSpliced(8, 1)
      return encodeFunctionData({ abi: ABI, functionName: 'depositV3Now', args } as never)
    }),
    'that transfers the tokens': withData((_, { inputAmount }, { stranger }) =>
      encodeInner({ functionName: 'transfer', args: [stranger, inputAmount] }),
    ),
    'that approves': withData((_, { to, inputAmount }) =>
      encodeInner({ functionName: 'approve', args: [to, inputAmount] }),
    ),
  }

  const WHOLE_MESSAGE: Record<string, Wrong> = {
    'without a message': withRawMessage(() => '0x'),
    'whose message is one word short': withRawMessage((message) => slice(message, 0, size(message) - 32)),
    'whose message is half of it': withRawMessage((message) => slice(message, 0, size(message) / 2)),
    'whose message is an address': withRawMessage((_, { stranger }) => pad(stranger)),
    'whose message is for another vault': withRawMessage((_, { request, stranger }) =>
      encodeMessage({ ...request, vault: { ...request.vault, address: stranger } }),
    ),
    'whose message is for another user': withRawMessage((_, { request, stranger }) =>
      encodeMessage({ ...request, user: stranger }),
    ),
    'that falls back to a stranger': withMessage((_, { stranger }) => ({ fallbackRecipient: stranger })),
    'that falls back to the handler': withMessage((_, { request }) => ({ fallbackRecipient: request.route.handler })),
    'that falls back to the vault': withMessage((_, { request }) => ({ fallbackRecipient: request.vault.address })),
    'without a fallback': withMessage(() => ({ fallbackRecipient: NOBODY })),
    'whose message makes no calls': withCalls(() => []),
    ...each(STEPS, (step, index) => ({
      [`without its ${step}`]: withCalls((calls) => calls.toSpliced(index, 1)),
      [`that makes its ${step} twice`]: withCalls((calls) => calls.toSpliced(index, 0, calls[index] as Step)),
      [`that does something else before its ${step}`]: withCalls((calls, { request, stranger }) =>
        calls.toSpliced(index, 0, {
          target: request.vault.asset,
          value: 0n,
          call: { functionName: 'approve', args: [stranger, 0n] },
        }),
      ),
    })),
    ...each([0, 1, 2, 3, 4], (order) => ({
      [`whose calls come in another order (${order})`]: withCalls((calls) => swapped(calls)[order] as Step[]),
    })),
    'that drains to a stranger at its end': withCalls((calls, { request, stranger }) => [
      ...calls,
      {
        target: request.route.handler,
        value: 0n,
        call: { functionName: 'drainLeftoverTokens', args: [request.vault.asset, stranger] },
      },
    ]),
    'that approves a stranger at its end': withCalls((calls, { request, stranger }) => [
      ...calls,
      { target: request.vault.asset, value: 0n, call: { functionName: 'approve', args: [stranger, maxUint256] } },
    ]),
    'that makes an empty call at its end': withCalls((calls, { stranger }) => [
      ...calls,
      { target: stranger, value: 0n, call: { functionName: 'transfer', args: [stranger, 0n] } },
    ]),
  }

  const EACH_STEP = each(STEPS, (step, index) => ({
    [`whose ${step} goes to a stranger`]: withStep(index, (_, { stranger }) => ({ target: stranger })),
    [`whose ${step} goes to the user`]: withStep(index, (_, { request }) => ({ target: request.user })),
    [`whose ${step} goes to the vault`]: withStep(index, (_, { request }) => ({ target: request.vault.address })),
    [`whose ${step} pays native coin`]: withStep(index, () => ({ value: 1n })),
    [`whose ${step} is a transfer to a stranger`]: instead(index, ({ stranger }) => ({
      functionName: 'transfer',
      args: [stranger, 0n],
    })),
    [`whose ${step} drains to a stranger`]: withStep(index, (_, { request, stranger }) => ({
      target: request.route.handler,
      call: { functionName: 'drainLeftoverTokens', args: [request.vault.asset, stranger] },
    })),
  }))

  const APPROVALS = each(['reset', 'approval'], (step, index) => ({
    [`whose ${step} is for a stranger`]: withArgument(index, 0, ({ stranger }) => stranger),
    [`whose ${step} is for the handler`]: withArgument(index, 0, ({ request }) => request.route.handler),
    [`whose ${step} is for the user`]: withArgument(index, 0, ({ request }) => request.user),
    [`whose ${step} is for nobody`]: withArgument(index, 0, () => NOBODY),
    [`whose ${step} is of one unit`]: withArgument(index, 1, () => 1n),
    [`whose ${step} is of everything`]: withArgument(index, 1, () => maxUint256),
    [`whose ${step} raises an allowance`]: instead(index, ({ request }) => ({
      functionName: 'increaseAllowance',
      args: [request.vault.address, 0n],
    })),
    [`whose ${step} pays the vault`]: instead(index, ({ request }) => ({
      functionName: 'transfer',
      args: [request.vault.address, 0n],
    })),
  }))

  const WITH_BALANCE = each(
    [
      ['approval', 1],
      ['deposit', 2],
    ] as const,
    ([step, index]) => ({
      [`whose ${step} calls a stranger`]: withBalanceCall(index, (_, { stranger }) => ({ target: stranger })),
      [`whose ${step} calls the handler`]: withBalanceCall(index, (_, { request }) => ({
        target: request.route.handler,
      })),
      [`whose ${step} calls the other contract`]: withBalanceCall(index, (_, { request: { vault } }) => ({
        target: index === 1 ? vault.address : vault.asset,
      })),
      [`whose ${step} sends native coin on`]: withBalanceCall(index, () => ({ value: 1n })),
      [`whose ${step} puts no balance in`]: withBalanceCall(index, () => ({ replacement: [] })),
      [`whose ${step} puts the balance of another token in`]: withBalanceCall(index, ({ replacement }, setting) => ({
        replacement: replacement.map((one) => ({ ...one, token: setting.stranger })),
      })),
      [`whose ${step} puts the balance of native coin in`]: withBalanceCall(index, ({ replacement }) => ({
        replacement: replacement.map((one) => ({ ...one, token: NOBODY })),
      })),
      [`whose ${step} puts the balance in twice`]: withBalanceCall(index, ({ replacement }) => ({
        replacement: [...replacement, ...replacement],
      })),
      [`whose ${step} puts another balance in besides`]: withBalanceCall(index, ({ replacement }, setting) => ({
        replacement: [...replacement, { token: setting.stranger, offset: 36n }],
      })),
      [`whose ${step} is made without the balance`]: withStep(index, ({ call }) => {
        const { target, inner } = call as WithBalance
        return { target, call: inner }
      }),
      ...each([0n, 3n, 4n, 5n, 35n, 36n, 37n, 68n, maxUint256], (offset) =>
        offset === (index === 1 ? 36n : 4n)
          ? {}
          : {
              [`whose ${step} puts the balance at ${offset}`]: withBalanceCall(index, ({ replacement }) => ({
                replacement: replacement.map((one) => ({ ...one, offset })),
              })),
            },
      ),
    }),
  )

  const DEPOSIT: Record<string, Wrong> = {
    'whose deposit is of one unit': withArgument(2, 0, () => 1n),
    'whose deposit is of what was promised': withArgument(2, 0, ({ terms }) => terms.outputAmount),
    'whose deposit is for a stranger': withArgument(2, 1, ({ stranger }) => stranger),
    'whose deposit is for the handler': withArgument(2, 1, ({ request }) => request.route.handler),
    'whose deposit is for the vault': withArgument(2, 1, ({ request }) => request.vault.address),
    'whose deposit is for nobody': withArgument(2, 1, () => NOBODY),
    'whose deposit is a claim': instead(2, ({ request: { user } }) => ({
      functionName: 'deposit',
      args: [0n, user, user],
    })),
    'whose deposit is a mint': instead(2, ({ request: { user } }) => ({ functionName: 'mint', args: [0n, user] })),
    'whose deposit redeems': instead(2, ({ request: { user } }) => ({
      functionName: 'requestRedeem',
      args: [0n, user, user],
    })),
    'whose deposit names a referral': instead(2, ({ request: { user, route }, stranger }) => ({
      functionName: 'requestDeposit',
      args: [0n, user, route.handler, stranger],
    })),
    'whose deposit is of another kind': (_, setting) => {
      const { request } = setting
      const operation = request.operation === syncDeposit ? requestDeposit : syncDeposit
      return [encodePlan(planOf({ ...setting, request: { ...request, operation } }))]
    },
    'whose deposit is of yet another kind': (_, setting) => {
      const { request } = setting
      const operation = request.operation === deposit ? requestDeposit : deposit
      return [encodePlan(planOf({ ...setting, request: { ...request, operation } }))]
    },
  }
  const REQUEST: Record<string, Wrong> = {
    'whose request is paid by the user': withArgument(2, 2, ({ request }) => request.user),
    'whose request is paid by a stranger': withArgument(2, 2, ({ stranger }) => stranger),
    'whose request is paid by the vault': withArgument(2, 2, ({ request }) => request.vault.address),
    'whose request is paid by nobody': withArgument(2, 2, () => NOBODY),
    'whose request is controlled by the handler and paid by the user': instead(2, ({ request: { user, route } }) => ({
      functionName: 'requestDeposit',
      args: [0n, route.handler, user],
    })),
  }
  const SYNC: Record<string, Wrong> = {
    'whose deposit at once is referred by a stranger': withArgument(2, 2, ({ stranger }) => stranger),
    'whose deposit at once is referred by the user': withArgument(2, 2, ({ request }) => request.user),
  }

  const cases = [
    { wrongs: { ...CALL, ...WHOLE_MESSAGE, ...EACH_STEP, ...APPROVALS, ...WITH_BALANCE, ...DEPOSIT }, of: anySetting },
    { wrongs: REQUEST, of: settingsWith(fc.constant(requestDeposit)) },
    { wrongs: SYNC, of: settingsWith(fc.constant(syncDeposit)) },
  ].flatMap(({ wrongs, of }) => Object.entries(wrongs).map(([mutation, wrong]) => ({ mutation, wrong, of })))

  test.for(cases)('A deposit $mutation does not pass', ({ wrong, of }) => {
    fc.assert(
      fc.property(of, (setting) => {
        const transactions = wrong(planOf(setting), setting)
        expect(() => check(setting, ...transactions)).toThrow()
      }),
      FEW,
    )
  })

  const OTHERS: Record<string, (setting: Setting) => Partial<Setting>> = {
    vault: ({ request, stranger }) => ({
      request: { ...request, vault: { ...request.vault, address: stranger } },
    }),
    asset: ({ request, stranger }) => ({ request: { ...request, vault: { ...request.vault, asset: stranger } } }),
    destination: ({ request }) => ({
      request: { ...request, vault: { ...request.vault, chainId: request.route.sourceChainId } },
    }),
    user: ({ request, stranger }) => ({ request: { ...request, user: stranger } }),
    pool: ({ request, stranger }) => ({ request: { ...request, route: { ...request.route, pool: stranger } } }),
    'source token': ({ request, stranger }) => ({
      request: { ...request, route: { ...request.route, inputToken: stranger } },
    }),
    handler: ({ request, stranger }) => ({ request: { ...request, route: { ...request.route, handler: stranger } } }),
    amount: ({ request }) => ({ request: { ...request, inputAmount: request.inputAmount + 1n } }),
    operation: ({ request }) => ({
      request: { ...request, operation: request.operation === deposit ? syncDeposit : deposit },
    }),
    output: ({ terms }) => ({ terms: { ...terms, outputAmount: terms.outputAmount - 1n } }),
    'quote time': ({ terms }) => ({ terms: { ...terms, quoteTimestamp: terms.quoteTimestamp + 1 } }),
    'exclusive relayer': ({ terms, stranger }) => ({ terms: { ...terms, exclusiveRelayer: stranger } }),
    exclusivity: ({ terms }) => ({ terms: { ...terms, exclusivityParameter: terms.exclusivityParameter + 1 } }),
    deadline: ({ terms }) => ({ terms: { ...terms, fillDeadline: terms.fillDeadline + 1 } }),
  }

  test.for(Object.entries(OTHERS).map(([what, change]) => ({ what, change })))(
    'The right deposit of a request with another $what does not pass for this one',
    ({ change }) => {
      fc.assert(
        fc.property(anySetting, (setting) => {
          const { request, terms } = { ...setting, ...change(setting) }
          const deposit = encodeBridgeDeposit(request, terms, undefined)
          expect(() => check(setting, deposit)).toThrow()
        }),
        FEW,
      )
    },
  )

  test('Whatever byte of it is changed, what passes says the same', () => {
    let passed = 0
    fc.assert(
      fc.property(anySetting, fc.integer({ min: 1, max: 255 }), (setting, flip) => {
        const plan = planOf(setting)
        const { to, value, data } = encodePlan(plan)
        const right = Buffer.from(data.slice(2), 'hex')
        for (const [index, byte] of right.entries()) {
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
      // Some 1,500 bytes.
      { numRuns: 1, endOnFailure: true },
    )
    // Bytes that fill up a word say nothing.
    expect(passed).toBeGreaterThan(0)
  })
})
