import { describe, expect, test } from 'vitest'
import { createSolanaNftClient } from '../../../lib/portfolio/solana-nfts.ts'
import { createFakeUpstream, type FakeReply, UPSTREAM_FAILURES } from '../../support/upstream.ts'

const WALLET = '7v91N7iZ9mNicL8WfG6cgSCKyRXydQjLh6UYBWwm6y1Q'

function asset(id: string, overrides: object = {}) {
  return {
    interface: 'V1_NFT',
    id,
    content: {
      $schema: 'https://schema.metaplex.com/nft1.0.json',
      json_uri: 'https://arweave.example/1.json',
      files: [{ uri: 'https://arweave.example/1.png', cdn_uri: 'https://cdn.example/1.png', mime: 'image/png' }],
      metadata: {
        attributes: [{ trait_type: 'Oil', value: 'whale' }],
        description: 'Gives light',
        name: `Lantern ${id}`,
        symbol: 'LNT',
        token_standard: 'NonFungible',
      },
      links: { image: 'https://arweave.example/1.png' },
    },
    compression: { compressed: true, eligible: false },
    grouping: [{ group_key: 'collection', group_value: 'Lanterns111', collection_metadata: { name: 'Lanterns' } }],
    ownership: { frozen: false, delegated: false, owner: WALLET },
    mutable: true,
    burnt: false,
    ...overrides,
  }
}

function answer(...items: unknown[]): FakeReply {
  return { body: { jsonrpc: '2.0', id: 1, result: { total: items.length, limit: 500, page: 1, items } } }
}

function nftsOf(...items: unknown[]) {
  return createSolanaNftClient(createFakeUpstream(() => answer(...items)).ask).fetchNfts(WALLET)
}

describe('NFTs on Solana', () => {
  test('are requested by wallet, in one page', async () => {
    const { ask, urls, requests } = createFakeUpstream(() => answer())
    await createSolanaNftClient(ask).fetchNfts(WALLET)
    expect(urls.map(String)).toEqual(['https://service.example/api'])
    expect(requests.map(({ method, body }) => [method, JSON.parse(String(body))])).toMatchObject([
      ['POST', { method: 'getAssetsByOwner', params: { ownerAddress: WALLET, page: 1, limit: 500 } }],
    ])
  })

  test('are reported by collection', async () => {
    const ungrouped = asset('Alone11111', { grouping: [], content: { metadata: { name: 'Alone' } } })
    const [lanterns, other] = await nftsOf(asset('One1111111'), ungrouped, asset('Two1111111'))
    expect(lanterns).toMatchObject({
      contract_address: 'Lanterns111',
      contract_name: 'Lanterns',
      contract_ticker_symbol: 'LNT',
      supports_erc: ['metaplex'],
      chainName: 'solana-mainnet',
      is_spam: false,
      balance: 2n,
      nft_data: [
        {
          token_id: 'One1111111',
          token_url: 'https://arweave.example/1.json',
          original_owner: null,
          current_owner: WALLET,
          external_data: {
            name: 'Lantern One1111111',
            description: 'Gives light',
            image: 'https://arweave.example/1.png',
            attributes: [{ trait_type: 'Oil', value: 'whale' }],
          },
        },
        { token_id: 'Two1111111' },
      ],
    })
    expect(other).toMatchObject({ contract_address: 'Alone11111', contract_name: 'Alone', balance: 1n })
  })

  test('exclude burnt, fungible and invalid assets', async () => {
    const others = [
      asset('Burnt11111', { burnt: true }),
      asset('Coin111111', { interface: 'FungibleToken' }),
      asset('Coin211111', { interface: 'FungibleAsset' }),
      null,
      {},
      { ...asset('Nobody1111'), ownership: null },
    ]
    expect(await nftsOf(...others)).toEqual([])
  })

  test('are kept without unknown fields', async () => {
    const [bare] = await nftsOf({ id: 'Bare111111', ownership: { owner: WALLET }, content: null, grouping: null })
    expect(bare).toMatchObject({ contract_address: 'Bare111111', contract_name: '', nft_data: [{ token_url: null }] })
  })

  test('have the picture of a file if no link names one', async () => {
    const { content } = asset('One1111111')
    const [lanterns] = await nftsOf(asset('One1111111', { content: { ...content, links: {} } }))
    expect(lanterns?.nft_data[0]?.external_data?.image).toBe('https://cdn.example/1.png')
  })

  test('look like spam by their name', async () => {
    const content = { metadata: { name: 'Claim 5000 USDC at jup-drop.xyz', symbol: '' } }
    expect(await nftsOf(asset('Spam111111', { grouping: [], content }))).toMatchObject([{ is_spam: true }])
  })

  test.for([401, 403])('are upstream_unavailable for a response of %i', async (status) => {
    const { ask } = createFakeUpstream(() => ({ status, body: {} }))
    await expect(createSolanaNftClient(ask).fetchNfts(WALLET)).rejects.toMatchObject({ code: 'upstream_unavailable' })
  })

  test.for<readonly [string, FakeReply, string]>([
    ...UPSTREAM_FAILURES,
    ['an error of JSON-RPC', { body: { id: 1, error: { code: -32601, message: 'x' } } }, 'upstream_bad_answer'],
  ])('fail with %s', async ([, said, code]) => {
    await expect(createSolanaNftClient(createFakeUpstream(() => said).ask).fetchNfts(WALLET)).rejects.toMatchObject({
      code,
    })
  })
})
