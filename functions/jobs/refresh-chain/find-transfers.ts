import {
  hashRelay,
  type LoggedDeposit,
  POOL_TOPICS,
  parseDeposits,
  pickTerms,
  toWord,
} from '../../../lib/bridge/events.ts'
import { createBudget, getBridge, readTime } from '../../../lib/bridge/poll.ts'
import type { QuotesStore } from '../../../lib/bridge/quote-store.ts'
import { readNextEvents } from '../../../lib/bridge/search.ts'
import { buildDepositRecord } from '../../../lib/bridge/source.ts'
import type { TransfersStore } from '../../../lib/bridge/store.ts'
import type { LogSearch } from '../../../lib/bridge/transfer.ts'
import { blockRequest, HashedHeader, parseResult } from '../../../lib/chain/logs.ts'
import type { ChainReader } from '../../../lib/chain/reader.ts'
import { inBatches } from '../../../lib/core/batches.ts'
import { logger } from '../../../lib/core/logger.ts'

/** Maximum number of stored bridge quotes of one chain that a run reads, newest first. Users sign most quotes within a minute. */
const MAX_QUOTES = 5_000
/** Maximum number of topic values in one eth_getLogs call. Geth accepts at most 1,000. */
const MAX_TOPICS = 1_000
/**
 * Limits of RPC traffic per run and chain. They suffice for the blocks of one minute, even on nodes that accept only
 * small block ranges.
 */
const BOUNDS = { requests: 12, calls: 32 }
/** Number of blocks that the first eth_getLogs call covers. Most nodes accept this range. */
const FIRST_SPAN = 10_000n
/** Maximum seconds by which a deposit's block time may precede its quote. The two times come from different clocks. */
const SKEW_SECONDS = 600

/**
 * Finds bridge deposits that users made with this service's quotes, in the newest blocks of their source chain. Records
 * each as a transfer for the job refresh-chain to follow. Returns the number of new transfers. If the chain cannot be
 * read, it returns 0, and the next run tries again.
 */
export async function findTransfers(
  {
    getReader,
    transfers,
    quotes: store,
    now,
  }: {
    readonly getReader: (chainId: number) => ChainReader
    readonly transfers: Pick<TransfersStore, 'getMany' | 'record'>
    readonly quotes: Pick<QuotesStore, 'list'>
    /** Returns the current time in epoch milliseconds. */
    readonly now: () => number
  },
  chainId: number,
): Promise<number> {
  const quotes = await store.list(chainId, now(), MAX_QUOTES)
  if (quotes.length === 0) return 0
  const byTerms = new Map(quotes.map((quote) => [quote.terms.hash, quote]))
  const depositors = [...new Set(quotes.map(({ terms }) => terms.depositor))]
  const oldest = Math.min(...quotes.map(({ terms }) => terms.quotedAt))
  const source = getReader(chainId)
  const { pool } = getBridge(source)
  const budget = createBudget(BOUNDS.calls, BOUNDS)
  try {
    const [latest] = await budget.ask(source, [blockRequest('latest')])
    const head = parseResult(HashedHeader, latest)
    const filters = inBatches(depositors.map(toWord), MAX_TOPICS).map((some) => ({
      address: pool,
      topics: [POOL_TOPICS.deposited, null, null, some],
    }))
    const options = { filters, head, since: BigInt(oldest - SKEW_SECONDS), maxRanges: 1, hasRead: true }
    const logged: LoggedDeposit[] = []
    let search: LogSearch | undefined = { low: head.number + 1n, high: head.number, span: FIRST_SPAN }
    for (let progress = 'more'; progress === 'more'; ) {
      const step = await readNextEvents(source, budget, search, options)
      logged.push(...parseDeposits(step.logs.flat(), pool, chainId))
      ;({ search, progress } = step)
    }
    const quoted = logged.flatMap((one) => {
      const quote = byTerms.get(pickTerms(one.deposit).hash)
      if (!quote) return []
      const key = { sourceChainId: chainId, depositor: quote.terms.depositor, relayHash: hashRelay(one.deposit) }
      return [{ ...one, quote, key }]
    })
    const known = new Set((await transfers.getMany(quoted.map(({ key }) => key))).map(({ key }) => key.relayHash))
    let found = 0
    for (const { key, quote, ...one } of quoted.filter(({ key }) => !known.has(key.relayHash))) {
      const at = await readTime({ budget: createBudget() }, source, [one.log], one.log.blockNumber)
      const transfer = { ...buildDepositRecord(source, one, { at, isFinal: false }), quote, lookAt: new Date(now()) }
      if (await transfers.record(key, transfer)) found += 1
    }
    return found
  } catch (error) {
    logger.warn('transfers not found', { chainId, quotes: quotes.length, reason: String(error) })
    return 0
  }
}
