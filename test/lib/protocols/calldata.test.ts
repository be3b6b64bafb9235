import fc from 'fast-check'
import {
  type AbiFunction,
  type Address,
  decodeFunctionData,
  encodeFunctionData,
  getAddress,
  type Hex,
  maxUint256,
  size,
  slice,
  toFunctionSelector,
} from 'viem'
import { describe, expect, test } from 'vitest'
import type { Transaction } from '../../../lib/chain/transaction.ts'
import { encodeOperation, type OperationRequest, verifyOperations } from '../../../lib/protocols/calldata.ts'
import { findOperation, findWithdrawalOperation, OPERATIONS } from '../../../lib/protocols/operations.ts'
import type { RequestKind } from '../../../lib/protocols/request-kind.ts'
import { someVault } from '../../support/clients.ts'
import { type Call, listMutants } from '../../support/mutants.ts'
import { CANCELLATION_ABI, VAULT_ABI } from '../../support/oracles.ts'
import { scaleSampleCount } from '../../support/runs.ts'

const [deposit] = OPERATIONS.erc4626.deposits
const { deposits, claims, cancels } = OPERATIONS.lagoon
const [requestDeposit, syncDeposit = requestDeposit] = deposits

const NOBODY: Address = '0x0000000000000000000000000000000000000000'

type Request = OperationRequest & { readonly payer: Address; readonly requestId: bigint }

/** Vault functions by name and number of arguments. Viem would search the whole ABI for each call. */
const FUNCTIONS = new Map(
  [...VAULT_ABI, ...CANCELLATION_ABI]
    .filter((item) => item.type === 'function')
    .map((item): [string, AbiFunction] => [`${item.name}/${item.inputs.length}`, item]),
)
const BY_SELECTOR = new Map([...FUNCTIONS.values()].map((item) => [toFunctionSelector(item), item]))

function encode({ functionName, args }: Call): Hex {
  const item = FUNCTIONS.get(`${functionName}/${args.length}`)
  if (!item) throw new Error(`No vault has ${functionName} with ${args.length} arguments.`)
  return encodeFunctionData({ abi: [item], args })
}
function decode(data: Hex): Call {
  const item = BY_SELECTOR.get(slice(data, 0, 4))
  if (!item) throw new Error(`No vault has the function ${slice(data, 0, 4)}.`)
  const { functionName, args = [] } = decodeFunctionData({ abi: [item], data })
  return { functionName, args }
}

const anyAddress = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => getAddress(`0x${Buffer.from(bytes).toString('hex')}`))
  .filter((address) => address !== NOBODY)
const anyAmount = fc.oneof(
  fc.constantFrom(1n, 2n, 2n ** 128n, maxUint256 - 1n, maxUint256),
  fc.bigInt({ min: 1n, max: maxUint256 }),
)
/** Requests paid by the account or by another account. `stranger` is a third party that is not involved. */
const anySetting = fc
  .tuple(fc.uniqueArray(anyAddress, { minLength: 5, maxLength: 5 }), anyAmount, anyAmount, fc.boolean())
  .map(([parties, amount, requestId, paidByUser]): Setting => {
    const [address, asset, account, stranger, other] = parties as [Address, Address, Address, Address, Address]
    return {
      request: {
        vault: someVault({ address, asset }),
        account,
        amount,
        requestId,
        payer: paidByUser ? account : other,
      },
      stranger,
    }
  })
type Setting = { readonly request: Request; readonly stranger: Address }

function cancellation(kind: RequestKind, functionName: string) {
  const operation = findOperation(OPERATIONS.erc7540.cancels[kind], functionName)
  return { operation, call: ({ account, requestId }: Request): Call => ({ functionName, args: [requestId, account] }) }
}
function claimedCancellation(kind: RequestKind, functionName: string) {
  return {
    ...cancellation(kind, functionName),
    call: ({ account, requestId }: Request): Call => ({ functionName, args: [requestId, account, account] }),
  }
}

