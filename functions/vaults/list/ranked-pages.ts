import { decodeCursor, encodeCursor } from '../../../lib/core/cursor.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { type Vault, vaultPartition } from '../../../lib/vaults/vault.ts'

type PageOf = { readonly list: string; readonly cursor: string | undefined; readonly limit: number | undefined }

/**
 * Cuts a list of vaults into pages. Live figures change the order of the list between two requests. So the cursor marks
 * each vault already shown with one bit, and no vault appears twice. `rest` has the vaults not yet shown, unsorted.
 * `cut` takes them in sorted order and returns the next page. Throws `invalid_cursor`, also if a vault was added or
 * removed since the cursor was made.
 */
export function createRankedPages(vaults: readonly Vault[], { list, cursor, limit }: PageOf) {
  const placed = vaults
    .map((vault) => ({ vault, place: vaultPartition(vault) }))
    .sort((left, right) => (left.place < right.place ? -1 : 1))
  const whole = JSON.stringify([list, placed.map(({ place }) => place)])
  const shown = cursor === undefined ? 0n : readBits(decodeCursor(cursor, whole))
  const bitOf = new Map(placed.map(({ vault }, index) => [vault, 1n << BigInt(index)]))
  const rest = placed.flatMap(({ vault }) => (shown & (bitOf.get(vault) ?? 0n) ? [] : vault))
  return {
    rest,
    cut<T extends { readonly vault: Vault }>(ranked: readonly T[]) {
      const onPage = ranked.slice(0, limit)
      const hasMore = ranked.length > onPage.length
      const seen = onPage.reduce((bits, { vault }) => bits | (bitOf.get(vault) ?? 0n), shown)
      return {
        onPage,
        page: {
          totalRecords: vaults.length - rest.length + ranked.length,
          hasMore,
          nextCursor: hasMore ? encodeCursor(seen.toString(16), whole) : null,
        },
      }
    },
  }
}

function readBits(text: string): bigint {
  if (!/^[0-9a-f]+$/.test(text)) throw new AppError('invalid_cursor')
  return BigInt(`0x${text}`)
}
