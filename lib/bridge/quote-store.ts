import * as z from 'zod'
import type { Table } from '../aws/table.ts'
import { EpochSeconds } from '../core/codecs.ts'
import { Quote, type Terms } from './quote.ts'

const QuoteItem = z.object({ quote: Quote, expiresAt: EpochSeconds })

/**
 * Seconds for which a quote is stored after its quote time. The bridge's pool accepts a quote for an hour, and block
 * times may differ by an hour.
 */
const QUOTE_SECONDS = 2 * 3_600

/** Creates the store of the bridge quotes that the API returned to clients. */
export function quotesStore(table: Table) {
  return {
    /** Stores a bridge quote that the API returned. The stored quote expires after the bridge's pool stops accepting it. */
    async add(sourceChainId: number, quote: Quote): Promise<void> {
      const expiresAt = new Date((quote.terms.quotedAt + QUOTE_SECONDS) * 1000)
      await table.put(QuoteItem, quoteKey(sourceChainId, quote.terms), { quote, expiresAt })
    },

    /** Returns the stored quotes with these terms, in no particular order. */
    async getMany(sourceChainId: number, terms: readonly Terms[]): Promise<Quote[]> {
      const keys = terms.map((one) => quoteKey(sourceChainId, one))
      const items = await table.getMany(QuoteItem, keys, { isConsistent: false })
      return items.flatMap((item) => item?.quote ?? [])
    },

    /** Lists the quotes issued on a chain in the last two hours, newest first, at most `limit`. `now` is in epoch milliseconds. */
    async list(sourceChainId: number, now: number, limit: number): Promise<Quote[]> {
      const from = toSortText(Math.floor(now / 1000) - QUOTE_SECONDS)
      const range = { partition: quotePartition(sourceChainId), from }
      const quotes: Quote[] = []
      for await (const items of table.pages(QuoteItem, range, { isConsistent: false, isDescending: true })) {
        quotes.push(...items.map(({ quote }) => quote))
        if (quotes.length >= limit) break
      }
      return quotes.slice(0, limit)
    },
  }
}
export type QuotesStore = ReturnType<typeof quotesStore>

function quotePartition(sourceChainId: number): string {
  return `QUOTES#${sourceChainId}`
}

function quoteKey(sourceChainId: number, { depositor, hash, quotedAt }: Terms) {
  return { pk: quotePartition(sourceChainId), sk: `${toSortText(quotedAt)}#${depositor}#${hash}` }
}

function toSortText(seconds: number): string {
  return seconds.toString().padStart(12, '0')
}
