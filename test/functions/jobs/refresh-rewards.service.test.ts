import { type Address, encodeFunctionData, getAddress, numberToHex, parseUnits, zeroAddress } from 'viem'
import { describe, expect, onTestFinished } from 'vitest'
import * as z from 'zod'
import { contract } from '../../../functions/jobs/refresh-rewards/contract.ts'
import { handler, refreshRewards } from '../../../functions/jobs/refresh-rewards/handler.ts'
import type { sharedCache } from '../../../lib/cache/cache.ts'
import { createAgreedReaders } from '../../../lib/chain/agreed-reader.ts'
import { readEnv } from '../../../lib/frame/container.ts'
import { pricesKey } from '../../../lib/markets/cache-keys.ts'
import { campaignsKey } from '../../../lib/rewards/campaigns.ts'
import * as services from '../../../lib/services.ts'
import type { LocalAccount } from '../../../sandbox/accounts.ts'
import { DISTRIBUTOR, distributorAbi } from '../../../sandbox/rewards.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { someContext } from '../../support/lambda.ts'
import { overrideStorage, readStateChanges } from '../../support/lies.ts'
import { listEvents, type ReceivedEvent } from '../../support/received-events.ts'
import { finalizeBlocks } from '../../support/records.ts'
import { test as base, USERS } from '../../support/service.ts'
import { type RecordingProxy, startRecordingProxy } from '../../support/wire.ts'

const [ALICE, BOB] = USERS
const BASE = 8453
const [MINUTES, HOURS, DAYS] = [60, 3_600, 86_400]
const Expiring = z.object({ expiresAt: z.number() })
const Next = z.object({ lookAt: z.number() })

const test = base.extend('rewards', async ({ service }) => {
  const chain = service.backends.chains.find(({ chainId }) => chainId === BASE)
  const [vault, other] = chain?.vaults ?? []
  const { rewardToken: token } = chain ?? {}
  const [unpriced] = chain?.unlisted ?? []
  if (!chain || !vault || !other || !token || !unpriced) throw new Error('Base has no campaigns')
  const { merkl } = service.backends.providers
  const env = readEnv(contract, process.env)
  const cache = services.cache(env)
  const used = {
    cache,
    listedVaults: services.listedVaults(env),
    watchedAccounts: services.watchedAccounts(env),
    merkl: await services.merkl(env),
    getReader: await services.getAgreedReader(env),
    getTokenValues: services.getTokenValues(env),
    eventLog: services.appendingLog(env),
    webhooks: services.webhooks(env),
    enqueue: services.enqueueDeliveries(env),
    now: Date.now,
    random: Math.random,
    sleep: async (milliseconds: number) => service.pass(milliseconds / 1000),
  }
  /** Stores a price of two dollars for MORPHO, so that its rewards have a value. */
  const setPrice = () =>
    cache.put(pricesKey('base-mainnet'), { [token.address]: { now: 2, dayAgo: null, at: Date.now() } })
  await service.restore('rewards', async () => undefined)
  await setPrice()
  merkl.rewrite = undefined
  merkl.requests.length = 0

  return {
    ...{ chain, vault, token, unpriced, merkl, cache },
    createClient: () => service.createClient([vault]),
    /** Grants a reward, by default in MORPHO. A new Merkle root makes the reward claimable. */
    grant: (account: Address, amount: number, of = token.address) =>
      service.backends.rewards.grant(BASE, [
        { account, token: of, vault: vault.address, amount: parseUnits(`${amount}`, token.decimals) },
      ]),
    async ask(key: string, account: Address) {
      const path = `/defi-vaults/v1/defi/user/${account}/rewards?chainId=${BASE}`
      expect(await service.call('GET', path, { key })).toMatchObject({ status: 200 })
    },
    async claim(key: string, user: LocalAccount) {
      const body = { userAddress: user.address, chainId: BASE }
      const reply = await service.call('POST', '/defi-vaults/v1/defi/rewards/claim', { key, body })
      expect(reply).toMatchObject({ status: 200 })
      const send = async () => {
        const [receipt] = await service.send(BASE, user, reply.body.operations)
        expect(receipt).toMatchObject({ status: 'success' })
        return receipt?.transactionHash
      }
      return { transactionHash: await send(), sendAgain: send }
    },
    async setRecipient(user: LocalAccount, recipient: Address) {
      const args = [recipient, zeroAddress] as const
      const data = encodeFunctionData({ abi: distributorAbi, functionName: 'setClaimRecipient', args })
      await service.send(BASE, user, [{ to: DISTRIBUTOR, data, value: '0' }])
    },
    async run(seconds = 5 * MINUTES, getReader = used.getReader) {
      service.pass(seconds)
      await setPrice()
      const end = Date.now() + 290_000
      return await refreshRewards({ ...used, getReader })({ chainId: BASE }, { remainingMs: () => end - Date.now() })
    },
    eventsOf: async (key: string) => (await listEvents(service, key)).filter(({ type }) => type.startsWith('reward.')),
  }
})

