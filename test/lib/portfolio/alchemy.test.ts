import { describe, expect, test } from 'vitest'
import { createUpstream } from '../../../lib/core/http.ts'
import { createAlchemy } from '../../../lib/portfolio/alchemy.ts'
import type { IndexedToken } from '../../../lib/portfolio/token-index.ts'
import type { FakeReply } from '../../support/upstream.ts'
import { UPSTREAM_FAILURES } from '../../support/upstream.ts'

const WALLET = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'
const [A1, A2, A3] = [1, 2, 3].map((i) => `0x00000000000000000000000000000000000000a${i}`) as [string, string, string]
const CHECKSUMMED = '0x00000000000000000000000000000000000000A1'

type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] }

function alchemyOf(answer: (url: URL, calls: readonly Call[]) => FakeReply) {
  const urls: string[] = []
  const calls: Call[] = []
  const fetch: typeof globalThis.fetch = async (input, init = {}) => {
    const body = init.body === undefined ? [] : [JSON.parse(String(init.body))].flat()
    urls.push(String(input))
    calls.push(...body)
    const reply = answer(new URL(String(input)), body)
    const text = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body)
    return new Response(text, { status: reply.status ?? 200, headers: { ...reply.headers } })
  }
  const ask = createUpstream({ name: 'Alchemy', url: '' }, { fetch, random: () => 0, now: () => performance.now() })
  return { index: createAlchemy(ask, { url: 'https://{network}.example', apiKey: 'key' }), urls, calls }
}

type Balance = { readonly contractAddress: unknown; readonly tokenBalance: unknown; readonly error?: unknown }

const balance = (contractAddress: string, amount: bigint): Balance => ({
  contractAddress,
  tokenBalance: `0x${amount.toString(16).padStart(64, '0')}`,
  error: null,
})

const metadata = (changes: object = {}) => ({
  ...{ name: 'Harbor Points', symbol: 'HARBOR', decimals: 18, logo: 'https://static.alchemyapi.io/a1.png' },
  ...changes,
})

function createAlchemyWithBalances(
  tokenBalances: readonly unknown[],
  describe: (contract: string) => object | undefined = () => metadata(),
  address = WALLET.toLowerCase(),
) {
  return alchemyOf((_, calls) => {
    const [call] = calls
    if (call?.method === 'alchemy_getTokenBalances') {
      return { body: { jsonrpc: '2.0', id: call.id, result: { address, tokenBalances } } }
    }
    const items = calls.map(({ id, params: [contract] }) => {
      const result = describe(String(contract))
      return { jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32000, message: 'no metadata' } }) }
    })
    return { body: items }
  })
}

const fetchTokens = (
  { index }: ReturnType<typeof alchemyOf>,
  knownTokens: readonly IndexedToken[] = [],
  listed: readonly string[] = [],
) => index.fetchTokens('matic-mainnet', WALLET, knownTokens, new Set(listed))

const fetchNfts = ({ index }: ReturnType<typeof alchemyOf>) => index.fetchNfts('base-mainnet', WALLET)

describe.for([
  ['tokens', fetchTokens],
  ['NFTs', fetchNfts],
] as const)('A client of Alchemy for %s', ([, fetchFrom]) => {
  test.for([401, 403])('reports upstream_unavailable for a response of %i', async (status) => {
    const body = { error: { message: 'Must be authenticated!' } }
    await expect(fetchFrom(alchemyOf(() => ({ status, body })))).rejects.toMatchObject({ code: 'upstream_unavailable' })
  })

  test('reports upstream_unavailable for an error in a successful response', async () => {
    const body = { jsonrpc: '2.0', id: 1, error: { code: 429, message: 'exceeded its compute units' } }
    await expect(fetchFrom(alchemyOf(() => ({ body })))).rejects.toMatchObject({ code: 'upstream_unavailable' })
  })

  test.for(UPSTREAM_FAILURES)('fails with %s', async ([, said, code]) => {
    await expect(fetchFrom(alchemyOf(() => said))).rejects.toMatchObject({ code })
  })

  test('never reveals its key', async () => {
    const failure = await fetchFrom(alchemyOf(() => ({ status: 401, body: {} }))).catch((error: Error) => error)
    expect(`${failure} ${(failure as Error).cause}`).not.toContain('key')
  })
})

