import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect } from 'vitest'
import { CHAINS } from '../../../lib/chain/registry.ts'
import { SOLANA_WALLET } from '../../../sandbox/accounts.ts'
import { createSession } from '../../support/accounts.ts'
import { expectError } from '../../support/errors.ts'
import { test as base, type HttpReply, type Service, startNewContainers, USERS } from '../../support/service.ts'
import { linkEvm, linkSolana } from '../../support/wallets.ts'

const PATH = '/portfolio-indexor/nft'
const [ALICE, BOB, CAROL, DAVE] = USERS
const KEYS = CHAINS.map(({ key }) => key)
const EVM_KEYS = CHAINS.filter(({ kind }) => kind === 'evm').map(({ key }) => key)

type Session = Awaited<ReturnType<typeof createSession>>
type Collection = { readonly contract_name: string; readonly nft_data: readonly { readonly token_id: string }[] }

const test = base.extend('session', async ({ service }) => {
  const { goldRush, solana } = service.backends.providers
  for (const fake of [goldRush, solana]) {
    fake.rewrite = undefined
    fake.requests.length = 0
  }
  return await createSession(service)
})

function nftsOf(service: Service, { headers }: Session): Promise<HttpReply> {
  return service.call('GET', PATH, { headers })
}

function listNftRequests({ backends }: Service): string[] {
  return backends.providers.goldRush.requests.filter((path) => path.includes('balances_nft'))
}

