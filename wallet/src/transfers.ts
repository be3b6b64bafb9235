import { createStoredStore } from './store.ts'

/** A transfer between chains that this browser has started. */
export type StartedTransfer = {
  readonly hash: `0x${string}`
  readonly srcChainId: number
  /** What it is for. */
  readonly kind: 'deposit' | 'withdrawal'
  readonly vault: { readonly chainId: number; readonly address: `0x${string}`; readonly name: string }
  readonly account: `0x${string}`
  /** In the smallest unit of the token that is sent. */
  readonly amount: string
  readonly token: { readonly symbol: string; readonly decimals: number }
  readonly startedAt: number
  /** How long the bridge said that it would take. */
  readonly expectedFillSeconds: number
}

const KEPT_TRANSFERS = 50

/** The transfers that this browser has started, newest first. */
export const transfers = createStoredStore<readonly StartedTransfer[]>(localStorage, 'vaultline.transfers', [])

/** Remembers a transfer, so that its page can say what it is for. */
export function rememberTransfer(transfer: StartedTransfer): void {
  const others = transfers.get().filter(({ hash }) => hash !== transfer.hash)
  transfers.set([transfer, ...others].slice(0, KEPT_TRANSFERS))
}

/** The page that follows a transfer. */
export function transferPath({ srcChainId, hash }: Pick<StartedTransfer, 'srcChainId' | 'hash'>): string {
  return `/transfers/${srcChainId}/${hash}`
}