describe('Tokens by Alchemy', () => {
  test('are requested by network and wallet, and their metadata in one batch', async () => {
    const alchemy = createAlchemyWithBalances([balance(A1, 5n), balance(A2, 6n)])
    await fetchTokens(alchemy)
    expect(alchemy.urls).toEqual(Array(2).fill('https://polygon-mainnet.example/v2/key'))
    expect(alchemy.calls.map(({ method, params }) => [method, ...params])).toEqual([
      ['alchemy_getTokenBalances', WALLET, 'erc20'],
      ['alchemy_getTokenMetadata', CHECKSUMMED],
      ['alchemy_getTokenMetadata', '0x00000000000000000000000000000000000000a2'.replace('a2', 'A2')],
    ])
  })

  test('have their checksummed address, and empty texts for null', async () => {
    const bare = metadata({ name: null, symbol: null, logo: null, decimals: 0 })
    const all = createAlchemyWithBalances([balance(A1, 12n), balance(A2, 1n)], (contract) =>
      contract === CHECKSUMMED ? metadata() : bare,
    )
    expect(await fetchTokens(all)).toEqual({
      isWhole: true,
      tokens: [
        {
          address: CHECKSUMMED,
          symbol: 'HARBOR',
          name: 'Harbor Points',
          decimals: 18,
          balance: 12n,
          isFlagged: false,
          logoUrl: 'https://static.alchemyapi.io/a1.png',
        },
        expect.objectContaining({ name: '', symbol: '', logoUrl: '', decimals: 0, balance: 1n }),
      ],
    })
  })

  test('are flagged by their names', async () => {
    const { tokens } = await fetchTokens(
      createAlchemyWithBalances([balance(A1, 1n)], () => metadata({ name: 'Claim at points.gift' })),
    )
    expect(tokens).toMatchObject([{ isFlagged: true }])
  })

  test('have a positive balance and decimals', async () => {
    const rows = [balance(A1, 0n), { ...balance(A2, 0n), tokenBalance: '0x' }, balance(A3, 7n)]
    const alchemy = createAlchemyWithBalances(rows, () => metadata({ decimals: null }))
    expect(await fetchTokens(alchemy)).toEqual({ tokens: [], isWhole: true })
    // The API gets no request for the metadata of tokens with a balance of zero.
    expect(alchemy.calls).toHaveLength(2)
  })

  test('that are known need no metadata again', async () => {
    const first = await fetchTokens(createAlchemyWithBalances([balance(A1, 5n)]))
    const again = createAlchemyWithBalances([balance(A1, 6n)])
    expect(await fetchTokens(again, first.tokens)).toEqual({
      isWhole: true,
      tokens: [{ ...first.tokens[0], balance: 6n }],
    })
    expect(again.calls).toHaveLength(1)
  })

  test('that are listed are left out without metadata', async () => {
    const alchemy = createAlchemyWithBalances([balance(A1, 5n), balance(A2, 6n)])
    const { tokens, isWhole } = await fetchTokens(alchemy, [], [CHECKSUMMED])
    expect([tokens.map(({ balance: amount }) => amount), isWhole]).toEqual([[6n], true])
    expect(alchemy.calls.filter(({ method }) => method === 'alchemy_getTokenMetadata')).toHaveLength(1)
  })

  test('that the index could not read have their last balance, else the response is not whole', async () => {
    const unread = { contractAddress: A1, tokenBalance: null, error: 'execution reverted' }
    expect(await fetchTokens(createAlchemyWithBalances([unread]))).toEqual({ tokens: [], isWhole: false })
    const { tokens } = await fetchTokens(createAlchemyWithBalances([balance(A1, 5n)]))
    expect(await fetchTokens(createAlchemyWithBalances([unread]), tokens)).toEqual({ tokens, isWhole: true })
  })

  test.for<[string, readonly unknown[], ((contract: string) => object | undefined)?]>([
    ['a row is invalid', [balance(A1, 5n), null]],
    ['a balance is beyond 256 bits', [balance(A1, 5n), balance(A2, 2n ** 256n)]],
    [
      'metadata cannot be read',
      [balance(A1, 5n), balance(A2, 5n)],
      (contract) => (contract === CHECKSUMMED ? metadata() : undefined),
    ],
  ])('are not whole if %s', async ([, rows, describe]) => {
    expect(await fetchTokens(createAlchemyWithBalances(rows, describe))).toMatchObject({
      tokens: [{ balance: 5n }],
      isWhole: false,
    })
  })

  test('of another wallet are upstream_bad_answer', async () => {
    await expect(fetchTokens(createAlchemyWithBalances([balance(A1, 5n)], undefined, A3))).rejects.toMatchObject({
      code: 'upstream_bad_answer',
    })
  })

  test('come from at most two pages', async () => {
    const pagesOf = async (last: number) => {
      const { index, calls } = alchemyOf((_, [call, ...others]) => {
        if (call?.method !== 'alchemy_getTokenBalances') {
          return { body: [call, ...others].map((one) => ({ id: one?.id, result: metadata() })) }
        }
        const { pageKey = 'page 1' } = (call.params[2] ?? {}) as { pageKey?: string }
        const page = Number(pageKey.slice(5))
        const tokenBalances = [balance(`0x${page.toString().padStart(40, '0')}`, BigInt(page))]
        const next = page < last ? { pageKey: `page ${page + 1}` } : {}
        return { body: { id: 1, result: { address: WALLET, tokenBalances, ...next } } }
      })
      const { tokens, isWhole } = await index.fetchTokens('base-mainnet', WALLET, [], new Set())
      return [tokens.length, isWhole, calls.filter(({ method }) => method.endsWith('Balances')).length]
    }
    expect(await pagesOf(2)).toEqual([2, true, 2])
    expect(await pagesOf(9)).toEqual([2, false, 2])
  })

  test('get metadata for forty at a time', async () => {
    const rows = Array.from({ length: 70 }, (_, i) => balance(`0x${(i + 1).toString(16).padStart(40, '0')}`, 1n))
    const first = await fetchTokens(createAlchemyWithBalances(rows))
    expect(first.tokens).toHaveLength(40)
    expect(first.isWhole).toBe(false)
    const second = createAlchemyWithBalances(rows)
    expect(await fetchTokens(second, first.tokens)).toMatchObject({ isWhole: true })
    expect(second.calls).toHaveLength(1 + 30)
  })

  test('are not available on Solana', async () => {
    const { index } = alchemyOf(() => ({ body: {} }))
    expect(index.tokenChains).not.toContain('solana-mainnet')
    await expect(index.fetchTokens('solana-mainnet', WALLET, [], new Set())).rejects.toMatchObject({
      code: 'upstream_unavailable',
    })
  })
})

