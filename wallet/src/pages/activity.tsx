import { useInfiniteQuery, useQueries } from '@tanstack/react-query'
import { type GetTransferStatusResponse, getTransferStatus, listDeposits, listWithdrawals } from '@vaultline/client'
import { query, queryAnswer } from '@vaultline/client/query'
import { useId, useState } from 'react'
import { useConnection } from 'wagmi'
import { Link } from 'wouter'
import { groupByDay, isOpenEntry, listTimelineEntries, type TimelineEntry } from '../activity.ts'
import { chainName } from '../chains.ts'
import { useService } from '../context.ts'
import { listReported } from '../events.ts'
import { formatClock, formatDayName } from '../format.ts'
import { Choices } from '../parts/choices.tsx'
import { Amount } from '../parts/figures.tsx'
import { EmptyNotice, MissingData, ProblemNotice } from '../parts/notices.tsx'
import { SkeletonRows } from '../parts/skeletons.tsx'
import { Steps } from '../parts/steps.tsx'
import { describeReason } from '../problems.ts'
import { STATUS_TEXTS } from '../statuses.ts'
import { useStore } from '../store.ts'
import { transferPath, transfers } from '../transfers.ts'
import { useWebhookDeliveries } from '../use-events.ts'
import { useFilters } from '../use-filters.ts'

const PAGE_SIZE = 20
const REFRESH_MS = 20_000

const KINDS = [
  { value: 'all', text: 'All' },
  { value: 'deposit', text: 'Deposits' },
  { value: 'withdrawal', text: 'Withdrawals' },
] as const

type Status = keyof typeof STATUS_TEXTS

/** Page with the connected account's deposits, withdrawals and transfers between chains. */
export function ActivityPage() {
  const { address } = useConnection()
  return (
    <div className="page">
      <title>Activity · Vaultline</title>
      <h1>Activity</h1>
      {address ? (
        <Timeline key={address} account={address} />
      ) : (
        <EmptyNotice title="No wallet is connected" action={{ href: '/account', text: 'Connect a wallet' }}>
          Its deposits and withdrawals appear here.
        </EmptyNotice>
      )}
    </div>
  )
}

