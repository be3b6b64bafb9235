import { type Address, type Hex, toFunctionSelector } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, onTestFinished, vi } from 'vitest'
import { DEFAULT_LIMITS } from '../../../lib/clients/key-limits.ts'
import type { ErrorCode } from '../../../lib/core/errors.ts'
import { sha256 } from '../../../lib/core/sha256.ts'
import { EDGE_HEADER, EDGE_VARIABLE } from '../../../lib/frame/edge.ts'
import { ACCOUNTS, type LocalAccount } from '../../../sandbox/accounts.ts'
import { installPool } from '../../../sandbox/bridge.ts'
import { deployToken, deployYieldVault } from '../../../sandbox/deploy.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { transact } from '../../../sandbox/transactions.ts'
import { someClient, someKey, someVault } from '../../support/clients.ts'
import {
  type BridgeApiQuote,
  createDepositJourney,
  test as crossChainTest,
  type Journey,
  type SimulatedBridgeApi,
  startConfiguredService,
} from '../../support/cross-chain.ts'
import { expectError, parseAmountLimits } from '../../support/errors.ts'
import { captureLogs } from '../../support/logs.ts'
import { decodeBridgeDeposit, encodeCall, HANDLER } from '../../support/oracles.ts'
import { type HttpReply, type Service, USERS } from '../../support/service.ts'
import {
  expectFairGas,
  expectSuccess,
  openLagoonVault,
  openYieldVault,
  ROLES,
  type TestVault,
} from '../../support/vaults.ts'
import { FAILURE_OF_EACH_CODE } from '../../support/wire.ts'

const [ALICE, BOB] = USERS
const AMOUNT = 50_000_000n
const API_KEY = 'across-key-hunter2'
const EDGE_KEY = 'a key that CloudFront sends'
const INTEGRATOR = '0x00c4'
/** Age in seconds of a quote when the bridge's API returns it. */
const OFFER_AGE = 300
/** Returns the time at which the bridge's API returned the quote, in seconds since 1970 by the source chain's clock. */
const readQuoteTime = (offer: BridgeApiQuote) => Number(offer.timestamp) + OFFER_AGE

/**
 * Runs tests with a deposit of USDC from Arbitrum into a synchronous vault on Base. Tests that change nothing in the
 * vault share it.
 */
const test = crossChainTest
  .extend('sharedVault', { scope: 'file' }, ({ sharedService }) => openYieldVault(sharedService))
  .extend('journey', ({ service, sharedVault }) => createDepositJourney(sharedVault, service))
  .extend('sharedConfigured', { scope: 'file' }, async ({ sharedService }, { onCleanup }) => {
    const { stop, ...configured } = await startConfiguredService(sharedService, {
      bridge: { apiKey: API_KEY, integratorId: INTEGRATOR },
    })
    onCleanup(stop)
    return configured
  })
  .extend('configured', ({ service: _, sharedConfigured }) => {
    sharedConfigured.bridge.answer = undefined
    return sharedConfigured
  })
  /**
   * Requests with an API key that may use 20 quotes for deposits in ten minutes. Each request names the address from
   * which it is sent.
   */
  .extend('ask', async ({ service, sharedVault: vault, journey }, { onCleanup }) => {
    vi.stubEnv(EDGE_VARIABLE, JSON.stringify({ keys: [sha256(EDGE_KEY)], isOnlyWay: false }))
    const strict = await startConfiguredService(service, { bridge: {} })
    onCleanup(async () => {
      vi.unstubAllEnvs()
      await strict.stop()
    })
    // The key may use 20 quotes for deposits and 10 quotes for withdrawals in ten minutes. One network may use three
    // of each.
    const limits = { ...DEFAULT_LIMITS, rate: { requests: 3600, seconds: 3600 } }
    const key = await service.createClient([vaultIn(vault)], limits)
    const [{ chainId }, { address: token }] = [journey.source, journey.token]
    const from = (address: string, path: string, body: object) =>
      strict.service.call('POST', `/defi-vaults/v1/defi/vault/${path}`, {
        key,
        headers: { [EDGE_HEADER]: EDGE_KEY, 'x-forwarded-for': address },
        body: { vaultAddress: vault.address, ...body },
      })
    await vault.mint(ALICE.address, AMOUNT)
    // The clock advances to the start of a rate window of 600 s if the current one ends soon. The test then ends
    // within one window.
    const secondsLeft = 600 - ((Date.now() / 1000) % 600)
    if (secondsLeft < 60) service.pass(secondsLeft)
    await vault.send(ALICE, await vault.deposit(ALICE, AMOUNT))
    return {
      toDeposit: (address: string, amount: number, user: { readonly address: Address } = ALICE) =>
        from(address, 'deposit', {
          userAddress: user.address,
          amount: `${AMOUNT + BigInt(amount)}`,
          srcChainId: chainId,
          srcToken: token,
        }),
      toWithdraw: (address: string, amount: number) =>
        from(address, 'withdraw', {
          userAddress: ALICE.address,
          amount: `${AMOUNT / 2n - BigInt(amount)}`,
          dstChainId: chainId,
          dstToken: token,
        }),
      quotes: () => strict.bridge.quotesFor(vault).length,
    }
  })

