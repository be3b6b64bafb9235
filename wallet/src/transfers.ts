import { createStoredStore, hasFields } from './store.ts'

/** How amounts of a token are written. */
type Unit = { readonly symbol: string; readonly decimals: number }

/** A transfer between chains that this browser has started. */
export type StartedTransfer = {
  readonly hash: `0x${string}`
  readonly srcChainId: number
  /** What it is for. */
  readonly kind: 'deposit' | 'withdrawal'
  readonly vault: { readonly chainId: number; readonly address: `0x${string}`; readonly name: string }
  readonly account: `0x${string}`
  /** In the smallest unit of what is sent. */
  readonly amount: string
  /** What is sent, and what arrives; on another chain it can have other decimals. */
  readonly from: Unit
  readonly to: Unit
  readonly startedAt: number
  /** How long the bridge said that it would take. */
  readonly expectedFillSeconds: number
}

const KEPT_TRANSFERS = 50

/** The transfers that this browser has started, newest first. */
export const transfers = createStoredStore<readonly StartedTransfer[]>(localStorage, 'vaultline.transfers', {
  initial: [],
  isValue: (kept): kept is readonly StartedTransfer[] =>
    Array.isArray(kept) && kept.every((one) => hasFields(one, 'hash', 'srcChainId', 'vault', 'from', 'to')),
})

/** Remembers a transfer, so that its page can say what it is for. */
export function rememberTransfer(transfer: StartedTransfer): void {
  const others = transfers.get().filter(({ hash }) => hash !== transfer.hash)
  transfers.set([transfer, ...others].slice(0, KEPT_TRANSFERS))
}

/** The page that follows a transfer. */
export function transferPath({ srcChainId, hash }: Pick<StartedTransfer, 'srcChainId' | 'hash'>): string {
  return `/transfers/${srcChainId}/${hash}`
}
