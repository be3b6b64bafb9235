import {
  type Address,
  BaseError,
  decodeErrorResult,
  encodeFunctionData,
  getAddress,
  type Hash,
  type Hex,
  isAddressEqual,
  isHex,
  pad,
  parseAbi,
  parseEventLogs,
  slice,
  zeroHash,
} from 'viem'
import { call, getBlock, getTransactionReceipt, readContract } from 'viem/actions'
import { ACCOUNTS } from './accounts.ts'
import { buildRefundBundle, type Payment } from './bridge/refund-bundle.ts'
import {
  type BridgeDeposit,
  bridgeContracts,
  readDeposits,
  readSpeedUps,
  relayDataOf,
  relayHashOf,
  type SpeedUp,
  signSpeedUp,
  spokePoolAbi,
} from './bridge.ts'
import type { LocalChain } from './chains.ts'
import { callRpc, createBatchingClient } from './rpc.ts'
import { createSerialRunner } from './serial.ts'
import { transact } from './transactions.ts'

/**
 * State of a bridge transfer. The relayer never fills `ignored` deposits by itself. `stranded` deposits go to a chain without a relayer.
 * The depositor of a `refund_deferred` deposit must claim the refund.
 */
type RelayState =
  | 'waiting'
  | 'ignored'
  | 'slow_fill_requested'
  | 'filled'
  | 'slow_filled'
  | 'expired'
  | 'refund_deferred'
  | 'refunded'
  | 'stranded'

/** Bridge deposit and the state of its transfer. */
export type TrackedDeposit = {
  readonly deposit: BridgeDeposit
  readonly relayHash: Hash
  readonly state: RelayState
  /** Reason why the last attempt to fill the deposit failed. */
  readonly fillError?: string
  /** New terms that the depositor signed. Among several, the relayer uses the terms with the lowest output amount. */
  readonly speedUp?: SpeedUp
  /** Hash of the transaction in which the relayer filled the deposit. */
  readonly fillTransaction?: Hash
  /** Hash of the transaction that refunded the deposit, or in which the depositor claimed the refund. */
  readonly refundTransaction?: Hash
  /** Hash of the transaction that executed the first leaf of the refund bundle. The fake of Across' API reports this hash. */
  readonly bundleTransaction?: Hash
}

type DepositQuery = {
  readonly originChainId?: number
  readonly depositId?: bigint
  readonly transactionHash?: Hash
}

type RelayerSettings = {
  running: boolean
  /** Seconds between the detection of a deposit and its fill. */
  delaySeconds: number
}

/** Local relayer of the bridge, which fills and refunds bridge deposits. Its methods run one after another. */
export type Relayer = {
  readonly address: Address
  readonly settings: RelayerSettings
  /** Reads the chains and returns the deposits that match the query, in the order of their detection. */
  listDeposits(query?: DepositQuery): Promise<readonly TrackedDeposit[]>
  /** Fills a deposit and returns the transaction's hash. Throws an Error with the SpokePool contract's reason if the contract refuses. */
  fill(deposit: BridgeDeposit): Promise<Hash>
  /** Fills each waiting deposit in its own transaction and returns the filled deposits. A failed fill sets the deposit's `fillError`. */
  fillAll(): Promise<readonly TrackedDeposit[]>
  /** Fills several deposits in one transaction per destination chain. Throws if the SpokePool contract refuses one of them. */
  fillTogether(deposits: readonly BridgeDeposit[]): Promise<readonly Hash[]>
  requestSlowFill(deposit: BridgeDeposit): Promise<Hash>
  /**
   * Executes a slow fill, which the SpokePool pays from its own tokens. `outputAmount` is the paid amount, by default
   * that of the deposit.
   */
  executeSlowFill(deposit: BridgeDeposit, outputAmount?: bigint): Promise<Hash>
  /**
   * Signs new terms as the depositor, which must be a local account, and publishes them on the origin chain. The relayer uses the new terms
   * if their output amount is lower.
   */
  speedUp(deposit: BridgeDeposit, change: SpeedUpChange): Promise<Hash>
  /** Refunds an expired deposit; throws if it has not expired. */
  refund(deposit: BridgeDeposit): Promise<Hash>
  /**
   * Refunds expired deposits, by default all of them, in one bundle per origin chain. Each account gets one total per token, as on the real
   * bridge. Returns the transactions' hashes, one per leaf of a bundle.
   */
  refundTogether(deposits?: readonly BridgeDeposit[], options?: RefundOptions): Promise<readonly Hash[]>
  /** Claims a deferred refund as its depositor, which must be a local account. The refund goes to `to`, by default the depositor. */
  claimRefund(deposit: BridgeDeposit, to?: Address): Promise<Hash>
  pause(chainId: number, what: 'deposits' | 'fills', pause: boolean): Promise<void>
  /** Excludes a deposit from `fillAll` and from the relayer's automatic fills. */
  ignore(deposit: BridgeDeposit): Promise<void>
  /**
   * Ignores a deposit and moves the clocks of all chains past its fill deadline. Throws if the deposit's state is final, such as filled.
   */
  expire(deposit: BridgeDeposit): Promise<void>
  advance(seconds: number): Promise<void>
  start(options?: { readonly onError?: (error: unknown) => void }): void
  stop(): Promise<void>
}

