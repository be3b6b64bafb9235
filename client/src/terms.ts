import type {
  PrepareCancellationResponse,
  PrepareClaimResponse,
  PrepareDepositResponse,
  PrepareRewardsClaimResponse,
  PrepareWithdrawalResponse,
} from './api.ts'
import type { Call } from './transactions.ts'

/** Transactions to sign, and the terms for which they were prepared. */
export type Prepared =
  | PrepareDepositResponse
  | PrepareWithdrawalResponse
  | PrepareClaimResponse
  | PrepareCancellationResponse
  /** The field `isAsync` is absent, because a claim of rewards never waits for a settlement. */
  | (PrepareRewardsClaimResponse & { readonly isAsync?: undefined })

/** Calls that the user has yet to sign, and the response that states their terms. */
export type Terms = { readonly prepared: Prepared; readonly calls: readonly Call[] }

type Amounts = readonly (string | null | undefined)[]

/**
 * Returns true if a user who agreed to the shown terms must agree again: the calls differ, less is received, or more is paid. Amounts may
 * be worse by 0.1 % and one unit, because prices move with each block.
 */
export function isWorse(now: Terms, shown: Terms): boolean {
  const [after, before] = [now.prepared, shown.prepared]
  return (
    after.chainId !== before.chainId ||
    after.isAsync !== before.isAsync ||
    after.isCrossChain !== before.isCrossChain ||
    tokensOf(after) !== tokensOf(before) ||
    (before.simulation.status === 'success' && after.simulation.status !== 'success') ||
    (now.calls.length === shown.calls.length &&
      now.calls.some((call, index) => identify(call) !== identify(shown.calls[index]))) ||
    isAnyWorse(gainsOf(after), gainsOf(before), (amount, agreed) => agreed - amount) ||
    isAnyWorse(costsOf(after), costsOf(before), (amount, agreed) => amount - agreed)
  )
}

function identify(call: Call | undefined): string | undefined {
  const isApproval = call?.data.startsWith('0x095ea7b3')
  return call && `${call.to} ${call.value} ${isApproval && call.data.slice(0, '0x095ea7b3'.length + 64)}`
}

function rewardsOf(prepared: Prepared) {
  return 'rewards' in prepared ? prepared.rewards : []
}

function tokensOf(prepared: Prepared): string {
  return rewardsOf(prepared)
    .map(({ token }) => token)
    .join()
}

function gainsOf(prepared: Prepared): Amounts {
  const { assets, claimedAssets } = ('withdrawal' in prepared && prepared.withdrawal) || {}
  const claimable = 'claimable' in prepared ? prepared.claimable : undefined
  const cancelled = 'cancelled' in prepared ? prepared.cancelled : undefined
  const deposit = 'deposit' in prepared ? prepared.deposit : undefined
  const quote = 'quote' in prepared ? prepared.quote : undefined
  return [
    deposit?.shares,
    assets,
    claimedAssets,
    claimable?.assets,
    claimable?.shares,
    cancelled && Object.values(cancelled)[0],
    quote?.outputAmount,
    ...rewardsOf(prepared).map(({ amount }) => amount),
  ]
}

function costsOf(prepared: Prepared): Amounts {
  const { shares, fee } = ('withdrawal' in prepared && prepared.withdrawal) || {}
  const deposit = 'deposit' in prepared ? prepared.deposit : undefined
  const quote = 'quote' in prepared ? prepared.quote : undefined
  return [shares, fee, deposit?.fee, quote?.inputAmount, quote?.feeTotal]
}

/** Returns true if an amount is now worse than the page shows it. An amount that is no longer known counts as worse. */
function isAnyWorse(now: Amounts, shown: Amounts, lossOf: (amount: bigint, agreed: bigint) => bigint): boolean {
  return shown.some((text, index) => {
    const [agreed, amount] = [parseAmount(text), parseAmount(now[index])]
    if (agreed === undefined) return false
    return amount === undefined || lossOf(amount, agreed) > agreed / 1000n + 1n
  })
}

function parseAmount(text: unknown): bigint | undefined {
  return typeof text === 'string' && /^\d+$/.test(text) ? BigInt(text) : undefined
}