const vaultIn = ({ chain, address }: TestVault) => ({ chainId: chain.chainId, address })

function expectDeposit(reply: HttpReply): void {
  expect(reply).toMatchObject({ status: 200, body: { isCrossChain: true, simulation: { status: 'success' } } })
}

const countRequests = ({ rpc }: Service, bridge: SimulatedBridgeApi, vault: { readonly address: Address }) => ({
  base: rpc[8453]?.bodies.length,
  arbitrum: rpc[42161]?.bodies.length,
  bridge: bridge.quotesFor(vault).length,
})

describe('an unsupported source', () => {
  test.for([
    { chain: 'Gnosis, where the bridge does not go', srcChainId: 100, fields: undefined },
    { chain: 'Solana', srcChainId: 1151111081099710, fields: ['srcChainId'] },
    { chain: 'a chain that nobody knows', srcChainId: 2, fields: ['srcChainId'] },
  ])('$chain is no source chain', async ({ srcChainId, fields }, { service, journey, bridge }) => {
    for (const wire of Object.values(service.rpc)) wire.reset()
    expectError(await journey.ask(ALICE, AMOUNT, { srcChainId }), 'unsupported_source_chain', fields)
    expect(countRequests(service, bridge, journey.vault)).toEqual({ base: 0, arbitrum: 0, bridge: 0 })
  })

  test.for([
    { token: 'another asset that the bridge takes', srcToken: '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1' },
    { token: "the vault's own asset at its address there", srcToken: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
    { token: 'USDC.e, the old one', srcToken: '0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8' },
    { token: 'the native coin', srcToken: '0x0000000000000000000000000000000000000000' },
    { token: 'a token that nobody knows', srcToken: '0x00000000000000000000000000000000000000A1' },
  ])('$token is no source token', async ({ srcToken }, { service, journey, bridge }) => {
    for (const wire of Object.values(service.rpc)) wire.reset()
    expectError(await journey.ask(ALICE, AMOUNT, { srcToken }), 'unsupported_source_token')
    expect(countRequests(service, bridge, journey.vault)).toEqual({ base: 0, arbitrum: 0, bridge: 0 })
  })

  test('The source token may be written in lower or in upper case', async ({ journey }) => {
    const { address } = journey.token
    const upper = `0x${address.slice(2).toUpperCase()}`
    const replies = [
      await journey.ask(ALICE, AMOUNT),
      await journey.ask(ALICE, AMOUNT, { srcToken: address.toLowerCase() }),
      await journey.ask(ALICE, AMOUNT, { srcToken: upper }),
    ]
    for (const { body } of replies) expect(body).toEqual(replies[0]?.body)
    expectDeposit(replies[0] as HttpReply)
  })
})

describe('a vault without deposits from another chain', () => {
  test('A vault whose asset the bridge does not support has no deposits from another chain', async ({
    service,
    journey,
    bridge,
  }) => {
    const [chain] = service.backends.chains as [Service['backends']['chains'][number]]
    const asset = await deployToken(chain, { name: 'Local dollar', symbol: 'USDC', decimals: 6 })
    const address = await deployYieldVault(chain, { asset, name: 'Savings', symbol: 'S' })
    const key = await service.createClient([{ chainId: 8453, address }])
    for (const wire of Object.values(service.rpc)) wire.reset()
    const body = { vaultAddress: address, amount: `${AMOUNT}`, userAddress: ALICE.address }
    const source = { srcChainId: journey.source.chainId, srcToken: journey.token.address }
    const path = '/defi-vaults/v1/defi/vault/deposit'
    expectError(await service.call('POST', path, { key, body: { ...body, ...source } }), 'cross_chain_not_available')
    expect(countRequests(service, bridge, { address })).toEqual({ base: 0, arbitrum: 0, bridge: 0 })
    expect((await service.call('POST', path, { key, body })).status).toBe(200)
  })

  test('A vault on Gnosis has no deposits from another chain', async ({ service, journey, bridge }) => {
    const { clients } = service.backends.admin
    const client = someClient()
    const { text: key, key: record } = someKey(client.clientId)
    const vault = someVault({ chainId: 100, asset: '0xDDAfbb505ad214D7b80b1f830fcCc89B60fb7A83' })
    await clients.create(client)
    await clients.putKey(client.clientId, record)
    await clients.putVault(client.clientId, vault)
    const reply = await service.call('POST', '/defi-vaults/v1/defi/vault/deposit', {
      key,
      body: {
        vaultAddress: vault.address,
        amount: `${AMOUNT}`,
        userAddress: ALICE.address,
        srcChainId: journey.source.chainId,
        srcToken: journey.token.address,
      },
    })
    expectError(reply, 'cross_chain_not_available')
    expect(bridge.quotesFor(vault)).toEqual([])
  })
})

describe('the limits of the bridge', () => {
  test("An amount below the bridge's limit is too low, and one at it is not", async ({ journey, bridge }) => {
    const withLimit = (minDeposit: bigint) =>
      bridge.changeQuote((offer) => ({
        ...offer,
        limits: { ...(offer['limits'] as object), minDeposit: `${minDeposit}` },
      }))
    withLimit(AMOUNT + 1n)
    const low = await journey.ask(ALICE, AMOUNT)
    expectError(low, 'amount_too_low_for_bridge', ['amount'])
    expect(parseAmountLimits(low).atLeast).toBe(AMOUNT + 1n)
    withLimit(AMOUNT)
    expectDeposit(await journey.ask(ALICE, AMOUNT))
  })

  test("An amount above the bridge's limit is too high, and one at it is not", async ({ journey, bridge }) => {
    const withLimit = (maxDeposit: bigint) =>
      bridge.changeQuote((offer) => ({
        ...offer,
        limits: { ...(offer['limits'] as object), maxDeposit: `${maxDeposit}` },
      }))
    withLimit(AMOUNT - 1n)
    const high = await journey.ask(ALICE, AMOUNT)
    expectError(high, 'amount_too_high_for_bridge', ['amount'])
    expect(parseAmountLimits(high).atMost).toBe(AMOUNT - 1n)
    withLimit(AMOUNT)
    expectDeposit(await journey.ask(ALICE, AMOUNT))
  })
})

describe('a vault that takes no deposit now', () => {
  async function expectRoom(journey: Journey, amount: bigint, room: bigint): Promise<void> {
    const reply = await journey.ask(ALICE, amount)
    expectError(reply, 'vault_cap_reached', ['amount'])
    expect(parseAmountLimits(reply).atMost).toBe(room)
    expectDeposit(await journey.ask(ALICE, room))
  }

  test("A vault with less room than the bridge's minimum names no amount that works", async ({ service }) => {
    const vault = await openYieldVault(service)
    await vault.act(ROLES.admin, 'setDepositCap', 400_000n)
    expectError(await createDepositJourney(vault, service).ask(ALICE, AMOUNT), 'vault_cap_reached')
  })

  test("A Lagoon vault refuses while the user's earlier request is not settled", async ({ service }) => {
    const vault = await openLagoonVault(service, { generation: '0.6' })
    const journey = createDepositJourney(vault, service)
    await vault.request(ALICE.address, 1_000_000n)
    expectDeposit(await journey.ask(ALICE, AMOUNT))
    await vault.act(ROLES.valuationManager, 'updateNewTotalAssets', 0n)
    expectError(await journey.ask(ALICE, AMOUNT), 'previous_deposit_request_not_settled')
    // Alice's own request blocks her deposit. Bob can deposit, although the same handler contract would deposit for
    // both users.
    expectDeposit(await journey.ask(BOB, AMOUNT))
    await vault.settle()
    expectDeposit(await journey.ask(ALICE, AMOUNT))
  })

  test('The arriving amount may fill the cap of a Lagoon 0.6 vault, and not exceed it', async ({ service }) => {
    const vault = await openLagoonVault(service, { generation: '0.6' })
    const journey = createDepositJourney(vault, service)
    await vault.request(BOB.address, 2_000_000n)
    await vault.settle()
    await vault.request(BOB.address, 3_000_000n)
    const output = BigInt((await journey.ask(ALICE, AMOUNT)).body.quote.outputAmount)
    expect(output).toBeLessThan(AMOUNT)

    await vault.act(ROLES.safe, 'updateMaxCap', 5_000_000n + output - 1n)
    await expectRoom(journey, AMOUNT, output - 1n)
    await vault.act(ROLES.safe, 'updateMaxCap', 5_000_000n + output)
    const reply = await journey.ask(ALICE, AMOUNT)
    expectDeposit(reply)
    await journey.fill(await journey.send(ALICE, reply))
    expect(await vault.read('pendingDepositRequest', 0n, ALICE.address)).toBe(output)
    expectError(await journey.ask(ALICE, AMOUNT), 'vault_cap_reached')
  })

  test("The vault's own refusal is returned even while the bridge's API is down", async ({ service, bridge }) => {
    const vault = await openYieldVault(service)
    await vault.act(ROLES.admin, 'pause')
    bridge.answer = () => 'hang up'
    expectError(await createDepositJourney(vault, service).ask(ALICE, AMOUNT), 'vault_is_paused')
  })
})

describe('who may deposit', () => {
  test('A vault with a whitelist refuses users not on it, and all users while the handler is not on it', async ({
    service,
  }) => {
    const vault = await openLagoonVault(service, { generation: '0.6', whitelisted: true })
    const journey = createDepositJourney(vault, service)
    expectError(await journey.ask(ALICE, AMOUNT), 'depositor_not_allowed')
    await vault.act(ROLES.admin, 'addToWhitelist', [HANDLER])
    expectError(await journey.ask(ALICE, AMOUNT), 'depositor_not_allowed')
    await vault.act(ROLES.admin, 'revokeFromWhitelist', [HANDLER])
    await vault.act(ROLES.admin, 'addToWhitelist', [ALICE.address])
    expectError(await journey.ask(ALICE, AMOUNT), 'cross_chain_not_available')

    await vault.act(ROLES.admin, 'addToWhitelist', [HANDLER])
    const reply = await journey.ask(ALICE, AMOUNT)
    expectDeposit(reply)
    await journey.fill(await journey.send(ALICE, reply))
    expect(`${await vault.read('pendingDepositRequest', 0n, ALICE.address)}`).toBe(reply.body.quote.outputAmount)
  })

  describe('a user with code', () => {
    const CONTRACT = '0x60006000fd'
    const someUser = (): LocalAccount => {
      const privateKey = generatePrivateKey()
      return { address: privateKeyToAccount(privateKey).address, privateKey }
    }
    const setCode = async (service: Service, chainId: number, address: Address, code: Hex) => {
      const chain = service.backends.chains.find((candidate) => candidate.chainId === chainId)
      if (chain) await callRpc(chain, [{ method: 'anvil_setCode', params: [address, code] }])
    }

    test('A smart account that does not exist on the destination is refused', async ({ service, journey }) => {
      const user = someUser()
      await journey.mint(user.address, AMOUNT)
      expectDeposit(await journey.ask(user, AMOUNT))
      await setCode(service, 42161, user.address, CONTRACT)
      expectError(await journey.ask(user, AMOUNT), 'cross_chain_not_available')
      await setCode(service, 8453, user.address, CONTRACT)
      expectDeposit(await journey.ask(user, AMOUNT))
      // The address is now a contract only on the destination chain, where the shares arrive. The service allows the
      // deposit.
      await setCode(service, 42161, user.address, '0x')
      expectDeposit(await journey.ask(user, AMOUNT))
    })

    test('An account that delegates to a contract by EIP-7702 counts as an ordinary account', async ({ service }) => {
      const vault = await openYieldVault(service)
      const journey = createDepositJourney(vault, service)
      const user = someUser()
      await journey.mint(user.address, AMOUNT)
      await setCode(service, 42161, user.address, `0xef0100${'63c0c19a282a1b52b07dd5a65b58948a07dae32b'}`)
      await callRpc(journey.source, [{ method: 'anvil_setBalance', params: [user.address, '0xde0b6b3a7640000'] }])
      const reply = await journey.ask(user, AMOUNT)
      expectDeposit(reply)
      const receipts = await journey.send(user, reply)
      expectSuccess(receipts)
      await journey.fill(receipts)
      expect(`${await vault.read('balanceOf', user.address)}`).toBe(reply.body.quote.outputAmount)
    })
  })
})

describe('a valuation that is about to end', () => {
  const SHORT = 14n * 60n
  const LONG = 17n * 60n

  test.for(['0.5', '0.6'] as const)(
    'A Lagoon %s vault takes no cross-chain deposit if its valuation may end before the arrival',
    async (generation, { service }) => {
      const vault = await openLagoonVault(service, { generation })
      const journey = createDepositJourney(vault, service)
      await vault.act(ROLES.safe, 'updateTotalAssetsLifespan', SHORT)
      await vault.settle()
      expectError(await journey.ask(ALICE, AMOUNT), 'cross_chain_not_available')
      // A deposit from the vault's own chain is still possible. It needs no bridge, so it arrives before the valuation
      // ends.
      expect((await vault.deposit(ALICE, AMOUNT)).body).toMatchObject({ isAsync: false, isCrossChain: false })

      await vault.act(ROLES.safe, 'updateTotalAssetsLifespan', LONG)
      await vault.settle()
      const reply = await journey.ask(ALICE, AMOUNT)
      expectDeposit(reply)
      expect(reply.body.isAsync).toBe(false)

      await vault.act(ROLES.safe, 'expireTotalAssets')
      const later = await journey.ask(ALICE, AMOUNT)
      expectDeposit(later)
      expect(later.body.isAsync).toBe(true)
    },
  )
})

describe('chains that fail', () => {
  const pauseDeposits = async ({ source, pool }: Journey, pause: boolean) => {
    const data = encodeCall('pauseDeposits', [pause])
    await transact(source, [{ label: 'pauseDeposits', from: ACCOUNTS.relayer.address, to: pool, data }])
  }

  test('The bridge is unavailable while its pool on the source chain is paused', async ({ journey }) => {
    await pauseDeposits(journey, true)
    onTestFinished(() => pauseDeposits(journey, false))
    expectError(await journey.ask(ALICE, AMOUNT), 'cross_chain_not_available')
    await pauseDeposits(journey, false)
    expectDeposit(await journey.ask(ALICE, AMOUNT))
  })

  test('The bridge is unavailable while its pool on the destination makes no fills', async ({ service, journey }) => {
    const { relayer } = service.backends
    const pause = (chainId: number, pause: boolean) => relayer.pause(chainId, 'fills', pause)
    onTestFinished(() => pause(8453, false))
    await pause(8453, true)
    expectError(await journey.ask(ALICE, AMOUNT), 'cross_chain_not_available')
    await pause(8453, false)
    // A pause of fills on the source chain does not matter. Those fills serve only transfers in the opposite direction.
    onTestFinished(() => pause(42161, false))
    await pause(42161, true)
    expectDeposit(await journey.ask(ALICE, AMOUNT))
  })

  test('A pool that does not report its clock is a bad upstream response', async ({ journey }) => {
    await callRpc(journey.source, [{ method: 'anvil_setCode', params: [journey.pool, '0x'] }])
    onTestFinished(() => installPool(journey.source))
    expectError(await journey.ask(ALICE, AMOUNT), 'upstream_bad_answer')
  })

  test.for(
    [42161, 8453].flatMap((chainId) =>
      FAILURE_OF_EACH_CODE.filter(([behaviour]) => behaviour !== 'never answer').map(
        ([behaviour, code]) => [chainId, behaviour, code] as const,
      ),
    ),
  )('When the nodes of chain %i %s there is no calldata', async ([chainId, behaviour, code], { service, journey }) => {
    const wire = service.rpc[chainId]
    if (wire) wire.behaviour = behaviour
    expectError(await journey.ask(ALICE, AMOUNT), code)
  })
})

describe("a bridge's API that lies", () => {
  // Each case has one false value. Unit tests of quotes cover all values.
  const LIES: Readonly<Record<string, (offer: BridgeApiQuote) => unknown>> = {
    "for the destination's pool": (offer) => ({ ...offer, spokePoolAddress: offer['destinationSpokePoolAddress'] }),
    'of one unit more than the input': (offer) => ({ ...offer, outputAmount: `${AMOUNT + 1n}` }),
  }

  test.for(Object.entries(LIES).map(([what, lie]) => ({ what, lie })))(
    'An offer $what ends in an error',
    async ({ lie }, { journey, bridge }) => {
      bridge.changeQuote(lie)
      expectError(await journey.ask(ALICE, AMOUNT), 'upstream_bad_answer')
    },
  )

  // The test recognizes the two quotes by the vault function in their messages. On a busy machine the service may
  // request the second quote before it has the first.
  const USUAL = toFunctionSelector('requestDeposit(uint256,address,address)').slice(2)

  test.for([
    { what: 'the quote for it', isOfBoth: false },
    { what: 'both quotes', isOfBoth: true },
  ])(
    'If a vault does not take the usual operation, a lie in $what is an error',
    async ({ isOfBoth }, { service, bridge }) => {
      const vault = await openLagoonVault(service, { generation: '0.5' })
      await vault.settleForADay()
      bridge.answer = (reply, { url }) =>
        isOfBoth || !url.searchParams.get('message')?.includes(USUAL)
          ? { ...reply, body: { ...(reply.body as BridgeApiQuote), outputAmount: `${AMOUNT + 1n}` } }
          : reply
      expectError(await createDepositJourney(vault, service).ask(ALICE, AMOUNT), 'upstream_bad_answer')
      expect(bridge.quotesFor(vault)).toHaveLength(2)
    },
  )

  test('A failed first quote for an operation that is not sent does not matter', async ({ service, bridge }) => {
    const vault = await openLagoonVault(service, { generation: '0.6' })
    await vault.settleForADay()
    bridge.answer = (reply, { url }) => (url.searchParams.get('message')?.includes(USUAL) ? 'hang up' : reply)
    expectDeposit(await createDepositJourney(vault, service).ask(ALICE, AMOUNT))
  })
})

describe('an offer with a future time', () => {
  const MINUTE = 60
  test("An offer up to a minute ahead of the source chain gets the chain's time", async ({ journey, bridge }) => {
    bridge.changeQuote((offer) => ({ ...offer, timestamp: `${readQuoteTime(offer) + 50}` }))
    const reply = await journey.ask(ALICE, AMOUNT)
    expectDeposit(reply)
    const { quoteTimestamp } = decodeBridgeDeposit(reply.body.operations[0].data)
    expect(quoteTimestamp).toBe(readQuoteTime(bridge.quoteBehind(reply).offer))
    expect(reply.body.quote.expiresAt).toBe(new Date((quoteTimestamp + 60 * MINUTE) * 1000).toISOString())
    // The pool refuses a quote time in the future. The transfer contains the chain's time, so the pool accepts it
    // although the offer's time is still in the future.
    expectSuccess(await journey.send(ALICE, reply))
  })
})

describe("a bridge's API that fails", () => {
  test.for<[string, NonNullable<SimulatedBridgeApi['answer']>, ErrorCode]>([
    ['a failure', () => ({ status: 502, body: { message: 'hunter2' } }), 'upstream_unavailable'],
    ['nothing', () => new Promise(() => {}), 'upstream_timeout'],
  ])('An API that returns %s causes an upstream error', async ([, answer, code], { journey, bridge }) => {
    bridge.answer = answer
    expectError(await journey.ask(ALICE, AMOUNT), code)
  })

  test('An API with a retry-after gets no request before it, and the caller gets a retry-after', async ({
    coldService: service,
    bridge,
  }) => {
    onTestFinished(async () => {
      // The test deletes the stored pause of requests to the bridge, because other tests would have to wait for its
      // end.
      await service.tables.cache.delete({ pk: 'pause#Across', sk: 'ANSWER' })
    })
    const vault = await openYieldVault(service)
    bridge.answer = () => ({ status: 429, body: 'slow down', headers: { 'retry-after': '17' } })
    const reply = await createDepositJourney(vault, service).ask(ALICE, AMOUNT)
    expectError(reply, 'upstream_unavailable')
    expect(reply.headers.get('retry-after')).toBe('17')
    bridge.answer = undefined
    expectError(await createDepositJourney(vault, service).ask(BOB, AMOUNT), 'upstream_unavailable')
    expect(bridge.quotesFor(vault)).toHaveLength(1)
  })
})

describe('quotes are metered', () => {
  function expectRefusal(reply: HttpReply, field: 'address' | 'x-join-key', share = 'quotes of deposits'): void {
    expectError(reply, 'too_many_requests', [field])
    expect(reply.body.details).toEqual([{ field, issue: expect.stringContaining(share) }])
    const seconds = Number(reply.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(3600)
  }

  test('A flood from one address does not block others', async ({ ask }) => {
    const flood = await Promise.all(Array.from({ length: 40 }, (_, amount) => ask.toDeposit('203.0.113.1', amount)))
    const refused = flood.filter(({ status }) => status !== 200)
    expect(flood.length - refused.length).toBe(3)
    for (const reply of refused) expectRefusal(reply, 'address')
    expect(ask.quotes()).toBe(3)
    // The limit is for the network address of the caller. Alice can use another address, and Bob cannot use this one.
    expectDeposit(await ask.toDeposit('203.0.113.2', 1000))
    expectRefusal(await ask.toDeposit('203.0.113.1', 1001, BOB), 'address')
    expect((await ask.toWithdraw('203.0.113.1', 1)).status).toBe(200)

    // Four deposits got a quote, and refused requests use none. The key therefore has 16 of its 20 quotes left.
    for (let amount = 0; amount < 16; amount += 1)
      expectDeposit(await ask.toDeposit(`198.51.100.${amount}`, 100 + amount))
    expectRefusal(await ask.toDeposit('192.0.2.1', 2000), 'x-join-key')
    // Quotes for withdrawals and claims are counted separately from quotes for deposits, so these requests succeed.
    for (const amount of [2, 3, 4]) expect((await ask.toWithdraw('198.51.100.1', amount)).status).toBe(200)
    expectRefusal(await ask.toWithdraw('198.51.100.1', 5), 'address', 'quotes of withdrawals and claims')
    for (let amount = 6; amount < 12; amount += 1) {
      expect((await ask.toWithdraw(`198.51.100.${amount}`, amount)).status).toBe(200)
    }
    expectRefusal(await ask.toWithdraw('192.0.2.1', 12), 'x-join-key', 'quotes of withdrawals and claims')
  })

  test('The same request within five seconds costs nothing', async ({ ask, service }) => {
    const same = await Promise.all(Array.from({ length: 5 }, () => ask.toDeposit('203.0.113.1', 1)))
    same.push(await ask.toDeposit('203.0.113.1', 1))
    for (const reply of same) expectDeposit(reply)
    expect(ask.quotes()).toBe(1)
    service.pass(5)
    for (const amount of [1, 2]) expectDeposit(await ask.toDeposit('203.0.113.1', amount))
    expect(ask.quotes()).toBe(3)
    expectRefusal(await ask.toDeposit('203.0.113.1', 3), 'address')
  })

  test('A quote beyond the limit of one network is fetched for another', async ({ ask }) => {
    for (const amount of [1, 2, 3]) expectDeposit(await ask.toDeposit('203.0.113.1', amount))
    const [refused, accepted] = await Promise.all([ask.toDeposit('203.0.113.1', 4), ask.toDeposit('203.0.113.2', 4)])
    expectRefusal(refused, 'address')
    expectDeposit(accepted)
  })

  test('The /64 of an IPv6 address is one network', async ({ ask }) => {
    for (const host of [1, 2, 3]) expectDeposit(await ask.toDeposit(`2001:db8:1:2::${host}`, host))
    expectRefusal(await ask.toDeposit('2001:db8:1:2:3::1', 4), 'address')
    expectDeposit(await ask.toDeposit('2001:db8:1:3::1', 4))
  })
})

describe("unknown fields of the bridge's API", () => {
  const EVIL = '0x00000000000000000000000000000000000000e1'
  const EXTRAS: Readonly<Record<string, unknown>> = {
    calldata: '0xdeadbeef',
    data: '0xdeadbeef',
    to: EVIL,
    value: '1',
    message: '0xdeadbeef',
    recipient: EVIL,
    depositor: EVIL,
    refundAddress: EVIL,
    fallbackRecipient: EVIL,
    multicallHandlerAddress: EVIL,
    exclusivityParameter: 600,
    inputAmount: '1',
    destinationChainId: 1,
    destinationSpokePoolAddress: EVIL,
    swapTx: { to: EVIL, data: '0xdeadbeef', value: '1' },
    approvalTxns: [{ to: EVIL, data: '0xdeadbeef' }],
    steps: [{ bridge: { provider: 'evil' } }],
    constructor: EVIL,
  }

  test('Unknown fields change nothing', async ({ journey, bridge }) => {
    const { body: plain } = await journey.ask(ALICE, AMOUNT)
    bridge.changeQuote((offer) => ({ ...offer, ...EXTRAS }))
    const reply = await journey.ask(ALICE, AMOUNT)
    expectDeposit(reply)
    expect(reply.body).toEqual(plain)
  })

  test('A response with a __proto__ field pollutes no prototype', async ({ journey, bridge }) => {
    bridge.answer = (reply) => ({
      ...reply,
      body: JSON.stringify(reply.body).replace('{', '{"__proto__":{"apiKey":"x","integratorId":"0xffff"},'),
    })
    const reply = await journey.ask(ALICE, AMOUNT)
    expectDeposit(reply)
    expect(reply.body.operations[0].data).not.toMatch(/ffff$/)
  })
})

describe('requests to the bridge', () => {
  test('The bridge quotes exactly this deposit', async ({ journey, bridge }) => {
    await journey.ask(ALICE, AMOUNT)
    const [quoted] = bridge.quotesFor(journey.vault)
    expect(quoted?.request).toMatchObject({ method: 'GET', body: '' })
    expect(Object.fromEntries(quoted?.request.url.searchParams ?? [])).toEqual({
      inputToken: journey.token.address,
      outputToken: journey.vault.token,
      originChainId: '42161',
      destinationChainId: '8453',
      amount: `${AMOUNT}`,
      recipient: HANDLER,
      message: expect.stringMatching(/^0x[0-9a-f]{64,}$/),
      allowUnmatchedDecimals: 'true',
      skipAmountLimit: 'true',
    })
  })

  test('Our key is sent as a bearer token', async ({ configured: { service, bridge } }) => {
    const journey = createDepositJourney(await openYieldVault(service), service)
    const reply = await journey.ask(ALICE, AMOUNT)
    expectDeposit(reply)
    expect(bridge.quoteBehind(reply).request.headers.authorization).toBe(`Bearer ${API_KEY}`)
  })

  test('Our key is in no response and no log, whatever the bridge does', async ({
    configured: { service, bridge },
  }) => {
    const { text, lines } = captureLogs()
    const journey = createDepositJourney(await openYieldVault(service), service)
    const replies: HttpReply[] = []
    const answers: SimulatedBridgeApi['answer'][] = [
      undefined,
      () => 'hang up',
      () => ({ status: 401, body: { message: `${API_KEY} is unknown` } }),
      () => ({ status: 500, body: `Bearer ${API_KEY}` }),
      () => ({ status: 400, body: { code: 'AMOUNT_TOO_LOW', message: API_KEY } }),
      () => ({ status: 400, body: { code: API_KEY } }),
      () => ({ status: 200, body: API_KEY }),
      (reply) => ({ ...reply, body: { ...(reply.body as BridgeApiQuote), outputAmount: API_KEY, [API_KEY]: API_KEY } }),
      (reply) => ({ ...reply, body: { ...(reply.body as BridgeApiQuote), extra: API_KEY } }),
    ]
    for (const answer of answers) {
      bridge.answer = answer
      replies.push(await journey.ask(ALICE, AMOUNT))
    }
    expect(replies.map(({ status }) => status)).toEqual([200, 503, 502, 503, 400, 502, 502, 502, 200])
    expect(JSON.stringify(replies.map(({ headers, body }) => [[...headers], body]))).not.toContain('hunter2')
    expect(lines.length).toBeGreaterThanOrEqual(answers.length)
    expect(text()).not.toContain('hunter2')
    expect(text()).not.toMatch(/https?:/)
  })

  test('Our integrator id follows the calldata, and the deposit still arrives', async ({
    configured: { service, bridge },
  }) => {
    bridge.answer = undefined
    const vault = await openLagoonVault(service, { generation: '0.6', asset: 'USDT' })
    const journey = createDepositJourney(vault, service)
    const reply = await journey.ask(ALICE, AMOUNT)
    expect(reply.body.operations[0].data).toMatch(new RegExp(`1dc0de${INTEGRATOR.slice(2)}$`))
    const receipts = await journey.send(ALICE, reply)
    expectSuccess(receipts)
    expectFairGas(reply, receipts)
    await journey.fill(receipts)
    expect(`${await vault.read('pendingDepositRequest', 0n, ALICE.address)}`).toBe(reply.body.quote.outputAmount)
  })
})
