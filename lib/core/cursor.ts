import { createHash } from 'node:crypto'
import { AppError } from './errors.ts'

/**
 * Encodes the sort key of a page's last entry as a cursor, opaque to callers. A checksum limits the cursor to this list
 * and its filters.
 */
export function encodeCursor(sortKey: string, list: string): string {
  return Buffer.from(`${buildCheck(sortKey, list)}${sortKey}`).toString('base64url')
}

/** Returns the sort key in a cursor. Throws `invalid_cursor` if the service did not create the cursor for this list. */
export function decodeCursor(cursor: string, list: string): string {
  const text = Buffer.from(cursor, 'base64url').toString()
  const sortKey = text.slice(CHECK_LENGTH)
  // Several base64 texts decode to the same bytes. So the whole cursor is compared, not only its bytes.
  if (encodeCursor(sortKey, list) !== cursor) throw new AppError('invalid_cursor')
  return sortKey
}

type Placed = { readonly sortKey: string }

type Order = 'ascending' | 'descending'

type PageOf = {
  readonly list: string
  readonly order: Order
  readonly after: string | undefined
  readonly limit: number | undefined
}

/**
 * Sorts a list's entries and returns one page: at most `limit` entries after the sort key `after`. Also returns the
 * total number of entries and the cursor of the next page.
 */
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
