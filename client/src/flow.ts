import {
  type Address,
  type Errors,
  type GetDepositStatusResponse,
  type GetTransferStatusResponse,
  type GetWithdrawalStatusResponse,
  getDepositStatus,
  getTransferStatus,
  getWithdrawalStatus,
  type PrepareCancellationRequest,
  type PrepareClaimRequest,
  type PrepareDepositRequest,
  type PrepareRewardsClaimRequest,
  type PrepareWithdrawalRequest,
  prepareCancellation,
  prepareClaim,
  prepareDeposit,
  prepareRewardsClaim,
  prepareWithdrawal,
  type TransactionHash,
} from './api.ts'
import { poll } from './follow.ts'
import {
  type CallOptions,
  type Client,
  createFailure,
  type Failure,
  type Operation,
  type Result,
  sleep,
} from './operation.ts'
import { toPrintable } from './printable.ts'
import { isWorse, type Prepared } from './terms.ts'
import { type Call, toCalls } from './transactions.ts'

export type { Prepared }

/**
 * Input of each kind of flow. `settle` and `arrive` begin with a wait for a transaction that was sent earlier. All other kinds begin with
 * transactions to sign.
 */
export type FlowInputs = {
  readonly deposit: PrepareDepositRequest
  readonly withdraw: PrepareWithdrawalRequest
  readonly claim: PrepareClaimRequest
  readonly cancel: PrepareCancellationRequest
  readonly rewards: PrepareRewardsClaimRequest
  /** Waits until the vault settles the user's pending request. Then the flow claims the result. */
  readonly settle: PrepareCancellationRequest
  readonly arrive: {
    readonly txHash: TransactionHash
    readonly srcChainId: number
    /** Selects the account's transfer if one transaction contains several transfers. */
    readonly userAddress?: Address | undefined
  }
}

/** Step of a flow: a transaction to sign, or a wait for a settlement (`settle`) or for a transfer's arrival (`arrive`). */
export type Step = {
  readonly kind: 'approve' | 'deposit' | 'withdraw' | 'claim' | 'cancel' | 'rewards' | 'transfer' | 'settle' | 'arrive'
  /**
   * `confirming`: the wallet waits for the user. `pending`: the transaction is not mined yet, the vault has not settled
   * yet, or the transfer has not arrived yet.
   */
  readonly status: 'todo' | 'confirming' | 'pending' | 'done' | 'failed'
  /** Chain of the step's transaction; undefined if the step only waits. */
  readonly chainId: number | undefined
  /** Transaction hash. It is undefined until the transaction is sent or, in a batch of calls, until the batch is mined. */
  readonly hash: TransactionHash | undefined
  /** Wallet's id of the batch, for `wallet_getCallsStatus`; undefined for a step that was not sent in a batch. */
  readonly batchId: string | undefined
}

/** Response of a status request while the flow waits for a settlement or an arrival. */
export type Progress = GetDepositStatusResponse | GetWithdrawalStatusResponse | GetTransferStatusResponse

/** Reason why a flow stopped: an error of the API or the wallet, or a transaction that failed. */
export type FlowError =
  | Failure<keyof Errors>['error']
  | {
      readonly code:
        | 'simulation_reverted'
        | 'transaction_reverted'
        | 'quote_expired'
        | 'terms_changed'
        | 'transfer_failed'
        | 'wallet'
      readonly message: string
      /** Error that the `Sender` threw; only for the code `wallet`. */
      readonly cause?: unknown
    }

/** State of a flow (a deposit, withdrawal, claim or cancellation in progress), as a page shows it. */
export type FlowState = {
  /** `ready`: the method `next` continues, or tries again after an error. `failed` is final. */
  readonly status: 'busy' | 'ready' | 'done' | 'failed'
  /** Steps in order. Steps not yet begun are a forecast and may change. */
  readonly steps: readonly Step[]
  readonly current: Step | undefined
  /** Response with the transactions that the user signs now or signed last. */
  readonly prepared: Prepared | undefined
  /** Latest response of a status request; undefined before the first one. */
  readonly progress: Progress | undefined
  /** Error that stopped the flow. It stays undefined if the user only rejected the signature. */
  readonly error: FlowError | undefined
}

