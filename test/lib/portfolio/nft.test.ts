import { describe, expect, test } from 'vitest'
import { fitNfts, fitNftsIntoItem, type NftCollection } from '../../../lib/portfolio/nft.ts'

function someCollection(name: string, nfts: number, { isSpam = false, text = '' } = {}): NftCollection {
  return {
    contract_address: name,
    contract_name: name,
    contract_ticker_symbol: '',
    supports_erc: ['erc721'],
    chainName: 'base-mainnet',
    is_spam: isSpam,
    balance: BigInt(nfts),
    type: 'nft',
    last_transfered_at: null,
    floor_price_quote: null,
    floor_price_native_quote: null,
    nft_data: Array.from({ length: nfts }, (_, i) => ({
      token_id: i.toString(),
      token_url: text,
      original_owner: null,
      current_owner: '',
      external_data: null,
    })),
  }
}

describe('NFTs', () => {
  test('are all kept if they are few', () => {
    const collections = [someCollection('one', 2), someCollection('two', 0)]
    expect(fitNfts(collections)).toEqual({ collections, isWhole: true })
  })

  test('are at most 500, with their real count', () => {
    const { collections, isWhole } = fitNfts([someCollection('one', 300), someCollection('two', 300)])
    expect(collections.map(({ nft_data, balance }) => [nft_data.length, balance])).toEqual([
      [300, 300n],
      [200, 300n],
    ])
    expect(isWhole).toBe(false)
    expect(fitNfts([someCollection('one', 500)]).isWhole).toBe(true)
  })

  test('fit into an item, however long their texts are', () => {
    const { collections, isWhole } = fitNfts([someCollection('one', 200, { text: '漢'.repeat(4000) })])
    expect(isWhole).toBe(false)
    expect(collections[0]?.nft_data.length).toBeGreaterThan(20)
    const size = Buffer.byteLength(JSON.stringify(collections, (_, value) => (typeof value === 'bigint' ? '' : value)))
    expect(size).toBeLessThan(350_000)
  })

  test('that are not spam come first', () => {
    const { collections } = fitNfts([someCollection('spam', 400, { isSpam: true }), someCollection('one', 400)])
    expect(collections.map(({ contract_name, nft_data }) => [contract_name, nft_data.length])).toEqual([
      ['one', 400],
      ['spam', 100],
    ])
  })

  test('of all chains fit into one item, and mark chains that have more', () => {
    const asOf = new Date(0)
    const large = [someCollection('large', 200, { text: 'x'.repeat(1000) })]
    const nfts = { collections: large, isWhole: true, asOf }
    const fitted = fitNftsIntoItem({ 'base-mainnet': nfts })
    expect(fitted['base-mainnet']).toEqual(nfts)
    const small = { collections: [someCollection('small', 1)], isWhole: true, asOf }
    const both = fitNftsIntoItem({
      'base-mainnet': nfts,
      'eth-mainnet': small,
      'bsc-mainnet': { ...small, collections: [] },
    })
    expect(both['base-mainnet']?.isWhole).toBe(false)
    expect(both['eth-mainnet']).toEqual(small)
    expect(both['bsc-mainnet']?.isWhole).toBe(true)
    expect(JSON.stringify(both['base-mainnet']?.collections.map(({ nft_data }) => nft_data)).length).toBeLessThan(
      175_000,
    )
  })
})
