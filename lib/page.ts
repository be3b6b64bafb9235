import * as z from 'zod'
import { numberText } from './codecs.ts'
import { field } from './field.ts'

/** How many entries a page has at most. */
export const PageLimit = field(numberText(1, 100), 'invalid_limit')

/** Which page is asked for; the first without one. */
export const PageCursor = field(z.string().max(400), 'invalid_cursor')
  .optional()
  .describe('The nextCursor of the previous page')

/** What a page of a list says besides what is on it. */
export const Page = z.object({
  totalRecords: z.number().int().describe('Number of matching entries on all pages'),
  hasMore: z.boolean().describe('True if there is another page'),
  nextCursor: z.string().nullable().describe('Cursor of the next page; null on the last one'),
})
