import { type Address, isAddressEqual } from 'viem'
import type { Route } from '../bridge/calldata.ts'
import type { Destination } from '../bridge/destination.ts'
import { findRouteEnds } from '../bridge/route.ts'
import { agreeTerms } from '../bridge/terms.ts'
import { requireValue } from '../chain/call.ts'
import { decodeLog } from '../chain/decode.ts'
import { erc20Abi } from '../chain/erc20.ts'
import type { ReadPlan } from '../chain/reader.ts'
import type { RpcRequest } from '../chain/rpc.ts'
import type { SimulatedTransaction } from '../chain/simulation.ts'
import { max } from '../core/bigint.ts'
import { AppError } from '../core/errors.ts'
import type { PlannedOperation } from '../protocols/calldata.ts'
import { buildVaultRefusal } from '../protocols/refusals.ts'
import type { Vault } from '../vaults/vault.ts'
import {
  type BridgeServices,
  type DestinationState,
  describeQuote,
  emptyPlan,
  prepareBridgeTransfer,
  readDestinationState,
  readSourceState,
  requireBridgeAvailable,
  type SourceState,
} from './transfer.ts'

/** Operations by which a vault pays an account (withdrawals, claims, or both), for sending the payment to another chain. */
export type VaultPayment = {
  readonly intents: readonly PlannedOperation[]
  /** Results of the operations in their simulation; undefined if no node can simulate. */
  readonly results: readonly SimulatedTransaction[] | undefined
  /** Assets to send to the other chain; by default all that the vault pays. */
  readonly amount?: bigint | undefined
  /** Payment that the vault reports; undefined if unknown. Every host reads it, but perhaps only one host simulates. */
  readonly reported: bigint | undefined
  /** Request field that errors about the amount refer to; `dstChainId` if the request has no amount. */
  readonly field: 'amount' | 'dstChainId'
}

/**
 * Prepares sending a vault's payment to another chain. First `read` reads the vault together with the state of the
 * bridge on both chains. Then `send` fetches a quote and builds the transactions. Throws an AppError if the asset
 * cannot be sent to that chain. `read` and `send` throw `upstream_*`.
 */
export function prepareOnwardTransfer(
  services: BridgeServices,
  {
    vault,
    account,
    destination,
  }: { readonly vault: Vault; readonly account: Address; readonly destination: Destination },
) {
  const errors = { chain: 'unsupported_destination_chain', token: 'unsupported_destination_token' } as const
  const ends = findRouteEnds(vault, { ...destination, errors })
  const route: Route = { source: ends.vault, destination: ends.other }
  const { getReader } = services
  let way: TransferState | undefined
  return {
    read: async <T>(plan: ReadPlan<T>, extraCalls: readonly RpcRequest[]) => {
      const { pool } = route.destination
      const [{ source, ...read }, { destination: arrival, ...there }] = await Promise.all([
        readSourceState(getReader(vault.chainId), account, route.source, plan, extraCalls),
        readDestinationState(getReader(destination.chainId), account, route.destination, emptyPlan(pool)),
      ])
      way = { account, route, source, arrival }
      return { ...read, evidence: () => Promise.all([read.evidence(), there.evidence()]) }
    },
    send: (payment: VaultPayment) => sendPayment(services, requireValue(way), payment),
  }
}

type TransferState = {
  readonly account: Address
  readonly route: Route
  readonly source: SourceState
  readonly arrival: DestinationState
}

/**
 * Builds the transactions by which the vault pays and the bridge sends the payment on. Also returns the quote, and as
 * `paid` the simulated payment of the vault; undefined if unknown. Throws an AppError if the transfer is refused, or
 * `upstream_*`.
 */
async function sendPayment(
  services: BridgeServices,
  { account, route, source, arrival }: TransferState,
  { intents, results, amount, reported, field }: VaultPayment,
) {
  if (intents.some(({ operation }) => operation.isAsync)) {
    throw unavailable('must be left out: the vault pays only after a settlement or a cooldown')
  }
  requireBridgeAvailable(source, arrival)
  const reverted = results?.find((result) => result.status === 'reverted')
  if (reverted) throw buildVaultRefusal('withdrawal_refused', reverted.reason)
  const parts = intents.map((intent, index) => readPaid(intent, results?.[index]))
  const paid = sum(parts)
  // The bridge gets only an amount that the vault surely pays. That is the requested amount, else the simulated
  // payment, else the minimum in the operations. A host that lies in its simulation cannot raise the amount above the
  // reported payment.
  const known = amount ?? (reported === undefined ? undefined : atMost(paid, reported))
  const inputAmount = atMost(known ?? sum(intents.map(({ request }) => request.minimum)), paid)
  if (inputAmount === undefined) throw unavailable("must be left out: the vault's payment is not known in advance")
  if (inputAmount <= 0n) throw new AppError('amount_too_low_for_bridge')
  const before =
    amount === undefined ? intents.map((intent, index) => withMinimum(intent, atMost(parts[index], reported))) : intents

  const request = { account, route, inputAmount }
  const quote = await services.fetchQuote(request)
  const clocks = { ...source.clocks, destination: arrival.time }
  const terms = agreeTerms(request, quote, clocks, field)
  return {
    ...(await prepareBridgeTransfer(services, { request, terms, source, before })),
    quote: describeQuote(request, terms, quote, clocks),
    paid,
  }
}

/**
 * Returns the simulated payment of an operation, from the asset's transfer events; undefined if the simulation has no
 * logs. The vault's return value is not used: if it were too high, the bridge would take the difference from the
 * wallet.
 */
function readPaid(
  { request: { vault, account } }: PlannedOperation,
  call: SimulatedTransaction | undefined,
): bigint | undefined {
  if (call?.status !== 'success') return undefined
  return call.logs
    ?.filter(({ address }) => isAddressEqual(address, vault.asset))
    .map((log) => decodeLog(erc20Abi, log)?.args)
    .reduce((paid, transfer) => {
      if (!transfer || transfer.from === transfer.to) return paid
      if (isAddressEqual(transfer.to, account)) return paid + transfer.value
      return isAddressEqual(transfer.from, account) ? paid - transfer.value : paid
    }, 0n)
}

/** Raises the operation's minimum, if it has one, to the simulated payment. The operation then reverts if the vault would pay less. */
function withMinimum({ operation, request }: PlannedOperation, paid: bigint | undefined): PlannedOperation {
  if (request.minimum === undefined || paid === undefined) return { operation, request }
  return { operation, request: { ...request, minimum: max(request.minimum, paid) } }
}

function sum(parts: readonly (bigint | undefined)[]): bigint | undefined {
  return parts.reduce((total, part) => (total === undefined || part === undefined ? undefined : total + part), 0n)
}

function atMost(amount: bigint | undefined, most: bigint | undefined): bigint | undefined {
  return amount !== undefined && most !== undefined && most < amount ? most : amount
}

function unavailable(issue: string): AppError {
  return new AppError('cross_chain_not_available', { details: [{ field: 'dstChainId', issue }] })
}
