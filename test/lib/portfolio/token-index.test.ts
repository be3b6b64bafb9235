import { describe, expect, test } from 'vitest'
import { AppError } from '../../../lib/core/errors.ts'
import { createFallbackIndex, type TokenIndex } from '../../../lib/portfolio/token-index.ts'

const WALLET = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'

function someIndex(chains: TokenIndex['tokenChains'], error?: Error) {
  const chainKeys: string[] = []
  const answer = async (chainKey: string) => {
    chainKeys.push(chainKey)
    if (error) throw error
  }
  const index: TokenIndex = {
    units: { tokens: 1, nfts: 1 },
    tokenChains: chains,
    nftChains: chains,
    async fetchTokens(chainKey) {
      await answer(chainKey)
      return { tokens: [], isWhole: true }
    },
    async fetchNfts(chainKey) {
      await answer(chainKey)
      return { collections: [], isWhole: true }
    },
  }
  return { index, chainKeys }
}

const unavailable = (name: string) => new AppError('upstream_unavailable', { cause: new Error(name) })

describe('Indexes in order', () => {
  test('get no request for NFTs of a chain that they do not know', async () => {
    const first = someIndex(['base-mainnet'])
    const second = someIndex(['base-mainnet', 'gnosis-mainnet'])
    const both = createFallbackIndex([first.index, second.index])
    expect(both?.nftChains).toEqual(['base-mainnet', 'gnosis-mainnet'])
    await both?.fetchNfts('gnosis-mainnet', WALLET)
    expect([first.chainKeys, second.chainKeys]).toEqual([[], ['gnosis-mainnet']])
  })

  test('fail with the last one’s error', async () => {
    const last = unavailable('second')
    const both = createFallbackIndex(
      [someIndex(['base-mainnet'], unavailable('first')), someIndex(['base-mainnet'], last)].map(({ index }) => index),
    )
    await expect(both?.fetchTokens('base-mainnet', WALLET, [], new Set())).rejects.toBe(last)
  })

  test('hide no internal error', async () => {
    const mistake = new TypeError('ours')
    const both = createFallbackIndex([someIndex(['base-mainnet'], mistake).index, someIndex(['base-mainnet']).index])
    await expect(both?.fetchTokens('base-mainnet', WALLET, [], new Set())).rejects.toBe(mistake)
  })
})
