import fc from 'fast-check'
import { getAddress, numberToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { rankVaults } from '../../../functions/vaults/list/rank.ts'
import { createRankedPages } from '../../../functions/vaults/list/ranked-pages.ts'
import type { Vault } from '../../../lib/vaults/vault.ts'
import { someVault } from '../../support/clients.ts'

const vaultAt = (index: number): Vault =>
  someVault({ address: getAddress(numberToHex(2n ** 150n + BigInt(index) * 7919n, { size: 20 })) })
const addressesOf = (entries: readonly { readonly vault: Vault }[]) => entries.map(({ vault }) => vault.address)
const page = (vaults: readonly Vault[], figures: readonly (number | null)[], cursor?: string, limit = 7) => {
  const { rest, cut } = createRankedPages(vaults, { list: 'list', cursor, limit })
  const entries = rest.map((vault) => ({
    vault,
    // The cast is safe, because the ranking reads only these two values.
    live: { totalAssetsUsd: figures[vaults.indexOf(vault)] ?? null, annualYield: null } as never,
  }))
  return cut(rankVaults(entries, { sort: 'totalAssetsUsd', order: undefined, minTotalAssetsUsd: undefined }))
}

describe('The pages of a sorted list', () => {
  const figure = fc.option(fc.nat(5))

  test('show each vault once, however the figures change between pages', () => {
    const moments = fc.array(fc.array(figure, { minLength: 20, maxLength: 20 }), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 1, max: 9 }), moments, (count, limit, moving) => {
        const vaults = Array.from({ length: count }, (_, index) => vaultAt(index))
        const listed: string[] = []
        let cursor: string | undefined
        for (let number = 0; number === 0 || cursor !== undefined; number += 1) {
          const result = page(vaults.toReversed(), moving[number % moving.length] ?? [], cursor, limit)
          listed.push(...addressesOf(result.onPage))
          expect(result.page).toMatchObject({ totalRecords: count, hasMore: listed.length < count })
          cursor = result.page.nextCursor ?? undefined
        }
        expect(listed.toSorted()).toEqual(vaults.map(({ address }) => address).toSorted())
      }),
    )
  })

  test('make up the sorted list if no figure changes', () => {
    fc.assert(
      fc.property(fc.array(figure, { maxLength: 20 }), (figures) => {
        const vaults = figures.map((_, index) => vaultAt(index))
        const whole = page(vaults, figures, undefined, 100)
        const first = page(vaults, figures)
        const second = first.page.nextCursor === null ? undefined : page(vaults, figures, first.page.nextCursor, 100)
        expect([...first.onPage, ...(second?.onPage ?? [])]).toEqual(whole.onPage)
      }),
    )
  })

  test('of a thousand vaults have cursors that fit in a request', () => {
    const vaults = Array.from({ length: 1000 }, (_, index) => vaultAt(index))
    const figures = vaults.map((_, index) => 1000 - index)
    expect(page(vaults, figures, undefined, 999).page.nextCursor?.length).toBeLessThanOrEqual(400)
  })

  test('refuse a cursor of a list that had other vaults, or of another list', () => {
    const vaults = [1, 2, 3].map(vaultAt)
    const cursor = page(vaults, [], undefined, 1).page.nextCursor ?? ''
    expect(page(vaults, [], cursor, 1).onPage).toHaveLength(1)
    expect(() => page(vaults.slice(1), [], cursor)).toThrow('Invalid cursor')
    expect(() => createRankedPages(vaults, { list: 'other', cursor, limit: 1 })).toThrow('Invalid cursor')
  })
})
