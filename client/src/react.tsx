'use client'

import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState, useSyncExternalStore } from 'react'
import { type AmountToken, formatAmount, parseAmount } from './amounts.ts'
import type { Address, TransactionHash, Vault } from './api.ts'
import {
  createFlow,
  type Flow,
  type FlowError,
  type FlowInputs,
  type FlowState,
  type Sender,
  type Step,
} from './flow.ts'
import { type AmountTokens, messageForUser } from './messages.ts'
import type { Client } from './operation.ts'

/**
 * Begins a flow and returns its state. `deposit`, `withdraw`, `claim`, `cancel` and `rewards` prepare transactions. `settle` and `arrive`
 * wait for the result of a transaction that was sent earlier. A change of client, kind or input begins a new flow. An unmounted flow sends
 * no requests.
 */
export function useFlow<Kind extends keyof FlowInputs>(
  client: Client,
  kind: Kind,
  input: FlowInputs[Kind],
): FlowState & Pick<Flow, 'next'> {
  const key = JSON.stringify([client.url, client.key, kind, input])
  const [current, hold] = useState(() => ({ key, flow: createFlow(client, kind, input) }))
  if (current.key !== key) hold({ key, flow: createFlow(client, kind, input) })
  const { subscribe, getState, next } = current.flow
  return { ...useSyncExternalStore(subscribe, getState, getState), next }
}

/** Runs a deposit, from the approval until the user has the shares. With `srcChainId` and `srcToken` the tokens come from another chain. */
export function useDeposit(client: Client, input: FlowInputs['deposit']) {
  return useFlow(client, 'deposit', input)
}

/** Runs a withdrawal, from the vault until the user has the tokens. With `dstChainId` and `dstToken` the tokens go to another chain. */
export function useWithdrawal(client: Client, input: FlowInputs['withdraw']) {
  return useFlow(client, 'withdraw', input)
}

/** Claims rewards on one chain: all that are claimable now, or only those in the given `tokens`. */
export function useRewardsClaim(client: Client, input: FlowInputs['rewards']) {
  return useFlow(client, 'rewards', input)
}

/** Waits for a transfer between chains until it ends. `txHash` is its source transaction. */
export function useTransfer(client: Client, input: FlowInputs['arrive']) {
  return useFlow(client, 'arrive', input)
}

/** Properties of the components `Deposit` and `Withdrawal`. */
export type DepositProps = {
  readonly client: Client
  readonly sender: Sender
  /** Vault as `listVaults` or `getVault` returns it. */
  readonly vault: Vault
  readonly account: Address
  /** Amount in the smallest unit of the vault's token, or `max` for a whole withdrawal. If undefined, the user types an amount. */
  readonly amount?: string | undefined
  readonly className?: string | undefined
  /** Returns the URL of a transaction's page in a block explorer. */
  readonly transactionUrl?: ((hash: TransactionHash, chainId: number) => string) | undefined
  readonly onDone?: (() => void) | undefined
}

/**
 * Renders a whole deposit: the amount, the terms, the steps, and one button that names the next step. The component has no styles. Style
 * sheets can select its elements by the attribute `data-vaultline`.
 */
export function Deposit(props: DepositProps) {
  return <AmountThenFlow key={placeOf(props)} kind="deposit" {...props} />
}

/** Renders a whole withdrawal: the amount, the terms, the steps, and one button that names the next step. */
export function Withdrawal(props: DepositProps) {
  return <AmountThenFlow key={placeOf(props)} kind="withdraw" {...props} />
}

/** Returns a React key for the form, so that another vault or account begins with an empty form. */
function placeOf({ vault, account }: DepositProps): string {
  return `${vault.chainId} ${vault.poolAddress} ${account}`
}

type Kind = 'deposit' | 'withdraw'
type KindProps = DepositProps & { readonly kind: Kind }

function AmountThenFlow(props: KindProps) {
  const { kind, client, vault, className } = props
  const [typed, setTyped] = useState<string>()
  const [attempt, setAttempt] = useState(0)
  const amount = props.amount ?? typed
  const restart = () => {
    setTyped(undefined)
    setAttempt(attempt + 1)
  }
  return (
    <section className={className} aria-label={LABELS[kind]} data-vaultline={kind}>
      {amount !== undefined && !isAmount(amount, kind) ? (
        <p role="alert" data-vaultline="error">
          The amount of this {LABELS[kind].toLowerCase()} must be a whole number above zero, in the smallest unit of{' '}
          {vault.asset.symbol}
          {kind === 'withdraw' ? ', or max' : ''}.
        </p>
      ) : amount === undefined ? (
        <AmountForm key={attempt} kind={kind} token={vault.asset} isFocused={attempt > 0} onAmount={setTyped} />
      ) : (
        <FlowParts
          key={JSON.stringify([attempt, client.url, client.key, amount])}
          {...props}
          amount={amount}
          isTyped={props.amount === undefined}
          onRestart={restart}
        />
      )}
    </section>
  )
}

