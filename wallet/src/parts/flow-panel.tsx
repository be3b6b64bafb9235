import { useQueryClient } from '@tanstack/react-query'
import { CallFailure, type Vault } from '@vaultline/client'
import type { FlowInputs, FlowState } from '@vaultline/client/flow'
import type { AmountToken } from '@vaultline/client/messages'
import { useFlow } from '@vaultline/client/react'
import { type ReactNode, useEffect, useEffectEvent } from 'react'
import { useLocation } from 'wouter'
import { useSurroundings } from '../context.ts'
import { mayPass } from '../problems.ts'
import { useSender } from '../sender.ts'
import { createService } from '../service.ts'
import type { Token } from '../tokens.ts'
import { rememberTransfer, transferPath } from '../transfers.ts'
import { forgetUnderWay, rememberUnderWay } from '../under-way.ts'
import { Amount } from './figures.tsx'
import { actOf, FlowProblem, FlowSteps } from './flow-steps.tsx'
import { Skeleton } from './skeletons.tsx'
import { Terms } from './terms.tsx'

type Kind = 'deposit' | 'withdraw'

type FlowPanelProps<K extends Kind> = {
  readonly kind: K
  readonly input: FlowInputs[K]
  readonly vault: Vault
  /** What is sent, and what arrives. */
  readonly from: Token
  readonly to: Token
  /** In the smallest unit of what is sent. */
  readonly amount: bigint
  /** The most that may go to another chain, where neither the input nor the vault says it. */
  readonly mostSent: bigint | undefined
  /** Told while something is signed or on its way, so that nothing is edited meanwhile. */
  readonly onUnderWay: (isUnderWay: boolean) => void
  /** Told whether it is refused because the vault has changed. */
  readonly onRefused: (isRefused: boolean) => void
  /** Begins anew after a failure that is final. */
  readonly onRestart: () => void
  /** Told when the vault has it, and whether it waits there. */
  readonly onSent: (isAsync: boolean) => void
}

/** What will happen, in words, then the steps, and one button that names the next one. */
export function FlowPanel<K extends Kind>(props: FlowPanelProps<K>) {
  const { kind, input, vault, from, to, amount, mostSent } = props
  const { config, service } = useSurroundings()
  const queries = useQueryClient()
  const [, navigate] = useLocation()
  const sender = useSender(input.userAddress)
  const { status, steps, current, prepared, error, next } = useFlow(
    mostSent === undefined ? service : createService(config, mostSent),
    kind,
    input,
  )
  const hasBegun = steps.some((step) => step.status !== 'todo')
  const transfer = steps.find((step) => step.kind === 'transfer')
  const isSent = transfer?.status === 'done'
  // What is left waits for the vault: the page follows it, also after a reload.
  const isWithVault = !transfer && steps.some((step) => step.kind === kind && step.status === 'done')

  const onUnderWay = useEffectEvent(props.onUnderWay)
  useEffect(() => onUnderWay(hasBegun), [hasBegun])

  // The same again would be refused again: something else has to be typed.
  const isRefusal = error !== undefined && 'status' in error && error.status >= 400
  const isFinal = !hasBegun && isRefusal && !mayPass(new CallFailure(error))
  const isRefused = error?.code === 'vault_has_changed'
  const onRefused = useEffectEvent(props.onRefused)
  useEffect(() => {
    if (kind === 'deposit' && (prepared || error)) onRefused(isRefused)
  }, [kind, prepared, error, isRefused])

  // As soon as it has a hash: it may be mined after a reload.
  const remember = useEffectEvent((hash: `0x${string}`) =>
    rememberTransfer({
      hash,
      srcChainId: from.chainId,
      kind: kind === 'deposit' ? 'deposit' : 'withdrawal',
      vault: { chainId: vault.chainId, address: vault.poolAddress, name: vault.name },
      account: input.userAddress,
      amount: `${amount}`,
      ...{ from, to },
      startedAt: Date.now(),
    }),
  )
  useEffect(() => {
    if (transfer?.hash) remember(transfer.hash)
  }, [transfer?.hash])

  const operation = transfer ? undefined : steps.find((step) => step.kind === kind)
  const keep = useEffectEvent((hash: `0x${string}`) => {
    const { poolAddress: vaultAddress, chainId } = vault
    rememberUnderWay({ hash, chainId, kind, vaultAddress, account: input.userAddress })
  })
  useEffect(() => {
    if (!operation?.hash) return
    if (operation.status === 'pending') keep(operation.hash)
    else forgetUnderWay(operation.hash)
  }, [operation?.hash, operation?.status])

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
      {(hasBegun || steps.length > 1) && <FlowSteps steps={steps} />}
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
          {buttonText({ status, current, error }, <Amount units={amount} {...from} />)}
        </button>
      )}
    </>
  )
}

/** How the shares of a vault are counted; undefined while that is not known. */
function sharesOf({ vaultState }: Vault): AmountToken | undefined {
  const { symbol, decimals } = vaultState ?? {}
  return symbol && typeof decimals === 'number' ? { symbol, decimals } : undefined
}

/** What stands there until the transactions are prepared. */
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

function buttonText(
  { status, current, error }: Pick<FlowState, 'status' | 'current' | 'error'>,
  amount: ReactNode,
): ReactNode {
  if (current?.status === 'confirming') return 'Confirm in your wallet …'
  if (current?.status === 'pending') return 'Waiting for the chain …'
  if (status === 'busy') return 'Preparing …'
  if (error && error.code !== 'simulation_reverted') return 'Try again'
  if (!current) return 'Done'
  return (
    <span>
      {actOf(current.kind)} {amount}
    </span>
  )
}
