import type { Vault } from '@vaultline/client'
import type { StartedTransfer } from './portfolio.ts'
import { createStore, createStoredStore, hasFields, useStore } from './store.ts'

/** Transaction, or batch of them (EIP-5792), that was sent and was not mined at this browser's last check. */
export type UnderWay = {
  readonly chainId: number
  readonly kind: 'deposit' | 'withdraw'
  readonly vault: { readonly chainId: number; readonly address: `0x${string}` }
  readonly account: `0x${string}`
  readonly sentAt: number
  /** Transfer between chains that it begins. */
  readonly transfer?: Omit<StartedTransfer, 'hash'> | undefined
} & (
  | { readonly hash: `0x${string}`; readonly batchId?: undefined }
  /** Only the wallet knows its transaction, and only once it is mined. */
  | { readonly batchId: string; readonly hash?: undefined }
)

/** Pending transactions: sent to the chain, and unknown to the service. They survive a reload. */
const underWay = createStoredStore<readonly UnderWay[]>(localStorage, 'vaultline.under-way', {
  initial: [],
  isValue: (kept): kept is readonly UnderWay[] =>
    Array.isArray(kept) &&
    kept.every(
      (one) =>
        hasFields(one, 'chainId', 'kind', 'vault', 'account', 'sentAt') &&
        (hasFields(one, 'hash') || hasFields(one, 'batchId')),
    ),
})

/** Id of the transaction that a form of this page follows itself. */
const followed = createStore<string | undefined>(undefined)

/** Returns the hash of a transaction, or the wallet's id of a batch. */
export function idOf({ hash, batchId }: UnderWay): string {
  return hash ?? batchId
}

/** Remembers a transaction or a batch from the moment it is sent. The calling form follows it until `releaseUnderWay`. */
export function rememberUnderWay(sent: UnderWay): void {
  const id = idOf(sent)
  followed.set(id)
  underWay.set([sent, ...underWay.get().filter((one) => idOf(one) !== id)])
}

/** Hands the transaction that a form followed over to the page. */
export function releaseUnderWay(): void {
  followed.set(undefined)
}

/** Forgets a transaction or a batch: it was mined, or its user gave it up. */
export function forgetUnderWay(id: string): void {
  underWay.set(underWay.get().filter((one) => idOf(one) !== id))
}

/** Returns an account's pending transactions with a vault, except the one that a form of this page follows. */
export function useUnderWay({ chainId, poolAddress }: Vault, account: `0x${string}`): readonly UnderWay[] {
  const own = useStore(followed)
  return useStore(underWay).filter(
    (one) =>
      idOf(one) !== own &&
      one.account === account &&
      one.vault.address === poolAddress &&
      one.vault.chainId === chainId,
  )
}
