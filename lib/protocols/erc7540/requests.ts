import type { Address } from 'viem'
import { buildCall, requireValue } from '../../chain/call.ts'
import { buildReadPlan, mapReadPlan, type ReadPlan } from '../../chain/reader.ts'
import { AppError } from '../../core/errors.ts'
import type { LedgerEntry } from '../ledger-entry.ts'
import {
  type CancelTerms,
  type ClaimTerms,
  type OpenAmounts,
  type RequestFollowUpRead,
  type VaultCall,
  zeroIfPaysNothing,
} from '../protocol.ts'
import type { RequestKind } from '../request-kind.ts'
import { erc7540Abi, REQUEST_VIEW_NAMES } from './abi.ts'
import { canCancel, type Erc7540Vault } from './vault.ts'

/**
 * Reads the calls that claim settled requests. One call claims all by an amount of assets, the other by an amount of
 * shares. Vaults round one of the two down, so a simulation shows which call pays more.
 */
export function readErc7540ClaimTerms(
  { address }: Erc7540Vault,
  account: Address,
  kind: RequestKind,
): ReadPlan<ClaimTerms> {
  const isDeposit = kind === 'deposit'
  const calls = {
    assets: buildCall(address, erc7540Abi, isDeposit ? 'maxDeposit' : 'maxWithdraw', [account]),
    shares: buildCall(address, erc7540Abi, isDeposit ? 'maxMint' : 'maxRedeem', [account]),
  }
  return buildReadPlan({ address, slots: {}, calls }, ({ answers }) => {
    const claimable = { assets: requireValue(answers.assets), shares: requireValue(answers.shares) }
    const steps: VaultCall[] = isDeposit
      ? [
          { name: 'deposit', amount: claimable.assets },
          { name: 'mint', amount: claimable.shares },
        ]
      : [
          { name: 'redeem', amount: claimable.shares },
          { name: 'withdraw', amount: claimable.assets },
        ]
    const [first, ...others] = steps.filter(({ amount }) => amount > 0n)
    if (!first) throw new AppError(isDeposit ? 'no_claimable_deposit' : 'no_claimable_withdrawal')
    return { calls: [first, ...others], claimable: async () => claimable }
  })
}

const ENTRY_KINDS = { deposit: 'deposit', withdrawal: 'redeem' } as const

/**
 * Limit on the requests, made by others for the account, that are read: the 50 largest and the 50 latest. Anyone can
 * make requests for an account. Hiding a real request thus costs an attacker many larger requests. The account's own
 * requests are all read.
 */
const MAX_OF_OTHERS = 50

/** State of one request. Amounts are in assets for deposits, in shares for redemptions. */
export type RequestState = {
  readonly requestId: bigint
  readonly pending: bigint
  /** Returns true while a cancellation is pending. Throws `upstream_bad_answer` if the vault does not report it. */
  readonly isCancelling: () => boolean
  readonly cancelled: bigint
}

/**
 * Reads the state of all requests that the vault reports under id 0. If nothing is open there, returns the state of
 * each request id in the account's ledger entries. The returned function throws `upstream_bad_answer` if the vault does
 * not report an amount.
 */
export function readOpenRequests(
  vault: Erc7540Vault,
  account: Address,
  kind: RequestKind,
): ReadPlan<RequestFollowUpRead<readonly RequestState[]>> {
  return mapReadPlan(requestState(vault, account, kind, 0n), (parse) => async (reader, at, listEntries) => {
    const aggregated = parse()
    const ids = isOpen(aggregated) ? [] : listRequestIds(await listEntries(), kind)
    if (ids.length === 0) return [aggregated]
    const plans = ids.map((id) => requestState(vault, account, kind, id))
    return (await reader.read(plans, { at })).values.map((state) => state())
  })
}

/**
 * Lists the ids of an account's requests, from its ledger entries. Requests that others paid for come first, then the
 * account's own requests. Both groups begin with their oldest request. Of the first group, only the MAX_OF_OTHERS
 * largest and the MAX_OF_OTHERS latest requests are listed. Id 0 is left out, because a vault reports only the
 * account's total under it.
 */
function listRequestIds(entries: readonly LedgerEntry[], kind: RequestKind): readonly bigint[] {
  const requests = entries.flatMap((entry) => (entry.kind === ENTRY_KINDS[kind] && entry.requestId > 0n ? [entry] : []))
  const { own = [], ofOthers = [] } = Object.groupBy(requests, ({ payer }) => (payer ? 'ofOthers' : 'own'))
  const largest = ofOthers.toSorted((one, other) => Number(amountOf(other) - amountOf(one))).slice(0, MAX_OF_OTHERS)
  const followed = new Set([...largest, ...ofOthers.slice(-MAX_OF_OTHERS)])
  const ownIds = new Set(own.map(({ requestId }) => requestId))
  const otherIds = ofOthers.filter((request) => followed.has(request)).map(({ requestId }) => requestId)
  return [...new Set(otherIds).difference(ownIds), ...ownIds]
}

