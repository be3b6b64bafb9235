import fc from 'fast-check'
import { getAddress, numberToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { EVM_CHAINS } from '../../../lib/chain/registry.ts'
import { AppError } from '../../../lib/core/errors.ts'
import type { UpstreamRequest } from '../../../lib/core/http.ts'
import { createMerkl } from '../../../lib/rewards/merkl.ts'

const ACCOUNT = '0x00000000000000000000000000000000000000b2'
const TOKEN = '0xBAa5CC21fd487B8Fcc2F632f3F4E8D37262a0842'
const VAULT = '0x4F2BF7469Bc38d1aE779b1F4affC588f35E60973'
const ALL = EVM_CHAINS.map(({ id }) => id).join()
const HASH = `0x${'ab'.repeat(32)}`

const token = { address: TOKEN, chainId: 8453, symbol: 'MORPHO', decimals: 18, price: 1.5 }
const row = (fields: object = {}) => ({
  root: HASH,
  recipient: ACCOUNT,
  ...{ amount: '500', claimed: '100', pending: '7', proofs: [HASH], token, breakdowns: [] },
  ...fields,
})
const answer = (...rewards: unknown[]) => [{ chain: { id: 8453, name: 'Base' }, rewards }]

function merklOf(body: unknown, status = 200) {
  const requests: UpstreamRequest[] = []
  const merkl = createMerkl(async (request) => {
    requests.push(request)
    return { status, body }
  })
  return { merkl, requests }
}

describe('The rewards of an account', () => {
  test('are requested by the address in lower case, on all chains together', async () => {
    const { merkl, requests } = merklOf(answer(row()))
    const { rewards, unread } = await merkl.fetchRewards(TOKEN)
    expect(requests).toEqual([{ path: `/v4/users/${TOKEN.toLowerCase()}/rewards`, query: { chainId: ALL } }])
    expect(unread).toEqual([])
    expect(rewards).toEqual([
      {
        chainId: 8453,
        token: TOKEN,
        symbol: 'MORPHO',
        amount: 500n,
        claimed: 100n,
        pending: 7n,
        proof: [HASH],
        vaults: {},
      },
    ])
  })

  test('are those of the supported chains, if the source refuses a chain', async () => {
    const requests: UpstreamRequest[] = []
    const merkl = createMerkl(async (request) => {
      requests.push(request)
      const chainId = request.query?.['chainId']
      return chainId === '8453' ? { status: 200, body: answer(row()) } : { status: 400, body: { error: 'chainId' } }
    })
    const others = EVM_CHAINS.map(({ id }) => id).filter((id) => id !== 8453)
    expect(await merkl.fetchRewards(ACCOUNT)).toMatchObject({ rewards: [{ chainId: 8453 }], unread: others })
    expect(requests).toHaveLength(1 + EVM_CHAINS.length)
  })

  test.for([
    ['of an amount beyond the contract’s range', row({ amount: (2n ** 208n).toString() })],
    ['of an amount that is not an integer', row({ amount: '1.5' })],
    ['of a negative amount', row({ amount: '-1' })],
    ['with a proof of a megabyte', row({ proofs: Array.from({ length: 15_000 }, () => HASH) })],
    ['with a proof that is not of hashes', row({ proofs: ['0x12'] })],
    ['without a proof', row({ proofs: undefined })],
    ['of a token that is not an address', row({ token: { ...token, address: 'MORPHO' } })],
  ] as const)('leave out one %s, and are not whole', async ([, bad]) => {
    const other = row({ token: { ...token, address: VAULT } })
    const { rewards, unread } = await merklOf(answer(bad, other)).merkl.fetchRewards(ACCOUNT)
    expect(rewards.map((reward) => reward.token)).toEqual([VAULT])
    expect(unread).toEqual([8453])
  })

  test('have each token once, with its larger amount, and tokens with unpaid rewards first', async () => {
    const paid = row({ token: { ...token, address: VAULT }, amount: '100', pending: '0' })
    const rows = [paid, row(), row({ amount: '501' }), row({ amount: '499', proofs: [] })]
    const { rewards, unread } = await merklOf(answer(...rows)).merkl.fetchRewards(ACCOUNT)
    expect(rewards.map((reward) => [reward.token, reward.amount])).toEqual([
      [TOKEN, 501n],
      [VAULT, 100n],
    ])
    expect(unread).toEqual([])
  })

  test('of too many tokens are whole if the omitted ones are paid', async () => {
    const rows = Array.from({ length: 70 }, (_, index) => {
      const address = `0x${(index + 1).toString(16).padStart(40, '0')}`
      return row({ token: { ...token, address }, ...(index >= 60 && { amount: '100', pending: '0' }) })
    })
    expect((await merklOf(answer(...rows)).merkl.fetchRewards(ACCOUNT)).unread).toEqual([])
    const open = rows.map((one) => ({ ...one, amount: '500' }))
    expect((await merklOf(answer(...open)).merkl.fetchRewards(ACCOUNT)).unread).toEqual([8453])
  })

  test('of a chain that was not requested are ignored', async () => {
    const others = [{ chain: { id: 999_999 }, rewards: [row()] }]
    expect((await merklOf(others).merkl.fetchRewards(ACCOUNT)).rewards).toEqual([])
  })

  test('have the paid amount of each vault, whatever the kind of campaign', async () => {
    const of = (reason: string, claimed: string) => ({ reason, claimed, amount: '9', pending: '0', campaignId: HASH })
    const chained = `MultiLogProcessor_ERC20_${TOKEN}~MorphoVault_ERC20_${TOKEN}~x_MorphoVaultV2_ERC20_${VAULT}`
    const breakdowns = [
      of(`MorphoVault_${VAULT.toLowerCase()}`, '30'),
      of(`ERC20_${VAULT}`, '5'),
      of(chained, '7'),
      of('Airdrop', '65'),
    ]
    const { rewards } = await merklOf(answer(row({ breakdowns }))).merkl.fetchRewards(ACCOUNT)
    expect(rewards[0]?.vaults).toEqual({ [VAULT]: 42n })
  })

  test('throw an upstream error for any other response', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.constantFrom(200, 401, 403, 404), async (body, status) => {
        const rewards = merklOf(body, status).merkl.fetchRewards(ACCOUNT)
        const result = await rewards.catch((error: unknown) => error)
        if (result instanceof AppError) expect(result.code).toMatch(/^upstream_/)
        else expect(result).toMatchObject({ rewards: [] })
      }),
    )
  })
})