const shown = (events: readonly ReceivedEvent[]) =>
  events.map(({ type, data }) => [type, data['userAddress'], data['amount']] as const)

const accounts = Array.from({ length: 400 }, (_, index) =>
  getAddress(numberToHex(0xacc0_0000_0000n + BigInt(index), { size: 20 })),
).values()
const someAccount = () => accounts.next().value ?? zeroAddress

const morpho = (amount: number) => `${parseUnits(`${amount}`, 18)}`

describe('What a user can claim', () => {
  test('is reported once, and only to the client through which the user requested it', async ({ rewards }) => {
    const [key, other] = [await rewards.createClient(), await rewards.createClient()]
    const account = someAccount()
    await rewards.grant(account, 3)
    await rewards.ask(key, account)
    expect(await rewards.run()).toMatchObject({ checked: 1, unread: 0, claimable: 1 })
    expect(await rewards.eventsOf(key)).toMatchObject([
      {
        type: 'reward.claimable',
        final: true,
        data: {
          ...{ chainId: BASE, userAddress: account, token: rewards.token.address, symbol: 'MORPHO', decimals: 18 },
          ...{ amount: morpho(3), usd: 6 },
        },
      },
    ])
    expect(await rewards.run()).toMatchObject({ checked: 0, claimable: 0 })
    expect(await rewards.run(DAYS)).toMatchObject({ checked: 1, claimable: 0 })
    expect(await rewards.eventsOf(key)).toHaveLength(1)
    expect(await rewards.eventsOf(other)).toEqual([])
  })

  test('is reported again after a day at the earliest, and only if it has grown', async ({ rewards }) => {
    const key = await rewards.createClient()
    const account = someAccount()
    await rewards.grant(account, 3)
    await rewards.ask(key, account)
    await rewards.run()
    await rewards.grant(account, 4)
    await rewards.ask(key, account)
    expect(await rewards.run(23 * HOURS)).toMatchObject({ checked: 0 })
    expect(await rewards.run(1 * HOURS)).toMatchObject({ checked: 1, claimable: 1 })
    expect(shown(await rewards.eventsOf(key))).toEqual([
      ['reward.claimable', account, morpho(3)],
      ['reward.claimable', account, morpho(7)],
    ])
  })

  test('is reported to each client through which the user requested it', async ({ rewards }) => {
    const keys = [await rewards.createClient(), await rewards.createClient()]
    const account = someAccount()
    await rewards.grant(account, 3)
    for (const key of keys) {
      await rewards.ask(key, account)
      expect(await rewards.run(6 * MINUTES)).toMatchObject({ checked: 1, claimable: 1 })
    }
    for (const key of keys)
      expect(shown(await rewards.eventsOf(key))).toEqual([['reward.claimable', account, morpho(3)]])
  })

  test('is not reported if it is worth less than a dollar, has no price, or its tree pays nothing yet', async ({
    rewards,
    service,
  }) => {
    const key = await rewards.createClient()
    const [poor, unlisted, waiting] = [someAccount(), someAccount(), someAccount()]
    await rewards.grant(poor, 0.49)
    await rewards.grant(unlisted, 1_000, rewards.unpriced.address)
    const reward = { account: waiting, token: rewards.token.address, vault: rewards.vault.address, amount: 10n ** 19n }
    await service.backends.rewards.grant(BASE, [reward], { inDisputePeriod: true })
    for (const account of [poor, unlisted, waiting]) await rewards.ask(key, account)
    // The job checks only the account `waiting`. The rewards of `poor` and `unlisted` are worth too little or have no
    // price, so they cannot become claimable.
    expect(await rewards.run()).toMatchObject({ checked: 1, claimable: 0 })
    expect(await rewards.eventsOf(key)).toEqual([])
  })

  test('is not reported if the user has set another recipient, because the service prepares no claim of it', async ({
    rewards,
  }) => {
    const key = await rewards.createClient()
    await rewards.grant(ALICE.address, 3)
    await rewards.setRecipient(ALICE, BOB.address)
    await rewards.ask(key, ALICE.address)
    expect(await rewards.run()).toMatchObject({ checked: 1, claimable: 0 })
  })

  test('is not reported while two hosts disagree on it', async ({ rewards, service }) => {
    const key = await rewards.createClient()
    await rewards.grant(ALICE.address, 3)
    await rewards.ask(key, ALICE.address)
    const [honest, other] = [service.rpc[BASE] as RecordingProxy, await startRecordingProxy(rewards.chain.rpcUrl)]
    onTestFinished(other.stop)
    const getReader = createAgreedReaders(
      { [BASE]: [honest.url, other.url] },
      { fetch, random: () => 0, now: Date.now },
    )
    overrideStorage(other, await readStateChanges(rewards.chain, () => rewards.setRecipient(ALICE, BOB.address)))
    expect(await rewards.run(5 * MINUTES, getReader)).toMatchObject({ checked: 0, unread: 1, claimable: 0 })
    other.rewriteRequest = undefined
    expect(await rewards.run(HOURS, getReader)).toMatchObject({ checked: 1, claimable: 1 })
  })

  test('is checked for 100 accounts in a run, longest waiting first', async ({ rewards, service }) => {
    const key = await rewards.createClient()
    const accounts = Array.from({ length: 103 }, someAccount)
    await service.backends.rewards.grant(
      BASE,
      accounts.map((account) => ({
        ...{ account, token: rewards.token.address, vault: rewards.vault.address, amount: 10n ** 19n },
      })),
    )
    for (const account of accounts) {
      service.pass(1)
      await rewards.ask(key, account)
    }
    rewards.merkl.requests.length = 0
    expect(await rewards.run(6 * MINUTES)).toMatchObject({ checked: 100, claimable: 100 })
    const userPaths = rewards.merkl.requests.filter((path) => path.includes('/users/'))
    expect(userPaths).toHaveLength(100)
    const first = shown(await rewards.eventsOf(key)).map(([, account]) => account)
    expect(new Set(first)).toEqual(new Set(accounts.slice(0, 100)))
    expect(await rewards.run()).toMatchObject({ checked: 3, claimable: 3 })
    expect(await rewards.run()).toMatchObject({ checked: 0, claimable: 0 })
  })

  test('is checked again at the end of a dispute period, so not every check falls into one', async ({
    rewards,
    service,
  }) => {
    const key = await rewards.createClient()
    const account = someAccount()
    const reward = { account, token: rewards.token.address, vault: rewards.vault.address, amount: 10n ** 19n }
    await service.backends.rewards.grant(BASE, [reward], { inDisputePeriod: true })
    await rewards.ask(key, account)
    expect(await rewards.run()).toMatchObject({ checked: 1, claimable: 0 })
    const [{ lookAt } = { lookAt: 0 }] = await service.tables.deposits.list(Next, {
      partition: `WATCHED#${BASE}#${account}`,
    })
    const { endOfDisputePeriod } = await service.backends.rewards.readShownRewards(BASE, account)
    expect(lookAt).toBe(endOfDisputePeriod * 1000)
  })

  test('is reported an hour later if the source was down', async ({ rewards }) => {
    const key = await rewards.createClient()
    const account = someAccount()
    await rewards.grant(account, 3)
    await rewards.ask(key, account)
    rewards.merkl.rewrite = () => ({ status: 500, body: '' })
    expect(await rewards.run(6 * MINUTES)).toMatchObject({ checked: 0, unread: 1, claimable: 0 })
    rewards.merkl.rewrite = undefined
    expect(await rewards.run(50 * MINUTES)).toMatchObject({ checked: 0, unread: 0 })
    expect(await rewards.run(10 * MINUTES)).toMatchObject({ checked: 1, claimable: 1 })
  })

  test('is reported an hour later if the chain was down, and the run fails', async ({ rewards, service }) => {
    const key = await rewards.createClient()
    const account = someAccount()
    await rewards.grant(account, 3)
    await rewards.ask(key, account)
    const wire = service.rpc[BASE] as RecordingProxy
    wire.behaviour = 'answer 500'
    await expect(rewards.run()).rejects.toMatchObject({ code: 'upstream_unavailable' })
    wire.behaviour = 'pass'
    expect(await rewards.run()).toMatchObject({ checked: 0 })
    expect(await rewards.run(HOURS)).toMatchObject({ checked: 1, claimable: 1 })
  })

  test('is checked by a later run if the source is so slow that the run would be ended', async ({
    rewards,
    service,
  }) => {
    const key = await rewards.createClient()
    const accounts = [ALICE.address, ...Array.from({ length: 99 }, someAccount)]
    const { token, vault } = rewards
    const reward = { token: token.address, vault: vault.address, amount: 10n ** 19n }
    await service.backends.rewards.grant(
      BASE,
      accounts.map((account) => ({ account, ...reward })),
    )
    for (const account of accounts) {
      service.pass(1)
      await rewards.ask(key, account)
    }
    await rewards.run(0)
    await rewards.claim(key, ALICE)
    await finalizeBlocks(rewards.chain)
    service.pass(DAYS)
    const start = Date.now()
    rewards.merkl.rewrite = () => {
      service.pass(3)
      return { status: 500, body: '' }
    }
    const slow = await rewards.run()
    expect(slow).toMatchObject({ checked: 0, claimable: 0, claimed: 1 })
    expect(slow).toHaveProperty(
      'unread',
      expect.toSatisfy((unread: number) => unread > 10 && unread < 100),
    )
    expect((Date.now() - start) / 1000 - 5 * MINUTES).toBeLessThan(290)
    rewards.merkl.rewrite = undefined
    expect(await rewards.run()).toMatchObject({ checked: expect.toSatisfy((checked: number) => checked > 10) })
  })

  test('is not watched if no campaign paid the account when the user requested it', async ({ rewards }) => {
    const account = someAccount()
    await rewards.ask(await rewards.createClient(), account)
    await rewards.grant(account, 3)
    expect(await rewards.run()).toMatchObject({ checked: 0 })
  })

  test("is no longer watched a week after the user's request", async ({ rewards, service }) => {
    const key = await rewards.createClient()
    const account = someAccount()
    await rewards.grant(account, 3)
    await rewards.ask(key, account)
    const [item] = await service.tables.deposits.list(Expiring, { partition: `WATCHED#${BASE}#${account}` })
    const left = (item?.expiresAt ?? 0) - Date.now() / 1000
    expect(Math.round(left / DAYS)).toBe(7)
  })

  test('is listed although storing the account fails', async ({ rewards, service }) => {
    const key = await rewards.createClient()
    const account = someAccount()
    await rewards.grant(account, 3)
    service.table.fails = ({ action, body }) => action === 'UpdateItem' && body.includes('WATCHED#')
    await rewards.ask(key, account)
    service.table.reset()
    expect(await rewards.run()).toMatchObject({ checked: 0 })
  })
})

