import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Vault } from '@vaultline/client'
import type { Receipt } from '@vaultline/client/flow'
import { type ReactNode, useEffect, useEffectEvent } from 'react'
import { useConfig, useConnection } from 'wagmi'
import { useLocation } from 'wouter'
import {
  forgetPendingTransaction,
  idOf,
  type PendingTransaction,
  usePendingTransactions,
} from '../pending-transactions.ts'
import { hasCode } from '../problems.ts'
import { useSender, waitForBatch } from '../sender.ts'
import { rememberTransfer, transferPath } from '../transfers.ts'
import { ProblemNotice, Warning } from './notices.tsx'
import { Hash } from './tokens.tsx'
import { UnknownTransactionWarning, useIsUnknownTransaction } from './unknown-transaction.tsx'

/** Error code of EIP-5792: the wallet does not know a batch. */
const UNKNOWN_BATCH = 5730

/** Shows an account's transactions that were sent before a reload and are not mined yet, so that the user sends no transaction twice. */
export function PendingTransactionList({ vault, account }: { vault: Vault; account: `0x${string}` }) {
  return usePendingTransactions(vault, account).map((sent) =>
    sent.batchId === undefined ? (
      <Transaction key={sent.hash} sent={sent} hash={sent.hash} />
    ) : (
      <Batch key={sent.batchId} sent={sent} batchId={sent.batchId} />
    ),
  )
}

function Transaction({ sent, hash }: { sent: PendingTransaction; hash: `0x${string}` }) {
  const isUnseen = useIsUnknownTransaction(hash, sent.chainId, sent.sentAt)
  const { wait } = useSender()
  const { error, hasFailed } = useReceipt(sent, () => wait(hash, sent.chainId))
  return (
    <OnItsWay sent={sent} hasFailed={hasFailed} forget="I cancelled it in my wallet">
      {isUnseen ? <UnknownTransactionWarning chainId={sent.chainId} /> : <Waits />}
      <Hash value={hash} chainId={sent.chainId} />
      {error && <ProblemNotice error={error} />}
    </OnItsWay>
  )
}

function Batch({ sent, batchId }: { sent: PendingTransaction; batchId: string }) {
  const wagmi = useConfig()
  const { error, hasFailed } = useReceipt(sent, () => waitForBatch(wagmi, batchId))
  const isUnknown = hasCode(error, UNKNOWN_BATCH)
  return (
    <OnItsWay sent={sent} hasFailed={hasFailed} forget={isUnknown ? 'I have checked' : 'I cancelled it in my wallet'}>
      {isUnknown ? (
        <Warning>
          Your wallet no longer knows this {nameOf(sent)}. Check your wallet’s activity and your position before you
          send it again.
        </Warning>
      ) : (
        <Waits />
      )}
      {error && !isUnknown && <ProblemNotice error={error} />}
    </OnItsWay>
  )
}

function useReceipt(sent: PendingTransaction, wait: () => Promise<Receipt>) {
  const id = idOf(sent)
  const queries = useQueryClient()
  const [, navigate] = useLocation()
  const { status, connector } = useConnection()
  const { data: receipt, failureReason: error } = useQuery({
    queryKey: ['receipt', id, connector?.uid],
    queryFn: wait,
    enabled: status === 'connected',
    retry: (_, failure) => !hasCode(failure, UNKNOWN_BATCH),
  })
  const finish = useEffectEvent((hash: `0x${string}` | undefined) => {
    // The wallet cannot follow a transfer between chains without its transaction hash. So the page continues to list
    // the transaction as pending.
    if (sent.transfer && !hash) return
    forgetPendingTransaction(id)
    void queries.invalidateQueries()
    if (!sent.transfer || !hash) return
    rememberTransfer({ ...sent.transfer, hash })
    navigate(transferPath({ ...sent.transfer, hash }))
  })
  useEffect(() => {
    if (receipt?.status === 'success') finish(receipt.transactionHash)
  }, [receipt])
  return { error, hasFailed: receipt !== undefined && receipt.status !== 'success' }
}

type OnItsWayProps = {
  readonly sent: PendingTransaction
  readonly hasFailed: boolean
  readonly forget: string
  readonly children: ReactNode
}

function OnItsWay({ sent, hasFailed, forget, children }: OnItsWayProps) {
  return (
    <section className="card" aria-label="On its way">
      <h2>
        Your {nameOf(sent)} {hasFailed ? 'was not executed' : 'is on its way'}
      </h2>
      {hasFailed ? <p role="alert">It took nothing but its network fee. You can send it again.</p> : children}
      <button type="button" className="button quiet" onClick={() => forgetPendingTransaction(idOf(sent))}>
        {hasFailed ? 'Dismiss' : forget}
      </button>
    </section>
  )
}

function Waits() {
  return <p role="status">It is sent and waits for the chain. Do not send it again.</p>
}

function nameOf({ kind }: PendingTransaction): string {
  return kind === 'deposit' ? 'deposit' : 'withdrawal'
}