/**
 * Change of a deposit's terms. `outputAmount` is in the smallest unit; by default the deposit's output amount minus 1.
 */
type SpeedUpChange = { readonly outputAmount?: bigint; readonly recipient?: Address; readonly message?: Hex }

type RefundOptions = {
  /**
   * True if the token blacklists the depositors during the refund. The refund's transfer then fails, so the depositors must claim their
   * refunds later.
   */
  readonly deferred?: boolean
  /** Additional payments in the same bundles, as if they refunded other deposits. */
  readonly payments?: readonly (Payment & { readonly chainId: number })[]
  /** Maximum payments per leaf of a bundle; by default 25, as on the real bridge. */
  readonly paymentsPerLeaf?: number
}

type TrackedRelay = { -readonly [key in keyof TrackedDeposit]: TrackedDeposit[key] } & { readonly seenAt: number }
type Head = { readonly number: bigint; readonly hash: Hash; readonly timestamp: bigint }

const ADDRESS = ACCOUNTS.relayer.address
const POLL_MS = 400
const SLOW_FILL_REQUESTED = 1n
const FILLED = 2n
const FINAL: ReadonlySet<RelayState> = new Set(['filled', 'slow_filled', 'refund_deferred', 'refunded', 'stranded'])
const BLACKLIST = parseAbi(['function blacklist(address account)', 'function unBlacklist(address account)'])

/**
 * Creates a relayer between these chains, on which the bridge must be deployed. `npm start` runs the relayer continuously. Tests call its
 * methods instead, so that tests need not wait.
 */
