import type { Address } from 'viem'
import type { LedgerEntry } from '../../activity/ledger-entry.ts'
import { type Call, call, required } from '../../chain/call.ts'
import { erc20Abi } from '../../chain/erc20.ts'
import { type ChainReader, joinReadPlans, mapReadPlan, type ReadPlan, readPlan } from '../../chain/reader.ts'
import { precisePrice } from '../erc4626/price.ts'
import type { AccountReading } from '../protocol.ts'
import { erc7540Abi } from './abi.ts'
import type { Erc7540Vault } from './vault.ts'

/** The kinds of ledger entries that are requests. */
type EntryKind = 'deposit' | 'redeem'

/**
 * How many requests that others paid for are asked for: this many of the largest and of the last, so that whoever wants to
 * hide one has to give away many larger ones, and keep at it. Those of its own are the account's to bound.
 */
const MOST_OF_OTHERS = 50
/** How many requests one read plan asks for. */
const REQUESTS_AT_ONCE = 100

/**
 * What an account has. What it can claim the vault tells without an id; what waits it tells by the ids, which follow from
 * the account's ledger entries where they are not 0: then one round trip more.
 */
export function erc7540Account(vault: Erc7540Vault, account: Address): ReadPlan<AccountReading> {
  const { address, shareToken, shareDecimals, isDepositAsync } = vault
  const price = precisePrice(vault)
  const calls = {
    shares: call(shareToken, erc20Abi, 'balanceOf', [account]),
    maxDeposit: call(address, erc7540Abi, 'maxDeposit', [account]),
    maxMint: call(address, erc7540Abi, 'maxMint', [account]),
    maxRedeem: call(address, erc7540Abi, 'maxRedeem', [account]),
    maxWithdraw: call(address, erc7540Abi, 'maxWithdraw', [account]),
    sharePrice: call(address, erc7540Abi, 'convertToAssets', [10n ** BigInt(shareDecimals)]),
    precisePrice: price.call,
  }
  const own = readPlan({ address, slots: {}, calls }, ({ answers }) => answers)
  const aggregated = joinReadPlans(
    waitingIn(vault, account, 'deposit', [0n]),
    waitingIn(vault, account, 'redeem', [0n]),
  )
  return mapReadPlan(joinReadPlans(own, aggregated), ([answers, [waitingAssets, waitingShares]]) => ({
    shares: () => required(answers.shares),
    deposits: async (reader, at, listEntries) => ({
      pendingAssets: isDepositAsync
        ? waitingAssets() ||
          (await readCounted(vault, account, 'deposit', { reader, at, entries: await listEntries() }))
        : 0n,
      claimableAssets: isDepositAsync ? required(answers.maxDeposit) : 0n,
      claimableShares: isDepositAsync ? required(answers.maxMint) : 0n,
      depositEpochId: null,
      isTotalAssetsValid: null,
    }),
    redemptions: async (reader, at, listEntries) => ({
      pendingRedeemShares:
        waitingShares() || (await readCounted(vault, account, 'redeem', { reader, at, entries: await listEntries() })),
      claimableRedeemShares: required(answers.maxRedeem),
      claimableRedeemAssets: required(answers.maxWithdraw),
      redeemEpochId: null,
      lastRedeemRequestId: null,
    }),
    price: () => ({
      sharePrice: required(answers.sharePrice),
      worth: price.worth(required(answers.precisePrice)),
    }),
  }))
}

/** What waits of the requests with ids of their own, by the account's ledger entries: nothing where none has such an id. */
async function readCounted(
  vault: Erc7540Vault,
  account: Address,
  kind: EntryKind,
  { reader, at, entries }: { reader: ChainReader; at: bigint; entries: readonly LedgerEntry[] },
): Promise<bigint> {
  const ids = requestIds(entries, kind)
  if (ids.length === 0) return 0n
  const parts = Map.groupBy(ids, (_, index) => Math.floor(index / REQUESTS_AT_ONCE))
  const plans = [...parts.values()].map((some) => waitingIn(vault, account, kind, some))
  const { values } = await reader.read(plans, { at })
  return values.reduce((total, waiting) => total + waiting(), 0n)
}

/**
 * The ids of the requests of an account that are asked for, of those that have ids of their own, by its ledger entries: the
 * oldest first, and those that the account paid for after those of others.
 */
export function requestIds(entries: readonly LedgerEntry[], kind: EntryKind): readonly bigint[] {
  const requests = entries.flatMap((entry) => (entry.kind === kind && entry.requestId > 0n ? [entry] : []))
  const { own = [], ofOthers = [] } = Object.groupBy(requests, ({ payer }) => (payer ? 'ofOthers' : 'own'))
  const largest = ofOthers.toSorted((one, other) => Number(amountOf(other) - amountOf(one))).slice(0, MOST_OF_OTHERS)
  const asked = new Set([...largest, ...ofOthers.slice(-MOST_OF_OTHERS)])
  const ownIds = new Set(own.map(({ requestId }) => requestId))
  const otherIds = ofOthers.filter((request) => asked.has(request)).map(({ requestId }) => requestId)
  return [...new Set(otherIds).difference(ownIds), ...ownIds]
}

type RequestEntry = Extract<LedgerEntry, { kind: EntryKind }>

function amountOf(request: RequestEntry): bigint {
  return request.kind === 'deposit' ? request.assets : request.shares
}

/**
 * What waits of these requests: assets of deposits, shares of redemptions, those of cancelled ones included until the
 * account has taken them back. What it gives throws `upstream_bad_answer` where the vault does not tell.
 */
function waitingIn(vault: Erc7540Vault, account: Address, kind: EntryKind, ids: readonly bigint[]) {
  const { address } = vault
  const calls = ids.flatMap((id) => viewsOf(vault, kind).map((view) => call(address, erc7540Abi, view, [id, account])))
  const named: Record<string, Call<bigint>> = Object.fromEntries(calls.entries())
  return readPlan(
    { address, slots: {}, calls: named },
    ({ answers }) =>
      () =>
        Object.values(answers).reduce<bigint>((total, amount) => total + required(amount), 0n),
  )
}

function viewsOf({ isDepositAsync, cancelsDeposits, cancelsRedemptions }: Erc7540Vault, kind: EntryKind) {
  return kind === 'deposit'
    ? [
        ...(isDepositAsync ? (['pendingDepositRequest'] as const) : []),
        ...(cancelsDeposits ? (['claimableCancelDepositRequest'] as const) : []),
      ]
    : (['pendingRedeemRequest', ...(cancelsRedemptions ? (['claimableCancelRedeemRequest'] as const) : [])] as const)
}