describe('The NFTs of a user', () => {
  test('are empty without wallets', async ({ service, session }) => {
    expect(await nftsOf(service, session)).toMatchObject({
      status: 200,
      body: { addresses: [], nfts: Object.fromEntries(KEYS.map((key) => [key, []])), updated_at: {} },
    })
    expect(listNftRequests(service)).toEqual([])
  })

  test('are grouped by collection for every chain of a wallet', async ({ service, session }) => {
    await linkEvm(service, session, ALICE)
    await linkSolana(service, session)
    const { status, body, headers } = await nftsOf(service, session)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body.errors).toBeUndefined()
    expect(body.addresses).toHaveLength(KEYS.length)
    expect(Object.keys(body.nfts).sort()).toEqual(KEYS.toSorted())
    expect(Object.keys(body.updated_at).sort()).toEqual(KEYS.toSorted())
    expect(body.nfts['eth-mainnet']).toEqual([])
    const [chain] = service.backends.chains
    expect(body.nfts['base-mainnet']).toMatchObject([
      {
        contract_address: chain?.collectibles,
        contract_name: 'Harbor Lanterns',
        contract_ticker_symbol: 'LANTERN',
        supports_erc: ['erc721'],
        chainName: 'base-mainnet',
        is_spam: false,
        balance: '3',
        type: 'nft',
        floor_price_quote: null,
        nft_data: [
          {
            token_id: '1',
            current_owner: ALICE.address,
            external_data: { name: 'Lantern #1', attributes: [{ trait_type: 'Number', value: '1' }, {}] },
          },
          { token_id: '2' },
          { token_id: '3' },
        ],
      },
    ])
    expect(body.nfts['arbitrum-mainnet']).toMatchObject([{ chainName: 'arbitrum-mainnet', balance: '3' }])
    expect(body.nfts['solana-mainnet']).toMatchObject([
      {
        contract_name: 'Harbor Beacons',
        supports_erc: ['metaplex'],
        balance: '2',
        nft_data: [{ current_owner: SOLANA_WALLET.address }, {}],
      },
    ])
  })

  test('are those of all wallets, each collection once', async ({ service, session }) => {
    const { goldRush } = service.backends.providers
    // Both wallets hold the same item of an ERC-1155 collection.
    const row = {
      contract_address: '0x00000000000000000000000000000000000000a1',
      contract_name: 'Tickets',
      contract_ticker_symbol: 'TICKET',
      supports_erc: ['erc1155'],
      balance: '2',
      nft_data: [{ token_id: '7' }],
    }
    goldRush.rewrite = (reply, { url }) =>
      url.pathname.includes('base-mainnet') ? { status: 200, body: { error: false, data: { items: [row] } } } : reply
    await linkEvm(service, session, BOB)
    await linkEvm(service, session, CAROL)
    const { body } = await nftsOf(service, session)
    expect(body.nfts['base-mainnet']).toMatchObject([
      { contract_name: 'Tickets', balance: '4', nft_data: [{ token_id: '7' }, { token_id: '7' }] },
    ])
    const owners = body.nfts['base-mainnet'][0].nft_data.map((nft: { current_owner: string }) => nft.current_owner)
    expect(owners.toSorted()).toEqual([BOB.address, CAROL.address].toSorted())
  })

  test('are fetched again after ten minutes', async ({ clock, coldService: service, session }) => {
    await linkEvm(service, session, DAVE)
    await nftsOf(service, session)
    expect(listNftRequests(service)).toHaveLength(EVM_KEYS.length)
    await nftsOf(service, session)
    expect(listNftRequests(service)).toHaveLength(EVM_KEYS.length)
    clock.pass(601)
    await nftsOf(service, session)
    expect(listNftRequests(service)).toHaveLength(2 * EVM_KEYS.length)
  })

  test('are fetched once a day on a chain where a wallet is empty', async ({
    clock,
    coldService: service,
    session,
  }) => {
    const privateKey = generatePrivateKey()
    await linkEvm(service, session, { privateKey, address: privateKeyToAccount(privateKey).address })
    await service.call('GET', '/portfolio-indexor/allBalances', { headers: session.headers })
    const countRequestsAfter = async (hours: number) => {
      clock.pass(hours * 3600)
      await nftsOf(service, session)
      return listNftRequests(service).filter((path) => path.includes('eth-mainnet')).length
    }
    expect(await countRequestsAfter(0)).toBe(1)
    expect(await countRequestsAfter(12)).toBe(1)
    expect(await countRequestsAfter(13)).toBe(2)
  })

  test('cost few table requests for 20 new wallets, and fewer later', async ({ service, session }) => {
    for (let i = 0; i < 20; i++) {
      const privateKey = generatePrivateKey()
      await linkEvm(service, session, { privateKey, address: privateKeyToAccount(privateKey).address })
    }
    service.table.reset()
    expect((await nftsOf(service, session)).status).toBe(200)
    expect(service.table.tries.length).toBeLessThanOrEqual(60)
    service.table.reset()
    expect((await nftsOf(service, session)).status).toBe(200)
    expect(service.table.tries.length).toBeLessThanOrEqual(6)
    expect(listNftRequests(service)).toHaveLength(20 * EVM_KEYS.length)
  })

  test('are those that Alchemy reports if it is the index', async ({ service, session }) => {
    await linkEvm(service, session, BOB)
    await service.tables.cache.deleteMany([{ pk: `nfts#${BOB.address}`, sk: 'ANSWER' }])
    const { url } = service.backends.providers
    service.backends.configure({
      alchemy: { url: `${url}/alchemy/{network}`, apiKey: 'local' },
      tokenIndexes: ['alchemy'],
    })
    const spent = service.backends.providers.alchemy.spent.units
    const cold = await startNewContainers(service)
    const { body } = await nftsOf(cold.service, session)
    await cold.stop()
    service.backends.configure({ alchemy: {}, tokenIndexes: ['goldRush'] })
    const unknown = ['bsc-mainnet', 'gnosis-mainnet']
    expect(body.errors).toEqual(Object.fromEntries(unknown.map((key) => [key, 'Not configured'])))
    expect(listNftRequests(service)).toEqual([])
    expect(Object.keys(body.updated_at).sort()).toEqual(EVM_KEYS.filter((key) => !unknown.includes(key)).toSorted())
    expect(service.backends.providers.alchemy.spent.units - spent).toBe(480 * (EVM_KEYS.length - unknown.length))
  })

  test('are the last known ones, with their time and an error, while the source is down', async ({
    clock,
    coldService: service,
    session,
  }) => {
    await linkEvm(service, session, ALICE)
    const good = await nftsOf(service, session)
    service.backends.providers.goldRush.rewrite = () => 'hang up'
    clock.pass(3 * 3600)
    const { status, body } = await nftsOf(service, session)
    expect(status).toBe(200)
    expect(body.nfts).toEqual(good.body.nfts)
    expect(body.errors).toEqual(Object.fromEntries(EVM_KEYS.map((key) => [key, 'Upstream unavailable'])))
    expect(Date.parse(body.updated_at['base-mainnet'])).toBeLessThan(Date.now() - 10_000_000)
  })

  test('name the chains on which the source fails', async ({ clock, coldService: service, session }) => {
    await linkEvm(service, session, ALICE)
    service.backends.providers.goldRush.rewrite = (reply, { url }) =>
      url.pathname.includes('base-mainnet') ? { status: 402, body: { error: true } } : reply
    // The clock advances by two days, so that the cached response is too old to be used.
    clock.pass(2 * 86_400)
    const { body } = await nftsOf(service, session)
    expect(body.errors).toEqual({ 'base-mainnet': 'Upstream unavailable' })
    expect(body.nfts['base-mainnet']).toEqual([])
    expect(body.nfts['arbitrum-mainnet'].map(({ nft_data }: Collection) => nft_data.length)).toEqual([3])
  })

  test('are an error when nothing is known of any chain', async ({ clock, coldService: service, session }) => {
    await linkEvm(service, session, ALICE)
    service.backends.providers.goldRush.rewrite = () => ({ status: 429, body: '' })
    clock.pass(4 * 86_400)
    expectError(await nftsOf(service, session), 'upstream_unavailable')
  })

  test('are unknown without an error if no source is configured', async ({ service, session }) => {
    await linkEvm(service, session, ALICE)
    await linkSolana(service, session)
    const { url } = service.backends.providers
    service.backends.configure({ goldRush: {}, solanaNfts: undefined })
    const cold = await startNewContainers(service)
    const { status, body } = await nftsOf(cold.service, session)
    expect(status).toBe(200)
    expect(body.nfts).toEqual(Object.fromEntries(KEYS.map((key) => [key, []])))
    expect(body.errors).toEqual(Object.fromEntries(KEYS.map((key) => [key, 'Not configured'])))
    expect(body.updated_at).toEqual({})
    await cold.stop()
    service.backends.configure({
      goldRush: { url: `${url}/goldrush`, apiKey: 'local' },
      solanaNfts: { url: `${url}/solana` },
    })
  })
})

describe('Portfolios', () => {
  test('require a currency that exists', async ({ service, session: { headers } }) => {
    const reply = await service.call('GET', '/portfolio-indexor/allBalances?currency=doubloon', { headers })
    expectError(reply, 'unsupported_currency', ['currency'])
  })
})
