import { useQueryClient } from '@tanstack/react-query'
import { CallFailure, type Vault } from '@vaultline/client'
import type { FlowInputs, FlowState, Step } from '@vaultline/client/flow'
import type { AmountToken } from '@vaultline/client/messages'
import { useFlow } from '@vaultline/client/react'
import { type ReactNode, useEffect, useEffectEvent, useRef } from 'react'
import { useLocation } from 'wouter'
import { chainName } from '../chains.ts'
import { useAppContext } from '../context.ts'
import { forgetPendingTransaction, releaseUnderWay, storePendingTransaction } from '../pending-transactions.ts'
import { isTemporary } from '../problems.ts'
import { useBatchSender, useSender } from '../sender.ts'
import { createService } from '../service.ts'
import type { Token } from '../tokens.ts'
import { rememberTransfer, transferPath } from '../transfers.ts'
import { Amount } from './figures.tsx'
import { FlowProblem, FlowSteps, nameStep } from './flow-steps.tsx'
import { Skeleton } from './skeletons.tsx'
import { Terms } from './terms.tsx'

type Kind = 'deposit' | 'withdraw'

type FlowPanelProps<K extends Kind> = {
  readonly kind: K
  readonly input: FlowInputs[K]
  readonly vault: Vault
  readonly from: Token
  readonly to: Token
  /** Amount in the smallest unit of the token that is sent. */
  readonly amount: bigint
  /** Maximum amount that may go to another chain, in the smallest unit of the vault's asset; undefined without a limit. */
  readonly mostSent: bigint | undefined
  /** Called with true once a step has begun, so that the form locks its fields. */
  readonly onUnderWay: (isUnderWay: boolean) => void
  /** Called with true if the service refuses a deposit because the vault has changed since it was checked. */
  readonly onRefused: (isRefused: boolean) => void
  readonly onRestart: () => void
  /** Called when the transaction with the vault is mined. `isAsync` is true if the vault settles the request later. */
  readonly onSent: (isAsync: boolean) => void
}

