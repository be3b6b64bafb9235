import { getAddress, numberToHex } from 'viem'
import { expect } from 'vitest'
import { set } from '../../../lib/aws/conditions.ts'
import { transfersStore } from '../../../lib/bridge/store.ts'
import { DAY_MS, HOUR_MS } from '../../../lib/core/time.ts'
import { watchedStore } from '../../../lib/rewards/watched-store.ts'
import { test } from '../../support/dynamo.ts'

const [BASE, ARBITRUM] = [8453, 42_161]
const NOW = Date.UTC(2026, 10, 27)
const [ALICE, BOB] = [1n, 2n].map((number) => getAddress(numberToHex(number, { size: 20 })))
const watchedBy = (clientId: string, account = ALICE, chainId = BASE) => ({
  chainId,
  account: account ?? '0x',
  clientId,
})

test('An account is written at most once a day for each client and chain', async ({ tables, requests }) => {
  const store = watchedStore(tables.deposits)
  const writesOf = async (keys: Parameters<typeof store.watch>[0], now: number) => {
    requests.length = 0
    await store.watch(keys, now)
    return requests.filter((action) => action === 'UpdateItem').length
  }
  const both = [watchedBy('a'), watchedBy('a', ALICE, ARBITRUM)]
  expect(await writesOf(both, NOW)).toBe(2)
  expect(await writesOf(both, NOW + DAY_MS - 1)).toBe(0)
  expect(await writesOf([watchedBy('b')], NOW + 1)).toBe(1)
  expect(await writesOf(both, NOW + DAY_MS)).toBe(2)
})

test('An account that is requested again keeps the time of its next check', async ({ tables }) => {
  const store = watchedStore(tables.deposits)
  await store.watch([watchedBy('a')], NOW)
  await store.postpone(watchedBy('a'), NOW + 25 * HOUR_MS)
  await store.watch([watchedBy('a')], NOW + DAY_MS)
  const [watched] = await store.listNext(BASE, 10)
  expect(watched).toMatchObject({ ...watchedBy('a'), seenAt: NOW + DAY_MS, lookAt: NOW + 25 * HOUR_MS })
  expect(watched?.expiresAt).toEqual(new Date(NOW + 8 * DAY_MS))
})

test('The accounts of a chain are listed by their next checks, without its transfers', async ({ tables }) => {
  const [store, transfers] = [watchedStore(tables.deposits), transfersStore(tables.deposits)]
  await store.watch([watchedBy('a', BOB)], NOW + 1)
  await store.watch([watchedBy('b')], NOW)
  await store.watch([watchedBy('c', ALICE, ARBITRUM)], NOW)
  expect(await transfers.listDue(BASE, NOW + DAY_MS, 10)).toEqual([])
  await tables.deposits.write({ pk: `TRANSFER#${BASE}#${ALICE}`, sk: '0x01' }, [
    set('followedOnChain', BASE),
    set('lookAt', 1),
  ])
  const listed = await store.listNext(BASE, 10)
  expect(listed.map(({ account, clientId }) => [account, clientId])).toEqual([
    [ALICE, 'b'],
    [BOB, 'a'],
  ])
  expect(await store.listNext(BASE, 1)).toHaveLength(1)
})

test('Only the clients that watch an account on this chain are found', async ({ tables }) => {
  const store = watchedStore(tables.deposits)
  await store.watch([watchedBy('a'), watchedBy('b'), watchedBy('c', BOB), watchedBy('d', ALICE, ARBITRUM)], NOW)
  expect(await store.listClients(BASE, ALICE ?? '0x')).toEqual(['a', 'b'])
})

test('A deleted account is not watched again by a postponement', async ({ tables }) => {
  const store = watchedStore(tables.deposits)
  await store.postpone(watchedBy('a'), NOW)
  expect(await store.listNext(BASE, 10)).toEqual([])
})