const CALLS = {
  deposit: {
    operation: deposit,
    call: ({ account, amount }: Request): Call => ({ functionName: 'deposit', args: [amount, account] }),
  },
  requestDeposit: {
    operation: requestDeposit,
    call: ({ account, amount, payer }: Request): Call => ({
      functionName: 'requestDeposit',
      args: [amount, account, payer],
    }),
  },
  syncDeposit: {
    operation: syncDeposit,
    call: ({ account, amount }: Request): Call => ({ functionName: 'syncDeposit', args: [amount, account, NOBODY] }),
  },
  claim: {
    operation: findOperation(claims, 'deposit'),
    call: ({ account, amount }: Request): Call => ({ functionName: 'deposit', args: [amount, account, account] }),
  },
  redeem: {
    operation: findWithdrawalOperation({ protocol: 'erc4626' }, 'redeem'),
    call: ({ account, amount }: Request): Call => ({ functionName: 'redeem', args: [amount, account, account] }),
  },
  withdraw: {
    operation: findWithdrawalOperation({ protocol: 'erc4626' }, 'withdraw'),
    call: ({ account, amount }: Request): Call => ({ functionName: 'withdraw', args: [amount, account, account] }),
  },
  requestRedeem: {
    operation: findWithdrawalOperation({ protocol: 'lagoon' }, 'requestRedeem'),
    call: ({ account, amount }: Request): Call => ({ functionName: 'requestRedeem', args: [amount, account, account] }),
  },
  claimSharesAndRequestRedeem: {
    operation: findWithdrawalOperation({ protocol: 'lagoon' }, 'claimSharesAndRequestRedeem'),
    call: ({ amount }: Request): Call => ({ functionName: 'claimSharesAndRequestRedeem', args: [amount] }),
  },
  syncRedeem: {
    operation: findWithdrawalOperation({ protocol: 'lagoon' }, 'syncRedeem'),
    call: ({ account, amount }: Request): Call => ({
      functionName: 'syncRedeem',
      args: [amount, account, amount / 2n],
    }),
  },
  cancelRequestDeposit: {
    operation: findOperation(cancels.deposit, 'cancelRequestDeposit'),
    call: (): Call => ({ functionName: 'cancelRequestDeposit', args: [] }),
  },
  cancelRequestRedeem: {
    operation: findOperation(cancels.withdrawal, 'cancelRequestRedeem'),
    call: ({ account }: Request): Call => ({ functionName: 'cancelRequestRedeem', args: [account] }),
  },
  ...{
    cancelDepositRequest: cancellation('deposit', 'cancelDepositRequest'),
    claimCancelDepositRequest: claimedCancellation('deposit', 'claimCancelDepositRequest'),
    cancelRedeemRequest: cancellation('withdrawal', 'cancelRedeemRequest'),
    claimCancelRedeemRequest: claimedCancellation('withdrawal', 'claimCancelRedeemRequest'),
  },
}
type Name = keyof typeof CALLS

const everyOperation = (Object.keys(CALLS) as Name[]).map((operation) => ({ operation }))
/** Operations for which another account may pay. In all other operations, the account itself pays. */
const PAID: readonly Name[] = ['deposit', 'requestDeposit', 'syncDeposit']
/** Operations without an amount. They cancel the whole request. */
const WHOLE: readonly Name[] = ['cancelRequestDeposit', 'cancelRequestRedeem']
const OF_REQUEST: readonly Name[] = [
  ...(['cancelDepositRequest', 'claimCancelDepositRequest'] as const),
  ...(['cancelRedeemRequest', 'claimCancelRedeemRequest'] as const),
]

const buildOperation = (name: Name, { payer, requestId, ...request }: Request) => ({
  operation: CALLS[name].operation,
  request: {
    ...request,
    ...(PAID.includes(name) && { payer }),
    ...([...WHOLE, ...OF_REQUEST].includes(name) && { amount: 0n }),
    ...(OF_REQUEST.includes(name) && { requestId }),
    ...(name === 'syncRedeem' && { minimum: request.amount / 2n }),
  },
})