/** Shows the terms of a deposit or withdrawal, then its steps, and one button that names the next step. */
export function FlowPanel<K extends Kind>(props: FlowPanelProps<K>) {
  const { kind, input, vault, from, to, amount, mostSent } = props
  const { config, service } = useAppContext()
  const queries = useQueryClient()
  const [, navigate] = useLocation()
  const single = useSender(input.userAddress)
  const batch = useBatchSender(input.userAddress, from.chainId)
  const { status, steps, current, prepared, error, next } = useFlow(
    mostSent === undefined ? service : createService(config, mostSent),
    kind,
    input,
  )
  const isOne = prepared !== undefined && prepared.approval.length + prepared.operations.length === 1
  // A single call is sent without a batch, because for batches some wallets offer to upgrade the account.
  const sender = isOne ? single : (batch ?? single)
  const hasBegun = steps.some((step) => step.status !== 'todo')
  const transfer = steps.find((step) => step.kind === 'transfer')
  const isSent = transfer?.status === 'done'
  // Once the vault has the request, the vault's page shows the wait for its settlement, also after a reload.
  const isWithVault = !transfer && steps.some((step) => step.kind === kind && step.status === 'done')

  const onUnderWay = useEffectEvent(props.onUnderWay)
  useEffect(() => onUnderWay(hasBegun), [hasBegun])

  // The service refused this input and would refuse it again, so the user must change it.
  const isRefusal = error !== undefined && 'status' in error && error.status >= 400
  const isFinal = !hasBegun && isRefusal && !isTemporary(new CallFailure(error))
  const isRefused = error?.code === 'vault_has_changed'
  const onRefused = useEffectEvent(props.onRefused)
  useEffect(() => {
    if (kind === 'deposit' && (prepared || error)) onRefused(isRefused)
  }, [kind, prepared, error, isRefused])

  const started = () => ({
    srcChainId: from.chainId,
    kind: kind === 'deposit' ? ('deposit' as const) : ('withdrawal' as const),
    vault: { chainId: vault.chainId, address: vault.poolAddress, name: vault.name },
    account: input.userAddress,
    amount: `${amount}`,
    ...{ from, to },
    startedAt: Date.now(),
    withdrawalHash: steps.find((step) => step.kind === 'withdraw')?.hash,
  })
  // The transfer is stored once it has a hash, because the user may reload the page before the transfer is mined.
  const remember = useEffectEvent((hash: `0x${string}`) => rememberTransfer({ ...started(), hash }))
  useEffect(() => {
    if (transfer?.hash) remember(transfer.hash)
  }, [transfer?.hash])

  const { hash, batchId, status: sentStatus } = transfer ?? steps.find((step) => step.kind === kind) ?? {}
  const keep = useEffectEvent((id: { readonly hash: `0x${string}` } | { readonly batchId: string }) =>
    storePendingTransaction({
      ...{ kind, chainId: from.chainId, account: input.userAddress, sentAt: Date.now() },
      vault: { chainId: vault.chainId, address: vault.poolAddress },
      transfer: transfer && started(),
      ...id,
    }),
  )
  const storedId = useRef<string>(undefined)
  useEffect(() => {
    const id = batchId ?? hash
    if (id && sentStatus === 'pending') {
      storedId.current = id
      if (batchId) keep({ batchId })
      else if (hash) keep({ hash })
    } else if (storedId.current) forgetPendingTransaction(storedId.current)
  }, [hash, batchId, sentStatus])
  // Once this form closes, the vault's page lists the form's unfinished transactions as pending.
  useEffect(() => releaseUnderWay, [])

  const leave = useEffectEvent(() => {
    void queries.invalidateQueries()
    if (transfer?.hash) navigate(transferPath({ srcChainId: from.chainId, hash: transfer.hash }))
    else props.onSent(prepared?.isAsync === true)
  })
  useEffect(() => {
    if (isSent || isWithVault) leave()
  }, [isSent, isWithVault])

  if (!prepared && !error) return <Preparing />
  return (
    <>
      {prepared && !hasBegun && <Terms {...{ prepared, kind, vault, from, to, amount }} />}
      {(hasBegun || steps.length > 1) && <FlowSteps steps={steps} toChainId={to.chainId} />}
      {error && <FlowProblem error={error} tokens={{ amount: from, shares: sharesOf(vault) }} />}
      {status === 'failed' && (
        <button type="button" className="button quiet" onClick={props.onRestart}>
          Start again
        </button>
      )}
      {!isFinal && (
        <button
          type="button"
          className="button wide primary"
          disabled={status !== 'ready' || error?.code === 'simulation_reverted'}
          onClick={() => void next(sender)}
        >
          {buttonText(
            { status, current, error },
            actsOf(sender === batch ? steps : [], current),
            <Amount units={amount} {...from} isExact />,
            to.chainId,
          )}
        </button>
      )}
    </>
  )
}

function sharesOf({ vaultState }: Vault): AmountToken | undefined {
  const { symbol, decimals } = vaultState ?? {}
  return symbol && typeof decimals === 'number' ? { symbol, decimals } : undefined
}

/** Shows a placeholder while the transactions are prepared. */
export function Preparing() {
  return (
    <div className="stack" role="status" aria-label="Preparing the transactions">
      <Skeleton width="100%" />
      <Skeleton width="80%" />
      <button type="button" className="button wide" disabled>
        Preparing …
      </button>
    </div>
  )
}

/** Returns the kinds of the steps that the button names: the current step or, for a batch, its first and last step. */
function actsOf(batched: readonly Step[], current: Step | undefined): readonly Step['kind'][] {
  const last = batched.findLast(({ status, chainId }) => status === 'todo' && chainId !== undefined)
  if (!current) return []
  return last && last !== current ? [current.kind, last.kind] : [current.kind]
}

function buttonText(
  { status, current, error }: Pick<FlowState, 'status' | 'current' | 'error'>,
  acts: readonly Step['kind'][],
  amount: ReactNode,
  toChainId: number,
): ReactNode {
  if (current?.status === 'confirming') return 'Confirm in your wallet …'
  if (current?.status === 'pending') return 'Waiting for the chain …'
  if (status === 'busy') return 'Preparing …'
  if (error && error.code !== 'simulation_reverted') return 'Try again'
  const [first, last] = acts
  if (!first) return 'Done'
  return (
    <span>
      {last ? `${nameStep(first)} and ${nameStep(last).toLowerCase()}` : nameStep(first)} {amount}
      {acts.at(-1) === 'transfer' && ` to ${chainName(toChainId)}`}
    </span>
  )
}
