import { createClient, type Hash, http, isAddressEqual, isHash, parseEventLogs } from 'viem'
import { getContractEvents, getTransactionReceipt } from 'viem/actions'
import { bridgeContracts, multicallHandlerAbi, spokePoolAbi } from '../bridge.ts'
import type { LocalChain } from '../chains.ts'
import type { ProviderReply } from '../fake.ts'
import type { Relay, Relayer } from '../relayer.ts'

type Sources = { readonly chains: readonly LocalChain[]; readonly relayer: Relayer }
type Fill = { readonly transactionHash: Hash; readonly logIndex: number; readonly isSlow: boolean }

const SLOW_FILL = 2

/**
 * What the bridge's indexer says of a deposit, by `depositTxnRef` (or the old `depositTxHash`) and `index`, by
 * `originChainId` and `depositId`, or by `relayDataHash`. It says `actionsSucceeded` as the real one does, which gets
 * it wrong where several deposits are filled in one transaction.
 */
export async function answerDepositStatus(query: URLSearchParams, sources: Sources): Promise<ProviderReply> {
  const find = finder(query)
  if (!find)
    return complaint(400, 'IncorrectQueryParamsException', 'Give depositTxnRef, or originChainId and depositId')
  const found = (await sources.relayer.look()).filter(find)
  if (found.length === 0) return complaint(404, 'DepositNotFoundException', 'Deposit not found given these constraints')
  const index = Number(query.get('index') ?? '0')
  const relay = found[index]
  if (!relay) return complaint(400, 'IndexParamOutOfRangeException', `Index ${index} is not below ${found.length}`)

  const { deposit } = relay
  const fill = await fillOf(relay, sources)
  const status = statusOf(relay, fill)
  const fillHash = fill?.transactionHash ?? null
  const refundHash = relay.refundTransaction ?? null
  return {
    status: 200,
    body: {
      status,
      originChainId: deposit.originChainId,
      depositId: deposit.depositId.toString(),
      depositTxHash: deposit.transactionHash,
      depositTxnRef: deposit.transactionHash,
      fillTx: fillHash,
      fillTxnRef: fillHash,
      destinationChainId: deposit.destinationChainId,
      depositRefundTxHash: refundHash,
      depositRefundTxnRef: refundHash,
      actionsSucceeded:
        fill && status === 'filled' && deposit.message !== '0x' ? await actionsSucceeded(relay, fill, sources) : null,
      pagination: { currentIndex: index, maxIndex: found.length - 1 },
    },
  }
}

function finder(query: URLSearchParams): ((relay: Relay) => boolean) | undefined {
  const transaction = query.get('depositTxnRef') ?? query.get('depositTxHash')
  if (transaction) return ({ deposit }) => deposit.transactionHash === transaction.toLowerCase()
  const relayDataHash = query.get('relayDataHash')
  if (relayDataHash && isHash(relayDataHash)) return ({ relayHash }) => relayHash === relayDataHash.toLowerCase()
  const [originChainId, depositId] = [query.get('originChainId'), query.get('depositId')]
  if (!originChainId || !depositId) return undefined
  return ({ deposit }) =>
    deposit.originChainId.toString() === originChainId && deposit.depositId.toString() === depositId
}

function statusOf({ state }: Relay, fill: Fill | undefined): string {
  if (fill) return fill.isSlow ? 'slowFilled' : 'filled'
  if (state === 'slow_fill_requested') return 'slowFillRequested'
  // Like the real one, it takes a leaf for a payment.
  if (state === 'refunded' || state === 'refund_deferred') return 'refunded'
  return state === 'expired' ? state : 'pending'
}

async function fillOf({ deposit }: Relay, sources: Sources): Promise<Fill | undefined> {
  const chain = sources.chains.find(({ chainId }) => chainId === deposit.destinationChainId)
  if (!chain) return undefined
  const { originChainId, depositId, inputAmount, depositor } = deposit
  const events = await getContractEvents(clientOf(chain), {
    address: bridgeContracts(chain.chainId).pool,
    abi: spokePoolAbi,
    eventName: 'FilledRelay',
    args: { originChainId: BigInt(originChainId), depositId },
    fromBlock: 0n,
    strict: true,
  })
  const event = events.find(({ args }) => args.inputAmount === inputAmount && args.depositor === depositor)
  if (!event) return undefined
  const { transactionHash, logIndex, args } = event
  return { transactionHash, logIndex, isSlow: args.relayExecutionInfo.fillType === SLOW_FILL }
}

/** Gives each fill of the transaction the first failure behind it that no earlier fill was given. */
async function actionsSucceeded({ deposit }: Relay, fill: Fill, { chains }: Sources): Promise<boolean> {
  const chain = chains.find(({ chainId }) => chainId === deposit.destinationChainId)
  if (!chain) return false
  const { pool, multicallHandler } = bridgeContracts(chain.chainId)
  const { logs } = await getTransactionReceipt(clientOf(chain), { hash: fill.transactionHash })
  const fills = parseEventLogs({ abi: spokePoolAbi, eventName: 'FilledRelay', logs }).filter(({ address }) =>
    isAddressEqual(address, pool),
  )
  const failures = parseEventLogs({ abi: multicallHandlerAbi, eventName: 'CallsFailed', logs })
    .filter(({ address }) => isAddressEqual(address, multicallHandler))
    .map(({ logIndex }) => logIndex)
  for (const { logIndex } of fills) {
    const blamed = failures.findIndex((failure) => failure > logIndex)
    if (logIndex === fill.logIndex) return blamed < 0
    if (blamed >= 0) failures.splice(blamed, 1)
  }
  return true
}

function complaint(status: number, error: string, message: string): ProviderReply {
  return { status, body: { error, message } }
}

function clientOf(chain: LocalChain) {
  return createClient({ transport: http(chain.rpcUrl, { retryCount: 0 }) })
}
