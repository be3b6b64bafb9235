import type { Deposit, GetTransferStatusResponse, TransferEvent, Withdrawal } from '@vaultline/client'
import { formatClock, formatDateTime, formatDayName } from './format.ts'
import type { StartedTransfer } from './portfolio.ts'
import { STATUS_TEXTS } from './statuses.ts'

type Hash = `0x${string}`
type Status = Deposit['status']
type Sum = { readonly units: string | bigint; readonly symbol: string; readonly decimals: number }

/** Step of a deposit, a withdrawal or a transfer between chains, as the timeline shows it. */
export type TimelineStep = {
  readonly text: string
  readonly state: 'done' | 'now' | 'todo' | 'failed'
  readonly chainId: number
  readonly at?: string | undefined
  readonly hash?: Hash | undefined
  readonly amount?: Sum | undefined
  readonly notes?: readonly string[]
}

/** Deposit or withdrawal in the timeline, with its steps and its transfer between chains. */
export type TimelineEntry = {
  readonly id: string
  readonly kind: 'deposit' | 'withdrawal'
  readonly vault: { readonly chainId: number; readonly address: Hash; readonly name: string }
  /**
   * Chain on which the user pays or is paid. It is the vault's chain, unless a transfer between chains brings or takes
   * the money.
   */
  readonly otherChainId: number
  readonly status: Status
  readonly state: { readonly text: string; readonly tone: string } | undefined
  readonly symbol: string
  readonly decimals: number
  /** Amount in the asset's smallest unit; null while a withdrawal's payment is unknown. */
  readonly assets: bigint | null
  /** Estimated payment of a withdrawal at the present share price, rounded down as vaults do; null for deposits. */
  readonly estimate: bigint | null
  readonly shares: { readonly units: string; readonly decimals: number } | undefined
  readonly timestamp: string
  readonly steps: readonly TimelineStep[]
  readonly transfer: StartedTransfer | undefined
}

/** Transfer between chains that this browser started. `progress` is the latest status response; undefined while unknown. */
export type FollowedTransfer = {
  readonly started: StartedTransfer
  readonly progress: GetTransferStatusResponse | undefined
}

type Loaded<Item> = { readonly items: readonly Item[]; readonly hasMore: boolean }

/** Time and transaction of each step that webhook events reported for one deposit or withdrawal. */
export type ReportedSteps = Partial<
  Record<'claimable' | 'completed' | 'cancelled', { at: string; hash: Hash | undefined }>
>

/** Data from which the timeline of deposits and withdrawals is built. */
export type Sources = {
  readonly deposits: Loaded<Deposit>
  readonly withdrawals: Loaded<Withdrawal>
  readonly transfers: readonly FollowedTransfer[]
  /** Reported steps by the id of the deposit or withdrawal. */
  readonly reported: ReadonlyMap<string, ReportedSteps>
}

/**
 * Builds the timeline, newest first. Each deposit and withdrawal appears once, together with its transfer. While older
 * deposits or withdrawals are not loaded yet, the timeline ends at the oldest loaded one. Open deposits and withdrawals
 * are never cut off.
 */
export function listTimelineEntries({ deposits, withdrawals, transfers, reported }: Sources): readonly TimelineEntry[] {
  const start = [deposits, withdrawals]
    .filter(({ hasMore }) => hasMore)
    .map(({ items }) => items.at(-1)?.timestamp ?? '')
    .reduce((latest, time) => (time > latest ? time : latest), '')
  const left = new Set(transfers)
  const take = (belongs: (transfer: FollowedTransfer) => boolean) => {
    const transfer = [...left].find(belongs)
    if (transfer) left.delete(transfer)
    return transfer
  }
  const entries = [
    ...deposits.items.map((deposit) =>
      describeDeposit(
        deposit,
        take((transfer) => isOfDeposit(transfer, deposit)),
        reported.get(deposit.depositId),
      ),
    ),
    ...withdrawals.items.map((withdrawal) =>
      describeWithdrawal(
        withdrawal,
        take((transfer) => isOfWithdrawal(transfer, withdrawal)),
        reported.get(withdrawal.withdrawalId),
      ),
    ),
    ...[...left].filter((transfer) => !isListedElsewhere(transfer)).map(describeTransfer),
  ]
  return [...new Map(entries.map((entry) => [entry.id, entry])).values()]
    .filter((entry) => isOpenEntry(entry) || entry.timestamp >= start)
    .toSorted((one, other) => compare(other.timestamp, one.timestamp) || compare(one.id, other.id))
}