let idCount = 0
const opportunity = (fields: object = {}) => ({
  id: `${++idCount}`,
  identifier: VAULT,
  action: 'LEND',
  apr: 6,
  aprRecord: { cumulated: 6, breakdowns: [] },
  latestCampaignEnd: '1777568400',
  rewardsRecord: { breakdowns: [{ token, value: 10 }] },
  ...fields,
})
const USDC = { ...token, address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', symbol: 'USDC' }

describe('The campaigns of a chain', () => {
  test('share the rate of an opportunity by the daily value of their tokens', async () => {
    const breakdowns = [
      { token, value: 10 },
      { token: USDC, value: 5 },
    ]
    const campaigns = await merklOf([opportunity({ apr: 5, rewardsRecord: { breakdowns } })]).merkl.fetchCampaigns(8453)
    expect(campaigns.get(VAULT)).toEqual([
      { chainId: 8453, token: TOKEN, symbol: 'MORPHO', apr: 3.3333, endsAt: 1777568400 },
      { chainId: 8453, token: USDC.address, symbol: 'USDC', apr: 1.6667, endsAt: 1777568400 },
    ])
  })

  test('add up for one token, and end with the last', async () => {
    const campaigns = await merklOf([
      opportunity(),
      opportunity({ apr: 1.5, latestCampaignEnd: '1777568500' }),
    ]).merkl.fetchCampaigns(8453)
    expect(campaigns.get(VAULT)).toEqual([
      { chainId: 8453, token: TOKEN, symbol: 'MORPHO', apr: 7.5, endsAt: 1777568500 },
    ])
  })

  test('count once if their opportunity is on two pages', async () => {
    const { merkl } = merklOf([opportunity({ id: 'a' }), opportunity({ id: 'a' })])
    expect((await merkl.fetchCampaigns(8453)).get(VAULT)).toMatchObject([{ apr: 6 }])
  })

  test('in points or future tokens are left out', async () => {
    const breakdowns = ['POINT', 'PRETGE'].map((type) => ({ token: { ...token, type }, value: 10 }))
    const campaigns = await merklOf([opportunity({ rewardsRecord: { breakdowns } })]).merkl.fetchCampaigns(8453)
    expect(campaigns.get(VAULT)).toEqual([])
  })

  test('may pay on another chain', async () => {
    const breakdowns = [{ token: { ...token, chainId: 1 }, value: 10 }]
    const campaigns = await merklOf([opportunity({ rewardsRecord: { breakdowns } })]).merkl.fetchCampaigns(8453)
    expect(campaigns.get(VAULT)).toMatchObject([{ chainId: 1 }])
  })

  test.for([
    ['a rate that is not a number', { apr: '6' }, [{ apr: null }]],
    ['an implausible rate', { apr: 2e6 }, [{ apr: null }]],
    ['an end beyond any date', { latestCampaignEnd: '1999999999000' }, undefined],
  ] as const)('with %s do not affect others', async ([, fields, expected]) => {
    const campaigns = await merklOf([opportunity(fields), opportunity({ identifier: TOKEN })]).merkl.fetchCampaigns(
      8453,
    )
    expect(campaigns.get(TOKEN)).toMatchObject([{ apr: 6 }])
    if (expected) expect(campaigns.get(VAULT)).toMatchObject(expected)
    else expect(campaigns.get(VAULT)).toBeUndefined()
  })

  test('of one vault are at most 20 tokens, however many the source reports', async () => {
    const breakdowns = Array.from({ length: 30 }, (_, index) => ({
      token: { ...token, address: getAddress(numberToHex(index + 1, { size: 20 })) },
      value: 1,
    }))
    const campaigns = await merklOf([opportunity({ rewardsRecord: { breakdowns } })]).merkl.fetchCampaigns(8453)
    expect(campaigns.get(VAULT)).toHaveLength(20)
  })

  test('of a chain that the source refuses are an error, not an empty list', async () => {
    await expect(merklOf({}, 400).merkl.fetchCampaigns(8453)).rejects.toMatchObject({ code: 'upstream_bad_answer' })
  })

  test('that are not measured yet have no rate, not zero', async () => {
    const campaigns = await merklOf([opportunity({ apr: 0, aprRecord: null })]).merkl.fetchCampaigns(8453)
    expect(campaigns.get(VAULT)).toMatchObject([{ apr: null }])
  })

  test('for borrowers, without an address or in another form are left out', async () => {
    const body = [opportunity({ action: 'BORROW' }), opportunity({ identifier: HASH }), { identifier: VAULT }, null]
    expect([...(await merklOf(body).merkl.fetchCampaigns(8453))]).toEqual([])
  })

  test('are read in at most 20 pages', async () => {
    const { merkl, requests } = merklOf(Array.from({ length: 100 }, () => opportunity()))
    await merkl.fetchCampaigns(8453)
    expect(requests.map(({ query }) => query?.['page'])).toEqual(Array.from({ length: 20 }, (_, page) => `${page}`))
    expect(requests[0]?.query).toEqual({ chainId: '8453', status: 'LIVE', items: '100', page: '0' })
  })
})