/** Outcome of a transaction, as in receipts of viem and wagmi. `cancelled`: the user replaced the transaction. */
export type Receipt =
  /** A batch may have no hash: some wallets report its success without receipts. */
  | { readonly status: 'success'; readonly transactionHash?: TransactionHash | undefined }
  | { readonly status: 'reverted' | 'cancelled'; readonly transactionHash?: TransactionHash | undefined }

/**
 * Wallet access that the caller provides. `send` signs and sends one call. `sendCalls` signs and sends all calls as one atomic batch
 * (EIP-5792). Both send from `account`, for which the calls were prepared. Both must throw if the wallet uses another account. `wait`
 * returns the receipt, also of a reverted transaction. If `wait` throws, the flow waits again at the next try and sends nothing twice.
 */
export type Sender =
  | {
      sendCalls?: undefined
      send(call: Call, chainId: number, account: Address): Promise<TransactionHash>
      wait(hash: TransactionHash, chainId: number): Promise<Receipt>
    }
  | {
      send?: undefined
      sendCalls(calls: readonly Call[], chainId: number, account: Address): Promise<string>
      wait(id: string, chainId: number): Promise<Receipt>
    }

/** Deposit, withdrawal, claim or cancellation in progress, as a store for React's `useSyncExternalStore`. */
export type Flow = {
  readonly getState: () => FlowState
  /** Calls the listener on each new state, until the returned function is called. The flow sends requests only while it has listeners. */
  readonly subscribe: (listener: () => void) => () => void
  /**
   * Runs the current step: has its transaction signed and waits for the receipt. After an error it tries the step again. Before the
   * signature it prepares the transactions again, and stops if the steps differ or the terms are worse than shown. It prepares nothing
   * again while a bridge quote is valid, or after one transaction of the operation is done. Does nothing unless the flow is `ready`.
   */
  readonly next: (sender: Sender) => Promise<void>
}

type Leg = { [Kind in keyof FlowInputs]: { readonly kind: Kind; readonly input: FlowInputs[Kind] } }[keyof FlowInputs]
type Waiting = Extract<Leg, { readonly kind: 'settle' | 'arrive' }>
type Settling = Extract<Leg, { readonly kind: 'settle' }>
type Signing = Exclude<Leg, Waiting>

const AFTER_SETTLING = {
  deposit: ['settle', 'claim'],
  withdraw: ['settle', 'claim'],
  cancel: ['settle', 'cancel'],
  claim: [],
  rewards: [],
} as const

const REVERTED = {
  code: 'transaction_reverted',
  message: 'The transaction failed. Only its network fee was paid.',
} as const
const NOT_SENT = { code: 'wallet', message: 'Your wallet did not send the transactions. Nothing has moved.' } as const
const NO_HASH = {
  code: 'wallet',
  message: 'Your wallet reports no transaction hash yet. Try again to read it; nothing is sent twice.',
} as const
const EXPIRED = { code: 'quote_expired', message: 'The quote expired before it was used.' } as const
const EXPIRED_MIDWAY = {
  code: 'quote_expired',
  message: 'The quote expired before the transfer. The withdrawn tokens are in the wallet.',
} as const
const TERMS_CHANGED = {
  code: 'terms_changed',
  message: 'The terms have changed since they were shown. Please review them again.',
} as const

// Milliseconds before a request to the service is repeated. The service's nodes may lag some blocks behind the node
// that returned the receipt.
const LAG_MS = 1000
const MAX_POLLS = 5

