import * as z from 'zod'
import { numberText } from './codecs.ts'
import { field } from './field.ts'

/** Maximum number of entries on the requested page. */
export const PageLimit = field(numberText(1, 100), 'invalid_limit')

/** Cursor of the requested page. A request without one gets the first page. */
export const PageCursor = field(z.string().max(400), 'invalid_cursor')
  .optional()
  .describe('The nextCursor of the previous page')

/** Totals and cursor of a page. */
export const Page = z.object({
  totalRecords: z.number().int().describe('Number of matching entries on all pages'),
  hasMore: z.boolean().describe('True if there is another page'),
  nextCursor: z.string().nullable().describe('Cursor of the next page; null on the last one'),
})
