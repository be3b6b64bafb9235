import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type EstimatedSettlement, getDepositStatus, getWithdrawalStatus, type Vault } from '@vaultline/client'
import type { FlowInputs } from '@vaultline/client/flow'
import { query } from '@vaultline/client/query'
import { useFlow } from '@vaultline/client/react'
import { useEffect, useEffectEvent, useState } from 'react'
import { useService } from '../context.ts'
import { isNotApplicable } from '../problems.ts'
import { describeRequest, type OpenRequestStatus } from '../request-text.ts'
import { useSender } from '../sender.ts'
import { FactRow } from './facts.tsx'
import { Amount } from './figures.tsx'
import { FlowProblem, FlowSteps } from './flow-steps.tsx'
import { ProblemNotice } from './notices.tsx'

const REFETCH_MS = 15_000

type Place = { readonly vaultAddress: `0x${string}`; readonly userAddress: `0x${string}`; readonly chainId: number }

/** Shows an account's requests in a vault: waiting, claimable, or cancelled and ready to be claimed back. */
export function Requests({ vault, account }: { vault: Vault; account: `0x${string}` }) {
  const service = useService()
  const place: Place = { vaultAddress: vault.poolAddress, userAddress: account, chainId: vault.chainId }
  // `query` stops polling a claimable request. But another page or wallet may claim the request, so its status is fetched regularly.
  const again = { refetchInterval: REFETCH_MS }
  const deposit = useQuery({ ...query(getDepositStatus, service, place), ...again })
  const withdrawal = useQuery({ ...query(getWithdrawalStatus, service, place), ...again })
  const { asset } = vault
  const shares = sharesOf(vault)
  return (
    <>
      {deposit.error && !isNotApplicable(deposit.error) && (
        <ProblemNotice error={deposit.error} onRetry={() => void deposit.refetch()} />
      )}
      {deposit.data && isOpenStatus(deposit.data.status) && (
        <Request
          kind="deposit"
          status={deposit.data.status}
          place={place}
          vault={vault}
          estimate={deposit.data.estimatedSettlement}
        >
          <Part name="In the vault’s queue" units={deposit.data.amounts.pendingDeposit} {...asset} />
          <Part name="Shares ready to claim" units={deposit.data.amounts.claimableShares} {...shares} />
          <Part name="Ready to claim back" units={deposit.data.amounts.cancelledDeposit} {...asset} />
        </Request>
      )}
      {withdrawal.error && !isNotApplicable(withdrawal.error) && (
        <ProblemNotice error={withdrawal.error} onRetry={() => void withdrawal.refetch()} />
      )}
      {withdrawal.data && isOpenStatus(withdrawal.data.status) && (
        <Request
          kind="withdrawal"
          status={withdrawal.data.status}
          place={place}
          vault={vault}
          estimate={withdrawal.data.estimatedSettlement}
          claimableAt={withdrawal.data.claimableAt}
        >
          {withdrawal.data.amounts.pendingAssets === null ? (
            <Part name="Shares in the vault’s queue" units={withdrawal.data.amounts.pendingRedeemShares} {...shares} />
          ) : (
            <Part name="In the cooldown" units={withdrawal.data.amounts.pendingAssets} {...asset} />
          )}
          <Part name="Ready to claim" units={withdrawal.data.amounts.claimableAssets} {...asset} />
          <Part name="Shares ready to claim back" units={withdrawal.data.amounts.cancelledRedeemShares} {...shares} />
        </Request>
      )}
    </>
  )
}

/** Returns true if a request with this status waits, can be claimed, or can be claimed back. */
export function isOpenStatus(status: string): status is OpenRequestStatus {
  return status === 'pending' || status === 'claimable' || status === 'cancelled'
}

function Part({ name, units, decimals, symbol }: { name: string; units: string; decimals: number; symbol: string }) {
  if (units === '0') return null
  return (
    <FactRow name={name}>
      <Amount units={units} decimals={decimals} symbol={symbol} />
    </FactRow>
  )
}