describe('A claim', () => {
  test('is reported with its transaction once its block is final, only to the client of the user', async ({
    rewards,
  }) => {
    const [key, other] = [await rewards.createClient(), await rewards.createClient()]
    for (const { address } of [ALICE, BOB]) await rewards.grant(address, 3)
    await rewards.ask(key, ALICE.address)
    expect(await rewards.run()).toMatchObject({ claimable: 1, claimed: 0 })
    await rewards.claim(other, BOB)
    const { transactionHash, sendAgain } = await rewards.claim(key, ALICE)
    // The contract accepts a second claim of the same amount. It pays nothing, but emits the event of a claim again.
    await sendAgain()
    expect(await rewards.run()).toMatchObject({ claimed: 0 })
    await finalizeBlocks(rewards.chain)
    expect(await rewards.run()).toMatchObject({ claimed: 1 })
    const events = await rewards.eventsOf(key)
    expect(events.slice(1)).toMatchObject([
      {
        ...{ type: 'reward.claimed', final: true },
        data: {
          chainId: BASE,
          userAddress: ALICE.address,
          token: rewards.token.address,
          amount: morpho(3),
          transactionHash,
        },
      },
    ])
    expect(await rewards.run(DAYS)).toMatchObject({ claimable: 0, claimed: 0 })
    expect(await rewards.eventsOf(key)).toHaveLength(2)
    expect(await rewards.eventsOf(other)).toEqual([])
  })

  test('is not reported if a reorganisation removes it before it is final', async ({ rewards }) => {
    const key = await rewards.createClient()
    await rewards.grant(ALICE.address, 3)
    await rewards.ask(key, ALICE.address)
    await rewards.run()
    const [snapshot] = await callRpc(rewards.chain, [{ method: 'evm_snapshot', params: [] }])
    await rewards.claim(key, ALICE)
    await rewards.run()
    await callRpc(rewards.chain, [{ method: 'evm_revert', params: [snapshot] }])
    await finalizeBlocks(rewards.chain)
    expect(await rewards.run()).toMatchObject({ claimed: 0 })
    await rewards.claim(key, ALICE)
    await finalizeBlocks(rewards.chain)
    expect(await rewards.run()).toMatchObject({ claimed: 1 })
  })

  test('costs no call to the chain while no account is watched', async ({ rewards, service }) => {
    const wire = service.rpc[BASE] as RecordingProxy
    wire.bodies.length = 0
    expect(await rewards.run()).toMatchObject({ outcome: 'refreshed', claimed: 0 })
    expect(wire.bodies).toEqual([])
  })

  test('from before the first account was watched is not reported', async ({ rewards, service }) => {
    const key = await rewards.createClient()
    await rewards.grant(ALICE.address, 3)
    await rewards.ask(key, ALICE.address)
    await rewards.run()
    const { deposits } = service.tables
    const watched = { partition: `WATCHED#${BASE}#${ALICE.address}` }
    await deposits.deleteMany(await deposits.list(z.object({ pk: z.string(), sk: z.string() }), watched))
    await rewards.run()
    await rewards.claim(key, ALICE)
    await finalizeBlocks(rewards.chain)
    await rewards.grant(ALICE.address, 3)
    service.pass(6 * MINUTES)
    await rewards.ask(key, ALICE.address)
    expect(await rewards.run()).toMatchObject({ checked: 1, claimed: 0 })
    expect(await rewards.run()).toMatchObject({ claimed: 0 })
  })
})

