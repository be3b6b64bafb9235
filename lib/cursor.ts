import { createHash } from 'node:crypto'
import { AppError } from './errors.ts'

/** Where a page of a list ends: the sort key of its last entry. Opaque to callers, and good for the same list only. */
export function encodeCursor(sortKey: string, list: string): string {
  return Buffer.from(`${buildCheck(sortKey, list)}${sortKey}`).toString('base64url')
}

/** The sort key in a cursor of this list; throws `invalid_cursor` for anything that we did not hand out for it. */
export function decodeCursor(cursor: string, list: string): string {
  const text = Buffer.from(cursor, 'base64url').toString()
  const sortKey = text.slice(CHECK_LENGTH)
  // The whole text, for base64 has several spellings of the same bytes.
  if (encodeCursor(sortKey, list) !== cursor) throw new AppError('invalid_cursor')
  return sortKey
}

/** An entry of a list, with what stands for its place there. */
type Placed = { readonly sortKey: string }

/** How a list is ordered: the sort key's text, or the other way round. */
type Order = 'ascending' | 'descending'

/** Of which list a page is, by all that tells it from others, in which order, from behind which sort key on, how long. */
type PageOf = {
  readonly list: string
  readonly order: Order
  readonly after: string | undefined
  readonly limit: number | undefined
}

/** A page of these entries, which need no order, and what it says besides; all that follow where no limit is given. */
export function cutPage<T extends Placed>(entries: readonly T[], { list, order, after, limit }: PageOf) {
  const compare = (left: string, right: string) =>
    left === right ? 0 : left < right === (order === 'ascending') ? -1 : 1
  const sorted = entries.toSorted((left, right) => compare(left.sortKey, right.sortKey))
  const rest = after === undefined ? sorted : sorted.filter(({ sortKey }) => compare(sortKey, after) > 0)
  const onPage = rest.slice(0, limit)
  const last = onPage.at(-1)
  const hasMore = rest.length > onPage.length
  return {
    onPage,
    page: {
      totalRecords: entries.length,
      hasMore,
      nextCursor: hasMore && last ? encodeCursor(last.sortKey, list) : null,
    },
  }
}

const CHECK_LENGTH = 8

function buildCheck(sortKey: string, list: string): string {
  return createHash('sha256').update(`${list}\n${sortKey}`).digest('base64url').slice(0, CHECK_LENGTH)
}
