import type { StartedTransfer } from './portfolio.ts'
import { createStoredStore, hasFields } from './store.ts'

const MAX_TRANSFERS = 50

/** Transfers between chains that this browser started, newest first. */
export const transfers = createStoredStore<readonly StartedTransfer[]>(localStorage, 'vaultline.transfers', {
  initial: [],
  isValue: (value): value is readonly StartedTransfer[] =>
    Array.isArray(value) && value.every((one) => hasFields(one, 'hash', 'srcChainId', 'vault', 'from', 'to')),
})

/** Stores a transfer between chains, so that the transfer's page can name the deposit or withdrawal of which it is a part. */
export function rememberTransfer(transfer: StartedTransfer): void {
  const others = transfers.get().filter(({ hash }) => hash !== transfer.hash)
  transfers.set([transfer, ...others].slice(0, MAX_TRANSFERS))
}

/** Marks a transfer as closed, so no page mentions it afterwards. */
export function closeTransfer(hash: string): void {
  const all = transfers.get()
  if (!all.some((transfer) => transfer.hash === hash && !transfer.isClosed)) return
  transfers.set(all.map((transfer) => (transfer.hash === hash ? { ...transfer, isClosed: true } : transfer)))
}

/** Returns the path of the page that shows a transfer's progress. */
export function transferPath({ srcChainId, hash }: Pick<StartedTransfer, 'srcChainId' | 'hash'>): string {
  return `/transfers/${srcChainId}/${hash}`
}
