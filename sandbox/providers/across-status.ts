import { type Address, getAddress, type Hash, isHash, keccak256, parseEventLogs, zeroHash } from 'viem'
import { getContractEvents, getTransactionReceipt } from 'viem/actions'
import * as z from 'zod'
import { type BridgeDeposit, bridgeContracts, multicallHandlerAbi, relayDataOf, spokePoolAbi } from '../bridge.ts'
import type { LocalChain } from '../chains.ts'
import type { FakeRequest, ProviderReply } from '../fake.ts'
import type { Relayer, TrackedDeposit } from '../relayer.ts'
import { createBatchingClient } from '../rpc.ts'

type Status = 'pending' | 'filled' | 'slowFillRequested' | 'slowFilled' | 'expired' | 'refunded'

const STATUSES: Readonly<Record<TrackedDeposit['state'], Status>> = {
  waiting: 'pending',
  ignored: 'pending',
  stranded: 'pending',
  slow_fill_requested: 'slowFillRequested',
  filled: 'filled',
  slow_filled: 'slowFilled',
  expired: 'expired',
  // Across' indexer reports a refund once its bundle is executed, even if the depositor has not claimed it yet.
  refund_deferred: 'refunded',
  refunded: 'refunded',
}

const AnyHash = z.custom<Hash>((text) => typeof text === 'string' && isHash(text))
const Params = z.object({
  originChainId: z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .optional(),
  depositId: z
    .string()
    .regex(/^\d{1,78}$/)
    .transform(BigInt)
    .optional(),
  depositTxnRef: AnyHash.optional(),
  depositTxHash: AnyHash.optional(),
  relayDataHash: AnyHash.optional(),
  index: z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .default(0),
})
type Params = z.output<typeof Params>

/**
 * Returns a fake of `GET /deposit/status` of Across' API, for the deposits that the local relayer tracks. It imitates
 * two errors of the real indexer. It reports the first transaction of a refund bundle, even if another one paid the
 * depositor. It may blame a fill for an action that failed in another fill of the same transaction.
 */
export function depositStatuses(options: {
  readonly chains: readonly LocalChain[]
  readonly relayer: Relayer
}): (question: FakeRequest) => Promise<ProviderReply> {
  const { chains, relayer } = options

  return async ({ query }) => {
    const parsed = Params.safeParse(Object.fromEntries(query))
    if (!parsed.success) return refuse(400, 'InputValidationError', z.prettifyError(parsed.error))
    const { index } = parsed.data
    const matchesFilter = filterOf(parsed.data)
    if (!matchesFilter) return refuse(400, 'IncorrectQueryParamsException', 'Incorrect query params provided')
    const relays = (await relayer.listDeposits()).filter(matchesFilter)
    const maxIndex = relays.length - 1
    if (maxIndex < 0) {
      return refuse(404, 'DepositNotFoundException', 'Deposit not found given the provided constraints')
    }
    const relay = relays[index]
    if (!relay) {
      const message = `Index ${index} out of range. Index must be between 0 and ${maxIndex}`
      return refuse(400, 'IndexParamOutOfRangeException', message)
    }
    return { status: 200, body: { ...(await describe(relay)), pagination: { currentIndex: index, maxIndex } } }
  }

  async function describe({ deposit, state, bundleTransaction }: TrackedDeposit) {
    const status = STATUSES[state]
    const fill = status === 'filled' || status === 'slowFilled' ? await fillOf(deposit) : undefined
    const fillTx = fill?.transactionHash ?? null
    const refund = status === 'refunded' ? (bundleTransaction ?? null) : null
    const hasActions = status === 'filled' && deposit.message !== '0x'
    return {
      status,
      originChainId: deposit.originChainId,
      depositId: deposit.depositId.toString(),
      depositTxHash: deposit.transactionHash,
      depositTxnRef: deposit.transactionHash,
      fillTx,
      fillTxnRef: fillTx,
      destinationChainId: deposit.destinationChainId,
      depositRefundTxHash: refund,
      depositRefundTxnRef: refund,
      actionsSucceeded: fill && hasActions ? await haveActionsSucceeded(fill) : null,
    }
  }

  async function fillOf(deposit: BridgeDeposit): Promise<Fill | undefined> {
    const chain = chains.find(({ chainId }) => chainId === deposit.destinationChainId)
    if (!chain) return undefined
    const { originChainId, depositId, message, ...expected } = relayDataOf(deposit)
    const address = bridgeContracts(chain.chainId).pool
    const fills = await getContractEvents(createBatchingClient(chain), {
      ...{ address, abi: spokePoolAbi, eventName: 'FilledRelay', strict: true },
      ...{ args: { originChainId, depositId }, fromBlock: 0n },
    })
    const terms = Object.entries({ ...expected, messageHash: message === '0x' ? zeroHash : keccak256(message) })
    const fill = fills.find(({ args }) => terms.every(([name, value]) => args[name as keyof typeof args] === value))
    return fill && { chain, pool: address, transactionHash: fill.transactionHash, logIndex: fill.logIndex }
  }
}

type Fill = {
  readonly chain: LocalChain
  readonly pool: Address
  readonly transactionHash: Hash
  readonly logIndex: number
}

/**
 * Returns false if the indexer blames this fill for a failed action. The indexer gives each fill the next failure in
 * the transaction's logs, even one that a later fill caused.
 */
async function haveActionsSucceeded({ chain, pool, transactionHash, logIndex }: Fill): Promise<boolean> {
  const { logs } = await getTransactionReceipt(createBatchingClient(chain), { hash: transactionHash })
  const fills = parseEventLogs({ abi: spokePoolAbi, eventName: 'FilledRelay', logs })
  const failures = parseEventLogs({ abi: multicallHandlerAbi, eventName: 'CallsFailed', logs }).map(
    (log) => log.logIndex,
  )
  for (const fill of fills.filter(({ address }) => getAddress(address) === pool)) {
    const failure = failures.findIndex((index) => index > fill.logIndex)
    if (fill.logIndex === logIndex) return failure < 0
    if (failure >= 0) failures.splice(failure, 1)
  }
  return true
}

function filterOf(params: Params): ((relay: TrackedDeposit) => boolean) | undefined {
  const { originChainId, depositId, relayDataHash } = params
  const transactionHash = params.depositTxHash ?? params.depositTxnRef
  if (transactionHash) return ({ deposit }) => deposit.transactionHash === transactionHash
  if (depositId !== undefined && originChainId !== undefined) {
    return ({ deposit }) => deposit.depositId === depositId && deposit.originChainId === originChainId
  }
  return relayDataHash && (({ relayHash }) => relayHash === relayDataHash)
}

function refuse(status: number, error: string, message: string): ProviderReply {
  return { status, body: { error, message } }
}
