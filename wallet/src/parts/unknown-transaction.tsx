import { useEffect, useState } from 'react'
import { TransactionNotFoundError } from 'viem'
import { useTransaction } from 'wagmi'
import { chainName } from '../chains.ts'
import { Warning } from './notices.tsx'

/**
 * Milliseconds for which a sent transaction may be unknown. Nodes usually know a transaction within seconds, but some wallets send it late.
 */
const PATIENCE_MS = 120_000

/** Returns true if no node knows a transaction two minutes after it was sent. `sentAt` is in epoch milliseconds. */
export function useIsUnknownTransaction(hash: `0x${string}`, chainId: number, sentAt: number | undefined): boolean {
  const [openedAt] = useState(Date.now)
  const lateAt = (sentAt ?? openedAt) + PATIENCE_MS
  const [isLate, setLate] = useState(() => Date.now() >= lateAt)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), Math.max(0, lateAt - Date.now()))
    return () => clearTimeout(timer)
  }, [lateAt])
  const { error } = useTransaction({
    ...{ hash, chainId },
    query: { enabled: isLate, retry: false, refetchInterval: (query) => (query.state.data ? false : 5000) },
  })
  return isLate && error instanceof TransactionNotFoundError
}

/** Warns about a transaction that no node knows. */
export function UnknownTransactionWarning({ chainId }: { chainId: number }) {
  return (
    <Warning>
      We have not seen this transaction yet. Check in your wallet that it was sent on {chainName(chainId)} and not
      cancelled. This page goes on as soon as it is there.
    </Warning>
  )
}