function Timeline({ account }: { account: `0x${string}` }) {
  const [filters, choose] = useFilters()
  const kind = KINDS.find(({ value }) => value === filters.get('kind'))?.value ?? 'all'
  const status = asStatus(filters.get('status'))
  const { deposits, withdrawals, histories } = useHistories(account, status, kind)
  const loaded = {
    deposits: {
      items: (deposits.data?.pages ?? []).flatMap(({ data }) => data.deposits),
      hasMore: deposits.hasNextPage,
    },
    withdrawals: {
      items: (withdrawals.data?.pages ?? []).flatMap(({ data }) => data.withdrawals),
      hasMore: withdrawals.hasNextPage,
    },
  }
  const transfers = useTransfers(account)
  const reported = listReported(useWebhookDeliveries() ?? [])
  const entries = listTimelineEntries({ ...loaded, transfers: transfers.followed, reported }).filter(
    (entry) => (kind === 'all' || entry.kind === kind) && (!status || entry.status === status),
  )
  const isLoading = transfers.isLoading || histories.some((history) => history.isLoading)
  const isEmpty = !isLoading && entries.length === 0 && histories.every(({ error }) => !error)

  const showMore = () => {
    for (const { hasNextPage, fetchNextPage } of histories) if (hasNextPage) void fetchNextPage()
  }
  const errors: Record<string, string> = {}
  for (const { data } of histories) {
    for (const [chainId, why] of Object.entries(data?.pages.at(-1)?.data.errors ?? {})) {
      errors[chainId] = `Its activity is missing. ${describeReason(why)}`
    }
  }
  return (
    <section className="stack" aria-label="Deposits and withdrawals">
      <div className="card-head">
        <Choices
          label="Kind"
          options={KINDS}
          value={kind}
          onChoose={(value) => choose({ kind: value === 'all' ? '' : value })}
        />
        <select aria-label="Status" value={status ?? ''} onChange={({ target }) => choose({ status: target.value })}>
          <option value="">All statuses</option>
          {Object.entries(STATUS_TEXTS).map(([value, { text }]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </div>
      <MissingData errors={errors} nameOf={(chainId) => chainName(Number(chainId))} />
      {histories.map(
        ({ error, refetch }, index) =>
          error && (
            <ProblemNotice key={index === 0 ? 'first' : 'second'} error={error} onRetry={() => void refetch()} />
          ),
      )}
      {isLoading && <SkeletonRows count={6} />}
      {isEmpty && !status && kind === 'all' && Object.keys(errors).length === 0 && (
        <EmptyNotice title="No activity yet" action={{ href: '/vaults', text: 'See vaults' }}>
          Your first deposit appears here as soon as it is mined.
        </EmptyNotice>
      )}
      {isEmpty && (status || kind !== 'all') && (
        <EmptyNotice
          title="Nothing found"
          action={{ text: 'Show all', onClick: () => choose({ kind: '', status: '' }) }}
        />
      )}
      {!isLoading && <Entries entries={entries} />}
      {histories.some(({ hasNextPage }) => hasNextPage) && !isLoading && (
        <button
          type="button"
          className="button quiet"
          disabled={histories.some(({ isFetchingNextPage }) => isFetchingNextPage)}
          onClick={showMore}
        >
          Show more
        </button>
      )}
    </section>
  )
}

function Entries({ entries }: { entries: readonly TimelineEntry[] }) {
  // The opened items are stored here, because a finished item moves to another group and would close.
  const [opened, setOpened] = useState<readonly string[]>([])
  const toggle = (id: string, isOpened: boolean) =>
    setOpened((before) => [...before.filter((one) => one !== id), ...(isOpened ? [id] : [])])
  const open = entries.filter(isOpenEntry)
  const groups = groupByDay(
    entries.filter((entry) => !isOpenEntry(entry)),
    Date.now(),
  )
  return (
    <div className="days" aria-live="polite">
      {open.length > 0 && <Day title="In progress" entries={open} {...{ opened, toggle }} />}
      {groups.map(({ day, entries: ofDay }) => (
        <Day key={day} title={day} entries={ofDay} {...{ opened, toggle }} />
      ))}
    </div>
  )
}

type DayProps = {
  readonly title: string
  readonly entries: readonly TimelineEntry[]
  readonly opened: readonly string[]
  readonly toggle: (id: string, isOpened: boolean) => void
}

function Day({ title, entries, opened, toggle }: DayProps) {
  const id = useId()
  return (
    <section className="day" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <ol className="entries">
        {entries.map((entry) => (
          <li key={entry.id}>
            <EntryRow
              entry={entry}
              isOpened={opened.includes(entry.id)}
              onToggle={(isOpened) => toggle(entry.id, isOpened)}
            />
          </li>
        ))}
      </ol>
    </section>
  )
}

const MARKS = { deposit: 'M12 4v11m-5-5 5 5 5-5M5 20h14', withdrawal: 'M12 15V4M7 9l5-5 5 5M5 20h14' } as const

type EntryRowProps = {
  readonly entry: TimelineEntry
  readonly isOpened: boolean
  readonly onToggle: (isOpened: boolean) => void
}

function EntryRow({ entry, isOpened, onToggle }: EntryRowProps) {
  const { kind, vault, otherChainId, state, status, timestamp, steps, shares, transfer } = entry
  const isAcross = otherChainId !== vault.chainId
  const [from, to] = kind === 'deposit' ? [otherChainId, vault.chainId] : [vault.chainId, otherChainId]
  return (
    <details open={isOpened} onToggle={({ currentTarget }) => onToggle(currentTarget.open)}>
      <summary className="entry">
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d={MARKS[kind]} />
        </svg>
        <span>
          <span className="fine entry-verb">{kind === 'deposit' ? 'Deposit into' : 'Withdrawal from'}</span>{' '}
          <strong>{vault.name}</strong>
        </span>
        <span className="fine entry-place">
          <span className="on-phones">{kind === 'deposit' ? 'Deposit' : 'Withdrawal'} </span>
          <span className="chip">{isAcross ? `${chainName(from)} → ${chainName(to)}` : chainName(to)}</span>{' '}
          {isOpenEntry(entry) && `${formatDayName(timestamp, Date.now())}, `}
          {formatClock(timestamp)}
        </span>
        <span className="entry-state">{state && <span className={`chip ${state.tone}`}>{state.text}</span>}</span>
        <strong className="entry-amount">
          {status === 'cancelled' ? '' : kind === 'deposit' ? '+' : '−'}
          <EntryAmount entry={entry} />
        </strong>
      </summary>
      <div className="entry-details">
        {isOpened && <Steps steps={steps} isAcross={isAcross} />}
        <p className="row">
          {shares && (
            <span className="fine">
              <Amount {...shares} symbol="shares" />
            </span>
          )}
          <Link href={`/vaults/${vault.chainId}/${vault.address}`}>
            {status === 'claimable' ? `Claim in ${vault.name}` : `Open ${vault.name}`}
          </Link>
          {transfer && <Link href={transferPath(transfer)}>Open the transfer</Link>}
        </p>
      </div>
    </details>
  )
}

function EntryAmount({ entry: { assets, estimate, decimals, symbol } }: { entry: TimelineEntry }) {
  if (assets !== null) return <Amount units={assets} decimals={decimals} symbol={symbol} />
  return (
    <>
      <span className="fine">about</span> <Amount units={estimate} decimals={decimals} symbol={symbol} />
    </>
  )
}

function useTransfers(account: `0x${string}`) {
  const service = useService()
  const own = useStore(transfers).filter((transfer) => transfer.account === account)
  const statuses = useQueries({
    queries: own.map(({ hash: txHash, srcChainId, account: userAddress }) => ({
      ...query(getTransferStatus, service, { txHash, srcChainId, userAddress }),
      // The status of a finished transfer never changes, so it is not fetched again.
      staleTime: ({ state }: { state: { data?: GetTransferStatusResponse | undefined } }) =>
        state.data?.terminal ? Number.POSITIVE_INFINITY : 0,
    })),
  })
  return {
    followed: own.map((started, index) => ({ started, progress: statuses[index]?.data })),
    isLoading: statuses.some(({ isLoading }) => isLoading),
  }
}

function useHistories(userAddress: `0x${string}`, status: Status | undefined, kind: (typeof KINDS)[number]['value']) {
  const service = useService()
  const input = { userAddress, limit: PAGE_SIZE, ...(status && { status }) }
  const deposits = useInfiniteQuery({
    queryKey: [...queryAnswer(listDeposits, service, input).queryKey, 'pages'],
    queryFn: ({ pageParam: cursor, signal }) =>
      queryAnswer(listDeposits, service, { ...input, cursor }).queryFn({ signal }),
    initialPageParam: FIRST,
    getNextPageParam: ({ data }) => data.nextCursor ?? undefined,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.deposits.some(isWaiting)) ? REFRESH_MS : false,
    retry: false,
    enabled: kind !== 'withdrawal',
  })
  const withdrawals = useInfiniteQuery({
    queryKey: [...queryAnswer(listWithdrawals, service, input).queryKey, 'pages'],
    queryFn: ({ pageParam: cursor, signal }) =>
      queryAnswer(listWithdrawals, service, { ...input, cursor }).queryFn({ signal }),
    initialPageParam: FIRST,
    getNextPageParam: ({ data }) => data.nextCursor ?? undefined,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.withdrawals.some(isWaiting)) ? REFRESH_MS : false,
    retry: false,
    enabled: kind !== 'deposit',
  })
  const histories = [...(kind === 'withdrawal' ? [] : [deposits]), ...(kind === 'deposit' ? [] : [withdrawals])]
  return { deposits, withdrawals, histories }
}

const FIRST: string | undefined = undefined

function isWaiting({ status }: { status: Status }): boolean {
  return status === 'pending'
}

function asStatus(text: string | null): Status | undefined {
  return text === 'pending' || text === 'claimable' || text === 'completed' || text === 'cancelled' ? text : undefined
}