function nftRow(changes: object = {}) {
  return {
    contract: {
      address: A1,
      name: 'Lanterns',
      symbol: 'LANTERN',
      totalSupply: '100',
      tokenType: 'ERC721',
      openSeaMetadata: { collectionName: 'The Lanterns', floorPrice: 0.004, safelistRequestStatus: 'verified' },
      isSpam: false,
      spamClassifications: [],
    },
    tokenId: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
    tokenType: 'ERC721',
    name: 'Lantern 1',
    description: null,
    tokenUri: 'ipfs://any/1',
    image: {
      cachedUrl: 'https://nft-cdn.example/1',
      thumbnailUrl: 'javascript:alert(1)',
      originalUrl: 'ipfs://any/1.png',
    },
    animation: { cachedUrl: null, contentType: null, originalUrl: null },
    raw: {
      tokenUri: 'ipfs://any/1',
      metadata: {
        name: 'Lantern 1',
        external_url: 'https://lanterns.example',
        attributes: [{ trait_type: 'Level', value: 5 }],
      },
      error: null,
    },
    timeLastUpdated: '2026-05-31T10:00:00.000Z',
    balance: '1',
    acquiredAt: { blockTimestamp: '2026-05-31T10:00:00Z', blockNumber: null },
    ...changes,
  }
}

