import { createHash } from 'node:crypto'
import { AppError } from '../errors.ts'

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

const CHECK_LENGTH = 8

function buildCheck(sortKey: string, list: string): string {
  return createHash('sha256').update(`${list}\n${sortKey}`).digest('base64url').slice(0, CHECK_LENGTH)
}