/** Returns true if the deposit or withdrawal is waiting or can be claimed. */
export function isOpenEntry({ status }: TimelineEntry): boolean {
  return status === 'pending' || status === 'claimable'
}

/** Groups deposits, withdrawals and transfers by day in the reader's time zone. The order stays the same. */
export function groupByDay(entries: readonly TimelineEntry[], now: number) {
  const days = new Map<string, TimelineEntry[]>()
  for (const entry of entries) {
    const day = formatDayName(entry.timestamp, now)
    days.set(day, [...(days.get(day) ?? []), entry])
  }
  return [...days].map(([day, ofDay]) => ({ day, entries: ofDay }))
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}

/**
 * Returns true if this transfer brought the tokens of this deposit. The deposit's source transaction is then the
 * transfer's transaction. While the source is unknown, the transaction in which the transfer arrived must be the
 * deposit's transaction.
 */
function isOfDeposit({ started, progress }: FollowedTransfer, deposit: Deposit): boolean {
  if (started.kind !== 'deposit' || started.account !== deposit.userAddress) return false
  if (deposit.source) return deposit.source.transactionHash === started.hash
  return isSameVault(started, deposit) && progress?.transactions.fill === deposit.transactionHash
}

function isOfWithdrawal({ started }: FollowedTransfer, withdrawal: Withdrawal): boolean {
  return (
    started.kind === 'withdrawal' &&
    started.withdrawalHash === withdrawal.transactionHash &&
    isSameVault(started, withdrawal)
  )
}

function isSameVault({ vault }: StartedTransfer, { chainId, vaultAddress }: Deposit | Withdrawal): boolean {
  return vault.chainId === chainId && vault.address === vaultAddress
}

/**
 * Returns true for a transfer that no page follows any more (`isClosed`) and that has no status response. Such a transfer gets no entry,
 * because its deposit or withdrawal is already listed.
 */
function isListedElsewhere({ started, progress }: FollowedTransfer): boolean {
  return started.isClosed === true && !progress
}

function describeDeposit(
  deposit: Deposit,
  transfer: FollowedTransfer | undefined,
  reported: ReportedSteps = {},
): TimelineEntry {
  const { depositId, chainId, amounts, vault, epochId, timestamp: at, transactionHash: hash, source, status } = deposit
  const isInstant = epochId === 0
  const first: TimelineStep = { text: isInstant ? 'Deposited' : 'Requested', state: 'done', chainId, at, hash }
  const arrival: readonly TimelineStep[] = source
    ? [
        { text: 'Sent', state: 'done', chainId: source.chainId, hash: source.transactionHash },
        { text: 'Arrived', state: 'done', chainId, at, hash },
      ]
    : []
  const journey = transfer?.progress
    ? stepsOfEvents(transfer.progress).filter(({ text }) => text !== EVENTS.vault_deposited)
    : arrival
  const shares = BigInt(amounts.currentShares) + BigInt(amounts.claimableShares)
  return {
    ...placeOf(deposit),
    id: transfer?.started.hash ?? source?.transactionHash ?? depositId,
    kind: 'deposit',
    otherChainId: source?.chainId ?? transfer?.started.srcChainId ?? chainId,
    status,
    state: stateOf(status),
    assets: BigInt(amounts.depositedAssets),
    estimate: null,
    shares: shares > 0n ? { units: `${shares}`, decimals: vault.shareDecimals } : undefined,
    steps: [...journey, first, ...(isInstant ? [] : stepsOfRequest({ chainId, status, reported, last: 'Claimed' }))],
    transfer: transfer?.started,
  }
}