type RequestEntry = Extract<LedgerEntry, { kind: (typeof ENTRY_KINDS)[RequestKind] }>

function amountOf(request: RequestEntry): bigint {
  return request.kind === 'deposit' ? request.assets : request.shares
}

/**
 * Reads the call that cancels a request (ERC-7887). A first call requests the cancellation, a later call claims the
 * amount. In vaults with an id for each request, one call handles one request. Granted cancellations are claimed first.
 * Otherwise the last pending request is cancelled, preferably one that the account made itself.
 */
export function readErc7540CancelTerms(
  vault: Erc7540Vault,
  account: Address,
  kind: RequestKind,
): ReadPlan<RequestFollowUpRead<CancelTerms>> {
  return mapReadPlan(
    readOpenRequests(vault, account, kind),
    (finish) => async (reader, at, listEntries) =>
      chooseCancellation(vault, kind, (await finish(reader, at, listEntries)).filter(isOpen)),
  )
}

function isOpen({ pending, cancelled }: RequestState): boolean {
  return pending > 0n || cancelled > 0n
}

function chooseCancellation(vault: Erc7540Vault, kind: RequestKind, requests: readonly RequestState[]): CancelTerms {
  const isDeposit = kind === 'deposit'
  const amountOf = (amount: bigint) => (isDeposit ? { assets: amount } : { shares: amount })
  if (requests.length === 0) throw new AppError('no_pending_request')
  const given = requests.findLast(({ cancelled }) => cancelled > 0n)
  if (given) {
    const { requestId, cancelled } = given
    const name = isDeposit ? 'claimCancelDepositRequest' : 'claimCancelRedeemRequest'
    return { name, requestId, cancelled: amountOf(cancelled), isAsync: false }
  }
  const pending = requests.findLast(({ isCancelling }) => !isCancelling())
  if (!canCancel(vault, kind) || !pending) throw new AppError('request_can_no_longer_be_cancelled')
  const name = isDeposit ? 'cancelDepositRequest' : 'cancelRedeemRequest'
  return { name, requestId: pending.requestId, cancelled: amountOf(pending.pending), isAsync: true }
}

function requestState(
  vault: Erc7540Vault,
  account: Address,
  kind: RequestKind,
  requestId: bigint,
): ReadPlan<() => RequestState> {
  const { address } = vault
  const { pending, isCancelling, cancelled } = REQUEST_VIEW_NAMES[kind]
  const calls = {
    pending: buildCall(address, erc7540Abi, pending, [requestId, account]),
    isCancelling: buildCall(address, erc7540Abi, isCancelling, [requestId, account]),
    cancelled: buildCall(address, erc7540Abi, cancelled, [requestId, account]),
  }
  const cancels = canCancel(vault, kind)
  return buildReadPlan({ address, slots: {}, calls }, ({ answers }) => () => ({
    requestId,
    pending: requireValue(answers.pending),
    isCancelling: () => cancels && requireValue(answers.isCancelling),
    cancelled: cancels ? requireValue(answers.cancelled) : 0n,
  }))
}

/** Reads the open amounts of the account's requests with the id `requestId`; undefined if the vault does not report them. */
export function readErc7540OpenRequest(
  vault: Erc7540Vault,
  { kind, requestId, account }: { readonly kind: RequestKind; readonly requestId: bigint; readonly account: Address },
): ReadPlan<OpenAmounts | undefined> {
  const { address } = vault
  const names = REQUEST_VIEW_NAMES[kind]
  const calls = {
    pending: buildCall(address, erc7540Abi, names.pending, [requestId, account]),
    claimable: buildCall(address, erc7540Abi, names.claimable, [requestId, account]),
    cancelled: buildCall(address, erc7540Abi, names.cancelled, [requestId, account]),
    // `most` and `mostGiven` are totals of all requests, not of those with this id. `mostGiven / most` is the rate of a
    // claim.
    most: buildCall(address, erc7540Abi, kind === 'deposit' ? 'maxDeposit' : 'maxRedeem', [account]),
    mostGiven: buildCall(address, erc7540Abi, kind === 'deposit' ? 'maxMint' : 'maxWithdraw', [account]),
  }
  return buildReadPlan(
    { address, slots: {}, calls },
    ({ answers: { pending, claimable, cancelled, most, mostGiven } }) => {
      const back = canCancel(vault, kind) ? cancelled : 0n
      if (pending === undefined || claimable === undefined || back === undefined) return undefined
      const rated = most && mostGiven !== undefined ? (claimable * mostGiven) / most : undefined
      const given = mostGiven === 0n ? 0n : rated
      return { pending, claimable: zeroIfPaysNothing(claimable, given ?? 1n), cancelled: back, given }
    },
  )
}