function isAmount(amount: string, kind: Kind): boolean {
  return /^0*[1-9][0-9]*$/.test(amount) || (kind === 'withdraw' && amount === 'max')
}

type AmountFormProps = {
  readonly kind: Kind
  readonly token: AmountToken
  readonly isFocused: boolean
  readonly onAmount: (amount: string) => void
}

function AmountForm({ kind, token, isFocused, onAmount }: AmountFormProps) {
  const [text, setText] = useState('')
  const [isWrong, setWrong] = useState(false)
  const [field, error] = [useId(), useId()]
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (isFocused) input.current?.focus({ preventScroll: true })
  }, [isFocused])

  function submit(event: FormEvent) {
    event.preventDefault()
    const units = parseAmount(text, token.decimals)
    setWrong(units === undefined)
    if (units === undefined) input.current?.focus()
    else onAmount(`${units}`)
  }

  return (
    <form onSubmit={submit} noValidate data-vaultline="amount">
      <label htmlFor={field}>Amount in {token.symbol}</label>
      <input
        ref={input}
        id={field}
        inputMode="decimal"
        autoComplete="off"
        value={text}
        onChange={({ target }) => setText(target.value)}
        aria-invalid={isWrong}
        aria-describedby={isWrong ? error : undefined}
      />
      {kind === 'withdraw' && (
        <button type="button" data-vaultline="max" onClick={() => onAmount('max')}>
          Max
        </button>
      )}
      {isWrong && (
        <p id={error} role="alert" data-vaultline="error">
          Enter an amount above zero with at most {token.decimals} decimals.
        </p>
      )}
      <button type="submit" data-vaultline="next">
        Review {LABELS[kind].toLowerCase()}
      </button>
    </form>
  )
}

type FlowPartsProps = KindProps & {
  readonly amount: string
  readonly isTyped: boolean
  readonly onRestart: () => void
}

function FlowParts({ kind, client, sender, vault, account, amount, transactionUrl, ...props }: FlowPartsProps) {
  const { poolAddress: vaultAddress, chainId } = vault
  const place = { vaultAddress, chainId, userAddress: account }
  const input = amount === 'max' ? { ...place, max: true as const } : { ...place, amount }
  // The cast is needed because only a withdrawal takes `max`, which the compiler cannot tie to its kind.
  const { status, steps, current, prepared, progress, error, next } = useFlow(client, kind, input as FlowInputs[Kind])
  const own = steps.find((step) => step.kind === kind)
  const isRequest = steps.some((step) => step.kind === 'settle')
  const hasBegun = steps.some((step) => step.status !== 'todo')
  const tokens: AmountTokens = { amount: vault.asset, shares: sharesOf(vault) }

  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (props.isTyped) button.current?.focus({ preventScroll: true })
  }, [props.isTyped])

  const onDone = useRef(props.onDone)
  useEffect(() => {
    onDone.current = props.onDone
  })
  useEffect(() => {
    if (status === 'done') onDone.current?.()
  }, [status])

  return (
    <div aria-busy={status === 'busy'} data-vaultline="flow" data-status={status}>
      {prepared && (own?.status === 'todo' || own?.status === 'confirming') && (
        <Terms {...{ kind, vault, amount, prepared }} />
      )}
      {prepared && (
        <ol aria-live="polite" data-vaultline="steps">
          {steps.map((step, index) => (
            <StepLine
              key={index}
              name={nameOf(step.kind, isRequest)}
              isCurrent={step === current}
              transactionUrl={transactionUrl}
              {...step}
            />
          ))}
        </ol>
      )}
      {(current?.kind === 'settle' || current?.kind === 'arrive') && progress && (
        <p data-vaultline="progress">{progress.statusDescription}</p>
      )}
      {error && (
        <p role="alert" data-vaultline="error" data-code={error.code}>
          {describe(error, tokens)}
        </p>
      )}
      {status === 'done' && (
        <p role="status" data-vaultline="done">
          {LABELS[kind]} done
        </p>
      )}
      {status !== 'done' && status !== 'failed' && (
        <button
          ref={button}
          type="button"
          // The button stays enabled for the browser, because a disabled one would lose the focus at each step.
          aria-disabled={status !== 'ready'}
          onClick={() => void next(sender)}
          data-vaultline="next"
        >
          {nameNext({ status, current, error }, isRequest, kind === 'deposit' ? formatExact(amount, vault.asset) : '')}
        </button>
      )}
      {(status === 'failed' || (props.isTyped && (status === 'done' || !hasBegun))) && (
        <button type="button" onClick={props.onRestart} data-vaultline="restart">
          {status === 'failed' ? 'Start again' : hasBegun ? `New ${LABELS[kind].toLowerCase()}` : 'Change amount'}
        </button>
      )}
    </div>
  )
}

type TermsProps = Pick<KindProps, 'kind' | 'vault'> & {
  readonly amount: string
  readonly prepared: NonNullable<FlowState['prepared']>
}

