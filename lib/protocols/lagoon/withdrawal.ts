import type { Address } from 'viem'
import { requireValue } from '../../chain/call.ts'
import { joinReadPlans, mapReadPlan, type ReadPlan } from '../../chain/reader.ts'
import { AppError, badResponse } from '../../core/errors.ts'
import type { FollowUpRead, VaultCall, WithdrawalAmount, WithdrawalTerms } from '../protocol.ts'
import { buildBalanceError, nameAmountField } from '../refusals.ts'
import {
  feeOn,
  type LagoonAccount,
  type LagoonRates,
  type LagoonState,
  readClaimableShares,
  readLagoonAccount,
  readRedeemableAssets,
  readTakeableFromSafe,
  sharesBeforeFee,
  virtualShares,
} from './state.ts'
import type { LagoonVault } from './vault.ts'

type Rates = Pick<LagoonRates, 'exit' | 'haircut'>

type WithdrawingAccount = LagoonAccount & { readonly shares: bigint; readonly claimableAssets: bigint }

type LagoonWithdrawalState = {
  readonly state: LagoonState
  readonly account: WithdrawingAccount
  readonly settled: { readonly claimableShares: bigint; readonly redeemableAssets: bigint }
  readonly rates: Rates
  /** Assets that the vault can take from its safe, the account that holds its assets; undefined if unknown. */
  readonly liquidity: bigint | undefined
  readonly virtualShares: bigint
}

/** Accepted difference, in basis points, between the computed payment and the minimum that an instant withdrawal must pay. */
const SLIPPAGE = 50n
const BASIS_POINTS = 10_000n

/** Reads the terms of a withdrawal from a Lagoon vault: the calls, amounts and fees. */
export function readLagoonWithdrawalTerms(
  vault: LagoonVault,
  account: Address,
  amount: WithdrawalAmount,
): ReadPlan<FollowUpRead<WithdrawalTerms>> {
  return mapReadPlan(
    joinReadPlans(readLagoonAccount(vault, account), readTakeableFromSafe(vault)),
    ([snapshot, computeTakeable]) =>
      async (reader, at) => {
        const { state, account } = snapshot
        const [claimableShares, redeemableAssets] = await Promise.all([
          readClaimableShares(reader, vault, snapshot, at),
          readRedeemableAssets(reader, vault, snapshot, at),
        ])
        const withdrawal = chooseLagoonWithdrawal(
          {
            state,
            account: {
              ...account,
              shares: requireValue(account.shares),
              claimableAssets: requireValue(account.claimableAssets),
            },
            settled: { claimableShares, redeemableAssets },
            rates: ratesOf(state),
            liquidity: computeTakeable(state),
            virtualShares: virtualShares(vault),
          },
          amount,
        )
        // Versions before 0.5.1 also pay accounts that are no longer on the vault's access list, so only the simulation
        // decides.
        const refusal = () => new AppError('depositor_not_allowed')
        return account.allowed === false ? { ...withdrawal, refusal } : withdrawal
      },
  )
}

/** Returns the fee rates on withdrawals. Versions before 0.6 have no such fees. */
function ratesOf({ generation, rates }: LagoonState): Rates {
  if (generation !== '0.6') return { exit: 0n, haircut: 0n }
  const { exit, haircut } = requireValue(rates)
  if (exit >= BASIS_POINTS || haircut >= BASIS_POINTS) throw badResponse('a fee takes everything')
  return { exit, haircut }
}

/**
 * Chooses the calls of a withdrawal by the same checks, in the same order, as Lagoon's contracts. Throws an AppError if
 * the vault refuses.
 */
function chooseLagoonWithdrawal(terms: LagoonWithdrawalState, amount: WithdrawalAmount): WithdrawalTerms {
  const { state } = terms
  if (requireValue(state.vaultState.paused)) throw new AppError('vault_is_paused')
  if (state.generation === 'unknown') throw new AppError('unsupported_vault_version')
  switch (state.lifecycle) {
    case 'open':
      return payInstantly(terms, amount) ?? requestRedemption(terms, amount)
    case 'closed':
      return redeemFromClosed(terms, amount)
    default:
      throw new AppError('vault_is_closing')
  }
}

/**
 * Chooses an instant withdrawal (version 0.6); undefined if the vault does not pay one. The vault pays instantly only
 * for shares in the wallet, while a valuation is valid and the safe holds enough.
 */
function payInstantly(terms: LagoonWithdrawalState, amount: WithdrawalAmount): WithdrawalTerms | undefined {
  const { state, account, rates, liquidity = 0n } = terms
  if (!state.syncModePaysRedemptions || !state.vaultState.isTotalAssetsValid) return undefined
  const shares = sharesFor(terms, amount, rates, account.shares)
  if (shares === 0n || shares > account.shares) return undefined
  const paid = payment(terms, shares, rates)
  if (paid.assets === 0n || paid.assets > liquidity) return undefined
  const minimum = isOfAssets(amount) ? amount.assets : paid.assets - (paid.assets * SLIPPAGE) / BASIS_POINTS
  return { steps: [{ name: 'syncRedeem', amount: shares, minimum }], shares, ...paid, claimedAssets: 0n }
}

/**
 * Chooses a redemption request, which is paid at the price of its settlement. If the wallet's shares do not suffice,
 * claims the unclaimed shares first.
 */