test('Each event is reported once although a run is killed at any point', async ({ rewards, service }) => {
  const build = async () => {
    const keys = [await rewards.createClient(), await rewards.createClient()]
    for (const { address } of [ALICE, BOB]) await rewards.grant(address, 3)
    for (const key of keys) {
      await rewards.ask(key, ALICE.address)
      await rewards.run(6 * MINUTES)
    }
    await rewards.ask(keys[0] ?? '', BOB.address)
    await rewards.claim(keys[0] ?? '', ALICE)
    await finalizeBlocks(rewards.chain)
    return keys
  }
  const [key = '', other = ''] = await service.restore('claimed', build)
  const kills: number[] = []
  for (let isOver = false; !isOver; ) {
    await service.restore('claimed', build)
    const isKilled = service.table.killAt(kills.length + 1)
    await rewards.run().catch(() => {})
    isOver = !isKilled()
    kills.push(kills.length + 1)
    service.table.reset()
    for (const seconds of [5 * MINUTES, DAYS]) {
      await rewards.run(seconds)
      expect(shown(await rewards.eventsOf(key)), `killed at write ${kills.length}`).toEqual([
        ['reward.claimable', ALICE.address, morpho(3)],
        ['reward.claimed', ALICE.address, morpho(3)],
        ['reward.claimable', BOB.address, morpho(3)],
      ])
    }
    expect(shown(await rewards.eventsOf(other))).toEqual([
      ['reward.claimable', ALICE.address, morpho(3)],
      ['reward.claimed', ALICE.address, morpho(3)],
    ])
  }
  expect(kills.length).toBeGreaterThan(5)
})

