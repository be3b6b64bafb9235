import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import {
  type GetTransferStatusResponse,
  getTransferStatus,
  listDeposits,
  listVaults,
  listWithdrawals,
} from '@vaultline/client'
import { query, queryAnswer } from '@vaultline/client/query'
import { useConnection } from 'wagmi'
import { Link, useSearchParams } from 'wouter'
import { describeDeposit, describeWithdrawal, type Movement, mergeHistories } from '../activity.ts'
import { chainName } from '../chains.ts'
import { useService } from '../context.ts'
import { formatTime } from '../format.ts'
import { Choices } from '../parts/choices.tsx'
import { Amount, Unknown } from '../parts/figures.tsx'
import { NewsOfUser } from '../parts/news.tsx'
import { Empty, Missing, ProblemNotice } from '../parts/notices.tsx'
import { SkeletonRows } from '../parts/skeletons.tsx'
import { Address, ChainBadge } from '../parts/tokens.tsx'
import type { StartedTransfer } from '../portfolio.ts'
import { describeReason } from '../problems.ts'
import { STATUSES } from '../statuses.ts'
import { useStore } from '../store.ts'
import { transferPath, transfers } from '../transfers.ts'

const PAGE_SIZE = 20
/** What waits is looked at again after this time. */
const REFRESH_MS = 20_000

const KINDS = [
  { value: 'all', text: 'All' },
  { value: 'deposit', text: 'Deposits' },
  { value: 'withdrawal', text: 'Withdrawals' },
] as const

type Status = keyof typeof STATUSES

/** What the connected account has put into vaults and taken out, and what it has under way between chains. */
export function ActivityPage() {
  const { address } = useConnection()
  return (
    <div className="page">
      <title>Activity · Vaultline</title>
      <h1>Activity</h1>
      {address ? (
        <>
          <NewsOfUser />
          <Transfers account={address} />
          <History key={address} account={address} />
        </>
      ) : (
        <Empty title="No wallet is connected" action={{ href: '/account', text: 'Connect a wallet' }}>
          Its deposits and withdrawals appear here.
        </Empty>
      )}
    </div>
  )
}

