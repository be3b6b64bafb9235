import type { Address } from 'viem'
import type { BridgeRequest } from '../bridge/calldata.ts'
import { findRouteEnds } from '../bridge/route.ts'
import { agreeTerms, computeMaxInput } from '../bridge/terms.ts'
import { toBridgedToken } from '../bridge/tokens.ts'
import { toResult, unwrap } from '../core/result.ts'
import type { DepositOperation } from '../protocols/calldata.ts'
import { findDepositOperation, OPERATIONS } from '../protocols/operations.ts'
import { getProtocol } from '../protocols/protocols.ts'
import { buildCapError } from '../protocols/refusals.ts'
import { type Pin, prepareIfPinMatches } from '../vaults/pin.ts'
import type { Vault } from '../vaults/vault.ts'
import { computeDepositAmounts } from './deposit.ts'
import {
  type BridgeServices,
  coinPlan,
  describeQuote,
  emptyPlan,
  prepareBridgeTransfer,
  readDestinationState,
  readSourceState,
  requireBridgeAvailable,
} from './transfer.ts'

/** Deposit into a vault that the account pays for on another chain, with `inputAmount` of a token or of that chain's native coin. */
export type CrossChainDeposit = {
  readonly vault: Vault
  readonly pin: Pin | undefined
  readonly account: Address
  readonly inputAmount: bigint
  readonly sourceChainId: number
  /** Address of the token on the source chain, or `COIN_ADDRESS` for that chain's native coin. */
  readonly sourceToken: Address
}

/**
 * Seconds for which the vault's valuation must stay valid, because a deposit from another chain takes time to arrive.
 * Vaults with a valuation take instant deposits only until the valuation expires.
 */
const SYNC_MARGIN_SECONDS = 15n * 60n

/**
 * Builds transactions on the source chain that deposit into a vault on another chain. Also returns the bridge's quote,
 * in smallest units. Fetches the quote and the states of both chains in parallel, then simulates. Throws an AppError if
 * the deposit is refused, or `upstream_*`.
 */
export async function prepareDepositAcross(
  services: BridgeServices,
  { vault, pin, account, inputAmount, sourceChainId: chainId, sourceToken }: CrossChainDeposit,
) {
  const { getReader, fetchQuote } = services
  const errors = { chain: 'unsupported_source_chain', token: 'unsupported_source_token' } as const
  const token = toBridgedToken(chainId, sourceToken)
  const ends = findRouteEnds(vault, { chainId, token, errors })
  const route = { source: ends.other, destination: ends.vault }
  const isInCoin = token !== sourceToken
  const requestBy = (operation: DepositOperation): BridgeRequest => ({
    account,
    route,
    inputAmount,
    isInCoin,
    deposit: { vault, operation },
  })

  // The quote depends on the vault's deposit function. Most deposits use the protocol's first function, so its quote is
  // fetched before the vault's state is known.
  const [usual] = OPERATIONS[vault.protocol].deposits
  const quoted = toResult(fetchQuote(requestBy(usual)))
  // The quote is awaited below. A read may throw before that, and then a failed quote must not stay an unhandled
  // rejection.
  quoted.catch(() => {})
  const vaultReader = getReader(vault.chainId)
  const vaultTerms = getProtocol(vault).depositTerms(vault, account, inputAmount, route.destination.handler)
  const { pool } = route.source
  const [{ source, value: coin, ...atSource }, { value, destination, block, ...atVault }] = await prepareIfPinMatches(
    vaultReader,
    { vault, pin },
    vaultTerms,
    (plan) =>
      Promise.all([
        readSourceState<bigint | undefined>(
          getReader(chainId),
          account,
          route.source,
          isInCoin ? coinPlan(pool, account) : emptyPlan(pool),
        ),
        readDestinationState(vaultReader, account, route.destination, plan),
      ]),
  )
  requireBridgeAvailable(source, destination)

  const until = block.timestamp + SYNC_MARGIN_SECONDS
  const operation = findDepositOperation(vault, value.choose(0n, until))
  const request = requestBy(operation)
  const quote = operation === usual ? unwrap(await quoted) : await fetchQuote(request)
  const clocks = { ...source.clocks, destination: destination.time }
  const terms = agreeTerms(request, quote, clocks)
  const room = value.room()
  if (room !== undefined && terms.outputAmount > room) throw buildCapError(computeMaxInput(room, request, quote))
  return {
    ...(await prepareBridgeTransfer(services, { request, terms, source, coin, before: [] })),
    isAsync: operation.isAsync,
    terms: value.terms,
    deposit: computeDepositAmounts(value, terms.outputAmount),
    quote: describeQuote(request, terms, quote, clocks),
    evidence: await Promise.all([atVault.evidence(), atSource.evidence()]),
  }
}
