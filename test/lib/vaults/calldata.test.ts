import fc from 'fast-check'
import { type Address, decodeFunctionData, encodeFunctionData, getAddress, type Hex, maxUint256, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import type { Transaction } from '../../../lib/chain/transaction.ts'
import {
  type DepositRequest,
  encodeOperation,
  type Operation,
  type Operations,
  verifyOperation,
} from '../../../lib/protocols/calldata.ts'
import { OPERATIONS } from '../../../lib/protocols/operations.ts'
import { someVault } from '../../support/clients.ts'

const [deposit] = OPERATIONS.erc4626.deposits
const { deposits, claim } = OPERATIONS.lagoon as Required<Operations>
const [requestDeposit, syncDeposit = requestDeposit] = deposits

// Written apart from the service's own ABI, so that a mistake there does not hide itself.
const abi = parseAbi([
  'function transfer(address to, uint256 amount)',
  'function requestDeposit(uint256 assets, address controller, address owner)',
  'function requestDeposit(uint256 assets, address controller, address owner, address referral)',
  'function syncDeposit(uint256 assets, address receiver, address referral)',
  'function deposit(uint256 assets, address receiver)',
  'function deposit(uint256 assets, address receiver, address controller)',
  'function mint(uint256 shares, address receiver)',
  'function mint(uint256 shares, address receiver, address controller)',
  'function requestRedeem(uint256 shares, address controller, address owner)',
])
const NOBODY: Address = '0x0000000000000000000000000000000000000000'

type Call = { readonly functionName: string; readonly args: readonly (bigint | Address)[] }
type Request = DepositRequest & { readonly payer: Address }

const encode = (call: Call) => encodeFunctionData({ abi, ...call } as never) as Hex
const decode = (data: Hex) => decodeFunctionData({ abi, data }) as Call

const anyAddress = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => getAddress(`0x${Buffer.from(bytes).toString('hex')}`))
  .filter((address) => address !== NOBODY)
const anyAmount = fc.oneof(
  fc.constantFrom(1n, 2n, 2n ** 128n, maxUint256 - 1n, maxUint256),
  fc.bigInt({ min: 1n, max: maxUint256 }),
)
/** A request that the user pays, or somebody for the user, and a stranger who has no part in it. */
const anySetting = fc
  .tuple(fc.uniqueArray(anyAddress, { minLength: 5, maxLength: 5 }), anyAmount, fc.boolean())
  .map(([parties, amount, paidByUser]): Setting => {
    const [address, asset, user, stranger, other] = parties as [Address, Address, Address, Address, Address]
    return {
      request: { vault: someVault({ address, asset }), user, amount, payer: paidByUser ? user : other },
      stranger,
    }
  })
type Setting = { readonly request: Request; readonly stranger: Address }

/** Everything that may be encoded for a request, and the call that it must be. A claim is always the user's own. */
const CALLS = {
  deposit: {
    operation: deposit,
    call: ({ user, amount }: Request): Call => ({ functionName: 'deposit', args: [amount, user] }),
  },
  requestDeposit: {
    operation: requestDeposit,
    call: ({ user, amount, payer }: Request): Call => ({ functionName: 'requestDeposit', args: [amount, user, payer] }),
  },
  syncDeposit: {
    operation: syncDeposit,
    call: ({ user, amount }: Request): Call => ({ functionName: 'syncDeposit', args: [amount, user, NOBODY] }),
  },
  claim: {
    operation: claim,
    call: ({ user, amount }: Request): Call => ({ functionName: 'deposit', args: [amount, user, user] }),
  },
}
type Name = keyof typeof CALLS

const everyOperation = (Object.keys(CALLS) as Name[]).map((operation) => ({ operation }))

/** The check that this kind of operation goes through. */
function check(name: Name, { payer, ...request }: Request, operations: readonly Transaction[]): void {
  verifyOperation(CALLS[name].operation, name === 'claim' ? request : { ...request, payer }, operations)
}

const encodeNamed = (name: Name, request: Request) => encodeOperation(CALLS[name].operation, request)

describe('what is encoded', () => {
  test.for(everyOperation)('A $operation decodes to exactly its request', ({ operation }) => {
    fc.assert(
      fc.property(anySetting, ({ request }) => {
        const { to, data, value } = encodeNamed(operation, request)
        expect({ to, value }).toEqual({ to: request.vault.address, value: 0n })
        expect(decode(data)).toEqual(CALLS[operation].call(request))
        // To the byte: nothing stands behind the arguments.
        expect(data).toBe(encode(CALLS[operation].call(request)))
      }),
    )
  })

  test('A request is paid by the user where nobody else is named', () => {
    fc.assert(
      fc.property(anySetting, ({ request: { payer: _, ...request } }) => {
        const { data } = encodeOperation(requestDeposit, request)
        expect(decode(data).args).toEqual([request.amount, request.user, request.user])
      }),
    )
  })
})