export function createRelayer({ chains }: { readonly chains: readonly LocalChain[] }): Relayer {
  const settings: RelayerSettings = { running: true, delaySeconds: 0 }
  const heads = new Map<number, Head>()
  let relays: TrackedRelay[] = []

  const chainOf = (chainId: number): LocalChain => {
    const chain = chains.find((candidate) => candidate.chainId === chainId)
    if (!chain) throw new Error(`The relayer does not work on chain ${chainId}`)
    return chain
  }

  // Work runs one after another: all transactions have the same sender and need consecutive nonces.
  const runInOrder = createSerialRunner()

  /** Reads new events of all chains. Returns the errors instead of throwing, so that one failing chain does not block the others. */
  const readRelays = async (): Promise<unknown[]> => {
    const news = await Promise.allSettled(chains.map(readNews))
    for (const result of news) {
      if (result.status === 'rejected') continue
      const { chainId, head, wentBack, deposits, speedUps } = result.value
      if (wentBack) forget(chainId)
      relays.push(...deposits.map(createRelay))
      speedUps.forEach(followSpeedUp)
      heads.set(chainId, head)
    }
    const open = relays.filter(({ state }) => !FINAL.has(state))
    const results = [...news, ...(await Promise.allSettled(open.map(refresh)))]
    return results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  }

  const readChainsOrThrow = async () => {
    const errors = await readRelays()
    if (errors.length > 0) throw errors[0]
  }

  const runAfterRead = <T>(work: () => T | Promise<T>): Promise<T> => runInOrder(() => readChainsOrThrow().then(work))

  const readNews = async (chain: LocalChain) => {
    const { chainId } = chain
    const head = await getBlock(createBatchingClient(chain))
    const lastHead = heads.get(chainId)
    const lastNumber = lastHead?.number ?? -1n
    const isReorganised = lastHead !== undefined && !(await isStillCanonical(chain, lastHead, head))
    const range = { fromBlock: isReorganised ? 0n : lastNumber + 1n, toBlock: head.number }
    if (head.number === lastNumber && !isReorganised)
      return { chainId, head, wentBack: isReorganised, deposits: [], speedUps: [] }
    const [deposits, speedUps] = await Promise.all([readDeposits(chain, range), readSpeedUps(chain, range)])
    return { chainId, head, wentBack: isReorganised, deposits, speedUps }
  }

  /**
   * Notes new terms that a depositor signed. The relayer pays the output amount, so it prefers the terms with the
   * lowest output amount.
   */
  const followSpeedUp = (speedUp: SpeedUp) => {
    const { originChainId, depositId } = speedUp
    for (const relay of relays.filter(({ deposit }) => fits(deposit, { originChainId, depositId }))) {
      const { deposit } = relay
      const least = relay.speedUp?.outputAmount ?? deposit.outputAmount
      if (speedUp.depositor === deposit.depositor && speedUp.outputAmount < least) relay.speedUp = speedUp
    }
  }

  const forget = (chainId: number) => {
    relays = relays.filter(({ deposit }) => deposit.originChainId !== chainId)
    for (const relay of relays) if (relay.deposit.destinationChainId === chainId) relay.state = 'waiting'
  }

  const createRelay = (deposit: BridgeDeposit): TrackedRelay => ({
    deposit,
    relayHash: relayHashOf(deposit),
    state: chains.some(({ chainId }) => chainId === deposit.destinationChainId) ? 'waiting' : 'stranded',
    seenAt: Date.now(),
  })

  const refresh = async (relay: TrackedRelay) => {
    const { deposit, relayHash } = relay
    const chain = chainOf(deposit.destinationChainId)
    const status = await readContract(createBatchingClient(chain), {
      address: bridgeContracts(chain.chainId).pool,
      abi: spokePoolAbi,
      functionName: 'fillStatuses',
      args: [relayHash],
    })
    if (status === FILLED) relay.state = 'filled'
    else if (deposit.fillDeadline < (heads.get(chain.chainId)?.timestamp ?? 0n)) relay.state = 'expired'
    else if (status === SLOW_FILL_REQUESTED) relay.state = 'slow_fill_requested'
  }

  const relayOf = (deposit: BridgeDeposit): TrackedRelay => {
    const hash = relayHashOf(deposit)
    const relay = relays.find(({ relayHash }) => relayHash === hash)
    if (!relay) throw new Error(`No pool took a deposit ${deposit.depositId} like this`)
    return relay
  }

  const send = async (chain: LocalChain, label: string, data: Hex): Promise<Hash> => {
    const to = bridgeContracts(chain.chainId).pool
    // The call is simulated first, which reveals the error's name and avoids a failed transaction.
    const refusal = await refusalOf(chain, to, data)
    if (refusal) throw new Error(`The pool refuses to ${label}: ${refusal}`)
    const [hash] = await transact(chain, [{ label, from: ADDRESS, to, data }])
    if (!hash) throw new Error('Nothing was sent')
    return hash
  }

  const fill = async (relay: TrackedRelay): Promise<Hash> => {
    const { deposit } = relay
    try {
      relay.fillTransaction = await send(
        chainOf(deposit.destinationChainId),
        `fill deposit ${deposit.depositId}`,
        encodeFill(relay),
      )
      relay.state = 'filled'
      delete relay.fillError
      return relay.fillTransaction
    } catch (error) {
      relay.fillError = error instanceof Error ? error.message : String(error)
      throw error
    }
  }

  const refundTogether = async (expired: readonly TrackedRelay[], options: RefundOptions): Promise<readonly Hash[]> => {
    const { deferred = false, payments = [], paymentsPerLeaf } = options
    for (const { deposit, state } of expired) {
      if (state !== 'expired') throw new Error(`Deposit ${deposit.depositId} is not expired: ${state}`)
    }
    const due = [...expired.map(({ deposit }) => refundOf(deposit)), ...payments]
    const hashes: Hash[] = []
    for (const [chainId, ofChain] of Map.groupBy(due, (payment) => payment.chainId)) {
      const origin = chainOf(chainId)
      const { root, leaves } = buildRefundBundle(chainId, ofChain, paymentsPerLeaf)
      const bundleId = await relayRoot(origin, root)
      const refused = deferred ? expired.map(({ deposit }) => refundOf(deposit)).filter(onChain(chainId)) : []
      await blacklist(origin, refused, true)
      const ofBundle: Hash[] = []
      for (const { leaf, proof } of leaves) {
        const args = [bundleId, leaf, proof] as const
        const data = encodeFunctionData({ abi: spokePoolAbi, functionName: 'executeRelayerRefundLeaf', args })
        const hash = await send(origin, `pay leaf ${leaf.leafId} of bundle ${bundleId}`, data)
        for (const relay of expired) {
          const { token, account, chainId: from } = refundOf(relay.deposit)
          const isPaid = from === chainId && leaf.l2TokenAddress === token && leaf.refundAddresses.includes(account)
          const [bundleTransaction = hash] = ofBundle
          const state = deferred ? 'refund_deferred' : 'refunded'
          if (isPaid) Object.assign(relay, { state, refundTransaction: hash, bundleTransaction })
        }
        ofBundle.push(hash)
      }
      hashes.push(...ofBundle)
      await blacklist(origin, refused, false)
    }
    return hashes
  }

  const relayRoot = async (origin: LocalChain, root: Hex): Promise<number> => {
    const args = [root, zeroHash] as const
    const data = encodeFunctionData({ abi: spokePoolAbi, functionName: 'relayRootBundle', args })
    const hash = await send(origin, 'bring a bundle', data)
    const { logs } = await getTransactionReceipt(createBatchingClient(origin), { hash })
    const [event] = parseEventLogs({ abi: spokePoolAbi, eventName: 'RelayedRootBundle', logs })
    if (!event) throw new Error('The pool emitted no RelayedRootBundle')
    return event.args.rootBundleId
  }

  const blacklist = async (origin: LocalChain, payments: readonly Payment[], refuse: boolean) => {
    const functionName = refuse ? 'blacklist' : 'unBlacklist'
    const transactions = payments.map(({ token, account }) => ({
      ...{ label: functionName, from: ADDRESS, to: token },
      data: encodeFunctionData({ abi: BLACKLIST, functionName, args: [account] }),
    }))
    await transact(origin, transactions)
  }

  const advance = async (seconds: number) => {
    for (const chain of chains) {
      await callRpc(chain, [{ method: 'evm_increaseTime', params: [seconds] }])
      await callRpc(chain, [{ method: 'evm_mine', params: [] }])
    }
  }

  const tryToFill = async (relay: TrackedRelay): Promise<boolean> => {
    try {
      await fill(relay)
      return true
    } catch {
      // The error is ignored here: `fill` has stored its message in `fillError`, and the relayer retries until the fill deadline.
      return false
    }
  }

  const work = async (onError: (error: unknown) => void) => {
    for (const error of await readRelays()) onError(error)
    if (!settings.running) return
    const latest = Date.now() - settings.delaySeconds * 1000
    for (const relay of relays.filter(({ state, seenAt }) => state === 'waiting' && seenAt <= latest)) {
      await tryToFill(relay)
    }
  }

  let stopped = false
  let loop: Promise<void> | undefined

  return {
    address: ADDRESS,
    settings,
    listDeposits: (query = {}) =>
      runAfterRead(() => relays.filter(({ deposit }) => fits(deposit, query)).map(snapshot)),
    fill: (deposit) => runAfterRead(() => fill(relayOf(deposit))),
    fillAll: () =>
      runAfterRead(async () => {
        const filled: TrackedRelay[] = []
        for (const relay of relays.filter(({ state }) => state === 'waiting')) {
          if (await tryToFill(relay)) filled.push(relay)
        }
        return filled.map(snapshot)
      }),
    fillTogether: (deposits) =>
      runAfterRead(async () => {
        const hashes: Hash[] = []
        const groups = Map.groupBy(deposits.map(relayOf), ({ deposit }) => deposit.destinationChainId)
        for (const [chainId, group] of groups) {
          const args = [group.map(encodeFill)] as const
          const data = encodeFunctionData({ abi: spokePoolAbi, functionName: 'multicall', args })
          const ids = group.map(({ deposit }) => deposit.depositId).join(', ')
          const hash = await send(chainOf(chainId), `fill deposits ${ids} together`, data)
          for (const relay of group) Object.assign(relay, { state: 'filled', fillTransaction: hash })
          hashes.push(hash)
        }
        return hashes
      }),
    requestSlowFill: (deposit) =>
      runAfterRead(async () => {
        const relay = relayOf(deposit)
        const args = [relayDataOf(deposit)] as const
        const data = encodeFunctionData({ abi: spokePoolAbi, functionName: 'requestSlowFill', args })
        const hash = await send(
          chainOf(deposit.destinationChainId),
          `ask for a slow fill of deposit ${deposit.depositId}`,
          data,
        )
        relay.state = 'slow_fill_requested'
        return hash
      }),
    executeSlowFill: (deposit, outputAmount = deposit.outputAmount) =>
      runAfterRead(async () => {
        const relay = relayOf(deposit)
        const chainId = BigInt(deposit.destinationChainId)
        const slowFill = { relayData: relayDataOf(deposit), chainId, updatedOutputAmount: outputAmount }
        const data = encodeFunctionData({
          abi: spokePoolAbi,
          functionName: 'executeSlowRelayLeaf',
          args: [slowFill, 0, []],
        })
        const hash = await send(chainOf(deposit.destinationChainId), `slow-fill deposit ${deposit.depositId}`, data)
        Object.assign(relay, { state: 'slow_filled', fillTransaction: hash })
        return hash
      }),
    speedUp: (deposit, change) =>
      runInOrder(async () => {
        const { originChainId, depositId, depositor } = deposit
        const { outputAmount = deposit.outputAmount - 1n, message = deposit.message } = change
        const recipient = change.recipient === undefined ? deposit.recipient : pad(change.recipient)
        const unsigned = { originChainId, depositId, depositor, outputAmount, recipient, message }
        const { signature } = await signSpeedUp(keyOf(accountOf(depositor)), unsigned)
        const data = encodeFunctionData({
          abi: spokePoolAbi,
          functionName: 'speedUpDeposit',
          args: [depositor, depositId, outputAmount, recipient, message, signature],
        })
        const hash = await send(chainOf(originChainId), `speed up deposit ${depositId}`, data)
        await readChainsOrThrow()
        return hash
      }),
    refund: (deposit) =>
      runAfterRead(async () => {
        const [hash] = await refundTogether([relayOf(deposit)], {})
        if (!hash) throw new Error('Nothing was paid')
        return hash
      }),
    refundTogether: (deposits, options = {}) =>
      runAfterRead(() =>
        refundTogether(deposits?.map(relayOf) ?? relays.filter(({ state }) => state === 'expired'), options),
      ),
    claimRefund: (deposit, to) =>
      runInOrder(async () => {
        const relay = relayOf(deposit)
        const origin = chainOf(deposit.originChainId)
        const from = accountOf(deposit.depositor)
        const args = [deposit.inputToken, pad(to ?? from)] as const
        const data = encodeFunctionData({ abi: spokePoolAbi, functionName: 'claimRelayerRefund', args })
        const pool = bridgeContracts(origin.chainId).pool
        const [hash] = await transact(origin, [{ label: 'claimRelayerRefund', from, to: pool, data }])
        if (!hash) throw new Error('Nothing was sent')
        // One claim pays all deferred refunds of the account in this token, so all of them become refunded.
        for (const other of relays) {
          const isClaimed =
            other.state === 'refund_deferred' &&
            other.deposit.originChainId === origin.chainId &&
            other.deposit.depositor === deposit.depositor &&
            other.deposit.inputToken === deposit.inputToken
          if (isClaimed || other === relay) Object.assign(other, { state: 'refunded', refundTransaction: hash })
        }
        return hash
      }),
    pause: (chainId, what, pause) =>
      runInOrder(async () => {
        const functionName = what === 'deposits' ? 'pauseDeposits' : 'pauseFills'
        const data = encodeFunctionData({ abi: spokePoolAbi, functionName, args: [pause] })
        await send(chainOf(chainId), `pause ${what}`, data)
      }),
    ignore: (deposit) =>
      runAfterRead(async () => {
        const relay = relayOf(deposit)
        if (relay.state === 'waiting') relay.state = 'ignored'
      }),
    expire: (deposit) =>
      runAfterRead(async () => {
        const relay = relayOf(deposit)
        if (FINAL.has(relay.state)) throw new Error(`Deposit ${deposit.depositId} cannot expire: ${relay.state}`)
        relay.state = 'ignored'
        const { timestamp = 0n } = heads.get(deposit.destinationChainId) ?? {}
        await advance(Math.max(deposit.fillDeadline - Number(timestamp) + 1, 1))
        await readChainsOrThrow()
      }),
    advance: (seconds) => runInOrder(() => advance(seconds)),
    start({ onError = () => {} } = {}) {
      loop ??= (async () => {
        while (!stopped) {
          await runInOrder(() => work(onError)).catch(onError)
          await new Promise((resolve) => setTimeout(resolve, POLL_MS))
        }
      })()
    },
    async stop() {
      stopped = true
      await loop
      await runInOrder(async () => {})
    },
  }
}