function describeWithdrawal(
  withdrawal: Withdrawal,
  transfer: FollowedTransfer | undefined,
  reported: ReportedSteps = {},
): TimelineEntry {
  const { withdrawalId, chainId, shares, vault, epochId, timestamp: at, transactionHash: hash } = withdrawal
  const { assets, claimTransactionHash, status } = withdrawal
  const isInstant = claimTransactionHash === hash
  const first: TimelineStep = { text: isInstant ? 'Withdrawn' : 'Requested', state: 'done', chainId, at, hash }
  const completed = claimTransactionHash ? { at: undefined, hash: claimTransactionHash } : undefined
  const claims = { ...(completed && { completed }), ...reported }
  const settled = epochId === 0 ? 'Cooldown over' : 'Settled'
  const rest = isInstant ? [] : stepsOfRequest({ chainId, status, reported: claims, last: 'Paid', settled })
  const onward = transfer && !isListedElsewhere(transfer) ? describeTransfer(transfer) : undefined
  return {
    ...placeOf(withdrawal),
    id: withdrawalId,
    kind: 'withdrawal',
    otherChainId: onward?.otherChainId ?? chainId,
    ...(onward && status === 'completed'
      ? { status: onward.status, state: onward.state }
      : { status, state: stateOf(status) }),
    assets: assets === null ? null : BigInt(assets),
    estimate: estimateOf(BigInt(shares), BigInt(vault.sharePrice), vault.shareDecimals),
    shares: { units: shares, decimals: vault.shareDecimals },
    steps: [...[first, ...rest], ...(onward?.steps ?? [])],
    transfer: transfer?.started,
  }
}

/** Estimates the value of shares in the asset. Vaults round in their own favour, so one unit is subtracted. */
function estimateOf(shares: bigint, price: bigint, shareDecimals: number): bigint {
  const worth = (shares * price) / 10n ** BigInt(shareDecimals)
  return worth > 0n ? worth - 1n : 0n
}

function describeTransfer({ started, progress }: FollowedTransfer): TimelineEntry {
  const { hash, kind, vault, amount, from, to, srcChainId, startedAt } = started
  const { output } = progress ?? {}
  const arrives = kind === 'deposit' && output ? { units: output.amount, ...to } : { units: amount, ...from }
  return {
    id: hash,
    kind,
    vault,
    otherChainId: kind === 'deposit' ? srcChainId : (progress?.dstChain?.id ?? srcChainId),
    status: statusOf(progress),
    state: stateOfTransfer(progress),
    symbol: arrives.symbol,
    decimals: arrives.decimals,
    assets: BigInt(arrives.units),
    estimate: null,
    shares: undefined,
    timestamp: progress?.timestamps.initiated ?? new Date(startedAt).toISOString(),
    steps: stepsOfTransfer(progress, { srcChainId, hash, now: Date.now() }),
    transfer: started,
  }
}

function placeOf({ vaultAddress: address, vaultName: name, chainId, vault, timestamp }: Deposit | Withdrawal) {
  return { vault: { chainId, address, name }, symbol: vault.assetSymbol, decimals: vault.assetDecimals, timestamp }
}

function stateOf(status: Status): TimelineEntry['state'] {
  return status === 'completed' ? undefined : STATUS_TEXTS[status]
}

/** Returns the status by which the user filters; a transfer that failed for good counts as cancelled. */
function statusOf(progress: GetTransferStatusResponse | undefined): Status {
  if (!progress?.terminal) return 'pending'
  return progress.status === 'failed' ? 'cancelled' : 'completed'
}

/** Returns the label of a transfer's state. Tokens can arrive without a deposit, because the vault may refuse the deposit. */
function stateOfTransfer(progress: GetTransferStatusResponse | undefined): TimelineEntry['state'] {
  const { status, reason, terminal } = progress ?? {}
  if (status === 'completed') return undefined
  if (status === 'bridging' && terminal) return { text: 'No longer followed', tone: 'warn' }
  if (status === 'failed') {
    if (reason === 'refunded') return { text: 'Refunded', tone: 'bad' }
    if (reason === 'expired') return { text: 'Being refunded', tone: 'warn' }
    return { text: reason === 'destination_action_failed' ? 'Arrived, not deposited' : 'Failed', tone: 'bad' }
  }
  return { text: status === 'pending' ? 'Sent' : status ? 'On its way' : 'Checking', tone: 'warn' }
}

type Request = {
  readonly chainId: number
  readonly status: Status
  readonly reported: Partial<Record<keyof ReportedSteps, { at: string | undefined; hash: Hash | undefined }>>
  readonly last: 'Claimed' | 'Paid'
  readonly settled?: string
}