function Terms({ kind, vault, amount, prepared }: TermsProps) {
  const { simulation, isAsync } = prepared
  const result = 'deposit' in prepared ? prepared.deposit : 'withdrawal' in prepared ? prepared.withdrawal : undefined
  if (!result) return null
  const [assets, shares] = [vault.asset, sharesOf(vault)]
  const about = result.isEstimate ? 'about ' : ''
  const gets = kind === 'deposit' ? formatRounded(result.shares, shares) : formatRounded(result.assets, assets)
  const settles = vault.terms.exit === 'cooldown' && kind === 'withdraw' ? 'After the cooldown' : 'After settlement'
  return (
    <dl data-vaultline="terms">
      {kind === 'deposit' && <Term name="You deposit">{formatExact(amount, assets)}</Term>}
      {kind === 'withdraw' && <Term name="You redeem">{formatRounded(result.shares, shares)}</Term>}
      <Term name="You receive">{gets ? `${about}${gets}` : '– (the vault has no price now)'}</Term>
      <Term name="Vault fee">
        {result.fee === '0' ? 'None' : (formatRounded(result.fee, assets, 'up') ?? '– (unknown now)')}
      </Term>
      <Term name="Network fee">Shown by your wallet</Term>
      <Term name="Arrival">{isAsync ? settles : 'Instant'}</Term>
      {simulation.status !== 'reverted' && (
        <Term name="Simulation">
          {simulation.status === 'success' ? 'Passed' : 'Not available now. The transaction may fail.'}
        </Term>
      )}
    </dl>
  )
}

function Term({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div data-vaultline="term">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

type StepLineProps = Step &
  Pick<DepositProps, 'transactionUrl'> & { readonly name: string; readonly isCurrent: boolean }

function StepLine({ name, kind, status, hash, chainId, isCurrent, transactionUrl }: StepLineProps) {
  const url = hash && chainId !== undefined && transactionUrl?.(hash, chainId)
  return (
    <li aria-current={isCurrent ? 'step' : undefined} data-vaultline="step" data-kind={kind} data-status={status}>
      {name}
      {STEP_STATES[status] && `: ${STEP_STATES[status]}`}
      {url && (
        <>
          {' '}
          <a href={url} target="_blank" rel="noreferrer" data-vaultline="transaction">
            View transaction
          </a>
        </>
      )}
    </li>
  )
}

const LABELS = { deposit: 'Deposit', withdraw: 'Withdrawal' } as const

const STEPS: Readonly<Record<Step['kind'], string>> = {
  approve: 'Approve',
  deposit: 'Deposit',
  withdraw: 'Withdraw',
  claim: 'Claim',
  cancel: 'Cancel request',
  rewards: 'Claim rewards',
  transfer: 'Send to the other chain',
  settle: 'Wait for settlement',
  arrive: 'Wait for arrival',
}

/** Text for each status of a step; empty before the step starts. */
export const STEP_STATES: Readonly<Record<Step['status'], string>> = {
  todo: '',
  confirming: 'Confirm in your wallet',
  pending: 'In progress',
  done: 'Done',
  failed: 'Failed',
}

/** Returns the name of a step. In an asynchronous vault, deposits and withdrawals are called requests. */
function nameOf(kind: Step['kind'], isRequest: boolean): string {
  if (isRequest && kind === 'deposit') return 'Request deposit'
  return isRequest && kind === 'withdraw' ? 'Request withdrawal' : STEPS[kind]
}

function nameNext(
  { status, current, error }: Pick<FlowState, 'status' | 'current' | 'error'>,
  isRequest: boolean,
  amount: string,
): string {
  if (current?.status === 'confirming') return 'Confirm in your wallet …'
  if (current?.status === 'pending') return current.kind === 'settle' ? 'Waiting for settlement …' : 'In progress …'
  if (status === 'busy' || !current) return 'Preparing …'
  // After `terms_changed` and `quote_expired` the page shows new terms, so the button offers the step again.
  if (error && error.code !== 'terms_changed' && error.code !== 'quote_expired') return 'Try again'
  return current.kind === 'claim' ? STEPS.claim : `${nameOf(current.kind, isRequest)} ${amount}`.trim()
}

function describe(error: FlowError, tokens: AmountTokens): string {
  if ('requestId' in error) return messageForUser(error, tokens)
  if (error.code === 'simulation_reverted') return `This would fail now: ${error.message}`
  // Wallet libraries append details of their request after the first line, so only the first line is shown.
  if (error.code === 'wallet') return `Your wallet reports: ${error.message.split('\n', 1)[0]}`
  return error.message
}

function sharesOf({ vaultState, shareDecimals: decimals }: Vault): AmountToken {
  return { symbol: vaultState?.symbol ?? 'shares', decimals }
}

function formatExact(units: string, token: AmountToken): string {
  return formatAmount(BigInt(units), token, 'down', Number.POSITIVE_INFINITY)
}

function formatRounded(units: string | null, token: AmountToken, way: 'up' | 'down' = 'down'): string | undefined {
  return units === null ? undefined : formatAmount(BigInt(units), token, way, 6)
}
