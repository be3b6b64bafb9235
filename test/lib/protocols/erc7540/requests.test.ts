import { expect, test } from 'vitest'
import { erc7540 } from '../../../../lib/protocols/erc7540/protocol.ts'
import {
  readErc7540CancelTerms,
  readErc7540ClaimTerms,
  readErc7540OpenRequest,
} from '../../../../lib/protocols/erc7540/requests.ts'
import type { RequestKind } from '../../../../lib/protocols/request-kind.ts'
import { createContractsReader, runReadPlan, type SimulatedContracts } from '../../../support/contracts-in-memory.ts'
import { ALICE } from '../../../support/lagoon-in-memory.ts'
import { locateEntries, type UnlocatedEntry } from '../../../support/ledger-entries.ts'
import { ASYNC_VAULT, vaultContracts } from '../../../support/vaults-in-memory.ts'

type RequestState = { readonly pending?: bigint; readonly isCancelling?: boolean; readonly cancelled?: bigint }

function contractsWith(requests: Readonly<Record<string, RequestState>>): SimulatedContracts {
  const pending = (id: bigint) => requests[`${id}`]?.pending ?? 0n
  const isCancelling = (id: bigint) => requests[`${id}`]?.isCancelling ?? false
  const cancelled = (id: bigint) => requests[`${id}`]?.cancelled ?? 0n
  return vaultContracts(
    {},
    {
      ...{ pendingDepositRequest: pending, pendingRedeemRequest: pending },
      ...{ pendingCancelDepositRequest: isCancelling, pendingCancelRedeemRequest: isCancelling },
      ...{ claimableCancelDepositRequest: cancelled, claimableCancelRedeemRequest: cancelled },
    },
  )
}

const NAMES = {
  deposit: { ask: 'cancelDepositRequest', take: 'claimCancelDepositRequest', of: 'assets' },
  withdrawal: { ask: 'cancelRedeemRequest', take: 'claimCancelRedeemRequest', of: 'shares' },
} as const

async function cancelOf(kind: RequestKind, requests: Readonly<Record<string, RequestState>>, vault = ASYNC_VAULT) {
  const contracts = contractsWith(requests)
  const ids = Object.keys(requests).map(BigInt)
  const entries = ids.map(
    (requestId): UnlocatedEntry =>
      kind === 'deposit'
        ? { kind: 'deposit', requestId, assets: 9n, shares: null }
        : { kind: 'redeem', requestId, shares: 9n },
  )
  try {
    return await runReadPlan(readErc7540CancelTerms(vault, ALICE, kind), contracts)(
      createContractsReader(contracts),
      1n,
      async () => locateEntries(entries),
    )
  } catch (error) {
    return (error as { code: string }).code
  }
}

const NO_LONGER = 'request_can_no_longer_be_cancelled'
const ask = (requestId: bigint, amount: bigint) => ({ does: 'ask', requestId, amount }) as const
const take = (requestId: bigint, amount: bigint) => ({ does: 'take', requestId, amount }) as const
type Does = ReturnType<typeof ask> | ReturnType<typeof take>

const cases: [which: string, requests: Readonly<Record<string, RequestState>>, answer: Does | string][] = [
  ['that is pending gets a cancellation request', { 0: { pending: 7n } }, ask(0n, 7n)],
  [
    'that is being cancelled gets no second cancellation request',
    { 0: { pending: 7n, isCancelling: true } },
    NO_LONGER,
  ],
  ['whose cancellation is granted is refunded', { 0: { cancelled: 5n } }, take(0n, 5n)],
  ['whose cancellation is granted in part is refunded first', { 0: { pending: 7n, cancelled: 5n } }, take(0n, 5n)],
  ['that does not exist cannot be cancelled', { 1: {} }, 'no_pending_request'],
  [
    'with an id gets a cancellation request, the last one first',
    { 1: { pending: 7n }, 2: { pending: 8n }, 3: {} },
    ask(2n, 8n),
  ],
  [
    'with an id whose cancellation is granted is refunded before others',
    { 1: { cancelled: 5n }, 2: { pending: 8n } },
    take(1n, 5n),
  ],
  ['with an id stays if all are being cancelled', { 1: { pending: 1n, isCancelling: true } }, NO_LONGER],
]

test.for((['deposit', 'withdrawal'] as const).flatMap((kind) => cases.map((one) => [kind, ...one] as const)))(
  'A %s request %s',
  async ([kind, , requests, answer]) => {
    const { of, ...names } = NAMES[kind]
    const expected =
      typeof answer === 'string'
        ? answer
        : {
            ...{ name: names[answer.does], requestId: answer.requestId, cancelled: { [of]: answer.amount } },
            isAsync: answer.does === 'ask',
          }
    expect(await cancelOf(kind, requests)).toEqual(expected)
  },
)

test('A vault without cancellations gets no cancellation request', async () => {
  const vault = { ...ASYNC_VAULT, cancelsDeposits: false, cancelsRedemptions: false }
  expect(await cancelOf('deposit', { 0: { pending: 7n } }, vault)).toBe(NO_LONGER)
  expect(await cancelOf('withdrawal', { 0: { pending: 7n } }, vault)).toBe(NO_LONGER)
})

test.for<[kind: RequestKind, settled: object, calls: readonly object[] | string]>([
  [
    'deposit',
    { maxDeposit: 3n, maxMint: 4n },
    [
      ['deposit', 3n],
      ['mint', 4n],
    ],
  ],
  [
    'withdrawal',
    { maxWithdraw: 3n, maxRedeem: 4n },
    [
      ['redeem', 4n],
      ['withdraw', 3n],
    ],
  ],
  ['withdrawal', { maxWithdraw: 0n, maxRedeem: 4n }, [['redeem', 4n]]],
  ['deposit', { maxDeposit: 0n, maxMint: 0n }, 'no_claimable_deposit'],
  ['withdrawal', { maxWithdraw: 0n, maxRedeem: 0n }, 'no_claimable_withdrawal'],
])('A claim of a %s with %o takes all, by assets or by shares', ([kind, settled, calls]) => {
  const claim = () => runReadPlan(readErc7540ClaimTerms(ASYNC_VAULT, ALICE, kind), vaultContracts({}, { ...settled }))
  if (typeof calls === 'string') expect(claim).toThrow(expect.objectContaining({ code: calls }))
  else expect(claim().calls.map(({ name, amount }) => [name, amount])).toEqual(calls)
})

test('A deposit is requested unless another one is being cancelled', () => {
  const choose = (isCancelling: boolean, vault = ASYNC_VAULT) =>
    runReadPlan(
      erc7540.depositTerms(vault, ALICE, 1n),
      vaultContracts({}, { pendingCancelDepositRequest: isCancelling }),
    ).choose(1n)
  expect(choose(false)).toBe('requestDeposit')
  expect(() => choose(true)).toThrow(expect.objectContaining({ code: 'previous_deposit_request_not_settled' }))
  expect(choose(true, { ...ASYNC_VAULT, cancelsDeposits: false })).toBe('requestDeposit')
})

test('Shares worth nothing are not claimable, even if the vault reports them as such', () => {
  const answers = {
    ...{ pendingRedeemRequest: 0n, claimableRedeemRequest: 1n, claimableCancelRedeemRequest: 0n },
    ...{ maxRedeem: 0n, maxWithdraw: 0n },
  }
  const request = { kind: 'withdrawal', requestId: 0n, account: ALICE } as const
  expect(runReadPlan(readErc7540OpenRequest(ASYNC_VAULT, request), { answers })).toMatchObject({ claimable: 0n })
})
