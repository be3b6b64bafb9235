import { createHash } from 'node:crypto'
import { AppError } from '../../../lib/errors.ts'

/** Where a page of a list ends: the position of its last entry. Opaque to callers, and good for the same list only. */
export function encodeCursor(position: string, list: string): string {
  return Buffer.from(`${checkOf(position, list)}${position}`).toString('base64url')
}

/** The position in a cursor of this list; throws `invalid_cursor` for anything that we did not hand out for it. */
export function decodeCursor(cursor: string, list: string): string {
  const text = Buffer.from(cursor, 'base64url').toString()
  const position = text.slice(CHECK_LENGTH)
  // The whole text, for base64 has several spellings of the same bytes.
  if (encodeCursor(position, list) !== cursor) throw new AppError('invalid_cursor')
  return position
}

const CHECK_LENGTH = 8

function checkOf(position: string, list: string): string {
  return createHash('sha256').update(`${list}\n${position}`).digest('base64url').slice(0, CHECK_LENGTH)
}
