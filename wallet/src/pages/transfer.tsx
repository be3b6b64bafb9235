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
import { useSender } from '../sender.ts'
import { useStore } from '../store.ts'
import { type StartedTransfer, transfers } from '../transfers.ts'

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
  return (
    <div className="page narrow">
      <h1>
        {started
          ? `${started.kind === 'deposit' ? 'Deposit into' : 'Withdrawal from'} ${started.vault.name}`
          : 'Transfer'}
      </h1>
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
  readonly at: string | null | undefined
  readonly hash?: `0x${string}` | null | undefined
}

function Timeline({ transfer, started, srcChainId, txHash }: TimelineProps) {
  const now = useNow(transfer?.terminal !== true)
  const dstName = transfer?.dstChain ? chainName(transfer.dstChain.id) : 'the other chain'
  const times = transfer?.timestamps
  const isDelivery = transfer?.action === 'none' || started?.kind === 'withdrawal'
  const stages: Stage[] = [
    { name: `Sent on ${chainName(srcChainId)}`, at: times?.initiated, hash: txHash },
    { name: `Arrived on ${dstName}`, at: times?.bridged, hash: transfer?.transactions.fill },
    ...(isDelivery ? [] : [{ name: 'Deposited into the vault', at: times?.completed }]),
  ]
  const reached = stages.findLastIndex(({ at }) => at)
  const hasFailed = transfer?.status === 'failed'
  const beganAt = times?.initiated ? Date.parse(times.initiated) : started?.startedAt
  return (
    <ol className="timeline">
      {stages.map(({ name, at, hash }, index) => {
        const isNext = index === reached + 1 && transfer?.terminal !== true
        const state = at ? 'done' : isNext ? 'now' : hasFailed && index === reached + 1 ? 'failed' : 'todo'
        const before = stages[index - 1]?.at
        return (
          <li key={name} className={state} aria-current={isNext ? 'step' : undefined}>
            <span>{name}</span>
            {at && before && <span className="fine">after {formatDuration(Date.parse(at) - Date.parse(before))}</span>}
            {isNext && beganAt !== undefined && (
              <span className="fine">
                {formatDuration(now - (before ? Date.parse(before) : beganAt))} so far
                {index === 1 && started && started.expectedFillSeconds > 0 && (
                  <>, usually {formatDuration(started.expectedFillSeconds * 1000)}</>
                )}
              </span>
            )}
            {hash && <Address value={hash} what="the transaction's hash" />}
          </li>
        )
      })}
    </ol>
  )
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
    case 'no_deposit_in_transaction':
      return <Where>Nothing was sent: your money is still in your wallet on {source}.</Where>
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