/** Creates a flow of the operation `kind`. The flow sends its first request when `subscribe` is called. */
export function createFlow<Kind extends keyof FlowInputs>(client: Client, kind: Kind, input: FlowInputs[Kind]): Flow {
  const listeners = new Set<() => void>()
  /** Aborts pending requests once no listener is left. */
  let listening = new AbortController()
  // The cast pairs a kind with its own input; the compiler cannot infer this from a type parameter.
  let leg = { kind, input } as Leg
  let afterArrival: Leg | undefined
  /**
   * Number of polls since this flow sent its request, as long as no response contains the request. The service's nodes
   * may lag behind, so the flow polls up to MAX_POLLS times. The number starts at the maximum, because a flow that sent
   * nothing does not poll again.
   */
  let pollCount = MAX_POLLS
  let prepared: Prepared | undefined
  /** Prepared calls that are not yet executed. */
  let calls: readonly Call[] = []
  let sent: Sent | undefined
  let isActing = false
  let state: FlowState = {
    status: 'busy',
    steps: [createStep(kind), ...(kind === 'settle' ? [createStep('claim')] : [])],
    current: createStep(kind),
    prepared: undefined,
    progress: undefined,
    error: undefined,
  }

  const getState = () => state

  function set(change: Partial<FlowState>) {
    const { steps } = { ...state, ...change }
    state = { ...state, ...change, current: steps.find(({ status }) => status !== 'done') }
    for (const listener of listeners) listener()
  }

  const done = () => state.steps.filter(({ status }) => status === 'done')

  function changed(change: Partial<Step>, count = 1): Step[] {
    const first = done().length
    return state.steps.map((step, index) => (index >= first && index < first + count ? { ...step, ...change } : step))
  }

  /** Awaits the work. If the work throws, the flow stops with an error, because it would otherwise stay `busy` forever. */
  async function stopOnError(work: Promise<unknown>): Promise<void> {
    try {
      await work
    } catch (cause) {
      const message = `The service's answer cannot be used: ${messageOf(cause)}`
      set({ status: 'ready', error: createFailure('unexpected', message, { status: 200 }).error })
    }
  }

  async function proceed(): Promise<void> {
    const { signal } = listening
    if (leg.kind === 'settle' || leg.kind === 'arrive') return follow(leg)
    await prepare(leg)
    if (!signal.aborted) set({ status: 'ready' })
  }

  function enter(next: Leg): Promise<void> {
    leg = next
    prepared = undefined
    set({ status: 'busy' })
    return proceed()
  }

  async function follow(of: Waiting): Promise<void> {
    const { signal } = listening
    set({ status: 'busy', steps: changed({ status: 'pending' }) })
    let last: Result<Progress, keyof Errors> | undefined
    for await (last of pollLeg(client, of, { signal })) {
      if (!signal.aborted) set(last.ok ? { progress: last.data, error: undefined } : { error: last.error })
    }
    if (signal.aborted || !last) return
    if (!last.ok) return set({ status: 'ready' })
    const { status, statusDescription: message } = last.data
    if (typeof status !== 'string') throw new Error('it has no status')
    if (status === 'failed') {
      return set({ status, steps: changed({ status }), error: { code: 'transfer_failed', message } })
    }
    // The service does not read this destination chain, so it cannot report the arrival and the flow ends.
    if (status === 'bridging') return set({ status: 'done' })
    const following = of.kind === 'arrive' ? afterArrival : afterSettlement(of, status)
    if (of.kind === 'settle' && !following && ++pollCount < MAX_POLLS) {
      await sleep(LAG_MS, signal)
      return signal.aborted ? undefined : follow(of)
    }
    set({ steps: changed({ status: 'done' }) })
    if (following) return enter(following)
    set({ status: 'done', steps: done() })
  }

  /** Prepares the operation's transactions. Returns true if the transactions can be sent. */
  async function prepare(of: Signing): Promise<boolean> {
    const { signal } = listening
    const result = await prepareLeg(client, of, { signal })
    if (signal.aborted) return false
    if (!result.ok) {
      set({ error: result.error })
      return false
    }
    const { simulation, operations, chainId } = result.data
    const isRefused = simulation.status === 'reverted'
    const steps = [...done(), ...stepsOf(of, result.data)]
    const prepares = toCalls(result.data)
    if (operations.length === 0) throw new Error('it has nothing to send')
    if (of.input.chainId && of.input.chainId !== chainId) throw new Error(`it is for chain ${chainId}`)
    prepared = isRefused ? undefined : result.data
    calls = prepares
    set({
      steps,
      prepared: result.data,
      error: isRefused ? { code: 'simulation_reverted', message: toPrintable(simulation.reason) } : undefined,
    })
    return !isRefused
  }

  /**
   * Prepares the transactions again. Returns true if the steps are still those on the page, and the terms are valid and
   * no worse than shown.
   */
  async function recheck(of: Signing): Promise<boolean> {
    if (!prepared) {
      await prepare(of)
      return false
    }
    const { operations } = prepared
    const quote = 'quote' in prepared ? prepared.quote : undefined
    const hasExpired = Boolean(quote && !(Date.parse(quote.expiresAt) > Date.now()))
    // Once one transaction of the operation is done, a new preparation would repeat this transaction. So the remaining calls are sent as
    // prepared.
    if (calls.length < operations.length) {
      if (hasExpired) set({ status: 'failed', steps: changed({ status: 'failed' }), error: EXPIRED_MIDWAY })
      return !hasExpired
    }
    if (quote && !hasExpired) return true
    const shown = { prepared, calls }
    const shownKinds = kindsOf(state.steps)
    const hasApproved = done().some(({ kind }) => kind === 'approve')
    for (let look = 1; await prepare(of); look += 1) {
      const isSame = shownKinds === kindsOf(state.steps)
      if (isSame || !hasApproved || look === MAX_POLLS) {
        if (hasExpired) set({ error: EXPIRED })
        else if (isWorse({ prepared, calls }, shown)) set({ error: TERMS_CHANGED })
        else return isSame
        return false
      }
      await sleep(LAG_MS, listening.signal)
    }
    return false
  }

  async function sign(sender: Sender, of: Signing): Promise<Sent | undefined> {
    const [call] = calls
    if (!call || !prepared) return undefined
    const chainId = chainOf(of, prepared)
    const { userAddress } = of.input
    const count = sender.sendCalls ? calls.length : 1
    set({ steps: changed({ status: 'confirming', hash: undefined, batchId: undefined }, count) })
    try {
      if (sender.sendCalls) {
        const id = await sender.sendCalls(calls, chainId, userAddress)
        set({ steps: changed({ status: 'pending', batchId: id }, count) })
        return { count, wait: async () => sender.wait(id, chainId) }
      }
      const hash = await sender.send(call, chainId, userAddress)
      set({ steps: changed({ status: 'pending', hash }) })
      return { count, wait: async () => sender.wait(hash, chainId) }
    } catch (cause) {
      set({ steps: changed({ status: 'todo' }, count), error: isRejection(cause) ? undefined : walletError(cause) })
      return undefined
    }
  }

  async function act(sender: Sender, of: Signing): Promise<void> {
    if (!sent && (await recheck(of))) sent = await sign(sender, of)
    if (!sent || !prepared) return
    const { count, wait } = sent
    const receipt = await wait().catch((cause: unknown) => set({ error: walletError(cause) }))
    if (!receipt) return
    const isLast = calls.length === count
    // Tracking a transfer between chains needs its transaction hash. Without one, the next try fetches the receipt again and sends nothing
    // twice.
    if (receipt.status === 'success' && isLast && prepared.isCrossChain && !receipt.transactionHash) {
      return set({ error: NO_HASH })
    }
    sent = undefined
    if (receipt.status === 'success') {
      const hash = receipt.transactionHash
      calls = calls.slice(count)
      set({ steps: changed({ status: 'done', hash }, count) })
      if (isLast) enterNextLeg(of, prepared, prepared.isCrossChain ? hash : undefined)
    } else if (receipt.status === 'reverted') {
      set({ steps: changed({ status: 'failed', hash: receipt.transactionHash }, count), error: REVERTED })
      if (calls.length >= prepared.operations.length) prepared = undefined
    } else {
      const error = sender.sendCalls ? NOT_SENT : undefined
      set({ steps: changed({ status: 'todo', hash: undefined, batchId: undefined }, count), error })
    }
  }

  function enterNextLeg(of: Signing, { isAsync, chainId }: Prepared, transferHash: TransactionHash | undefined): void {
    const settle = isAsync && of.kind !== 'claim' && of.kind !== 'rewards' ? settlementOf(of, chainId) : undefined
    pollCount = 0
    if (transferHash) {
      afterArrival = settle
      const { userAddress } = of.input
      const srcChainId = chainOf(of, { chainId })
      void stopOnError(enter({ kind: 'arrive', input: { txHash: transferHash, srcChainId, userAddress } }))
    } else if (settle) void stopOnError(enter(settle))
    else set({ status: 'done' })
  }

  return {
    getState,
    subscribe(listener) {
      listeners.add(listener)
      if (listeners.size === 1) {
        listening = new AbortController()
        if (state.status === 'busy' && !isActing) void stopOnError(proceed())
      }
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) listening.abort()
      }
    },
    async next(sender) {
      if (state.status !== 'ready') return
      set({ status: 'busy', error: undefined })
      const of = leg
      if (of.kind === 'settle' || of.kind === 'arrive') return stopOnError(follow(of))
      isActing = true
      await stopOnError(act(sender, of))
      isActing = false
      if (leg === of && getState().status === 'busy') set({ status: 'ready' })
    },
  }
}