describe('Campaigns', () => {
  const get = async ({ cache }: { cache: ReturnType<typeof sharedCache> }) =>
    (await cache.get({ campaigns: campaignsKey(BASE) })).campaigns

  test('are those of listed vaults, fetched again after a quarter of an hour', async ({ rewards }) => {
    await rewards.cache.put(campaignsKey(BASE), {})
    expect(await rewards.run()).toMatchObject({ campaigns: null, lagSeconds: 0 })
    expect(await rewards.run()).toMatchObject({ campaigns: null })
    const { campaigns } = (await rewards.run()) as { campaigns: number }
    const cached = await get(rewards)
    const listed = new Set(rewards.chain.vaults.map(({ address }) => address))
    expect(campaigns).toBeGreaterThan(1)
    expect(Object.keys(cached?.value ?? {})).toHaveLength(campaigns)
    for (const vault of Object.keys(cached?.value ?? {})) expect(listed).toContain(vault)
  })

  test('stay while the source is down, and the run reports their age', async ({ rewards }) => {
    const older = { [rewards.vault.address]: [] }
    await rewards.cache.put(campaignsKey(BASE), older)
    rewards.merkl.rewrite = () => ({ status: 500, body: '' })
    expect(await rewards.run(HOURS)).toMatchObject({ outcome: 'refreshed', campaigns: null, lagSeconds: HOURS })
    expect((await get(rewards))?.value).toEqual(older)
  })
})

test('A run for a chain without listed vaults makes no request', async ({ rewards }) => {
  expect(await handler({ chainId: 1 }, someContext())).toEqual({ chainId: 1, outcome: 'no vaults' })
  expect(rewards.merkl.requests).toEqual([])
  expect(await handler({ chainId: BASE }, someContext())).toMatchObject({ chainId: BASE, outcome: 'refreshed' })
})