function sharesOf({ shareDecimals }: Vault) {
  return { decimals: shareDecimals, symbol: 'shares' }
}

const TITLES = { deposit: 'Your deposit', withdrawal: 'Your withdrawal' } as const

type RequestProps = {
  readonly kind: 'deposit' | 'withdrawal'
  readonly status: OpenRequestStatus
  readonly place: Place
  readonly vault: Vault
  readonly estimate: EstimatedSettlement | null
  /** Time at which the withdrawal's cooldown ends; null if the withdrawal waits for a settlement. */
  readonly claimableAt?: string | null
  readonly children: React.ReactNode
}

function Request({ kind, status, place, vault, estimate, claimableAt = null, children }: RequestProps) {
  const [isCancelling, setCancelling] = useState(false)
  const input = { ...place, kind }
  const begins = isCancelling || status === 'cancelled' ? 'cancel' : status === 'claimable' ? 'claim' : undefined
  return (
    <section className="card request" aria-label={TITLES[kind]}>
      <div className="card-head">
        <h2>{TITLES[kind]}</h2>
        <span className={`chip ${status === 'claimable' ? 'good' : 'warn'}`}>
          {{ pending: 'Waiting', claimable: 'Ready to claim', cancelled: 'Cancelled' }[status]}
        </span>
      </div>
      <p role="status">{describeRequest({ status, estimate, claimableAt })}</p>
      <dl className="facts">{children}</dl>
      {begins && (
        <RequestFlow
          key={begins}
          begins={begins}
          act={begins === 'claim' ? 'Claim' : status === 'cancelled' ? 'Claim back' : 'Cancel request'}
          input={input}
          vault={vault}
          onLeave={() => setCancelling(false)}
        />
      )}
      {!begins && claimableAt === null && (
        <button type="button" className="button quiet" onClick={() => setCancelling(true)}>
          Cancel request
        </button>
      )}
    </section>
  )
}

type RequestFlowProps = {
  readonly begins: 'claim' | 'cancel'
  readonly act: string
  readonly input: FlowInputs['cancel']
  readonly vault: Vault
  readonly onLeave: () => void
}

function RequestFlow({ begins, act, input, vault, onLeave }: RequestFlowProps) {
  const queries = useQueryClient()
  const sender = useSender(input.userAddress)
  const { status, steps, current, prepared, error, next } = useFlow(useService(), begins, input)
  const isSent = steps.some((step) => step.kind === begins && step.status === 'done')
  const leave = useEffectEvent(() => {
    void queries.invalidateQueries()
    onLeave()
  })
  useEffect(() => {
    if (isSent) leave()
  }, [isSent])
  const hasBegun = steps.some((step) => step.status !== 'todo')
  return (
    <>
      {hasBegun && <FlowSteps steps={steps} />}
      {begins === 'cancel' && !hasBegun && prepared && 'cancelled' in prepared && (
        <p role="status">
          The vault returns your{' '}
          {'assets' in prepared.cancelled ? (
            <Amount units={prepared.cancelled.assets} {...vault.asset} />
          ) : (
            <Amount units={prepared.cancelled.shares} {...sharesOf(vault)} />
          )}
          {prepared.isAsync
            ? '. This can take until the next settlement. Then you can claim it back here.'
            : ' to your wallet.'}
        </p>
      )}
      {error && <FlowProblem error={error} />}
      <div className="row">
        <button
          type="button"
          className="button primary"
          disabled={status !== 'ready'}
          onClick={() => void next(sender)}
        >
          {current?.status === 'confirming' && 'Confirm in your wallet …'}
          {current?.status === 'pending' && 'Waiting for the chain …'}
          {(!current || current.status === 'todo' || current.status === 'failed' || current.status === 'done') &&
            (status === 'busy' ? 'Preparing …' : error ? 'Try again' : act)}
        </button>
        {begins === 'cancel' && !hasBegun && (
          <button type="button" className="button quiet" onClick={onLeave}>
            Keep request
          </button>
        )}
      </div>
    </>
  )
}
