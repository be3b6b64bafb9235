/*
 * The relayer of the local chains: it follows the deposits of all pools and fills them, as somebody else does in the
 * real world. `npm start` lets it run by itself; tests call `fillAll` and the like, so that nothing waits for a clock.
 *
 * Over HTTP it is told what to do under /relayer of the local providers:
 *
 *   GET  /relayer                                        its settings, every deposit it knows, and these commands
 *   POST /relayer/stop, /relayer/resume                  fills nothing by itself, and again
 *   POST /relayer/settings  {delaySeconds?, batchSize?}  fills late; fills that many of one destination together
 *   POST /relayer/fill      {depositId?, together?}      fills at once: one, or all that wait; in one transaction
 *   POST /relayer/ignore    {depositId}                  never fills it by itself, so that it expires
 *   POST /relayer/slow-fill {depositId}                  asks the pool for a slow fill instead of filling
 *   POST /relayer/execute-slow-fill {depositId, outputAmount?}   makes that slow fill, with another amount if told
 *   POST /relayer/refund    {depositId?}                 pays expired deposits back to their depositors: one, or all
 *   POST /relayer/advance   {seconds}                    puts the clocks of all chains forward
 *
 * `depositId` is a string of digits; "next" means the next deposit that is made, for ignore and slow-fill. Deposits of
 * two chains with the same id are told apart by `originChainId`.
 */
import {
  type Address,
  BaseError,
  createClient,
  decodeErrorResult,
  encodeFunctionData,
  getAddress,
  type Hash,
  type Hex,
  http,
  isHex,
  pad,
  slice,
} from 'viem'
import { call, getBlock, readContract } from 'viem/actions'
import { ACCOUNTS } from './accounts.ts'
import { type BridgeDeposit, bridgeContracts, readDeposits, relayDataOf, relayHashOf, spokePoolAbi } from './bridge.ts'
import type { LocalChain } from './chains.ts'
import { callRpc } from './rpc.ts'
import { transact } from './transactions.ts'

/**
 * What became of a deposit. `waiting` ones are filled when their time comes, `ignored` ones never by the relayer
 * itself; `stranded` ones go to a chain that nobody fills on.
 */
type RelayState =
  | 'waiting'
  | 'ignored'
  | 'slow_fill_requested'
  | 'filled'
  | 'slow_filled'
  | 'expired'
  | 'refunded'
  | 'stranded'

/** A deposit that the relayer knows, and what it did about it. */
export type Relay = {
  readonly deposit: BridgeDeposit
  readonly relayHash: Hash
  readonly state: RelayState
  /** Why the last attempt to fill it failed. */
  readonly trouble?: string
  /** The relayer's own transactions. */
  readonly fillTransaction?: Hash
  readonly refundTransaction?: Hash
}

/** Which deposits are meant: all of them when nothing is said. */
type DepositQuery = {
  readonly originChainId?: number
  readonly depositId?: bigint
  readonly transactionHash?: Hash
}

/** How a relayer works while it runs by itself. */
type RelayerSettings = {
  running: boolean
  /** How long it waits with each fill, from when it saw the deposit. */
  delaySeconds: number
  /** How many deposits to one destination it collects before it fills them in one transaction. */
  batchSize: number
}

/** A relayer; what it is told to do is done in turn. */
export type Relayer = {
  readonly address: Address
  readonly settings: RelayerSettings
  /** Every deposit so far that fits, in the order in which they were seen, after a look at the chains. */
  look(query?: DepositQuery): Promise<readonly Relay[]>
  /** The transaction that filled a deposit just now; throws with the pool's reason when it refuses. */
  fill(deposit: BridgeDeposit): Promise<Hash>
  /** Fills every waiting deposit at once, each by itself, and gives those filled; the others say why in `trouble`. */
  fillAll(): Promise<readonly Relay[]>
  /** Fills deposits, by default all waiting ones, in one transaction per destination; throws when one is refused. */
  fillTogether(deposits?: readonly BridgeDeposit[]): Promise<readonly Hash[]>
  /** The transaction that asked for a slow fill. */
  requestSlowFill(deposit: BridgeDeposit): Promise<Hash>
  /** The transaction of a slow fill, from the pool's own tokens, with the deposit's output amount or another. */
  executeSlowFill(deposit: BridgeDeposit, outputAmount?: bigint): Promise<Hash>
  /** The transaction that paid an expired deposit back to its depositor; throws for one that may still be filled. */
  refund(deposit: BridgeDeposit): Promise<Hash>
  /** Leaves a deposit alone from now on, until it is filled by name. */
  ignore(deposit: BridgeDeposit): Promise<void>
  /** Says what is done, instead of filling, about the next deposit that is made. */
  planNext(plan: Plan): Promise<void>
  /** Puts the clocks of all chains forward. */
  advance(seconds: number): Promise<void>
  /** Works by itself, until `stop`. */
  start(options?: { readonly onError?: (error: unknown) => void }): void
  stop(): Promise<void>
}