function check(name: Name, request: Request, operations: readonly Transaction[]): void {
  verifyOperations([buildOperation(name, request)], operations)
}

const encodeNamed = (name: Name, request: Request) => encodeOperation(buildOperation(name, request))

describe('The calldata of', () => {
  test.for(everyOperation)('$operation decodes to exactly its request', ({ operation }) => {
    fc.assert(
      fc.property(anySetting, ({ request }) => {
        const { to, data, value } = encodeNamed(operation, request)
        expect({ to, value }).toEqual({ to: request.vault.address, value: 0n })
        expect(decode(data)).toEqual(CALLS[operation].call(request))
        // The calldata equals viem's, so no bytes follow the arguments.
        expect(data).toBe(encode(CALLS[operation].call(request)))
      }),
    )
  })

  test('a request names the account as payer by default', () => {
    fc.assert(
      fc.property(anySetting, ({ request: { payer: _, ...request } }) => {
        const { data } = encodeOperation({ operation: requestDeposit, request })
        expect(decode(data).args).toEqual([request.amount, request.account, request.account])
      }),
    )
  })
})

describe('The verification of an operation', () => {
  test.for(everyOperation)('accepts the right $operation', ({ operation }) => {
    fc.assert(
      fc.property(anySetting, ({ request }) => {
        expect(() => check(operation, request, [encodeNamed(operation, request)])).not.toThrow()
      }),
    )
  })

  test.for(everyOperation)('refuses $operation with a difference in one place', ({ operation }) => {
    fc.assert(
      fc.property(anySetting, ({ request, stranger }) => {
        const { vault, account, payer } = request
        const right = [{ to: vault.address, value: 0n, call: CALLS[operation].call(request) }]
        for (const mutant of listMutants(right, [vault.address, vault.asset, account, payer, stranger])) {
          const transactions = mutant.map(({ call, ...rest }) => ({ ...rest, data: encode(call) }))
          expect(() => check(operation, request, transactions)).toThrow()
        }
      }),
      { numRuns: scaleSampleCount(10) },
    )
  })

  test.for(everyOperation)('refuses $operation that is cut anywhere', ({ operation }) => {
    fc.assert(
      fc.property(anySetting, fc.nat(), ({ request }, at) => {
        const right = encodeNamed(operation, request)
        const data = right.data.slice(0, 2 + 2 * (at % size(right.data))) as Hex
        expect(() => check(operation, request, [{ ...right, data }])).toThrow()
      }),
    )
  })

  test.for(everyOperation)('refuses another call instead of $operation', ({ operation }) => {
    const others = (account: Address, amount: bigint): Call[] => [
      { functionName: 'transfer', args: [account, amount] },
      { functionName: 'deposit', args: [amount, account] },
      { functionName: 'deposit', args: [amount, account, account] },
      { functionName: 'requestDeposit', args: [amount, account, account, account] },
      { functionName: 'cancelRequestDeposit', args: [] },
    ]
    fc.assert(
      fc.property(anySetting, ({ request }) => {
        const right = encodeNamed(operation, request)
        for (const call of others(request.account, request.amount)) {
          const data = encode(call)
          if (data !== right.data) expect(() => check(operation, request, [{ ...right, data }])).toThrow()
        }
      }),
      { numRuns: scaleSampleCount(20) },
    )
  })

  test('refuses a request with account and payer swapped', () => {
    const paidByOther = anySetting.filter(({ request: { account, payer } }) => account !== payer)
    fc.assert(
      fc.property(paidByOther, ({ request }) => {
        const swapped = encodeNamed('requestDeposit', { ...request, account: request.payer, payer: request.account })
        expect(() => check('requestDeposit', request, [swapped])).toThrow()
      }),
    )
  })

  test("refuses another operation than the vault's", () => {
    const names = fc.constantFrom(...everyOperation.map(({ operation }) => operation))
    fc.assert(
      fc.property(anySetting, names, names, ({ request }, right, wrong) => {
        fc.pre(right !== wrong)
        expect(() => check(right, request, [encodeNamed(wrong, request)])).toThrow()
      }),
    )
  })
})
