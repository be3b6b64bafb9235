import * as z from 'zod'
import { numberText } from './codecs.ts'
import { field } from './field.ts'

/** Query parameter: maximum number of entries on a page, 1 to 100. */
export const PageLimit = field(numberText(1, 100), 'invalid_limit')

/** Query parameter: cursor of the requested page. The first page needs none. */
export const PageCursor = field(z.string().max(400), 'invalid_cursor')
  .optional()
  .describe('The nextCursor of the previous page')

/** Fields with which a response describes its page: total number of entries, and cursor of the next page. */
export const Page = z.object({
  totalRecords: z.number().int().describe('Number of matching entries on all pages'),
  hasMore: z.boolean().describe('True if there is another page'),
  nextCursor: z.string().nullable().describe('Cursor of the next page; null on the last one'),
})