function fits({ originChainId, depositId, transactionHash }: BridgeDeposit, query: DepositQuery): boolean {
  return (
    (query.originChainId ?? originChainId) === originChainId &&
    (query.depositId ?? depositId) === depositId &&
    (query.transactionHash ?? transactionHash) === transactionHash
  )
}

function snapshot({ seenAt: _, ...relay }: TrackedRelay): TrackedDeposit {
  return relay
}

function encodeFill({ deposit, speedUp }: TrackedDeposit): Hex {
  const repayment = [BigInt(deposit.destinationChainId), pad(ADDRESS)] as const
  if (!speedUp) {
    const args = [relayDataOf(deposit), ...repayment] as const
    return encodeFunctionData({ abi: spokePoolAbi, functionName: 'fillRelay', args })
  }
  const { outputAmount, recipient, message, signature } = speedUp
  const args = [relayDataOf(deposit), ...repayment, outputAmount, recipient, message, signature] as const
  return encodeFunctionData({ abi: spokePoolAbi, functionName: 'fillRelayWithUpdatedDeposit', args })
}

function refundOf({ originChainId, inputToken, depositor, inputAmount }: BridgeDeposit) {
  return { chainId: originChainId, token: accountOf(inputToken), account: accountOf(depositor), amount: inputAmount }
}

