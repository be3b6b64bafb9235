import type { Address } from 'viem'
import type { BridgeRequest } from '../bridge/calldata.ts'
import { findEnds } from '../bridge/route.ts'
import { agreeTerms, computeMaxInput } from '../bridge/terms.ts'
import { toBridgedToken } from '../bridge/tokens.ts'
import { toResult, unwrap } from '../core/result.ts'
import type { DepositOperation } from '../protocols/calldata.ts'
import { findDepositOperation, OPERATIONS } from '../protocols/operations.ts'
import { getProtocol } from '../protocols/protocols.ts'
import { buildCapError } from '../protocols/refusals.ts'
import { type Pin, prepareIfPinMatches } from '../vaults/pin.ts'
import type { Vault } from '../vaults/vault.ts'
import { expectDeposit } from './deposit.ts'
import {
  type BridgeServices,
  coinPlan,
  describeQuote,
  emptyPlan,
  prepareSending,
  readDestination,
  readSource,
  requireOpen,
} from './transfer.ts'

/** Deposit by and for `account`, paid with `inputAmount` of a token or coin of another chain. */
export type CrossChainDeposit = {
  readonly vault: Vault
  readonly pin: Pin | undefined
  readonly account: Address
  readonly inputAmount: bigint
  readonly sourceChainId: number
  /** Address of the token, or `COIN_ADDRESS` for the chain's coin. */
  readonly sourceToken: Address
}

/** Seconds for which the valuation must stay valid, so that a synchronous deposit arrives in time. */
const SYNC_MARGIN_SECONDS = 15n * 60n

/**
 * Prepares the source chain's transactions that deposit into a vault on another chain, and the quote in smallest units.
 * Fetches the quote and both chains' states in parallel, then simulates. Throws the AppError of a refusal, or
 * `upstream_*`.
 */
export async function prepareDepositAcross(
  services: BridgeServices,
  { vault, pin, account, inputAmount, sourceChainId: chainId, sourceToken }: CrossChainDeposit,
) {
  const { getReader, fetchQuote } = services
  const errors = { chain: 'unsupported_source_chain', token: 'unsupported_source_token' } as const
  const token = toBridgedToken(chainId, sourceToken)
  const ends = findEnds(vault, { chainId, token, errors })
  const route = { source: ends.other, destination: ends.vault }
  const isInCoin = token !== sourceToken
  const requestBy = (operation: DepositOperation): BridgeRequest => ({
    account,
    route,
    inputAmount,
    isInCoin,
    deposit: { vault, operation },
  })

  // Most deposits take the usual operation, so the quote need not wait for the vault's state.
  const [usual] = OPERATIONS[vault.protocol].deposits
  const quoted = toResult(fetchQuote(requestBy(usual)))
  // The quote is awaited below, unless a read fails first.
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
        readSource<bigint | undefined>(
          getReader(chainId),
          account,
          route.source,
          isInCoin ? coinPlan(pool, account) : emptyPlan(pool),
        ),
        readDestination(vaultReader, account, route.destination, plan),
      ]),
  )
  requireOpen(source, destination)

  const until = block.timestamp + SYNC_MARGIN_SECONDS
  const operation = findDepositOperation(vault, value.choose(0n, until))
  const request = requestBy(operation)
  const quote = operation === usual ? unwrap(await quoted) : await fetchQuote(request)
  const clocks = { ...source.clocks, destination: destination.time }
  const terms = agreeTerms(request, quote, clocks)
  const room = value.room()
  if (room !== undefined && terms.outputAmount > room) throw buildCapError(computeMaxInput(room, request, quote))
  return {
    ...(await prepareSending(services, { request, terms, source, coin, before: [] })),
    isAsync: operation.isAsync,
    terms: value.terms,
    deposit: expectDeposit(value, terms.outputAmount),
    quote: describeQuote(request, terms, quote, clocks),
    evidence: await Promise.all([atVault.evidence(), atSource.evidence()]),
  }
}