type Sent = { readonly count: number; readonly wait: () => Promise<Receipt> }

const PREPARE = {
  deposit: prepareDeposit,
  withdraw: prepareWithdrawal,
  claim: prepareClaim,
  cancel: prepareCancellation,
  rewards: prepareRewardsClaim,
} as const

function prepareLeg(client: Client, { kind, input }: Signing, options: CallOptions) {
  // The cast is safe because each kind has its own input; the compiler cannot infer this from a union.
  const prepare = PREPARE[kind] as Operation<Signing['input'], Prepared, keyof Errors>
  return prepare(client, input, options)
}

function pollLeg(client: Client, leg: Waiting, options: CallOptions): AsyncIterable<Result<Progress, keyof Errors>> {
  if (leg.kind === 'arrive') return poll(getTransferStatus, client, leg.input, options)
  const { vaultAddress, userAddress, kind, chainId } = leg.input
  const place = { vaultAddress, userAddress, ...(chainId && { chainId }) }
  return kind === 'withdrawal'
    ? poll(getWithdrawalStatus, client, place, options)
    : poll(getDepositStatus, client, place, options)
}

function afterSettlement({ input }: Settling, status: Progress['status']): Leg | undefined {
  if (status === 'claimable') return { kind: 'claim', input }
  if (status === 'cancelled') return { kind: 'cancel', input }
  return undefined
}

