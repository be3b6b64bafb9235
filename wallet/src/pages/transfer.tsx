import type { GetTransferStatusResponse } from '@vaultline/client'
import { useTransfer } from '@vaultline/client/react'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import { chainName } from '../chains.ts'
import { useService } from '../context.ts'
import { formatDuration } from '../format.ts'
import { Amount } from '../parts/figures.tsx'
import { FlowProblem } from '../parts/flow-steps.tsx'
import { Empty } from '../parts/notices.tsx'
import { Address } from '../parts/tokens.tsx'
import type { StartedTransfer } from '../portfolio.ts'
import { useSender } from '../sender.ts'
import { useStore } from '../store.ts'
import { closeTransfer, transfers } from '../transfers.ts'

/** A transfer between chains, followed to its end; by its hash, so that a reload loses nothing. */
export function TransferPage({ chainId, hash }: { chainId: number; hash: string }) {
  if (!isHash(hash)) {
    return (
      <div className="page narrow">
        <Empty title="There is no such transfer" action={{ href: '/activity', text: 'See your activity' }} />
      </div>
    )
  }
  return <FollowedTransfer srcChainId={chainId} txHash={hash} />
}

function isHash(text: string): text is `0x${string}` {
  return /^0x[0-9a-f]{64}$/i.test(text)
}

function FollowedTransfer({ srcChainId, txHash }: { srcChainId: number; txHash: `0x${string}` }) {
  const { progress, error, status, next } = useTransfer(useService(), { srcChainId, txHash })
  const sender = useSender()
  const started = useStore(transfers).find(({ hash }) => hash === txHash)
  const transfer = progress && 'depositId' in progress ? progress : undefined
  const title = started
    ? `${started.kind === 'deposit' ? 'Deposit into' : 'Withdrawal from'} ${started.vault.name}`
    : 'Transfer'
  const isOver = transfer?.terminal === true
  useEffect(() => {
    if (isOver) closeTransfer(txHash)
  }, [isOver, txHash])
  return (
    <div className="page narrow">
      <title>{`${title} · Vaultline`}</title>
      <h1>{title}</h1>
      <section className="card" aria-label="Where it is">
        {started && (
          <p className="big">
            <Amount units={started.amount} {...started.from} />
          </p>
        )}
        <Timeline transfer={transfer} started={started} srcChainId={srcChainId} txHash={txHash} />
        <p role="status">{transfer ? transfer.statusDescription : 'Looking for the transaction …'}</p>
        {transfer?.status === 'failed' && <Outcome transfer={transfer} started={started} />}
        {error && error.code !== 'transfer_failed' && (
          <>
            <FlowProblem error={error} />
            {status === 'ready' && (
              <button type="button" className="button quiet" onClick={() => void next(sender)}>
                Look again
              </button>
            )}
          </>
        )}
        {started && transfer?.status === 'completed' && (
          <Link className="button" href={`/vaults/${started.vault.chainId}/${started.vault.address}`}>
            {started.kind === 'deposit' ? 'See your position' : 'Back to the vault'}
          </Link>
        )}
      </section>
    </div>
  )
}

type TimelineProps = {
  readonly transfer: GetTransferStatusResponse | undefined
  readonly started: StartedTransfer | undefined
  readonly srcChainId: number
  readonly txHash: `0x${string}`
}

type Stage = {
  readonly name: string
  readonly state: 'done' | 'now' | 'failed' | 'todo'
  readonly at?: string | null | undefined
  readonly hash?: `0x${string}` | null | undefined
}

/** After so many times of what is usual, what is usual says nothing. */
const STILL_USUAL = 3