function onChain(chainId: number) {
  return (payment: { readonly chainId: number }) => payment.chainId === chainId
}

function accountOf(word: Hex): Address {
  return getAddress(slice(word, 12))
}

function keyOf(address: Address): Hex {
  const account = Object.values(ACCOUNTS)
    .flat()
    .find((candidate) => isAddressEqual(candidate.address, address))
  if (!account) throw new Error(`${address} is no account of the local chains`)
  return account.privateKey
}

/** Returns whether a chain still contains its earlier head block; false after a reorganisation that replaced it. */
async function isStillCanonical(chain: LocalChain, lastHead: Head, head: Head): Promise<boolean> {
  if (head.number < lastHead.number) return false
  if (head.number === lastHead.number) return head.hash === lastHead.hash
  const { hash } = await getBlock(createBatchingClient(chain), { blockNumber: lastHead.number })
  return hash === lastHead.hash
}

async function refusalOf(chain: LocalChain, to: Address, data: Hex): Promise<string | undefined> {
  try {
    await call(createBatchingClient(chain), { account: ADDRESS, to, data })
    return undefined
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    const reverted = error.walk((cause) => cause instanceof Error && 'data' in cause && isHex(cause.data))
    if (!reverted || !('data' in reverted) || !isHex(reverted.data)) return error.shortMessage
    try {
      return decodeErrorResult({ abi: spokePoolAbi, data: reverted.data }).errorName
    } catch {
      return reverted.data === '0x' ? 'no reason' : slice(reverted.data, 0, 4)
    }
  }
}
