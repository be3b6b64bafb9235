import { describe, expect, test } from 'vitest'
import { createBalancesRefresh } from '../../../functions/portfolio/all-balances/refresh.ts'
import { SOLANA } from '../../../lib/chain/registry.ts'
import { AppError } from '../../../lib/core/errors.ts'
import type { WalletBalances } from '../../../lib/portfolio/wallet-balances.ts'

const WALLETS = ['one', 'two']
const NOW = Date.parse('2026-06-01T12:00:00.000Z')

function buildRefresh({ isIndexDown = false } = {}) {
  const items = new Map<string, WalletBalances>()
  const requestedWallets: string[] = []
  const node = { read: async () => 7 }
  let now = NOW
  const refresh = createBalancesRefresh({
    // The refresh gets a cache in memory, a simulated node, and an index that knows no tokens of a wallet.
    cache: {
      get: async (keys: Record<string, { key: string }>) =>
        Object.fromEntries(
          Object.keys(keys).map((key) => [key, items.has(key) ? { value: items.get(key) } : undefined]),
        ),
      putMany: async (answers: readonly (readonly [{ key: string }, WalletBalances])[]) => {
        for (const [{ key }, value] of answers) items.set(key, value)
      },
      // The cast is safe, because the refresh uses only this part of the cache.
    } as never,
    getReader: () => {
      throw new Error('There is no EVM chain.')
    },
    solana: async (calls) => {
      const value = await node.read()
      return calls.map(({ method }) => ({
        result: method === 'getBalance' ? { value } : method === 'getTokenAccountsByOwner' ? { value: [] } : 650_240,
      }))
    },
    tokenIndex: {
      units: { tokens: 20, nfts: 30 },
      tokenChains: [SOLANA.key],
      nftChains: [],
      fetchTokens: async (_, wallet) => {
        requestedWallets.push(wallet)
        if (isIndexDown && wallet === 'two') throw new AppError('upstream_timeout')
        return { tokens: [], isWhole: true }
      },
      fetchNfts: async () => ({ collections: [], isWhole: true }),
    },
    now: () => now,
  })
  const input = { chain: SOLANA, wallets: WALLETS, listed: [], vaults: [] }
  return {
    requestedWallets,
    items,
    node,
    pass: (seconds: number) => {
      now += seconds * 1000
    },
    refresh: (pay: (units: number) => Promise<void>) =>
      refresh([input], (units) => ({ pay: () => pay(units), findRefusal: () => undefined })),
  }
}

describe('A refresh of balances', () => {
  test('charges all requests to the index once, before it sends them', async () => {
    const { refresh, requestedWallets } = buildRefresh()
    const charged: number[][] = []
    const pay = async (units: number) => {
      charged.push([units, requestedWallets.length])
    }
    await refresh(pay)
    expect(charged).toEqual([[40, 0]])
    await refresh(pay)
    expect(charged).toHaveLength(1)
  })

  test('sends the index no request beyond the limit of the caller, and still reads the chain', async () => {
    const { refresh, requestedWallets } = buildRefresh()
    const { known, failures } = await refresh(async () => {
      throw new AppError('too_many_requests')
    })
    expect(requestedWallets).toEqual([])
    expect(failures.size).toBe(0)
    expect(WALLETS.map((wallet) => known(SOLANA, wallet))).toMatchObject([
      { read: { native: 7n } },
      { read: { native: 7n } },
    ])
    expect(known(SOLANA, 'one').indexed).toBeUndefined()
  })

  test("keeps the index's response for one wallet if it fails for another", async () => {
    const { refresh, requestedWallets, pass, items } = buildRefresh({ isIndexDown: true })
    await refresh(async () => {})
    expect(items.get('one')?.[SOLANA.key]?.indexed).toBeDefined()
    expect(items.get('two')?.[SOLANA.key]?.indexed).toBeUndefined()
    pass(60)
    requestedWallets.length = 0
    await refresh(async () => {})
    expect(requestedWallets).toEqual(['two'])
  })

  test('keeps the newer read and the index response that another refresh stored first', async () => {
    const { refresh, items, node, pass } = buildRefresh()
    const readStarted = Promise.withResolvers<void>()
    const report = Promise.withResolvers<number>()
    node.read = () => {
      readStarted.resolve()
      return report.promise
    }
    const slow = refresh(async () => {
      throw new AppError('too_many_requests')
    })
    await readStarted.promise
    pass(1)
    node.read = async () => 7
    await refresh(async () => {})
    pass(1)
    report.resolve(1000)
    await slow
    const asOf = new Date(NOW + 1000)
    expect(items.get('one')?.[SOLANA.key]).toMatchObject({ read: { native: 7n, asOf }, indexed: { asOf } })
  })

  test('has the time before its requests', async () => {
    const { refresh, items, node, pass } = buildRefresh()
    node.read = async () => {
      await Promise.resolve()
      pass(1)
      return 7
    }
    await refresh(async () => {})
    const asOf = new Date(NOW)
    expect(items.get('one')?.[SOLANA.key]).toMatchObject({ read: { asOf }, indexed: { asOf } })
  })
})
