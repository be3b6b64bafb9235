import { describe, expect, test } from 'vitest'
import { createGoldRush } from '../../../lib/portfolio/goldrush.ts'
import { createFakeUpstream, type FakeReply, UPSTREAM_FAILURES } from '../../support/upstream.ts'

const WALLET = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'
const POINTS = '0x00000000000000000000000000000000000000a1'
const CHECKSUMMED = '0x00000000000000000000000000000000000000A1'

function tokenRow(overrides: object = {}) {
  return {
    contract_decimals: 18,
    contract_name: 'Harbor Points',
    contract_ticker_symbol: 'HARBOR',
    contract_address: POINTS,
    contract_display_name: 'Harbor Points',
    supports_erc: ['erc20'],
    logo_url: 'https://logos.covalenthq.com/tokens/8453/0xa1.png',
    logo_urls: { token_logo_url: null, protocol_logo_url: null, chain_logo_url: null },
    last_transferred_at: '2026-05-31T10:00:00Z',
    native_token: false,
    type: 'cryptocurrency',
    is_spam: false,
    balance: '12500000000000000000',
    balance_24h: '0',
    quote_rate: null,
    quote: 0,
    nft_data: null,
    ...overrides,
  }
}

function nftRow(overrides: object = {}) {
  return {
    contract_name: 'Lanterns',
    contract_ticker_symbol: 'LANTERN',
    contract_address: POINTS,
    supports_erc: ['erc20', 'erc721'],
    is_spam: false,
    last_transfered_at: '2026-05-31T10:00:00Z',
    balance: '1',
    balance_24h: '1',
    type: 'nft',
    floor_price_quote: 12.5,
    pretty_floor_price_quote: '$12.50',
    floor_price_native_quote: 0.004,
    nft_data: [
      {
        token_id: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
        token_url: 'ipfs://any/1',
        original_owner: POINTS,
        external_data: {
          name: 'Lantern 1',
          description: null,
          asset_url: 'ipfs://any/1.png',
          image: 'ipfs://any/1.png',
          image_256: 'https://image-proxy.example/256',
          image_512: 'javascript:alert(1)',
          image_1024: `data:image/svg+xml;base64,${'A'.repeat(5000)}`,
          animation_url: null,
          external_url: null,
          attributes: [
            { trait_type: 'Oil', value: 'whale' },
            { trait_type: 'Level', value: 5, display_type: 'number' },
            { value: 'no type' },
            null,
          ],
        },
        asset_cached: false,
        image_cached: true,
      },
    ],
    ...overrides,
  }
}

function answer(...items: unknown[]): FakeReply {
  const data = { address: WALLET, updated_at: '2026-06-01T00:00:00Z', items, pagination: null }
  return { body: { data, error: false, error_code: null, error_message: null } }
}

async function tokensOf(...items: unknown[]) {
  const index = createGoldRush(createFakeUpstream(() => answer(...items)).ask)
  return (await index.fetchTokens('base-mainnet', WALLET, [], new Set())).tokens
}

async function nftsOf(...items: unknown[]) {
  return (await createGoldRush(createFakeUpstream(() => answer(...items)).ask).fetchNfts('base-mainnet', WALLET))
    .collections
}

const refusal = { data: null, error: true, error_message: 'No valid API key was provided.', error_code: '401' }

describe.for(['fetchTokens', 'fetchNfts'] as const)('A client of GoldRush in %s', (method) => {
  const fetchFrom = async (said: FakeReply): Promise<readonly unknown[]> => {
    const index = createGoldRush(createFakeUpstream(() => said).ask)
    return method === 'fetchTokens'
      ? (await index.fetchTokens('base-mainnet', WALLET, [], new Set())).tokens
      : (await index.fetchNfts('base-mainnet', WALLET)).collections
  }

  test.for([401, 402, 403])('reports upstream_unavailable for a response of %i', async (status) => {
    await expect(fetchFrom({ status, body: refusal })).rejects.toMatchObject({ code: 'upstream_unavailable' })
  })

  test('returns nothing for a chain that GoldRush does not know', async () => {
    expect(await fetchFrom({ status: 404, body: refusal })).toEqual([])
  })

  test('reports upstream_bad_answer for an error in a successful response', async () => {
    await expect(fetchFrom({ body: { ...refusal, error_code: 401 } })).rejects.toMatchObject({
      code: 'upstream_bad_answer',
    })
    await expect(fetchFrom({ body: { ...refusal, data: { items: [] } } })).rejects.toMatchObject({
      code: 'upstream_bad_answer',
    })
  })

  test.for(UPSTREAM_FAILURES)('fails with %s', async ([, said, code]) => {
    await expect(fetchFrom(said)).rejects.toMatchObject({ code })
  })

  test('leaves out invalid rows, and keeps the others', async () => {
    const good = method === 'fetchTokens' ? tokenRow() : nftRow()
    const wrong = [null, 7, {}, { ...good, balance: null }, { ...good, balance: '-1' }, { ...good, balance: '1e9' }]
    const beyond = { ...good, balance: (2n ** 256n).toString() }
    expect(await fetchFrom(answer(...wrong, beyond, good))).toHaveLength(1)
  })
})

