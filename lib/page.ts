import * as z from 'zod'
import { numberText } from './codecs.ts'
import { field } from './field.ts'

/** How many entries a page has at most. */
export const PageLimit = field(numberText(1, 100), 'invalid_limit')

/** Which page is asked for; the first without one. */
export const PageCursor = field(z.string().max(400), 'invalid_cursor')
  .optional()
  .describe('nextCursor of the page before')

/** What a page of a list says besides what is on it. */
export const Page = z.object({
  totalRecords: z.number().int().describe('All that match, on whatever page'),
  hasMore: z.boolean().describe('Whether there is another page'),
  nextCursor: z.string().nullable().describe('Gives the next page; null on the last one'),
})
