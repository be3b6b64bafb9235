import { type Address, isAddressEqual } from 'viem'
import { requireUint256 } from '../chain/call.ts'
import { decodeLog } from '../chain/decode.ts'
import { type ApprovalPlan, encodeApprovals, erc20Abi, listApprovalPlans } from '../chain/erc20.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { SimulatedTransaction } from '../chain/simulation.ts'
import { sum } from '../core/bigint.ts'
import { MAX_UINT256 } from '../core/codecs.ts'
import { type DepositOperation, encodeOperation, type OperationRequest } from '../protocols/calldata.ts'
import { findDepositOperation, OPERATIONS } from '../protocols/operations.ts'
import type { DepositTerms } from '../protocols/protocol.ts'
import { getProtocol } from '../protocols/protocols.ts'
import { type Pin, prepareIfPinMatches } from '../vaults/pin.ts'
import type { Vault } from '../vaults/vault.ts'
import { pickFirstApprovedDryRun } from './dry-run.ts'
import { prepareTransactions } from './prepare.ts'

type VaultDeposit = OperationRequest & { readonly vault: Vault; readonly pin: Pin | undefined }

/**
 * Builds and simulates the transactions of a deposit, in one RPC round trip. Throws `vault_has_changed` before any
 * other refusal, an AppError if the deposit is refused, or `upstream_*`.
 */
export async function prepareDeposit(reader: ChainReader, request: VaultDeposit) {
  const { vault, pin, account, amount } = request
  const spending = { token: vault.asset, spender: vault.address, amount }
  const draftOf = (needed: ApprovalPlan, kinds: readonly DepositOperation[]) => {
    const intents = kinds.map((operation) => ({ operation, request: { vault, account, amount } }))
    return { approval: encodeApprovals(spending, needed), operations: intents.map(encodeOperation), intents }
  }
  const termsPlan = getProtocol(vault).depositTerms(vault, account, amount)
  return prepareIfPinMatches(reader, { vault, pin }, termsPlan, async (plan) => {
    const { choice, ...prepared } = await prepareTransactions(reader, account, {
      plan,
      // There is one candidate for each approval that may be needed. Each candidate simulates all deposit functions of
      // the protocol in sequence, and the vault's mode lets at most one succeed. The vault's state, which decides between
      // the functions, is read in the same request.
      candidates: (['none', 'exact', 'reset'] as const).map((needed) =>
        draftOf(needed, OPERATIONS[vault.protocol].deposits),
      ),
      // A deposit that reverts is returned too, with that status. So only the approvals decide between drafts.
      choose: async ({ value: depositTerms }) => {
        const operation = findDepositOperation(vault, depositTerms.choose(amount))
        const drafts = listApprovalPlans(amount, depositTerms.allowance).map((needed) => draftOf(needed, [operation]))
        return { depositTerms, drafts, pick: pickFirstApprovedDryRun, spending, isAsync: operation.isAsync }
      },
      upperEstimate: 'deposit',
    })
    const { depositTerms, isAsync } = choice
    const arrived = isAsync ? undefined : sharesArrived(vault, account, prepared.results?.at(-1))
    return {
      ...prepared,
      isAsync,
      terms: depositTerms.terms,
      deposit: computeDepositAmounts(depositTerms, amount, arrived),
    }
  })
}

/**
 * Returns a deposit's shares, assets and fee, in smallest units; unknown amounts are null. `arrived` are the shares
 * that the account received in the simulation. Without it, the shares are estimated at the present price.
 */
export function computeDepositAmounts({ sharesFor, worth }: DepositTerms, assets: bigint, arrived?: bigint) {
  const reported = arrived ?? sharesFor(assets)
  // A real amount of shares fits into 256 bits, so a larger amount counts as unknown.
  const shares = reported !== null && reported > MAX_UINT256 ? null : reported
  return requireUint256({
    shares,
    assets,
    fee: shares === null ? null : feeOf(assets, worth(shares), worth(1n)),
    isEstimate: arrived === undefined,
  })
}

/**
 * Returns the fee: the deposited assets minus the value of the shares. `unit` is the value of the smallest unit of
 * shares. Rounding explains a difference of two such units and one unit of the asset, which counts as 0.
 */
function feeOf(assets: bigint, value: bigint | null, unit: bigint | null): bigint | null {
  if (value === null || unit === null) return null
  const fee = assets - value
  return fee > 2n * unit + 1n ? fee : 0n
}

/** Returns the shares that the account received in the simulated deposit; undefined if the simulation shows no share transfers. */
function sharesArrived(
  { shareToken }: Vault,
  account: Address,
  call: SimulatedTransaction | undefined,
): bigint | undefined {
  if (call?.status !== 'success' || !call.logs) return undefined
  const arrivals = call.logs.flatMap((log) => {
    const event = isAddressEqual(log.address, shareToken) ? decodeLog(erc20Abi, log) : undefined
    if (event?.eventName !== 'Transfer') return []
    const { from, to, value } = event.args
    return [(to === account ? value : 0n) - (from === account ? value : 0n)]
  })
  return arrivals.length === 0 ? undefined : sum(arrivals)
}