const nfts = (...ownedNfts: unknown[]) => alchemyOf(() => ({ body: { ownedNfts, totalCount: 1, pageKey: null } }))

describe('NFTs by Alchemy', () => {
  test('are requested by network and wallet', async () => {
    const alchemy = nfts()
    await fetchNfts(alchemy)
    expect(alchemy.urls).toEqual([
      `https://base-mainnet.example/nft/v3/key/getNFTsForOwner?owner=${WALLET}&withMetadata=true&pageSize=100`,
    ])
  })

  test('are reported by collection, with large numbers as text and only safe links', async () => {
    expect(
      await fetchNfts(nfts(nftRow(), nftRow({ tokenId: '7', balance: '3', raw: { metadata: 'no JSON' } }))),
    ).toEqual({
      isWhole: true,
      collections: [
        {
          contract_address: CHECKSUMMED,
          contract_name: 'Lanterns',
          contract_ticker_symbol: 'LANTERN',
          supports_erc: ['erc721'],
          chainName: 'base-mainnet',
          is_spam: false,
          balance: 4n,
          type: 'nft',
          last_transfered_at: '2026-05-31T10:00:00Z',
          floor_price_quote: null,
          floor_price_native_quote: 0.004,
          nft_data: [
            {
              token_id: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
              token_url: 'ipfs://any/1',
              original_owner: null,
              current_owner: WALLET,
              external_data: {
                name: 'Lantern 1',
                description: null,
                image: 'https://nft-cdn.example/1',
                image_256: null,
                image_512: null,
                image_1024: null,
                animation_url: null,
                external_url: 'https://lanterns.example',
                attributes: [{ trait_type: 'Level', value: '5' }],
              },
            },
            expect.objectContaining({ token_id: '7', external_data: expect.objectContaining({ attributes: [] }) }),
          ],
        },
      ],
    })
  })

  test('have no floor price in the coin if it is not ether', async () => {
    const { collections } = await nfts(nftRow()).index.fetchNfts('matic-mainnet', WALLET)
    expect(collections).toMatchObject([{ floor_price_native_quote: null }])
  })

  test('look like spam by flag and by name', async () => {
    const { contract } = nftRow()
    const { collections } = await fetchNfts(
      nfts(
        nftRow({ contract: { ...contract, isSpam: true } }),
        nftRow({ contract: { ...contract, address: A2, name: 'Claim at lantern.gift' } }),
        nftRow({ contract: { ...contract, address: A3, openSeaMetadata: null } }),
      ),
    )
    expect(collections.map(({ is_spam }) => is_spam)).toEqual([true, true, false])
  })

  test('are not whole with an invalid one, or with more pages than the limit', async () => {
    expect(await fetchNfts(nfts(nftRow(), { contract: null }))).toMatchObject({ collections: [{}], isWhole: false })
    const endless = alchemyOf(() => ({ body: { ownedNfts: [nftRow()], pageKey: 'next' } }))
    expect(await fetchNfts(endless)).toMatchObject({ collections: [{ balance: 2n }], isWhole: false })
    expect(endless.urls.map((url) => new URL(url).searchParams.get('pageKey'))).toEqual([null, 'next'])
  })
})