describe('the last look', () => {
  test.for(everyOperation)('The right $operation passes', ({ operation }) => {
    fc.assert(
      fc.property(anySetting, ({ request }) => {
        expect(() => check(operation, request, [encodeNamed(operation, request)])).not.toThrow()
      }),
    )
  })

  type Wrong = (right: Transaction, setting: Setting) => readonly Transaction[]

  const withData = (change: (data: Hex, setting: Setting) => Hex): Wrong => {
    return (right, setting) => [{ ...right, data: change(right.data, setting) }]
  }
  const withArgument = (index: number, value: (setting: Setting) => bigint | Address) =>
    withData((data, setting) => {
      const { functionName, args } = decode(data)
      return encode({ functionName, args: args.with(index, value(setting)) })
    })
  const withCall = (functionName: string, args: (request: Request) => Call['args']) =>
    withData((_, { request }) => encode({ functionName, args: args(request) }))
  const shortBy = (bytes: number) => withData((data) => data.slice(0, data.length - 2 * bytes) as Hex)

  const MUTATIONS: Record<string, Wrong> = {
    'to a stranger': (right, { stranger }) => [{ ...right, to: stranger }],
    'to the asset': (right, { request }) => [{ ...right, to: request.vault.asset }],
    'that pays native coin': (right) => [{ ...right, value: 1n }],
    'of one unit more': withArgument(0, ({ request: { amount } }) => (amount === maxUint256 ? 1n : amount + 1n)),
    'of one unit less': withArgument(0, ({ request }) => request.amount - 1n),
    'of everything': withArgument(0, ({ request: { amount } }) => (amount === maxUint256 ? 1n : maxUint256)),
    'for a stranger': withArgument(1, ({ stranger }) => stranger),
    'for nobody': withArgument(1, () => NOBODY),
    'for the vault': withArgument(1, ({ request }) => request.vault.address),
    'that is left out': () => [],
    'made twice': (right) => [right, right],
    'followed by another': (right, { stranger }) => [right, { ...right, to: stranger }],
    'one byte short': shortBy(1),
    'one word short': shortBy(32),
    'without arguments': withData((data) => data.slice(0, 10) as Hex),
    'without data': withData(() => '0x'),
    'that transfers instead': withCall('transfer', ({ user, amount }) => [user, amount]),
    'that mints instead': withCall('mint', ({ user, amount }) => [amount, user]),
    'that mints for a controller instead': withCall('mint', ({ user, amount }) => [amount, user, user]),
    'that redeems instead': withCall('requestRedeem', ({ user, amount }) => [amount, user, user]),
    'that names a referral': withCall('requestDeposit', ({ user, amount, payer }) => [amount, user, payer, user]),
  }
  const MORE: Record<Name, Record<string, Wrong>> = {
    deposit: { 'that is a claim': withCall('deposit', ({ user, amount }) => [amount, user, user]) },
    requestDeposit: {
      'paid by a stranger': withArgument(2, ({ stranger }) => stranger),
      'paid by nobody': withArgument(2, () => NOBODY),
      'paid by the vault': withArgument(2, ({ request }) => request.vault.address),
      'that is a claim': withCall('deposit', ({ user, amount }) => [amount, user, user]),
    },
    syncDeposit: {
      'referred by a stranger': withArgument(2, ({ stranger }) => stranger),
      'referred by the user': withArgument(2, ({ request }) => request.user),
      'that is a claim': withCall('deposit', ({ user, amount }) => [amount, user, user]),
    },
    claim: {
      'of a stranger': withArgument(2, ({ stranger }) => stranger),
      'of nobody': withArgument(2, () => NOBODY),
      'without a controller': withCall('deposit', ({ user, amount }) => [amount, user]),
      'that requests instead': withCall('requestDeposit', ({ user, amount }) => [amount, user, user]),
      'that deposits at once instead': withCall('syncDeposit', ({ user, amount }) => [amount, user, NOBODY]),
    },
  }
  const wrongs = everyOperation.flatMap(({ operation }) =>
    Object.entries({ ...MUTATIONS, ...MORE[operation] }).map(([mutation, wrong]) => ({ operation, mutation, wrong })),
  )

  test.for(wrongs)('A $operation $mutation does not pass', ({ operation, wrong }) => {
    fc.assert(
      fc.property(anySetting, (setting) => {
        const operations = wrong(encodeNamed(operation, setting.request), setting)
        expect(() => check(operation, setting.request, operations)).toThrow()
      }),
      { numRuns: 30 },
    )
  })

  test("A request in the payer's name that the user pays does not pass", () => {
    const paidByOther = anySetting.filter(({ request: { user, payer } }) => user !== payer)
    fc.assert(
      fc.property(paidByOther, ({ request }) => {
        const swapped = encodeOperation(requestDeposit, { ...request, user: request.payer, payer: request.user })
        expect(() => verifyOperation(requestDeposit, request, [swapped])).toThrow()
      }),
    )
  })

  test('Another operation than the one that the vault takes does not pass', () => {
    const names: readonly Operation[] = [deposit, requestDeposit, syncDeposit]
    fc.assert(
      fc.property(anySetting, fc.constantFrom(...names), fc.constantFrom(...names), ({ request }, asked, given) => {
        fc.pre(asked !== given)
        expect(() => verifyOperation(asked, request, [encodeOperation(given, request)])).toThrow()
      }),
    )
  })
})
