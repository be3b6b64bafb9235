import type { Address } from 'viem'
import { buildCall, type ContractCall, requireValue } from '../../chain/call.ts'
import { erc20Abi } from '../../chain/erc20.ts'
import { buildReadPlan, type ChainReader, joinReadPlans, mapReadPlan, type ReadPlan } from '../../chain/reader.ts'
import { inBatches } from '../../core/batches.ts'
import { sum } from '../../core/bigint.ts'
import { precisePrice } from '../erc4626/price.ts'
import type { LedgerEntry } from '../ledger-entry.ts'
import { type AccountSnapshot, type CancelledRequest, NO_REQUESTS, zeroIfPaysNothing } from '../protocol.ts'
import type { RequestKind } from '../request-kind.ts'
import { erc7540Abi, REQUEST_VIEW_NAMES } from './abi.ts'
import { canCancel, type Erc7540Vault } from './vault.ts'

const ENTRY_KINDS = { deposit: 'deposit', withdrawal: 'redeem' } as const

/**
 * Limit on the requests, made by others for the account, that are read: the 50 largest and the 50 latest. Anyone can
 * make requests for an account. Hiding a real request thus costs an attacker many larger requests. The account's own
 * requests are all read.
 */
const MAX_OF_OTHERS = 50
/** Maximum number of deposit or withdrawal requests whose state one batch of contract calls reads. */
const REQUESTS_PER_PLAN = 100

/**
 * Reads an account. The vault reports claimable amounts in total, but pending amounts by request id. Some vaults report
 * all requests under id 0. If nothing is open under id 0, the ids come from the account's ledger entries, which takes
 * one more RPC round trip.
 */
export function readErc7540Account(vault: Erc7540Vault, account: Address): ReadPlan<AccountSnapshot> {
  const { address, shareToken, shareDecimals, isDepositAsync, isRedemptionAsync } = vault
  const price = precisePrice(vault)
  const calls = {
    shares: buildCall(shareToken, erc20Abi, 'balanceOf', [account]),
    maxDeposit: buildCall(address, erc7540Abi, 'maxDeposit', [account]),
    maxMint: buildCall(address, erc7540Abi, 'maxMint', [account]),
    maxRedeem: buildCall(address, erc7540Abi, 'maxRedeem', [account]),
    maxWithdraw: buildCall(address, erc7540Abi, 'maxWithdraw', [account]),
    sharePrice: buildCall(address, erc7540Abi, 'convertToAssets', [10n ** BigInt(shareDecimals)]),
    precisePrice: price.call,
  }
  const own = buildReadPlan({ address, slots: {}, calls }, ({ answers }) => answers)
  const aggregated = joinReadPlans(
    openRequests(vault, account, 'deposit', isDepositAsync ? [0n] : []),
    openRequests(vault, account, 'withdrawal', isRedemptionAsync ? [0n] : []),
  )
  return mapReadPlan(joinReadPlans(own, aggregated), ([answers, [deposits, redemptions]]) => ({
    shares: () => requireValue(answers.shares),
    deposits: async (reader, at, listEntries) => {
      if (!isDepositAsync) return NO_REQUESTS.deposits(reader, at, listEntries)
      const { pending, cancelled } = await readOpenRequests({ vault, account, kind: 'deposit' }, deposits(), {
        reader,
        at,
        listEntries,
      })
      return {
        pendingAssets: pending,
        claimableAssets: zeroIfPaysNothing(requireValue(answers.maxDeposit), requireValue(answers.maxMint)),
        claimableShares: requireValue(answers.maxMint),
        cancelledDeposits: cancelled,
        depositEpochId: null,
        lastDepositRequestId: null,
        isTotalAssetsValid: null,
      }
    },
    redemptions: async (reader, at, listEntries) => {
      if (!isRedemptionAsync) return NO_REQUESTS.redemptions(reader, at, listEntries)
      const { pending, cancelled } = await readOpenRequests({ vault, account, kind: 'withdrawal' }, redemptions(), {
        reader,
        at,
        listEntries,
      })
      return {
        pendingRedeemShares: pending,
        claimableRedeemShares: zeroIfPaysNothing(requireValue(answers.maxRedeem), requireValue(answers.maxWithdraw)),
        claimableRedeemAssets: requireValue(answers.maxWithdraw),
        cancelledRedemptions: cancelled,
        redeemEpochId: null,
        lastRedeemRequestId: null,
      }
    },
    price: () => ({
      sharePrice: requireValue(answers.sharePrice),
      worth: price.worth(requireValue(answers.precisePrice)),
    }),
  }))
}

/**
 * Lists the ids of an account's requests, from its ledger entries. Requests that others paid for come first, then the
 * account's own requests. Both groups begin with their oldest request. Of the first group, only the MAX_OF_OTHERS
 * largest and the MAX_OF_OTHERS latest requests are listed. Id 0 is left out, because a vault reports only the
 * account's total under it.
 */
export function listRequestIds(entries: readonly LedgerEntry[], kind: RequestKind): readonly bigint[] {
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

type OpenRequests = { readonly pending: bigint; readonly cancelled: readonly CancelledRequest[] }

/**
 * Reads the open amounts of the requests with these ids. The returned function throws `upstream_bad_answer` if the
 * vault does not report an amount.
 */
function openRequests(
  vault: Erc7540Vault,
  account: Address,
  kind: RequestKind,
  ids: readonly bigint[],
): ReadPlan<() => OpenRequests> {
  const { address } = vault
  const { pending, cancelled } = REQUEST_VIEW_NAMES[kind]
  const cancels = canCancel(vault, kind)
  const names = cancels ? [pending, cancelled] : [pending]
  const calls: Record<string, ContractCall<bigint>> = Object.fromEntries(
    ids.flatMap((id) => names.map((name) => [`${name} ${id}`, buildCall(address, erc7540Abi, name, [id, account])])),
  )
  return buildReadPlan({ address, slots: {}, calls }, ({ answers }) => () => ({
    pending: sum(ids.map((id) => requireValue(answers[`${pending} ${id}`]))),
    cancelled: ids
      .map((requestId) => ({ requestId, amount: cancels ? requireValue(answers[`${cancelled} ${requestId}`]) : 0n }))
      .filter(({ amount }) => amount > 0n),
  }))
}

/**
 * Returns the open amounts that the vault reports under id 0. If there are none, returns the sum over all request ids
 * in the account's ledger entries.
 */
async function readOpenRequests(
  { vault, account, kind }: { vault: Erc7540Vault; account: Address; kind: RequestKind },
  aggregated: OpenRequests,
  { reader, at, listEntries }: { reader: ChainReader; at: bigint; listEntries: () => Promise<readonly LedgerEntry[]> },
): Promise<OpenRequests> {
  if (aggregated.pending > 0n || aggregated.cancelled.length > 0) return aggregated
  const ids = listRequestIds(await listEntries(), kind)
  if (ids.length === 0) return aggregated
  const plans = inBatches(ids, REQUESTS_PER_PLAN).map((some) => openRequests(vault, account, kind, some))
  const open = (await reader.read(plans, { at })).values.map((parse) => parse())
  return {
    pending: sum(open.map(({ pending }) => pending)),
    cancelled: open.flatMap(({ cancelled }) => cancelled),
  }
}
