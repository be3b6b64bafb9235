import { test as base, describe, expect } from 'vitest'
import { ACCOUNTS } from '../../sandbox/accounts.ts'
import { deployLocalWorld } from '../../sandbox/chains/world.ts'
import { startChain } from '../../sandbox/chains.ts'
import { ALCHEMY_KEY, fakeAlchemy } from '../../sandbox/providers/alchemy.ts'

const [ALICE] = ACCOUNTS.users
const NOBODY = '0x00000000000000000000000000000000000000F1'

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('chain', { scope: 'file' }, async ({}, { onCleanup }) => {
    const chain = await startChain({ chainId: 8453 })
    onCleanup(chain.stop)
    return { ...chain, ...(await deployLocalWorld(chain)) }
  })
  .extend('alchemy', ({ chain }) => {
    let now = 0
    const service = fakeAlchemy([chain], { unitsPerSecond: 100, pageSize: 1, now: () => now })
    const ask = async (path: string, body?: unknown) => {
      const url = new URL(`http://localhost/alchemy/${path}`)
      const request = { method: body ? 'POST' : 'GET', url, headers: {}, body: body ? JSON.stringify(body) : '' }
      // The body has type `any` because tests read replies freely.
      // biome-ignore lint/suspicious/noExplicitAny: see above
      return (await service.answer(request)) as { status: number; body: any }
    }
    return {
      ask,
      call: (method: string, params: unknown[], network = 'base-mainnet', key = ALCHEMY_KEY) =>
        ask(`${network}/v2/${key}`, { jsonrpc: '2.0', id: 1, method, params }),
      nfts: (owner: string, pageKey = '', key = ALCHEMY_KEY, network = 'base-mainnet') =>
        ask(`${network}/nft/v3/${key}/getNFTsForOwner?owner=${owner}${pageKey && `&pageKey=${pageKey}`}`),
      pass: (seconds: number) => {
        now += seconds * 1000
      },
    }
  })

const balances = 'alchemy_getTokenBalances'

describe('The fake Alchemy', () => {
  test('refuses other keys, networks and methods', async ({ alchemy: { call, nfts, ask } }) => {
    expect(await call(balances, [NOBODY, 'erc20'], 'base-mainnet', 'other')).toMatchObject({ status: 401 })
    expect(await nfts(NOBODY, '', 'other')).toMatchObject({ status: 401 })
    expect(await call(balances, [NOBODY, 'erc20'], 'solana-mainnet')).toMatchObject({ status: 403 })
    expect(await call('eth_blockNumber', [])).toMatchObject({ status: 400 })
    expect(await ask(`base-mainnet/v2/${ALCHEMY_KEY}`, 'nonsense')).toMatchObject({ status: 400 })
    expect(await nfts('nobody')).toMatchObject({ status: 400 })
    for (const network of ['bnb-mainnet', 'gnosis-mainnet']) {
      expect(await nfts(NOBODY, '', ALCHEMY_KEY, network)).toMatchObject({ status: 400 })
    }
  })

  test('reports errors of params with status 200', async ({ alchemy: { call } }) => {
    for (const params of [[], ['nobody', 'erc20'], [NOBODY, 'erc20', { pageKey: 'mine' }]]) {
      expect(await call(balances, params)).toMatchObject({ status: 200, body: { error: { code: -32602 } } })
    }
  })

  test('reports a chain’s tokens and NFTs in pages, including listed tokens and zero balances', async ({
    alchemy,
    chain,
  }) => {
    const contracts: string[] = []
    let pageKey: string | undefined
    do {
      const { body } = await alchemy.call(balances, [ALICE.address, 'erc20', ...(pageKey ? [{ pageKey }] : [])])
      contracts.push(...body.result.tokenBalances.map((row: { contractAddress: string }) => row.contractAddress))
      pageKey = body.result.pageKey
    } while (pageKey)
    const all = [...chain.tokens, ...(chain.unlisted ?? [])].map(({ address }) => address.toLowerCase())
    expect(contracts).toEqual(all)
    const [listed] = (await alchemy.call(balances, [NOBODY, 'erc20'])).body.result.tokenBalances
    expect(listed).toEqual({ contractAddress: all[0], tokenBalance: `0x${'0'.repeat(64)}`, error: null })
    expect((await alchemy.call(balances, [ALICE.address, 'erc20'], 'eth-mainnet')).body.result.tokenBalances).toEqual(
      [],
    )
    alchemy.pass(10)
    const nfts = await alchemy.nfts(ALICE.address)
    expect(nfts.body).toMatchObject({ ownedNfts: [{ tokenId: '1', name: 'Lantern #1' }], totalCount: 3 })
    alchemy.pass(10)
    expect((await alchemy.nfts(ALICE.address, nfts.body.pageKey)).body.ownedNfts).toMatchObject([{ tokenId: '2' }])
  })

  test('limits compute units per ten seconds and counts each call of a batch', async ({ alchemy }) => {
    const call = { jsonrpc: '2.0', id: 1, method: balances, params: [NOBODY, 'erc20'] }
    const batch = (count: number) => alchemy.ask(`base-mainnet/v2/${ALCHEMY_KEY}`, Array(count).fill(call))
    expect((await batch(50)).status).toBe(200)
    expect(await batch(1)).toMatchObject({ status: 429, body: { error: { code: 429 } } })
    expect((await alchemy.nfts(NOBODY)).status).toBe(429)
    alchemy.pass(10)
    expect((await batch(50)).status).toBe(200)
  })

  test('names the error of a token that cannot be read', async ({ chain }) => {
    const broken = { chainId: 8453, address: NOBODY, name: 'Broken', symbol: 'BRK', decimals: 0 } as const
    const service = fakeAlchemy([{ ...chain, tokens: [], unlisted: [broken] }])
    const url = new URL(`http://localhost/alchemy/base-mainnet/v2/${ALCHEMY_KEY}`)
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: balances, params: [ALICE.address, 'erc20'] })
    expect(await service.answer({ method: 'POST', url, headers: {}, body })).toMatchObject({
      body: { result: { tokenBalances: [{ tokenBalance: null, error: 'execution reverted' }] } },
    })
  })
})