describe('Tokens by GoldRush', () => {
  test('are requested by chain and wallet', async () => {
    const { ask, urls, requests } = createFakeUpstream(() => answer(), { authorization: 'Bearer key' })
    await createGoldRush(ask).fetchTokens('matic-mainnet', WALLET, [], new Set())
    expect(urls.map(String)).toEqual([`https://service.example/api/matic-mainnet/address/${WALLET}/balances_v2/`])
    expect(requests).toMatchObject([{ headers: { authorization: 'Bearer key' } }])
  })

  test('have their checksummed address, and empty texts for null', async () => {
    const bare = tokenRow({ contract_name: null, contract_ticker_symbol: null, logo_url: null, is_spam: null })
    expect(await tokensOf(tokenRow(), bare)).toEqual([
      {
        address: CHECKSUMMED,
        symbol: 'HARBOR',
        name: 'Harbor Points',
        decimals: 18,
        balance: 12_500_000_000_000_000_000n,
        isFlagged: false,
        logoUrl: 'https://logos.covalenthq.com/tokens/8453/0xa1.png',
      },
      expect.objectContaining({ name: '', symbol: '', logoUrl: '', isFlagged: false }),
    ])
  })

  test('exclude the coin, NFTs, zero balances and unknown decimals', async () => {
    const rows = [
      tokenRow({ native_token: true }),
      tokenRow({ supports_erc: ['erc20', 'erc721'] }),
      tokenRow({ balance: '0' }),
      tokenRow({ contract_decimals: null }),
    ]
    expect(await tokensOf(...rows)).toEqual([])
  })

  test('keep the letter case of Solana addresses', async () => {
    const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
    expect(await tokensOf(tokenRow({ contract_address: mint }))).toMatchObject([{ address: mint }])
  })

  test('have names of at most 100 characters', async () => {
    const [token] = await tokensOf(tokenRow({ contract_name: 'x'.repeat(5000) }))
    expect(token?.name).toHaveLength(100)
  })
})

describe('NFTs by GoldRush', () => {
  test('are reported by collection, with large numbers as text and only safe links', async () => {
    expect(await nftsOf(nftRow())).toEqual([
      {
        contract_address: CHECKSUMMED,
        contract_name: 'Lanterns',
        contract_ticker_symbol: 'LANTERN',
        supports_erc: ['erc721'],
        chainName: 'base-mainnet',
        is_spam: false,
        balance: 1n,
        type: 'nft',
        last_transfered_at: '2026-05-31T10:00:00Z',
        floor_price_quote: 12.5,
        floor_price_native_quote: 0.004,
        nft_data: [
          {
            token_id: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
            token_url: 'ipfs://any/1',
            original_owner: CHECKSUMMED,
            current_owner: WALLET,
            external_data: {
              name: 'Lantern 1',
              description: null,
              image: 'ipfs://any/1.png',
              image_256: 'https://image-proxy.example/256',
              image_512: null,
              image_1024: null,
              animation_url: null,
              external_url: null,
              attributes: [
                { trait_type: 'Oil', value: 'whale' },
                { trait_type: 'Level', value: '5' },
              ],
            },
          },
        ],
      },
    ])
  })

  test('are kept without unknown fields', async () => {
    const bare = nftRow({
      floor_price_quote: -1,
      floor_price_native_quote: null,
      last_transfered_at: null,
      nft_data: [{ token_id: '7', token_url: null, original_owner: null, external_data: null }, { token_id: null }],
    })
    expect(await nftsOf(bare, nftRow({ nft_data: null }))).toMatchObject([
      {
        floor_price_quote: null,
        last_transfered_at: null,
        nft_data: [{ token_id: '7', token_url: null, original_owner: null, external_data: null }],
      },
      { nft_data: [] },
    ])
  })

  test('look like spam by flag and by name', async () => {
    const rows = [nftRow({ is_spam: true }), nftRow({ contract_name: 'Claim at lantern.gift' }), nftRow()]
    expect((await nftsOf(...rows)).map(({ is_spam }) => is_spam)).toEqual([true, true, false])
  })
})