function Timeline({ transfer, started, srcChainId, txHash }: TimelineProps) {
  const now = useNow(transfer?.terminal !== true)
  const times = transfer?.timestamps
  const beganAt = times?.initiated ? Date.parse(times.initiated) : started?.startedAt
  const usualMs = (started?.expectedFillSeconds ?? 0) * 1000
  return (
    <ol className="timeline">
      {listStages({ transfer, started, srcChainId, txHash }).map(({ name, state, at, hash }, index, stages) => {
        const before = stages[index - 1]?.at
        const since = before ? Date.parse(before) : beganAt
        return (
          <li key={name} className={state} aria-current={state === 'now' ? 'step' : undefined}>
            <span>
              {name}
              {state === 'failed' && <span className="hidden">: failed</span>}
            </span>
            {at && before && <span className="fine">after {formatDuration(Date.parse(at) - Date.parse(before))}</span>}
            {state === 'now' && since !== undefined && (
              <span className="fine">
                {formatDuration(now - since)} so far
                {index === 1 && now - since < STILL_USUAL * usualMs && <>, usually {formatDuration(usualMs)}</>}
              </span>
            )}
            {hash && <Address value={hash} what="the transaction's hash" />}
          </li>
        )
      })}
    </ol>
  )
}

/** What a transfer goes through: to the other chain, or back to where it began. */
function listStages({ transfer, started, srcChainId, txHash }: TimelineProps): readonly Stage[] {
  const { timestamps: times, transactions, reason, status, terminal = false } = transfer ?? {}
  const source = chainName(srcChainId)
  const sent = { name: `Sent on ${source}`, at: times?.initiated, hash: txHash }
  const arrived = {
    name: `Arrived on ${transfer?.dstChain ? chainName(transfer.dstChain.id) : 'the other chain'}`,
    at: times?.bridged,
    hash: transactions?.fill,
  }
  if (reason === 'expired' || reason === 'refunded' || reason === 'refund_not_found') {
    const refund = reason === 'refunded' ? 'done' : terminal ? 'failed' : 'now'
    return [
      { ...sent, state: 'done' },
      { ...arrived, state: 'failed' },
      { name: `Refund on ${source}`, state: refund },
    ]
  }
  const isDelivery = transfer?.action === 'none' || started?.kind === 'withdrawal'
  const stages = [sent, arrived, ...(isDelivery ? [] : [{ name: 'Deposited into the vault', at: times?.completed }])]
  const next = stages.findLastIndex(({ at }) => at) + 1
  return stages.map((stage, index) => {
    if (stage.at) return { ...stage, state: 'done' }
    if (index !== next) return { ...stage, state: 'todo' }
    return { ...stage, state: status === 'failed' ? 'failed' : terminal ? 'todo' : 'now' }
  })
}

/** Where the money is after a failure, and the next act. */
function Outcome({ transfer, started }: { transfer: GetTransferStatusResponse; started: StartedTransfer | undefined }) {
  const { reason, srcChain, dstChain, inputAmount, outputAmount } = transfer
  const source = chainName(srcChain.id)
  const destination = dstChain ? chainName(dstChain.id) : 'the other chain'
  const sum = (units: string | null, unit = started?.from) =>
    unit && units ? <Amount units={units} {...unit} /> : 'Your tokens'
  switch (reason) {
    case 'source_reverted':
    case 'source_dropped':
      return <Where>Nothing was sent: your money is still in your wallet on {source}.</Where>
    case 'no_deposit_in_transaction':
      return <Where>This transaction sent nothing to the bridge: look at it on {source}.</Where>
    case 'expired':
      return <Where>Nobody took it over in time. The bridge pays it back on {source}; this page follows it.</Where>
    case 'refunded':
      return (
        <Where>
          {sum(inputAmount)} are back in your wallet on {source}.
        </Where>
      )
    case 'refund_not_found':
      return (
        <Where>
          No refund was found that is surely its own. Look at your wallet on {source}, and ask us with the hash.
        </Where>
      )
    case 'destination_action_failed':
      return (
        <Where>
          {sum(outputAmount, started?.to)} arrived in your wallet on {destination}; the vault did not take them. Deposit
          them from there.
        </Where>
      )
    default:
      return null
  }
}

function Where({ children }: { children: React.ReactNode }) {
  return (
    <div className="notice warn">
      <p>{children}</p>
    </div>
  )
}

/** The time, each second while something is awaited. */
function useNow(isTicking: boolean): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!isTicking) return
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [isTicking])
  return now
}
