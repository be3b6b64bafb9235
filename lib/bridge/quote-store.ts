import * as z from 'zod'
import type { Table } from '../aws/table.ts'
import { EpochSeconds } from '../codecs.ts'
import { Quote, type Terms } from './quote.ts'

const QuoteItem = z.object({ quote: Quote, expiresAt: EpochSeconds })

/** The pool takes a quote for an hour; another one is for blocks that come late. */
const QUOTE_SECONDS = 2 * 3_600

/** The table of quotes that were handed out. */
export function quotesStore(table: Table) {
  return {
    /** Records a quote that was handed out; it goes by itself when the pool no longer takes it. */
    async add(sourceChainId: number, quote: Quote): Promise<void> {
      const expiresAt = new Date((quote.terms.quotedAt + QUOTE_SECONDS) * 1000)
      await table.put(QuoteItem, quoteKey(sourceChainId, quote.terms), { quote, expiresAt })
    },

    /** The recorded quotes with these terms, in no order. */
    async getMany(sourceChainId: number, terms: readonly Terms[]): Promise<Quote[]> {
      if (terms.length === 0) return []
      const keys = terms.map((one) => quoteKey(sourceChainId, one))
      const items = await table.getMany(QuoteItem, keys, { isConsistent: false })
      return items.map(({ quote }) => quote)
    },

    /** The quotes on a chain whose deposits the pool may still take, or has just taken; the newest first, at most `limit`. */
    async list(sourceChainId: number, now: number, limit: number): Promise<Quote[]> {
      const from = orderOf(Math.floor(now / 1000) - QUOTE_SECONDS)
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
  return { pk: quotePartition(sourceChainId), sk: `${orderOf(quotedAt)}#${depositor}#${hash}` }
}

/** Seconds since 1970 as text that sorts by time. */
function orderOf(seconds: number): string {
  return seconds.toString().padStart(12, '0')
}