function settlementOf({ kind, input }: Exclude<Signing, { readonly kind: 'rewards' }>, chainId: number): Leg {
  const { vaultAddress, userAddress } = input
  const requested = kind === 'withdraw' ? 'withdrawal' : 'kind' in input ? input.kind : 'deposit'
  return { kind: 'settle', input: { vaultAddress, userAddress, chainId, kind: requested } }
}

function chainOf({ kind, input }: Signing, { chainId }: Pick<Prepared, 'chainId'>): number {
  return (kind === 'deposit' && input.srcChainId) || chainId
}

function stepsOf(leg: Signing, prepared: Prepared): Step[] {
  const { approval, operations, isCrossChain, isAsync } = prepared
  const chainId = chainOf(leg, prepared)
  // Index of the operation that the user requested, such as the deposit. Operations before it claim the amounts of
  // earlier requests. Only a transfer to another chain can follow it.
  const own = operations.length - (isCrossChain ? 2 : 1)
  return [
    ...approval.map(() => createStep('approve', chainId)),
    ...operations.map((_, index) => createStep(index === own ? leg.kind : index < own ? 'claim' : 'transfer', chainId)),
    ...(isCrossChain ? [createStep('arrive')] : []),
    ...(isAsync ? AFTER_SETTLING[leg.kind].map((kind) => createStep(kind)) : []),
  ]
}

function createStep(kind: Step['kind'], chainId?: number): Step {
  return { kind, status: 'todo', chainId, hash: undefined, batchId: undefined }
}

function kindsOf(steps: readonly Step[]): string {
  return steps.map(({ kind }) => kind).join()
}

function walletError(cause: unknown): FlowError {
  return { code: 'wallet', message: messageOf(cause), cause }
}

function messageOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown
  const hasMessage = typeof thrown === 'object' && thrown !== null && 'message' in thrown
  return hasMessage && typeof thrown.message === 'string' ? thrown.message : 'It gave no reason.'
}

/** Error codes of a rejection by the user: EIP-1193 (4001), WalletConnect (5000), EIP-5792 (5750: refused account upgrade), and ethers. */
const REJECTIONS: readonly unknown[] = [4001, 5000, 5750, 'ACTION_REJECTED']

/** Returns true if a wallet's error, or an error inside it, means that the user rejected the request. */
export function isRejection(thrown: unknown): boolean {
  const errors = new Set([thrown])
  // The loop also visits the errors that its body adds. A Set holds each error once, so a circular `cause` cannot loop forever.
  for (const error of errors) {
    if (typeof error !== 'object' || error === null) continue
    if ('code' in error && REJECTIONS.includes(error.code)) return true
    if ('cause' in error) errors.add(error.cause)
    if ('data' in error) errors.add(error.data)
    if ('originalError' in error) errors.add(error.originalError)
  }
  return false
}