type Plan = 'ignore' | 'slow-fill'
type Known = { -readonly [key in keyof Relay]: Relay[key] } & { readonly seenAt: number; readonly plan?: Plan }
type Head = { readonly number: bigint; readonly timestamp: bigint }

const ADDRESS = ACCOUNTS.relayer.address
const POLL_MS = 400
const SLOW_FILL_REQUESTED = 1n
const FILLED = 2n
const FINAL: ReadonlySet<RelayState> = new Set(['filled', 'slow_filled', 'refunded', 'stranded'])

/** A relayer between these chains, which hold the bridge; it does nothing until it is told or started. */
export function createRelayer({ chains }: { readonly chains: readonly LocalChain[] }): Relayer {
  const settings: RelayerSettings = { running: true, delaySeconds: 0, batchSize: 1 }
  const heads = new Map<number, Head>()
  const plans: Plan[] = []
  let relays: Known[] = []

  const chainOf = (chainId: number) => chains.find((chain) => chain.chainId === chainId)
  const destinationOf = (deposit: BridgeDeposit): LocalChain => {
    const chain = chainOf(deposit.destinationChainId)
    if (!chain) throw new Error(`Nobody fills on chain ${deposit.destinationChainId}`)
    return chain
  }

  // One thing after the other: all transactions have the same sender, and are numbered.
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work)
    last = turn.catch(() => undefined)
    return turn
  }

  /** Takes in what is new on all chains; gives what failed, for one chain must not hold up the others. */
  const look = async (): Promise<unknown[]> => {
    const news = await Promise.allSettled(chains.map(readNews))
    for (const result of news) {
      if (result.status === 'rejected') continue
      const { chainId, head, wentBack, deposits } = result.value
      if (wentBack) forget(chainId)
      relays.push(...deposits.map(met))
      heads.set(chainId, head)
    }
    const open = relays.filter(({ state }) => !FINAL.has(state))
    const results = [...news, ...(await Promise.allSettled(open.map(refresh)))]
    return results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  }

  const lookOrThrow = async () => {
    const errors = await look()
    if (errors.length > 0) throw errors[0]
  }

  const readNews = async (chain: LocalChain) => {
    const { chainId } = chain
    const head = await getBlock(clientOf(chain))
    const seen = heads.get(chainId)?.number ?? -1n
    const wentBack = head.number < seen
    const range = { fromBlock: wentBack ? 0n : seen + 1n, toBlock: head.number }
    const deposits = head.number === seen ? [] : await readDeposits(chain, range)
    return { chainId, head, wentBack, deposits }
  }

  /** What a chain said before it was set back to an earlier block is void. */
  const forget = (chainId: number) => {
    relays = relays.filter(({ deposit }) => deposit.originChainId !== chainId)
    for (const relay of relays) if (relay.deposit.destinationChainId === chainId) relay.state = 'waiting'
  }

  const met = (deposit: BridgeDeposit): Known => {
    const plan = plans.shift()
    return {
      deposit,
      relayHash: relayHashOf(deposit),
      state: !chainOf(deposit.destinationChainId) ? 'stranded' : plan === 'ignore' ? 'ignored' : 'waiting',
      seenAt: Date.now(),
      ...(plan && { plan }),
    }
  }

  const refresh = async (relay: Known) => {
    const { deposit, relayHash } = relay
    const chain = destinationOf(deposit)
    const status = await readContract(clientOf(chain), {
      address: bridgeContracts(chain.chainId).pool,
      abi: spokePoolAbi,
      functionName: 'fillStatuses',
      args: [relayHash],
    })
    if (status === FILLED) relay.state = 'filled'
    else if (deposit.fillDeadline < (heads.get(chain.chainId)?.timestamp ?? 0n)) relay.state = 'expired'
    else if (status === SLOW_FILL_REQUESTED) relay.state = 'slow_fill_requested'
  }

  const relayOf = (deposit: BridgeDeposit): Known => {
    const hash = relayHashOf(deposit)
    const known = relays.find(({ relayHash }) => relayHash === hash)
    if (!known) throw new Error(`No pool took a deposit ${deposit.depositId} like this`)
    return known
  }

  const send = async (chain: LocalChain, label: string, data: Hex): Promise<Hash> => {
    const to = bridgeContracts(chain.chainId).pool
    // Tried first: a refusal then has a name, and leaves no trace on the chain.
    const refusal = await refusalOf(chain, to, data)
    if (refusal) throw new Error(`The pool refuses to ${label}: ${refusal}`)
    const [hash] = await transact(chain, [{ label, from: ADDRESS, to, data }])
    if (!hash) throw new Error('Nothing was sent')
    return hash
  }

  const fill = async (relay: Known): Promise<Hash> => {
    const { deposit } = relay
    try {
      relay.fillTransaction = await send(
        destinationOf(deposit),
        `fill deposit ${deposit.depositId}`,
        encodeFill(deposit),
      )
      relay.state = 'filled'
      delete relay.trouble
      return relay.fillTransaction
    } catch (error) {
      relay.trouble = error instanceof Error ? error.message : String(error)
      throw error
    }
  }

  const fillTogether = async (together: readonly Known[]): Promise<readonly Hash[]> => {
    const hashes: Hash[] = []
    for (const [chainId, group] of Map.groupBy(together, ({ deposit }) => deposit.destinationChainId)) {
      const args = [group.map(({ deposit }) => encodeFill(deposit))] as const
      const data = encodeFunctionData({ abi: spokePoolAbi, functionName: 'multicall', args })
      const ids = group.map(({ deposit }) => deposit.depositId).join(', ')
      const hash = await send(chainOf(chainId) ?? fail(chainId), `fill deposits ${ids} together`, data)
      for (const relay of group) Object.assign(relay, { state: 'filled', fillTransaction: hash })
      hashes.push(hash)
    }
    return hashes
  }

  const requestSlowFill = async (relay: Known): Promise<Hash> => {
    const { deposit } = relay
    const args = [relayDataOf(deposit)] as const
    const data = encodeFunctionData({ abi: spokePoolAbi, functionName: 'requestSlowFill', args })
    const hash = await send(destinationOf(deposit), `slow-fill deposit ${deposit.depositId}`, data)
    relay.state = 'slow_fill_requested'
    return hash
  }

  const handle = async (relay: Known): Promise<boolean> => {
    try {
      await (relay.plan === 'slow-fill' ? requestSlowFill(relay) : fill(relay))
      return relay.state === 'filled'
    } catch {
      // Noted in its trouble; it is tried again until it expires.
      return false
    }
  }

  const work = async (onError: (error: unknown) => void) => {
    for (const error of await look()) onError(error)
    if (!settings.running) return
    const latest = Date.now() - settings.delaySeconds * 1000
    const due = relays.filter(({ state, seenAt }) => state === 'waiting' && seenAt <= latest)
    if (settings.batchSize <= 1) {
      for (const relay of due) await handle(relay)
      return
    }
    for (const group of Map.groupBy(due, ({ deposit }) => deposit.destinationChainId).values()) {
      if (group.length < settings.batchSize) continue
      try {
        await fillTogether(group)
      } catch {
        // One that is refused must not hold up the others.
        for (const relay of group) await handle(relay)
      }
    }
  }

  let stopped = false
  let loop: Promise<void> | undefined

  return {
    address: ADDRESS,
    settings,
    look: (query = {}) =>
      inTurn(async () => {
        await lookOrThrow()
        return relays.filter(({ deposit }) => fits(deposit, query)).map(snapshot)
      }),
    fill: (deposit) => inTurn(async () => lookOrThrow().then(() => fill(relayOf(deposit)))),
    fillAll: () =>
      inTurn(async () => {
        await lookOrThrow()
        const filled: Known[] = []
        for (const relay of relays.filter(({ state }) => state === 'waiting')) {
          if (await handle(relay)) filled.push(relay)
        }
        return filled.map(snapshot)
      }),
    fillTogether: (deposits) =>
      inTurn(async () => {
        await lookOrThrow()
        return fillTogether(deposits?.map(relayOf) ?? relays.filter(({ state }) => state === 'waiting'))
      }),
    requestSlowFill: (deposit) => inTurn(async () => lookOrThrow().then(() => requestSlowFill(relayOf(deposit)))),
    executeSlowFill: (deposit, outputAmount = deposit.outputAmount) =>
      inTurn(async () => {
        await lookOrThrow()
        const relay = relayOf(deposit)
        const chainId = BigInt(deposit.destinationChainId)
        const slowFill = { relayData: relayDataOf(deposit), chainId, updatedOutputAmount: outputAmount }
        const data = encodeFunctionData({
          abi: spokePoolAbi,
          functionName: 'executeSlowRelayLeaf',
          args: [slowFill, 0, []],
        })
        const hash = await send(destinationOf(deposit), `slow-fill deposit ${deposit.depositId}`, data)
        Object.assign(relay, { state: 'slow_filled', fillTransaction: hash })
        return hash
      }),
    refund: (deposit) =>
      inTurn(async () => {
        await lookOrThrow()
        const relay = relayOf(deposit)
        if (relay.state !== 'expired') throw new Error(`Deposit ${deposit.depositId} is not expired: ${relay.state}`)
        const origin = chainOf(deposit.originChainId) ?? fail(deposit.originChainId)
        // Any number that was not used: the real ones number the bundles of all chains.
        const bundleId = Number(heads.get(origin.chainId)?.number ?? 0n)
        const data = encodeRefund(deposit, bundleId, relays.indexOf(relay))
        relay.refundTransaction = await send(origin, `refund deposit ${deposit.depositId}`, data)
        relay.state = 'refunded'
        return relay.refundTransaction
      }),
    ignore: (deposit) =>
      inTurn(async () => {
        await lookOrThrow()
        const relay = relayOf(deposit)
        if (relay.state === 'waiting') relay.state = 'ignored'
      }),
    planNext: (plan) =>
      inTurn(async () => {
        // What was made until now is not the next one.
        await lookOrThrow()
        plans.push(plan)
      }),
    advance: (seconds) =>
      inTurn(async () => {
        for (const chain of chains) {
          await callRpc(chain, [{ method: 'evm_increaseTime', params: [seconds] }])
          await callRpc(chain, [{ method: 'evm_mine', params: [] }])
        }
      }),
    start({ onError = () => {} } = {}) {
      loop ??= (async () => {
        while (!stopped) {
          await inTurn(() => work(onError)).catch(onError)
          await new Promise((resolve) => setTimeout(resolve, POLL_MS))
        }
      })()
    },
    async stop() {
      stopped = true
      await loop
      await last
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

function snapshot({ seenAt: _, plan: __, ...relay }: Known): Relay {
  return relay
}

function encodeFill(deposit: BridgeDeposit): Hex {
  return encodeFunctionData({
    abi: spokePoolAbi,
    functionName: 'fillRelay',
    args: [relayDataOf(deposit), BigInt(deposit.destinationChainId), pad(ADDRESS)],
  })
}

function encodeRefund(deposit: BridgeDeposit, bundleId: number, leafId: number): Hex {
  const leaf = {
    amountToReturn: 0n,
    chainId: BigInt(deposit.originChainId),
    refundAmounts: [deposit.inputAmount],
    leafId,
    l2TokenAddress: getAddress(slice(deposit.inputToken, 12)),
    refundAddresses: [getAddress(slice(deposit.depositor, 12))],
  }
  return encodeFunctionData({
    abi: spokePoolAbi,
    functionName: 'executeRelayerRefundLeaf',
    args: [bundleId, leaf, []],
  })
}

/** The name of the error that a call would end with, undefined when it would go through. */
async function refusalOf(chain: LocalChain, to: Address, data: Hex): Promise<string | undefined> {
  try {
    await call(clientOf(chain), { account: ADDRESS, to, data })
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

function clientOf(chain: LocalChain) {
  return createClient({ transport: http(chain.rpcUrl, { batch: true, retryCount: 0 }) })
}

function fail(chainId: number): never {
  throw new Error(`There is no chain ${chainId}`)
}
