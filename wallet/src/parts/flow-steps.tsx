import { CallFailure } from '@vaultline/client'
import type { FlowError, FlowState, Step } from '@vaultline/client/flow'
import type { AmountTokens } from '@vaultline/client/messages'
import { STEP_STATES } from '@vaultline/client/react'
import { chainName } from '../chains.ts'
import { ProblemNotice } from './notices.tsx'
import { Hash } from './tokens.tsx'

const ACTS: Readonly<Record<Step['kind'], string>> = {
  approve: 'Approve',
  deposit: 'Deposit',
  withdraw: 'Withdraw',
  claim: 'Claim',
  cancel: 'Cancel request',
  rewards: 'Claim rewards',
  transfer: 'Send',
  settle: 'Wait for settlement',
  arrive: 'Wait for arrival',
}

/** Returns the name of a step, for a button or a list. */
export function nameStep(kind: Step['kind']): string {
  return ACTS[kind]
}

const CLASSES: Readonly<Record<Step['status'], string>> = {
  todo: 'todo',
  confirming: 'now',
  pending: 'now',
  done: 'done',
  failed: 'failed',
}

type FlowStepsProps = Pick<FlowState, 'steps'> & {
  readonly toChainId?: number
}

/** Lists the steps of a flow in order. Screen readers announce each change. */
export function FlowSteps({ steps, toChainId }: FlowStepsProps) {
  return (
    <ol className="timeline" aria-live="polite">
      {steps.map(({ kind, status, hash, chainId }, index) => (
        <li key={index} className={CLASSES[status]} aria-current={CLASSES[status] === 'now' ? 'step' : undefined}>
          <span>
            {nameStep(kind)}
            {kind === 'transfer' && toChainId !== undefined && ` to ${chainName(toChainId)}`}
            {chainId !== undefined && <span className="fine"> on {chainName(chainId)}</span>}
          </span>
          {STEP_STATES[status] && <span className="fine">{STEP_STATES[status]}</span>}
          {hash && <Hash value={hash} chainId={chainId} />}
        </li>
      ))}
    </ol>
  )
}

/** Explains the error that stopped a flow. With `tokens`, the text names the smallest or largest valid amount if the error has one. */
export function FlowProblem({ error, tokens }: { error: FlowError; tokens?: AmountTokens }) {
  switch (error.code) {
    case 'wallet':
      return <ProblemNotice error={error.cause ?? new Error(error.message)} />
    case 'simulation_reverted':
      return <ProblemNotice error={new Error(`This would fail now, so it is not sent: ${error.message}`)} />
    case 'unverified':
      return (
        <ProblemNotice
          error={
            new Error(
              `The service’s response does not fit your request, so it was not sent to your wallet. ${error.message}`,
            )
          }
          requestId={error.requestId}
        />
      )
    case 'transaction_reverted':
    case 'quote_expired':
    case 'terms_changed':
    case 'transfer_failed':
      return <ProblemNotice error={new Error(error.message)} />
    default:
      return <ProblemNotice error={new CallFailure(error)} tokens={tokens} />
  }
}
