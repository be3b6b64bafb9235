import type { Address } from 'viem'
import { requireUint256 } from '../chain/call.ts'
import type { ChainReader } from '../chain/reader.ts'
import { AppError } from '../core/errors.ts'
import type { AccountSnapshot, RequestFollowUpRead } from '../protocols/protocol.ts'
import { getProtocol } from '../protocols/protocols.ts'
import type { RequestKind } from '../protocols/request-kind.ts'
import { isAsync } from '../protocols/vault-on-chain.ts'
import { estimateSettlement } from '../vaults/settlement-waits.ts'
import { findVault, type Vault } from '../vaults/vault.ts'
import { readAccountEntries } from './account-vaults.ts'
import { countMissedSettlements } from './missed-settlements.ts'

/** Milliseconds after which the API's caller should poll again for a settlement. Curators settle every few hours or days. */
const SETTLEMENT_POLL_MS = 30_000

type Services = Parameters<typeof readAccountEntries>[0] & {
  readonly getReader: (chainId: number) => ChainReader
}

type StatusRequest = {
  readonly client: { readonly vaults: readonly Vault[] }
  readonly path: { readonly vaultAddress: Address }
  readonly query: { readonly userAddress: Address; readonly chainId?: number | undefined }
}

/**
 * Kind of requests (deposit or withdrawal), with the functions that read an account's requests of this kind. `of`
 * returns, from the account's data, the function that reads the requests. `amounts` returns the requests' amounts, the
 * last request's id and the vault's epoch.
 */
type Kind<R> = {
  readonly kind: RequestKind
  readonly of: (account: AccountSnapshot) => RequestFollowUpRead<R>
  readonly amounts: (requests: R) => {
    readonly pending: bigint
    readonly claimable: bigint
    readonly cancelled: bigint
    readonly requestId: number | null
    readonly epochId: number | null
  }
}

/**
 * Reads the state of an account's requests of one kind in an asynchronous vault. Returns the requests, the shares in
 * the wallet, the status of an open request (`open`), and the other response fields (`reply`). `listEntries` reads the
 * account's ledger entries only once. Throws `deposit_status_not_applicable` or `withdraw_status_not_applicable` for a
 * vault without such requests. Also throws `upstream_*`.
 */
export async function readRequestStatus<R extends object>(
  services: Services,
  { client, path, query: { userAddress, chainId } }: StatusRequest,
  { kind, of, amounts }: Kind<R>,
) {
  const vault = findVault(client.vaults, path.vaultAddress, chainId)
  if (!isAsync(vault, kind)) {
    throw new AppError(kind === 'deposit' ? 'deposit_status_not_applicable' : 'withdraw_status_not_applicable')
  }
  const reader = services.getReader(vault.chainId)
  const [[progress], { value, block, evidence }] = await Promise.all([
    services.records.recallProgress([vault]).catch(() => []),
    reader.readOne(getProtocol(vault).account(vault, userAddress), { withHash: true }),
  ])
  let entries: ReturnType<typeof readAccountEntries> | undefined
  const listEntries = () => {
    entries ??= readAccountEntries(services, { vault, account: userAddress, to: block.number })
    return entries
  }
  const requests = requireUint256(await of(value)(reader, block.number, listEntries))
  const { pending, claimable, cancelled, requestId, epochId } = amounts(requests)
  const isNumbered = requestId !== null && epochId !== null
  const missedSettlements =
    pending > 0n && isNumbered ? countMissedSettlements(progress?.missed?.[kind], { requestId, epochId }) : null
  return {
    requests,
    listEntries,
    shares: value.shares,
    open: openStatus(claimable, cancelled, pending),
    reply: {
      vaultAddress: vault.address,
      userAddress,
      chainId: vault.chainId,
      estimatedSettlement: estimateSettlement(progress?.waits?.[kind]),
      missedSettlements,
      nextPollAfterMs: pending > 0n ? SETTLEMENT_POLL_MS : null,
      evidence: [await evidence()],
    },
  }
}

function openStatus(
  claimable: bigint,
  cancelled: bigint,
  pending: bigint,
): 'claimable' | 'cancelled' | 'pending' | undefined {
  if (claimable > 0n) return 'claimable'
  if (cancelled > 0n) return 'cancelled'
  return pending > 0n ? 'pending' : undefined
}

/**
 * Describes a pending request for users. `missed` is the number of settlements that should have settled the request but
 * did not.
 */
export function describePending(what: 'Deposit' | 'Withdrawal', missed: number | null): string {
  if (!missed) return `${what} request submitted, awaiting curator settlement.`
  const settlements = missed === 1 ? '1 settlement' : `${missed} settlements`
  return `${what} request submitted, passed over by ${settlements}, awaiting the next one.`
}