function requestRedemption(terms: LagoonWithdrawalState, amount: WithdrawalAmount): WithdrawalTerms {
  const { state, account, settled, rates } = terms
  if (
    requireValue(account.pendingRedeemShares) > 0n &&
    account.lastRedeemRequestId !== state.vaultState.redeemEpochId
  ) {
    throw new AppError('previous_withdrawal_request_not_settled')
  }
  const all = account.shares + settled.claimableShares
  const withoutHaircut = { exit: rates.exit, haircut: 0n }
  const shares = sharesFor(terms, amount, withoutHaircut, all)
  if (shares === 0n || shares > all) throw buildExcessError(terms, amount, withoutHaircut)
  const paid = payment(terms, shares, withoutHaircut)
  // Lagoon never settles a request that is worth less than one unit of the asset.
  if (paid.assets === 0n) throw buildWorthlessError(amount)
  return { steps: requestSteps(terms, shares), shares, ...paid, claimedAssets: settled.redeemableAssets }
}

function requestSteps({ account }: LagoonWithdrawalState, shares: bigint): WithdrawalTerms['steps'] {
  const request: VaultCall = { name: 'requestRedeem', amount: shares }
  if (shares <= account.shares) return [request]
  // Version 0.1 has no call that both claims shares and requests their redemption. Unknown `claimableShares` show that
  // version, because it does not report them.
  return account.claimableShares === undefined
    ? [claimStep(account), request]
    : [{ name: 'claimSharesAndRequestRedeem', amount: shares }]
}

/** Chooses the calls of a withdrawal from a closed vault, which pays immediately. Claims of settled requests come first. */
function redeemFromClosed(terms: LagoonWithdrawalState, amount: WithdrawalAmount): WithdrawalTerms {
  const { account, settled, rates } = terms
  const exit = { exit: rates.exit, haircut: 0n }
  const all = account.shares + settled.claimableShares
  const redeemable = requireValue(account.redeemableShares)
  const claims: VaultCall[] = redeemable > 0n ? [{ name: 'redeem', amount: redeemable }] : []

  const shares = sharesFor(terms, amount, exit, all)
  if (shares > all || (shares === 0n && claims.length === 0)) throw buildExcessError(terms, amount, exit)
  const paid = payment(terms, shares, exit)
  if (shares > account.shares) claims.push(claimStep(account))
  const steps = [...claims, ...(shares > 0n ? [payStep(amount, shares, all)] : [])]
  const [first, ...rest] = steps
  if (!first) throw buildExcessError(terms, amount, exit)
  const assets = isOfAssets(amount) && shares < all ? amount.assets : paid.assets
  return { steps: [first, ...rest], shares, ...paid, assets, claimedAssets: settled.redeemableAssets }
}

/** Chooses the call that pays exactly these assets. If that takes all shares, redeems all shares instead, so that none remain. */
function payStep(amount: WithdrawalAmount, shares: bigint, all: bigint): VaultCall {
  return isOfAssets(amount) && shares < all
    ? { name: 'withdraw', amount: amount.assets }
    : { name: 'redeem', amount: shares }
}

function claimStep({ claimableAssets }: WithdrawingAccount): VaultCall {
  return { name: 'deposit', amount: claimableAssets }
}

function isOfAssets(amount: WithdrawalAmount): amount is { readonly assets: bigint } {
  return typeof amount === 'object' && 'assets' in amount
}

function sharesFor(terms: LagoonWithdrawalState, amount: WithdrawalAmount, rates: Rates, all: bigint): bigint {
  if (amount === 'max') return all
  if (!isOfAssets(amount)) return amount.shares
  const { assets, supply } = priceIn(terms)
  const paid = (amount.assets * supply + assets - 1n) / assets
  return sharesBeforeFee(sharesBeforeFee(paid, rates.haircut), rates.exit)
}

function payment(terms: LagoonWithdrawalState, shares: bigint, rates: Rates) {
  const { assets: total, supply } = priceIn(terms)
  const worth = (of: bigint) => (of * total) / supply
  const net = shares - feeOn(shares, rates.exit)
  const assets = worth(net - feeOn(net, rates.haircut))
  return { assets, value: worth(shares), haircut: worth(net) - assets }
}

function priceIn({ state: { vaultState }, virtualShares: extra }: LagoonWithdrawalState) {
  return { assets: requireValue(vaultState.totalAssets) + 1n, supply: requireValue(vaultState.totalSupply) + extra }
}

/**
 * Builds the error for a withdrawal of more than the account has. The error's details name the amount that all of the
 * account's shares pay now.
 */
function buildExcessError(terms: LagoonWithdrawalState, amount: WithdrawalAmount, rates: Rates): AppError {
  const { account, settled } = terms
  const balances = {
    inWallet: account.shares,
    unclaimed: settled.claimableShares,
    pending: requireValue(account.pendingRedeemShares),
    claimable: requireValue(account.redeemableShares),
  }
  const all = account.shares + settled.claimableShares
  const { assets } = payment(terms, all, rates)
  // The vault refuses shares that are worth nothing. The error then gets 0 as the maximum, so that it suggests no
  // amount.
  return buildBalanceError(amount, balances, isOfAssets(amount) || assets === 0n ? assets : all)
}

function buildWorthlessError(amount: WithdrawalAmount): AppError {
  return new AppError('withdrawal_refused', {
    details: [{ field: nameAmountField(amount), issue: 'is worth less than one unit of the asset' }],
  })
}