function History({ account }: { account: `0x${string}` }) {
  const [filters, setFilters] = useSearchParams()
  const kind = KINDS.find(({ value }) => value === filters.get('kind'))?.value ?? 'all'
  const status = asStatus(filters.get('status'))
  const { deposits, withdrawals, vaults } = useHistories(account, status, kind)

  const choose = (name: string, value: string) =>
    setFilters((before) => {
      const after = new URLSearchParams(before)
      if (value && value !== 'all') after.set(name, value)
      else after.delete(name)
      return after
    })

  const shareDecimals = new Map(
    vaults.data?.data.map((vault) => [`${vault.chainId} ${vault.poolAddress}`, vault.shareDecimals]),
  )
  const histories = [
    ...(kind === 'withdrawal' ? [] : [deposits]).map(({ data, hasNextPage }) => ({
      movements: (data?.pages ?? []).flatMap(({ data: page }) => page.deposits.map(describeDeposit)),
      hasMore: hasNextPage,
    })),
    ...(kind === 'deposit' ? [] : [withdrawals]).map(({ data, hasNextPage }) => ({
      movements: (data?.pages ?? []).flatMap(({ data: page }) =>
        page.withdrawals.map((one) => describeWithdrawal(one, shareDecimals.get(`${one.chainId} ${one.vaultAddress}`))),
      ),
      hasMore: hasNextPage,
    })),
  ]
  const movements = mergeHistories(histories)
  const asked = [...(kind === 'withdrawal' ? [] : [deposits]), ...(kind === 'deposit' ? [] : [withdrawals])]
  const isLoading = asked.some((history) => history.isLoading)
  const isEmpty = !isLoading && movements.length === 0 && asked.every(({ error }) => !error)
  const showMore = () => {
    for (const { hasNextPage, fetchNextPage } of asked) if (hasNextPage) void fetchNextPage()
  }
  const errors: Record<string, string> = {}
  for (const { data } of asked) {
    for (const [chainId, why] of Object.entries(data?.pages.at(-1)?.data.errors ?? {})) {
      errors[chainId] = `Its activity is missing. ${describeReason(why)}`
    }
  }
  return (
    <section className="stack" aria-label="Deposits and withdrawals">
      <div className="card-head">
        <Choices label="Kind" options={KINDS} value={kind} onChoose={(value) => choose('kind', value)} />
        <select aria-label="Status" value={status ?? ''} onChange={({ target }) => choose('status', target.value)}>
          <option value="">All statuses</option>
          {Object.entries(STATUSES).map(([value, { text }]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </div>
      <Missing errors={errors} nameOf={(chainId) => chainName(Number(chainId))} />
      {asked.map(
        ({ error, refetch }, index) =>
          error && (
            <ProblemNotice key={index === 0 ? 'first' : 'second'} error={error} onRetry={() => void refetch()} />
          ),
      )}
      {isLoading && <SkeletonRows count={6} />}
      {isEmpty && !status && kind === 'all' && (
        <Empty title="No activity yet" action={{ href: '/vaults', text: 'See vaults' }}>
          Your first deposit appears here as soon as it is mined.
        </Empty>
      )}
      {isEmpty && (status || kind !== 'all') && (
        <Empty title="Nothing found" action={{ text: 'Show all', onClick: () => setFilters({}) }} />
      )}
      {movements.length > 0 && !isLoading && (
        <ol className="movements" aria-live="polite">
          {movements.map((movement) => (
            <MovementLine key={movement.id} movement={movement} />
          ))}
        </ol>
      )}
      {histories.some(({ hasMore }) => hasMore) && !isLoading && (
        <button
          type="button"
          className="button quiet"
          disabled={asked.some(({ isFetchingNextPage }) => isFetchingNextPage)}
          onClick={showMore}
        >
          Show more
        </button>
      )}
    </section>
  )
}

/** Both histories, page by page, and the vaults for the decimals of their shares. */
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
  const vaults = useQuery(query(listVaults, service, undefined))
  return { deposits, withdrawals, vaults }
}

const FIRST: string | undefined = undefined

function isWaiting({ status }: { status: Status }): boolean {
  return status === 'pending'
}

function asStatus(text: string | null): Status | undefined {
  return text === 'pending' || text === 'claimable' || text === 'completed' || text === 'cancelled' ? text : undefined
}

function MovementLine({ movement }: { movement: Movement }) {
  const { kind, vaultName, vaultAddress, chainId, status, statusDescription, timestamp, hashes } = movement
  const { text, tone } = STATUSES[status]
  return (
    <li className="card movement">
      <div className="row spread">
        <p>
          <span className="fine">{kind === 'deposit' ? 'Deposit into' : 'Withdrawal from'}</span>
          <br />
          <Link className="strong" href={`/vaults/${chainId}/${vaultAddress}`}>
            {vaultName}
          </Link>{' '}
          <ChainBadge chainId={chainId} />
        </p>
        <p className="line-figures">
          <strong>
            <MovedAmount movement={movement} />
          </strong>
          <span className="fine">{formatTime(timestamp)}</span>
        </p>
      </div>
      <div className="row spread fine">
        <span>
          <span className={`chip ${tone}`}>{text}</span> {statusDescription}
        </span>
        <span className="row">
          {hashes.map(({ what, hash, chainId: place }) => (
            <span key={hash} className="hash">
              {what}
              {place !== chainId && ` on ${chainName(place)}`}{' '}
              <Address value={hash} what={`the transaction: ${what}`} />
            </span>
          ))}
        </span>
      </div>
    </li>
  )
}

function MovedAmount({ movement: { assets, estimate, decimals, symbol } }: { movement: Movement }) {
  if (assets !== null) return <Amount units={assets} decimals={decimals} symbol={symbol} />
  if (estimate === null) return <Unknown why="The amount is known after settlement." />
  return (
    <>
      about <Amount units={estimate} decimals={decimals} symbol={symbol} />
    </>
  )
}

const SHOWN_TRANSFERS = 5

/** The transfers between chains that this browser has started for the account; nothing where there are none. */
function Transfers({ account }: { account: `0x${string}` }) {
  const own = useStore(transfers).filter((transfer) => transfer.account === account)
  if (own.length === 0) return null
  return (
    <section className="card" aria-labelledby="transfers">
      <div className="card-head">
        <h2 id="transfers">Cross-chain transfers</h2>
        <span className="fine">Started in this browser</span>
      </div>
      <ul className="lines">
        {own.slice(0, SHOWN_TRANSFERS).map((transfer) => (
          <li key={transfer.hash}>
            <TransferLine transfer={transfer} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function TransferLine({ transfer }: { transfer: StartedTransfer }) {
  const { hash: txHash, srcChainId, account: userAddress, kind, vault, amount, from, startedAt } = transfer
  const { data: progress } = useQuery(query(getTransferStatus, useService(), { txHash, srcChainId, userAddress }))
  return (
    <Link className="line" href={transferPath(transfer)}>
      <span>
        <strong>{kind === 'deposit' ? `Deposit into ${vault.name}` : `Withdrawal from ${vault.name}`}</strong>
        <span className="fine">
          From {chainName(srcChainId)}, {formatTime(startedAt)}
        </span>
      </span>
      <span className="line-figures">
        <Amount units={amount} decimals={from.decimals} symbol={from.symbol} />
        {progress && (
          <span className={`chip ${progress.status === 'failed' ? 'bad' : 'good'}`}>{nameOf(progress)}</span>
        )}
      </span>
    </Link>
  )
}

/** How far a transfer is, in a word. That it has arrived does not say that it was deposited. */
function nameOf({ status, action, reason }: GetTransferStatusResponse): string {
  if (status === 'failed') {
    if (reason === 'refunded') return 'Refunded'
    return reason === 'destination_action_failed' ? 'Arrived, not deposited' : 'Failed'
  }
  if (status === 'completed') return action === 'deposit' ? 'Deposited' : 'Arrived'
  return status === 'bridging' ? 'On its way' : 'Sent'
}
