import type { Vault } from '@vaultline/client'
import type { StartedTransfer } from './portfolio.ts'
import { createStore, createStoredStore, hasFields, useStore } from './store.ts'

/** Transaction, or batch of transactions (EIP-5792), that was sent and was not mined at this browser's last check. */
export type PendingTransaction = {
  readonly chainId: number
  readonly kind: 'deposit' | 'withdraw'
  readonly vault: { readonly chainId: number; readonly address: `0x${string}` }
  readonly account: `0x${string}`
  readonly sentAt: number
  /** Transfer between chains that this transaction begins. */
  readonly transfer?: Omit<StartedTransfer, 'hash'> | undefined
} & (
  | { readonly hash: `0x${string}`; readonly batchId?: undefined }
  /** A batch has no hash yet: only the wallet knows its transaction, and only once it is mined. */
  | { readonly batchId: string; readonly hash?: undefined }
)

/** Transactions that were sent but not mined yet. The service does not know them, so the browser stores them. */
const underWay = createStoredStore<readonly PendingTransaction[]>(localStorage, 'vaultline.under-way', {
  initial: [],
  isValue: (value): value is readonly PendingTransaction[] =>
    Array.isArray(value) &&
    value.every(
      (one) =>
        hasFields(one, 'chainId', 'kind', 'vault', 'account', 'sentAt') &&
        (hasFields(one, 'hash') || hasFields(one, 'batchId')),
    ),
})

/** Id of the transaction whose progress a form of this page already shows. */
const followed = createStore<string | undefined>(undefined)

/** Returns the hash of a transaction, or the wallet's id of a batch. */
export function idOf({ hash, batchId }: PendingTransaction): string {
  return hash ?? batchId
}

/** Stores a transaction or a batch when it is sent. The calling form shows its progress until `releaseUnderWay`. */
export function storePendingTransaction(sent: PendingTransaction): void {
  const id = idOf(sent)
  followed.set(id)
  underWay.set([sent, ...underWay.get().filter((one) => idOf(one) !== id)])
}

/**
 * Records that the form that showed a transaction's progress is closed. The vault's page then lists the transaction as
 * pending.
 */
export function releaseUnderWay(): void {
  followed.set(undefined)
}

/** Deletes the entry of a transaction or a batch that was mined, or that the user gave up. */
export function forgetPendingTransaction(id: string): void {
  underWay.set(underWay.get().filter((one) => idOf(one) !== id))
}

/** Returns an account's pending transactions with a vault, except the one whose progress a form of this page already shows. */
export function usePendingTransactions(
  { chainId, poolAddress }: Vault,
  account: `0x${string}`,
): readonly PendingTransaction[] {
  const own = useStore(followed)
  return useStore(underWay).filter(
    (one) =>
      idOf(one) !== own &&
      one.account === account &&
      one.vault.address === poolAddress &&
      one.vault.chainId === chainId,
  )
}