function stepsOfRequest({ chainId, status, reported, last, settled = 'Settled' }: Request): readonly TimelineStep[] {
  const wait: TimelineStep = { text: 'Waiting for the vault', state: 'now', chainId }
  const ready: TimelineStep = { text: settled, state: 'done', chainId, ...reported.claimable }
  const paidInPart: TimelineStep = { text: `${last} in part`, state: 'done', chainId, ...reported.completed }
  const part = reported.completed ? [paidInPart] : []
  switch (status) {
    case 'pending':
      return [...part, wait, { text: 'Claim', state: 'todo', chainId }]
    case 'claimable':
      return [ready, ...part, { text: 'Ready to claim', state: 'now', chainId }]
    case 'completed':
      return [ready, { text: last, state: 'done', chainId, ...reported.completed }]
    case 'cancelled':
      return [{ text: 'Cancelled', state: 'done', chainId, ...reported.cancelled }]
  }
}

const EVENTS: Readonly<Record<TransferEvent['kind'], string>> = {
  deposited: 'Sent',
  slow_fill_requested: 'Slow fill requested',
  sped_up: 'Terms changed by you',
  filled: 'Arrived',
  delivered: 'Received',
  undelivered: 'Not delivered',
  vault_deposited: 'Deposited',
  action_failed: 'Vault deposit failed',
  refund_owed: 'Refund owed',
  refunded: 'Refunded',
}
const FAILURES: readonly TransferEvent['kind'][] = ['undelivered', 'action_failed', 'refund_owed']

function stepsOfEvents(transfer: GetTransferStatusResponse): readonly TimelineStep[] {
  const { events, srcChain, input, output } = transfer
  const arrivals = new Set(events.flatMap(({ kind, txHash }) => (kind === 'filled' ? [txHash] : [])))
  return (
    events
      // Two events of the same transaction are shown as one step: the tokens arrive (`filled`) and are delivered
      // (`delivered`).
      .filter(({ kind, txHash }) => kind !== 'delivered' || !arrivals.has(txHash))
      .map(({ kind, chainId, txHash: hash, at, amount, token }) => {
        const asset = chainId === srcChain.id ? input : output
        return {
          text: EVENTS[kind],
          state: FAILURES.includes(kind) ? 'failed' : 'done',
          ...{ chainId, hash, at },
          amount: asset?.token === token ? sumOf(asset, amount) : undefined,
        }
      })
  )
}

function sumOf(asset: GetTransferStatusResponse['output'] | undefined, units: string | null = null): Sum | undefined {
  if (!asset?.symbol || asset.decimals === null || !units) return undefined
  return { units, symbol: asset.symbol, decimals: asset.decimals }
}

type Sent = { readonly srcChainId: number; readonly hash: Hash; readonly now: number }

/** Lists the steps of a transfer: past steps that the transfer's events prove, the present step, and future steps. */
export function stepsOfTransfer(
  transfer: GetTransferStatusResponse | undefined,
  { srcChainId, hash, now }: Sent,
): readonly TimelineStep[] {
  const { status = 'pending', action, terminal, timestamps, refund, dstChain, output } = transfer ?? {}
  const done = transfer ? stepsOfEvents(transfer) : []
  if (done.length === 0) {
    const text = terminal ? 'Transaction' : 'Sending'
    return [{ text, state: terminal ? 'failed' : 'now', chainId: srcChainId, hash }]
  }
  if (terminal || refund?.claim) return done
  if (status !== 'bridging') return [...done, { text: 'Refunding', state: 'now', chainId: srcChainId }]
  const chainId = dstChain?.id ?? srcChainId
  if (timestamps?.bridged) {
    return [...done, { text: action === 'deposit' ? 'Depositing' : 'Arriving', state: 'now', chainId }]
  }
  const { expectedAt, deadline } = transfer ?? {}
  const notes = [
    ...(expectedAt && Date.parse(expectedAt) > now ? [`Expected at about ${formatClock(expectedAt)}`] : []),
    ...(deadline ? [`Refunded if not filled before ${formatDateTime(deadline)}`] : []),
  ]
  const arriving: TimelineStep = {
    text: 'Arriving',
    state: 'now',
    chainId,
    amount: sumOf(output, output?.amount),
    notes,
  }
  return [...done, arriving, ...(action === 'deposit' ? [{ text: 'Deposit', state: 'todo', chainId } as const] : [])]
}
