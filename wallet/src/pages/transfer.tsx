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
        <Empty isWholePage title="Transfer not found" action={{ href: '/activity', text: 'See your activity' }} />
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
        <p role="status">
          {transfer ? <Progress transfer={transfer} started={started} /> : 'Looking for the transaction …'}
        </p>
        {transfer?.status === 'failed' && <Outcome transfer={transfer} started={started} />}
        {error && error.code !== 'transfer_failed' && (
          <>
            <FlowProblem error={error} />
            {status === 'ready' && (
              <button type="button" className="button quiet" onClick={() => void next(sender)}>
                Try again
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

/** The step that is under way; once it is done, the place of the money. */
function Progress({
  transfer,
  started,
}: {
  transfer: GetTransferStatusResponse
  started: StartedTransfer | undefined
}) {
  const { status, action, statusDescription, outputAmount, dstChain } = transfer
  if (status !== 'completed') return statusDescription
  const sum = started && outputAmount !== null ? <Amount units={outputAmount} {...started.to} /> : 'Your money'
  const place = action === 'deposit' ? 'in the vault' : 'in your wallet'
  return (
    <>
      Done. {sum} is {place}
      {action !== 'deposit' && dstChain && ` on ${chainName(dstChain.id)}`}.
    </>
  )
}

type TimelineProps = {
  readonly transfer: GetTransferStatusResponse | undefined
  readonly started: StartedTransfer | undefined
  readonly srcChainId: number
  readonly txHash: `0x${string}`
}

type Stage = {
  readonly act: keyof typeof NAMES
  readonly place: string
  readonly state: 'done' | 'now' | 'failed' | 'todo'
  readonly at?: string | null | undefined
  readonly hash?: `0x${string}` | null | undefined
}

/** A shorter time is not shown. */
const SHORTEST_MS = 1000
/** After so many times of what is usual, what is usual says nothing. */
const STILL_USUAL = 3

function Timeline({ transfer, started, srcChainId, txHash }: TimelineProps) {
  const now = useNow(transfer?.terminal !== true)
  const times = transfer?.timestamps
  const beganAt = times?.initiated ? Date.parse(times.initiated) : started?.startedAt
  const usualMs = (started?.expectedFillSeconds ?? 0) * 1000
  return (
    <ol className="timeline">
      {listStages({ transfer, started, srcChainId, txHash }).map(({ act, place, state, at, hash }, index, stages) => {
        const before = stages[index - 1]?.at
        const since = before ? Date.parse(before) : beganAt
        return (
          <li key={act} className={state} aria-current={state === 'now' ? 'step' : undefined}>
            <span>
              {NAMES[act][state]} {place}
              {state === 'failed' && <span className="hidden">: failed</span>}
            </span>
            {at && before && Date.parse(at) - Date.parse(before) >= SHORTEST_MS && (
              <span className="fine">after {formatDuration(Date.parse(at) - Date.parse(before))}</span>
            )}
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

/** How a stage is called before it, during it and after it. */
const NAMES = {
  send: { todo: 'Send', failed: 'Send', now: 'Sending', done: 'Sent' },
  arrive: { todo: 'Arrive', failed: 'Arrive', now: 'Arriving', done: 'Arrived' },
  deposit: { todo: 'Deposit', failed: 'Deposit', now: 'Depositing', done: 'Deposited' },
  refund: { todo: 'Refund', failed: 'Refund', now: 'Refunding', done: 'Refunded' },
} as const

/** What a transfer goes through: to the other chain, or back to where it began. */
function listStages({ transfer, started, srcChainId, txHash }: TimelineProps): readonly Stage[] {
  const { timestamps: times, transactions, reason, status, terminal = false, dstChain } = transfer ?? {}
  const source = `on ${chainName(srcChainId)}`
  const destination = `on ${dstChain ? chainName(dstChain.id) : 'the other chain'}`
  const sent = { act: 'send', place: source, at: times?.initiated, hash: txHash } as const
  const arrived = { act: 'arrive', place: destination, at: times?.bridged, hash: transactions?.fill } as const
  if (reason === 'expired' || reason === 'refunded' || reason === 'refund_not_found') {
    const refund = reason === 'refunded' ? 'done' : terminal ? 'failed' : 'now'
    return [
      { ...sent, state: 'done' },
      { ...arrived, state: 'failed' },
      { act: 'refund', place: source, state: refund },
    ]
  }
  const isDelivery = transfer?.action === 'none' || started?.kind === 'withdrawal'
  const deposited = { act: 'deposit', place: 'into the vault', at: times?.completed } as const
  const stages = [sent, arrived, ...(isDelivery ? [] : [deposited])]
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
      return <Where>This transaction sent nothing to the bridge. Check it on {source}.</Where>
    case 'expired':
      return <Where>It did not arrive in time. The bridge refunds it on {source}. Follow it on this page.</Where>
    case 'refunded':
      return (
        <Where>
          {sum(inputAmount)} are back in your wallet on {source}.
        </Where>
      )
    case 'refund_not_found':
      return (
        <Where>
          We found no refund that is certainly for this transfer. Check your wallet on {source}, and send us the hash.
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
