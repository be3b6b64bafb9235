import { createStoredStore, hasFields } from './store.ts'

/** A transaction into a vault that was sent, and was not mined when this browser last looked. */
export type UnderWay = {
  readonly hash: `0x${string}`
  readonly chainId: number
  readonly kind: 'deposit' | 'withdraw'
  readonly vaultAddress: `0x${string}`
  readonly account: `0x${string}`
}

/** What is under way: the chain has it, and neither the service nor the next visit can know of it yet. */
export const underWay = createStoredStore<readonly UnderWay[]>(localStorage, 'vaultline.under-way', {
  initial: [],
  isValue: (kept): kept is readonly UnderWay[] =>
    Array.isArray(kept) && kept.every((one) => hasFields(one, 'hash', 'chainId', 'kind', 'vaultAddress', 'account')),
})

/** Remembers a transaction from the moment it is sent. */
export function rememberUnderWay(transaction: UnderWay): void {
  underWay.set([transaction, ...underWay.get().filter(({ hash }) => hash !== transaction.hash)])
}

/** Forgets a transaction: it was mined, or its user gave it up. */
export function forgetUnderWay(hash: `0x${string}`): void {
  underWay.set(underWay.get().filter((one) => one.hash !== hash))
}
