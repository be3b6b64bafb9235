import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Address, encodeFunctionData, type Hex, parseAbi, toFunctionSelector, zeroAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, onTestFinished } from 'vitest'
import type { ErrorCode } from '../../../lib/errors.ts'
import { ACCOUNTS, type LocalAccount } from '../../../sandbox/accounts.ts'
import { installPool } from '../../../sandbox/bridge.ts'
import { deployToken, deployYieldVault } from '../../../sandbox/deploy.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { transact } from '../../../sandbox/transactions.ts'
import { someClient, someKey, someVault } from '../../support/clients.ts'
import {
  type Bridge,
  test as crossChainTest,
  HANDLER,
  type Journey,
  journeyTo,
  type Offer,
  readPoolCall,
  startConfigured,
} from '../../support/cross-chain.ts'
import { expectError } from '../../support/errors.ts'
import { captureLogs } from '../../support/logs.ts'
import { type HttpReply, type Service, USERS } from '../../support/service.ts'
import { expectFairGas, expectSuccess, openLagoonVault, openYieldVault, ROLES } from '../../support/vaults.ts'

const [ALICE, BOB] = USERS
const AMOUNT = 50_000_000n
const API_KEY = 'across-key-hunter2'
const INTEGRATOR = '0x00c4'
/** How old the offers of the bridge's API are, in seconds. */
const OFFER_AGE = 300
/** When the API made an offer, in seconds since 1970 by the source chain's clock. */
const madeAt = (offer: Offer) => Number(offer.timestamp) + OFFER_AGE

const GENERATIONS = (['0.4', '0.5', '0.6'] as const).map((generation) => ({ generation }))
const WITH_SYNC = GENERATIONS.slice(1)

/** The way of USDC from Arbitrum into a synchronous vault on Base, for whatever the vault does not matter. */
const test = crossChainTest
  .extend('sharedVault', { scope: 'file' }, ({ sharedService }) => openYieldVault(sharedService))
  .extend('journey', ({ service, sharedVault }) => journeyTo(sharedVault, service))
  .extend('sharedKnown', { scope: 'file' }, async ({ sharedService }, { onCleanup }) => {
    const { stop, ...known } = await startConfigured(sharedService, {
      bridge: { apiKey: API_KEY, integratorId: INTEGRATOR },
    })
    onCleanup(stop)
    return known
  })
  /** The service that the bridge knows by a key and an id. */
  .extend('known', ({ service: _, sharedKnown }) => {
    sharedKnown.bridge.answer = undefined
    return sharedKnown
  })
  /** Starts the service with another server as the bridge's API, one that is down unless it is told what to answer. */
  .extend('startWithApi', ({ service }, { onCleanup }) => {
    const stops: (() => Promise<unknown>)[] = []
    onCleanup(async () => {
      for (const stop of stops) await stop()
    })
    return async (answer?: RequestListener) => {
      const server = createServer(answer)
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as AddressInfo
      const close = async () => {
        const closed = new Promise((resolve) => server.close(resolve))
        server.closeAllConnections()
        await closed
      }
      if (answer) stops.push(close)
      else await close()
      const configured = await startConfigured(service, { bridge: { url: `http://127.0.0.1:${port}/api` } })
      stops.push(configured.stop)
      return configured.service
    }
  })

function expectDeposit(reply: HttpReply): void {
  expect(reply).toMatchObject({ status: 200, body: { isCrossChain: true, simulation: { status: 'success' } } })
}

/** What was asked of the chains and the bridge. */
const askedOf = ({ rpc }: Service, bridge: Bridge, vault: { readonly address: Address }) => ({
  base: rpc[8453]?.bodies.length,
  arbitrum: rpc[42161]?.bodies.length,
  bridge: bridge.quotesFor(vault).length,
})

describe('a source that cannot be', () => {
  test.for([
    { chain: 'Gnosis, where the bridge does not go', srcChainId: 100, fields: undefined },
    { chain: 'Solana', srcChainId: 1151111081099710, fields: ['srcChainId'] },
    { chain: 'a chain that nobody knows', srcChainId: 2, fields: ['srcChainId'] },
  ])('$chain is no source chain', async ({ srcChainId, fields }, { service, journey, bridge }) => {
    for (const wire of Object.values(service.rpc)) wire.reset()
    expectError(await journey.ask(ALICE, AMOUNT, { srcChainId }), 'unsupported_source_chain', fields)
    expect(askedOf(service, bridge, journey.vault)).toEqual({ base: 0, arbitrum: 0, bridge: 0 })
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
    expect(askedOf(service, bridge, journey.vault)).toEqual({ base: 0, arbitrum: 0, bridge: 0 })
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

describe('a vault that cannot be reached', () => {
  test('A vault whose asset the bridge does not take has no deposits from another chain', async ({
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
    expect(askedOf(service, bridge, { address })).toEqual({ base: 0, arbitrum: 0, bridge: 0 })
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

  test('A route that the bridge does not offer is none', async ({ journey, bridge }) => {
    bridge.answer = () => ({ status: 400, body: { type: 'AcrossApiError', code: 'ROUTE_NOT_ENABLED' } })
    expectError(await journey.ask(ALICE, AMOUNT), 'cross_chain_not_available')
  })
})

describe('an amount that the bridge does not take', () => {
  test('An amount that the bridge calls too low is too low', async ({ journey }) => {
    expectError(await journey.ask(ALICE, 1n), 'amount_too_low_for_bridge')
  })

  test('An amount of which the bridge says so in its offer is too low', async ({ journey, bridge }) => {
    bridge.lie((offer) => ({ ...offer, isAmountTooLow: true }))
    expectError(await journey.ask(ALICE, AMOUNT), 'amount_too_low_for_bridge')
  })

  test("An amount below the bridge's limit is too low, and one at it is not", async ({ journey, bridge }) => {
    const withLimit = (minDeposit: bigint) =>
      bridge.lie((offer) => ({ ...offer, limits: { ...(offer['limits'] as object), minDeposit: `${minDeposit}` } }))
    withLimit(AMOUNT + 1n)
    expectError(await journey.ask(ALICE, AMOUNT), 'amount_too_low_for_bridge')
    withLimit(AMOUNT)
    expectDeposit(await journey.ask(ALICE, AMOUNT))
  })

  test('An amount of which the bridge takes more than a tenth is too low', async ({ journey }) => {
    // The API's own least amount is that of which it takes a quarter.
    expectError(await journey.ask(ALICE, 500_000n), 'amount_too_low_for_bridge')
    expectError(await journey.ask(ALICE, 1_200_000n), 'amount_too_low_for_bridge')
    expectDeposit(await journey.ask(ALICE, 1_300_000n))
  })

  test('A fee of more than a tenth of ten times the least amount is no matter of the amount', async ({
    journey,
    bridge,
  }) => {
    bridge.lie((offer) => ({ ...offer, outputAmount: '4000000' }))
    expectError(await journey.ask(ALICE, 4_807_689n), 'amount_too_low_for_bridge')
    expectError(await journey.ask(ALICE, 4_807_690n), 'upstream_bad_answer')
  })

  test('An amount that the bridge calls too high is too high', async ({ journey }) => {
    expectError(await journey.ask(ALICE, journey.units('2000000.000001')), 'amount_too_high_for_bridge')
  })

  test("An amount above the bridge's limit is too high, and one at it is not", async ({ journey, bridge }) => {
    const withLimit = (maxDeposit: bigint) =>
      bridge.lie((offer) => ({ ...offer, limits: { ...(offer['limits'] as object), maxDeposit: `${maxDeposit}` } }))
    withLimit(AMOUNT - 1n)
    expectError(await journey.ask(ALICE, AMOUNT), 'amount_too_high_for_bridge')
    withLimit(AMOUNT)
    expectDeposit(await journey.ask(ALICE, AMOUNT))
  })

  test.for([
    { what: 'a billion', amount: 10n ** 15n },
    { what: 'everything that a word holds', amount: 2n ** 256n - 1n },
  ])('An amount of $what, which no relayer has, is too high', async ({ amount }, { journey }) => {
    expectError(await journey.ask(ALICE, amount), 'amount_too_high_for_bridge')
  })
})

describe('a vault that takes no deposit now', () => {
  test('A synchronous vault that is paused refuses', async ({ service }) => {
    const vault = await openYieldVault(service)
    const journey = journeyTo(vault, service)
    await vault.act(ROLES.admin, 'pause')
    expectError(await journey.ask(ALICE, AMOUNT), 'vault_is_paused')
    await vault.act(ROLES.admin, 'unpause')
    expectDeposit(await journey.ask(ALICE, AMOUNT))
  })

  test.for(GENERATIONS)('A Lagoon $generation vault that is paused refuses', async (lagoon, { service }) => {
    const vault = await openLagoonVault(service, lagoon)
    const journey = journeyTo(vault, service)
    await vault.act(ROLES.admin, 'pause')
    expectError(await journey.ask(ALICE, AMOUNT), 'vault_is_paused')
    await vault.act(ROLES.admin, 'unpause')
    expectDeposit(await journey.ask(ALICE, AMOUNT))
  })

  test.for(GENERATIONS)('A Lagoon $generation vault that is closing or closed refuses', async (lagoon, { service }) => {
    const vault = await openLagoonVault(service, lagoon)
    const journey = journeyTo(vault, service)
    expectDeposit(await journey.ask(ALICE, AMOUNT))
    await vault.act(ROLES.valuationManager, 'updateNewTotalAssets', 0n)
    await vault.act(ROLES.admin, 'initiateClosing')
    expectError(await journey.ask(ALICE, AMOUNT), 'vault_is_closed')
    await vault.act(ROLES.safe, 'close', 0n)
    expectError(await journey.ask(ALICE, AMOUNT), 'vault_is_closed')
  })

  test('A synchronous vault that takes nothing refuses', async ({ service }) => {
    const vault = await openYieldVault(service)
    await vault.act(ROLES.admin, 'setDepositCap', 0n)
    expectError(await journeyTo(vault, service).ask(ALICE, AMOUNT), 'deposits_are_not_open')
  })

  test('A Lagoon 0.6 vault whose sync mode takes nothing refuses', async ({ service }) => {
    const vault = await openLagoonVault(service, { generation: '0.6' })
    await vault.settleForADay()
    await vault.act(ROLES.safe, 'setSyncMode', 3)
    expectError(await journeyTo(vault, service).ask(ALICE, AMOUNT), 'deposits_are_not_open')
  })

  test('A Lagoon vault of a version that nobody knows refuses', async ({ service }) => {
    const vault = await openLagoonVault(service, { generation: '0.6' })
    const journey = journeyTo(vault, service)
    expectDeposit(await journey.ask(ALICE, AMOUNT))
    await vault.upgrade('unknown')
    expectError(await journey.ask(ALICE, AMOUNT), 'unsupported_vault_version')
  })

  test.for(GENERATIONS)(
    'A Lagoon $generation vault refuses while an earlier request of the user is not settled',
    async (lagoon, { service }) => {
      const vault = await openLagoonVault(service, lagoon)
      const journey = journeyTo(vault, service)
      await vault.request(ALICE.address, 1_000_000n)
      expectDeposit(await journey.ask(ALICE, AMOUNT))
      await vault.act(ROLES.valuationManager, 'updateNewTotalAssets', 0n)
      expectError(await journey.ask(ALICE, AMOUNT), 'previous_deposit_request_not_settled')
      // It is the user's request that counts, not that of the handler, which has none.
      expectDeposit(await journey.ask(BOB, AMOUNT))
      await vault.settle()
      expectDeposit(await journey.ask(ALICE, AMOUNT))
    },
  )

  test('The cap of a Lagoon 0.6 vault may be filled by what arrives, and not by one unit more', async ({ service }) => {
    const vault = await openLagoonVault(service, { generation: '0.6' })
    const journey = journeyTo(vault, service)
    await vault.request(BOB.address, 2_000_000n)
    await vault.settle()
    await vault.request(BOB.address, 3_000_000n)
    const output = BigInt((await journey.ask(ALICE, AMOUNT)).body.quote.outputAmount)
    expect(output).toBeLessThan(AMOUNT)

    await vault.act(ROLES.safe, 'updateMaxCap', 5_000_000n + output - 1n)
    expectError(await journey.ask(ALICE, AMOUNT), 'vault_cap_reached')
    await vault.act(ROLES.safe, 'updateMaxCap', 5_000_000n + output)
    const reply = await journey.ask(ALICE, AMOUNT)
    expectDeposit(reply)
    await journey.fill(await journey.send(ALICE, reply))
    expect(await vault.read('pendingDepositRequest', 0n, ALICE.address)).toBe(output)
    expectError(await journey.ask(ALICE, AMOUNT), 'vault_cap_reached')
  })

  test('The cap of a synchronous vault may be filled by what arrives, and not by one unit more', async ({
    service,
  }) => {
    const vault = await openYieldVault(service)
    const journey = journeyTo(vault, service)
    const output = BigInt((await journey.ask(ALICE, AMOUNT)).body.quote.outputAmount)
    await vault.act(ROLES.admin, 'setDepositCap', output - 1n)
    expectError(await journey.ask(ALICE, AMOUNT), 'vault_cap_reached')
    await vault.act(ROLES.admin, 'setDepositCap', output)
    const reply = await journey.ask(ALICE, AMOUNT)
    expectDeposit(reply)
    await journey.fill(await journey.send(ALICE, reply))
    expect(await vault.read('balanceOf', ALICE.address)).toBe(output)
  })

  test("The vault's own refusal is told even while the bridge's API is down", async ({ service, bridge }) => {
    const vault = await openYieldVault(service)
    await vault.act(ROLES.admin, 'pause')
    bridge.answer = () => 'hang up'
    expectError(await journeyTo(vault, service).ask(ALICE, AMOUNT), 'vault_is_paused')
  })
})

describe('who may deposit', () => {
  test.for(GENERATIONS)(
    'A whitelisted Lagoon $generation vault refuses who is not on its list, and all while the handler is not',
    async ({ generation }, { service }) => {
      const vault = await openLagoonVault(service, { generation, whitelisted: true })
      const journey = journeyTo(vault, service)
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
    },
  )

  test('A Lagoon 0.6 vault that has the handler on its blacklist takes no deposits from another chain', async ({
    service,
  }) => {
    const vault = await openLagoonVault(service, { generation: '0.6' })
    await vault.act(ROLES.admin, 'addToBlacklist', [HANDLER])
    expectError(await journeyTo(vault, service).ask(ALICE, AMOUNT), 'cross_chain_not_available')
    expect((await vault.deposit(ALICE, AMOUNT)).status).toBe(200)
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

    test('A smart account that does not exist on the destination could not use what it gets there', async ({
      service,
      journey,
    }) => {
      const user = someUser()
      await journey.mint(user.address, AMOUNT)
      expectDeposit(await journey.ask(user, AMOUNT))
      await setCode(service, 42161, user.address, CONTRACT)
      expectError(await journey.ask(user, AMOUNT), 'cross_chain_not_available')
      await setCode(service, 8453, user.address, CONTRACT)
      expectDeposit(await journey.ask(user, AMOUNT))
    })

    test('An account that is a contract on the destination alone may deposit', async ({ service, journey }) => {
      const user = someUser()
      await journey.mint(user.address, AMOUNT)
      await setCode(service, 8453, user.address, CONTRACT)
      expectDeposit(await journey.ask(user, AMOUNT))
    })

    test('An account that delegates to a contract by EIP-7702 is an ordinary one', async ({ service }) => {
      const vault = await openYieldVault(service)
      const journey = journeyTo(vault, service)
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

  test.for(WITH_SYNC)(
    'A Lagoon $generation vault has no deposits from another chain while its valuation ends before they may arrive',
    async (lagoon, { service }) => {
      const vault = await openLagoonVault(service, lagoon)
      const journey = journeyTo(vault, service)
      await vault.act(ROLES.safe, 'updateTotalAssetsLifespan', SHORT)
      await vault.settle()
      expectError(await journey.ask(ALICE, AMOUNT), 'cross_chain_not_available')
      // On its own chain there is time enough.
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
  const POOL = parseAbi(['function pauseDeposits(bool pause)'])
  const pauseDeposits = async ({ source, pool }: Journey, pause: boolean) => {
    const data = encodeFunctionData({ abi: POOL, args: [pause] })
    await transact(source, [{ label: 'pauseDeposits', from: ACCOUNTS.relayer.address, to: pool, data }])
  }

  test('While its pool on the source chain is paused the bridge takes nothing', async ({ journey }) => {
    await pauseDeposits(journey, true)
    onTestFinished(() => pauseDeposits(journey, false))
    expectError(await journey.ask(ALICE, AMOUNT), 'cross_chain_not_available')
    await pauseDeposits(journey, false)
    expectDeposit(await journey.ask(ALICE, AMOUNT))
  })

  test('While its pool on the destination makes no fills the bridge takes nothing', async ({ service, journey }) => {
    const { relayer } = service.backends
    const pause = (chainId: number, pause: boolean) => relayer.pause(chainId, 'fills', pause)
    onTestFinished(() => pause(8453, false))
    await pause(8453, true)
    expectError(await journey.ask(ALICE, AMOUNT), 'cross_chain_not_available')
    await pause(8453, false)
    // Those of the source are for the other way.
    onTestFinished(() => pause(42161, false))
    await pause(42161, true)
    expectDeposit(await journey.ask(ALICE, AMOUNT))
  })

  test('A pool that does not tell its clock is a bad answer', async ({ journey }) => {
    await callRpc(journey.source, [{ method: 'anvil_setCode', params: [journey.pool, '0x'] }])
    onTestFinished(() => installPool(journey.source))
    expectError(await journey.ask(ALICE, AMOUNT), 'upstream_bad_answer')
  })

  const failures = [
    { behaviour: 'refuse connections', code: 'upstream_unavailable' },
    { behaviour: 'answer 500', code: 'upstream_unavailable' },
    { behaviour: 'answer nonsense', code: 'upstream_bad_answer' },
    { behaviour: 'answer results of the wrong type', code: 'upstream_bad_answer' },
    { behaviour: 'answer nonsense hex', code: 'upstream_bad_answer' },
  ] as const
  const cases = [
    { chain: 'source', chainId: 42161 },
    { chain: 'destination', chainId: 8453 },
  ].flatMap((place) => failures.map((failure) => ({ ...place, ...failure })))

  test.for(cases)(
    'When the nodes of the $chain chain $behaviour there is no calldata',
    async ({ chainId, behaviour, code }, { service, journey }) => {
      const wire = service.rpc[chainId]
      if (wire) wire.behaviour = behaviour
      expectError(await journey.ask(ALICE, AMOUNT), code)
    },
  )
})

describe("a bridge's API that lies", () => {
  const STRANGER = '0x00000000000000000000000000000000000000A1'
  const BASE_USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
  const ARBITRUM_USDT = '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9'
  const at = (offer: Offer, field: 'timestamp' | 'fillDeadline', seconds: number) => ({
    ...offer,
    [field]: `${madeAt(offer) + seconds}`,
  })
  const MINUTE = 60
  const HOUR = 60 * MINUTE

  const LIES: Readonly<Record<string, (offer: Offer) => unknown>> = {
    'for a stranger as the pool': (offer) => ({ ...offer, spokePoolAddress: STRANGER }),
    "for the destination's pool": (offer) => ({ ...offer, spokePoolAddress: offer['destinationSpokePoolAddress'] }),
    'for a pool that is no address': (offer) => ({ ...offer, spokePoolAddress: 'pool' }),
    'for a pool with a wrong checksum': (offer) => ({
      ...offer,
      spokePoolAddress: `${offer['spokePoolAddress']}`.replace(/[a-f]/, (letter) => letter.toUpperCase()),
    }),
    'of another input token': (offer) => ({ ...offer, inputToken: { address: ARBITRUM_USDT } }),
    "of the destination's token as input": (offer) => ({ ...offer, inputToken: { address: BASE_USDC } }),
    'of another output token': (offer) => ({ ...offer, outputToken: { address: STRANGER } }),
    "of the source's token as output": (offer) => ({ ...offer, outputToken: offer['inputToken'] }),

    'of one unit more than the input': (offer) => ({ ...offer, outputAmount: `${AMOUNT + 1n}` }),
    'of far more than the input': (offer) => ({ ...offer, outputAmount: `${2n ** 256n - 1n}` }),
    'of more than a word holds': (offer) => ({ ...offer, outputAmount: `${2n ** 256n + AMOUNT}` }),
    'of nothing': (offer) => ({ ...offer, outputAmount: '0' }),
    'of nothing, in many digits': (offer) => ({ ...offer, outputAmount: '000' }),
    'of a fee of more than a tenth': (offer) => ({ ...offer, outputAmount: `${(AMOUNT * 9n) / 10n - 1n}` }),
    'of a single unit': (offer) => ({ ...offer, outputAmount: '1' }),
    'of a negative output': (offer) => ({ ...offer, outputAmount: `-${offer.outputAmount}` }),
    'of a signed output': (offer) => ({ ...offer, outputAmount: `+${offer.outputAmount}` }),
    'of an output with a fraction': (offer) => ({ ...offer, outputAmount: `${offer.outputAmount}.0` }),
    'of an output with an exponent': (offer) => ({ ...offer, outputAmount: '4999e4' }),
    'of an output in hex': (offer) => ({ ...offer, outputAmount: `0x${BigInt(offer.outputAmount).toString(16)}` }),
    'of an output with spaces': (offer) => ({ ...offer, outputAmount: ` ${offer.outputAmount}` }),
    'of an output with a line break': (offer) => ({ ...offer, outputAmount: `${offer.outputAmount}\n` }),
    'of an output in other digits': (offer) => ({ ...offer, outputAmount: '٤٩٩٩٠٠٠٠' }),
    'of an output that is huge text': (offer) => ({ ...offer, outputAmount: '9'.repeat(100_000) }),
    'of an output that is empty text': (offer) => ({ ...offer, outputAmount: '' }),
    'of an output that is a number with a fraction': (offer) => ({ ...offer, outputAmount: 49_900_000.5 }),
    'of an output that is a negative number': (offer) => ({ ...offer, outputAmount: -49_900_000 }),
    'of an output that no number holds exactly': (offer) => ({ ...offer, outputAmount: 2 ** 60 }),
    'of an output that is true': (offer) => ({ ...offer, outputAmount: true }),
    'of an output in a list': (offer) => ({ ...offer, outputAmount: [offer.outputAmount] }),

    'from more than an hour ago': (offer) => at(offer, 'timestamp', -HOUR - MINUTE),
    'that expires before the user could sign': (offer) => at(offer, 'timestamp', -31 * MINUTE),
    'from the year 1970': (offer) => ({ ...offer, timestamp: '0' }),
    'from the future': (offer) => at(offer, 'timestamp', 2 * MINUTE),
    'in milliseconds': (offer) => ({ ...offer, timestamp: `${offer.timestamp}000` }),
    'of a negative time': (offer) => ({ ...offer, timestamp: `-${offer.timestamp}` }),
    'of a time with a fraction': (offer) => ({ ...offer, timestamp: `${offer.timestamp}.5` }),
    'with a deadline in the past': (offer) => at(offer, 'fillDeadline', -MINUTE),
    'with a deadline of now': (offer) => at(offer, 'fillDeadline', 0),
    'with a deadline in less than half an hour': (offer) => at(offer, 'fillDeadline', 29 * MINUTE),
    'with a deadline that leaves too little to sign in': (offer) => at(offer, 'fillDeadline', 44 * MINUTE),
    'with a deadline beyond what the pool takes': (offer) => at(offer, 'fillDeadline', 6 * HOUR + 2 * MINUTE),
    'with a deadline at the end of time': (offer) => ({ ...offer, fillDeadline: '4294967295' }),
    'with a deadline in milliseconds': (offer) => ({ ...offer, fillDeadline: `${offer.fillDeadline}000` }),
    'with a deadline in hex': (offer) => ({ ...offer, fillDeadline: `0x${Number(offer.fillDeadline).toString(16)}` }),

    'for a relayer that is no address': (offer) => ({ ...offer, exclusiveRelayer: 'relayer' }),
    'for a relayer, for a time in hex': (offer) => ({ ...offer, exclusivityDeadline: '0x3' }),
    'for a relayer, for a time that is negative': (offer) => ({ ...offer, exclusivityDeadline: -3 }),

    'whose time to fill is negative': (offer) => ({ ...offer, estimatedFillTimeSec: -1 }),
    'whose time to fill is text': (offer) => ({ ...offer, estimatedFillTimeSec: 'soon' }),
    'whose limits are negative': (offer) => ({ ...offer, limits: { minDeposit: '-1', maxDeposit: '-1' } }),
    'whose limits are text': (offer) => ({ ...offer, limits: 'none' }),
    'whose flag is text': (offer) => ({ ...offer, isAmountTooLow: 'false' }),
  }

  test.for(Object.entries(LIES).map(([what, lie]) => ({ what, lie })))(
    'An offer $what ends in an error',
    async ({ lie }, { journey, bridge }) => {
      bridge.lie(lie)
      expectError(await journey.ask(ALICE, AMOUNT), 'upstream_bad_answer')
    },
  )

  const FIELDS = [
    'outputAmount',
    'timestamp',
    'fillDeadline',
    'exclusiveRelayer',
    'exclusivityDeadline',
    'estimatedFillTimeSec',
    'isAmountTooLow',
    'spokePoolAddress',
    'inputToken',
    'inputToken.address',
    'outputToken',
    'outputToken.address',
    'limits',
    'limits.minDeposit',
    'limits.maxDeposit',
  ]
  /** The offer with another value, or none, in one of its fields or of theirs. */
  const withField = (offer: Offer, path: string, value: unknown): unknown => {
    const [field, inner] = path.split('.') as [string, string | undefined]
    if (inner === undefined) return { ...offer, [field]: value }
    return { ...offer, [field]: { ...(offer[field] as object), [inner]: value } }
  }
  const holes = FIELDS.flatMap((field) => [
    { field, how: 'missing', value: undefined },
    { field, how: 'null', value: null },
  ])

  test.for(holes)('An offer whose $field is $how ends in an error', async ({ field, value }, { journey, bridge }) => {
    bridge.lie((offer) => withField(offer, field, value))
    expectError(await journey.ask(ALICE, AMOUNT), 'upstream_bad_answer')
  })

  test.for([
    { what: 'the second quote', lies: 2 },
    { what: 'both quotes', lies: 1 },
  ])(
    'Where a vault takes another operation than the usual, a lie in $what ends in an error',
    async ({ lies }, { service, bridge }) => {
      const vault = await openLagoonVault(service, { generation: '0.5' })
      await vault.settleForADay()
      bridge.answer = (reply) =>
        bridge.quotesFor(vault).length < lies
          ? reply
          : { ...reply, body: { ...(reply.body as Offer), outputAmount: `${AMOUNT + 1n}` } }
      expectError(await journeyTo(vault, service).ask(ALICE, AMOUNT), 'upstream_bad_answer')
      expect(bridge.quotesFor(vault)).toHaveLength(2)
    },
  )

  test.for([
    { what: 'that fails', answer: 'hang up' as const },
    { what: 'that is refused', answer: { status: 400, body: { code: 'AMOUNT_TOO_LOW' } } },
    { what: 'that lies', answer: { status: 200, body: {} } },
  ])(
    'A first quote $what, for an operation that is not sent, does not count',
    async ({ answer }, { service, bridge }) => {
      const vault = await openLagoonVault(service, { generation: '0.6' })
      await vault.settleForADay()
      // By what it is for: on a busy machine the second quote may be asked for before the first arrives.
      const usual = toFunctionSelector('requestDeposit(uint256,address,address)').slice(2)
      bridge.answer = (reply, { url }) => (url.searchParams.get('message')?.includes(usual) ? answer : reply)
      expectDeposit(await journeyTo(vault, service).ask(ALICE, AMOUNT))
    },
  )
})

describe('an offer at the edge of what is taken', () => {
  const MINUTE = 60
  const outputs = [
    { what: 'all of the input', outputAmount: AMOUNT },
    { what: 'nine tenths of the input', outputAmount: (AMOUNT * 9n) / 10n },
  ]
  test.for(outputs)('An output of $what is taken', async ({ outputAmount }, { journey, bridge }) => {
    bridge.lie((offer) => ({ ...offer, outputAmount: `${outputAmount}` }))
    const reply = await journey.ask(ALICE, AMOUNT)
    expectDeposit(reply)
    expect(reply.body.quote).toMatchObject({
      outputAmount: `${outputAmount}`,
      feeTotal: `${AMOUNT - outputAmount}`,
    })
  })

  test('A quote that leaves half an hour is taken, and expires when the pool no longer takes it', async ({
    journey,
    bridge,
  }) => {
    bridge.lie((offer) => ({ ...offer, timestamp: `${madeAt(offer) - 29 * MINUTE}` }))
    const reply = await journey.ask(ALICE, AMOUNT)
    expectDeposit(reply)
    const quotedAt = madeAt(bridge.quoteBehind(reply).offer) - 29 * MINUTE
    expect(reply.body.quote.expiresAt).toBe(new Date((quotedAt + 60 * MINUTE) * 1000).toISOString())
    expect(readPoolCall(reply.body.operations[0]).quoteTimestamp).toBe(quotedAt)
  })

  test('A near deadline is taken, and the quote expires a quarter of an hour before it', async ({
    journey,
    bridge,
  }) => {
    bridge.lie((offer) => ({ ...offer, fillDeadline: `${madeAt(offer) + 50 * MINUTE}` }))
    const reply = await journey.ask(ALICE, AMOUNT)
    expectDeposit(reply)
    const deadline = madeAt(bridge.quoteBehind(reply).offer) + 50 * MINUTE
    expect(reply.body.quote.expiresAt).toBe(new Date((deadline - 15 * MINUTE) * 1000).toISOString())
    expect(readPoolCall(reply.body.operations[0]).fillDeadline).toBe(deadline)
  })

  test('A deadline as far as the pool takes it is taken', async ({ journey, bridge }) => {
    bridge.lie((offer) => ({ ...offer, fillDeadline: `${madeAt(offer) + 359 * MINUTE}` }))
    const reply = await journey.ask(ALICE, AMOUNT)
    expectDeposit(reply)
    expectSuccess(await journey.send(ALICE, reply))
  })

  test('An offer whose time is ahead of the source chain by up to a minute is made with the time of the chain', async ({
    journey,
    bridge,
  }) => {
    bridge.lie((offer) => ({ ...offer, timestamp: `${madeAt(offer) + 50}` }))
    const reply = await journey.ask(ALICE, AMOUNT)
    expectDeposit(reply)
    const { quoteTimestamp } = readPoolCall(reply.body.operations[0])
    expect(quoteTimestamp).toBe(madeAt(bridge.quoteBehind(reply).offer))
    expect(reply.body.quote.expiresAt).toBe(new Date((quoteTimestamp + 60 * MINUTE) * 1000).toISOString())
    // Within the minute: the pool takes no quote from the future.
    expectSuccess(await journey.send(ALICE, reply))
  })

  test('Addresses may come in lower case, and times as numbers', async ({ journey, bridge }) => {
    bridge.lie((offer) => ({
      ...offer,
      spokePoolAddress: `${offer['spokePoolAddress']}`.toLowerCase(),
      timestamp: Number(offer.timestamp),
      fillDeadline: Number(offer.fillDeadline),
    }))
    expectDeposit(await journey.ask(ALICE, AMOUNT))
  })
})

describe('the relayer that may fill alone', () => {
  const SOMEBODY = '0x00000000000000000000000000000000000000A1'
  const NOBODY = { exclusiveRelayer: zeroAddress, exclusivity: 0 }
  const YEAR = 31_536_000
  const cases: readonly {
    readonly what: string
    readonly deadline: (now: number) => number
    readonly relayer?: string
    readonly isPassedOn: boolean
  }[] = [
    { what: 'a moment', deadline: () => 1, isPassedOn: true },
    { what: 'five minutes', deadline: () => 300, isPassedOn: true },
    { what: 'more than five minutes', deadline: () => 301, isPassedOn: false },
    { what: 'a year', deadline: () => YEAR, isPassedOn: false },
    { what: 'a moment, told as a time', deadline: (now) => now + 1, isPassedOn: true },
    { what: 'five minutes, told as a time', deadline: (now) => now + 300, isPassedOn: true },
    { what: 'more than five minutes, told as a time', deadline: (now) => now + 302, isPassedOn: false },
    { what: 'ever', deadline: () => 2 ** 32 - 1, isPassedOn: false },
    { what: 'no time', deadline: () => 0, isPassedOn: false },
    { what: 'a moment, if it is nobody,', deadline: () => 1, relayer: zeroAddress, isPassedOn: false },
  ]

  test.for(cases)(
    'A relayer that the bridge names for $what is named in the deposit: $isPassedOn',
    async ({ deadline, relayer = SOMEBODY, isPassedOn }, { journey, bridge }) => {
      const change = (offer: Offer) => ({ exclusiveRelayer: relayer, exclusivityDeadline: deadline(madeAt(offer)) })
      bridge.lie((offer) => ({ ...offer, ...change(offer) }))
      const reply = await journey.ask(ALICE, AMOUNT)
      expectDeposit(reply)
      const { exclusiveRelayer, exclusivityDeadline } = change(bridge.quoteBehind(reply).offer)
      expect(readPoolCall(reply.body.operations[0])).toMatchObject(
        isPassedOn ? { exclusiveRelayer, exclusivity: exclusivityDeadline } : NOBODY,
      )
      expect(reply.body.simulation).toEqual({ status: 'success' })
    },
  )
})

describe("a bridge's API that fails", () => {
  const answers: Readonly<
    Record<string, { answer: { status: number; body: unknown; contentType?: string }; code: ErrorCode }>
  > = {
    null: { answer: { status: 200, body: null }, code: 'upstream_bad_answer' },
    'a list': { answer: { status: 200, body: [] }, code: 'upstream_bad_answer' },
    'an empty object': { answer: { status: 200, body: {} }, code: 'upstream_bad_answer' },
    'a number': { answer: { status: 200, body: 7 }, code: 'upstream_bad_answer' },
    'an error with status 200': {
      answer: { status: 200, body: { type: 'AcrossApiError', code: 'AMOUNT_TOO_LOW' } },
      code: 'upstream_bad_answer',
    },
    'garbage JSON': { answer: { status: 200, body: '{"outputAmount":"1' }, code: 'upstream_bad_answer' },
    HTML: {
      answer: { status: 200, body: '<html>hunter2</html>', contentType: 'text/html' },
      code: 'upstream_bad_answer',
    },
    'an empty body': { answer: { status: 200, body: '' }, code: 'upstream_bad_answer' },
    'status 204': { answer: { status: 204, body: '' }, code: 'upstream_bad_answer' },
    'status 400': { answer: { status: 400, body: '' }, code: 'upstream_bad_answer' },
    'status 401': { answer: { status: 401, body: { message: 'hunter2' } }, code: 'upstream_bad_answer' },
    'status 403': { answer: { status: 403, body: '<html>' }, code: 'upstream_bad_answer' },
    'status 404': { answer: { status: 404, body: 'Not Found' }, code: 'upstream_bad_answer' },
    'status 429': { answer: { status: 429, body: 'slow down' }, code: 'upstream_unavailable' },
    'status 500': { answer: { status: 500, body: '<html>' }, code: 'upstream_unavailable' },
    'status 502': {
      answer: { status: 502, body: { type: 'AcrossApiError', code: 'UPSTREAM_RPC_ERROR', message: 'hunter2' } },
      code: 'upstream_unavailable',
    },
    'status 503': { answer: { status: 503, body: '' }, code: 'upstream_unavailable' },
  }
  test.for(Object.entries(answers).map(([what, { answer, code }]) => ({ what, answer, code })))(
    'An API that answers $what ends in an error',
    async ({ answer, code }, { journey, bridge }) => {
      bridge.answer = () => answer
      expectError(await journey.ask(ALICE, AMOUNT), code)
    },
  )

  test.for(['INVALID_PARAM', 'MISSING_PARAM', 'SIMULATION_ERROR', 'constructor', '__proto__', 'toString', '', 7, null])(
    'A refusal with the code %s, which tells the user nothing, is a bad answer',
    async (code, { journey, bridge }) => {
      bridge.answer = () => ({ status: 400, body: { type: 'AcrossApiError', code, message: 'hunter2' } })
      expectError(await journey.ask(ALICE, AMOUNT), 'upstream_bad_answer')
    },
  )

  test('An API that hangs up ends in an error', async ({ journey, bridge }) => {
    bridge.answer = () => 'hang up'
    expectError(await journey.ask(ALICE, AMOUNT), 'upstream_unavailable')
  })

  test.for([
    { what: 'that hangs up', answer: 'hang up' as const },
    { what: 'that fails', answer: { status: 502, body: '' } },
  ])('An API $what is asked a second time, whose answer counts', async ({ answer }, { service, bridge }) => {
    const vault = await openYieldVault(service)
    bridge.answer = (reply) => (bridge.quotesFor(vault).length === 1 ? answer : reply)
    expectDeposit(await journeyTo(vault, service).ask(ALICE, AMOUNT))
    expect(bridge.quotesFor(vault)).toHaveLength(2)
  })

  test('An API that says when to come back is not asked before, and the caller is told', async ({
    service,
    bridge,
  }) => {
    const vault = await openYieldVault(service)
    bridge.answer = () => ({ status: 429, body: 'slow down', headers: { 'retry-after': '17' } })
    const reply = await journeyTo(vault, service).ask(ALICE, AMOUNT)
    expectError(reply, 'upstream_unavailable')
    expect(reply.headers.get('retry-after')).toBe('17')
    expect(bridge.quotesFor(vault)).toHaveLength(1)
  })

  test('An API that takes more than two seconds is waited for, and asked once', async ({ service, bridge }) => {
    const vault = await openYieldVault(service)
    bridge.answer = async (reply) => {
      await sleep(2_200)
      return reply
    }
    expectDeposit(await journeyTo(vault, service).ask(ALICE, AMOUNT))
    expect(bridge.quotesFor(vault)).toHaveLength(1)
  })

  test('An API that never answers ends in an error', async ({ journey, bridge }) => {
    bridge.answer = () => new Promise(() => {})
    expectError(await journey.ask(ALICE, AMOUNT), 'upstream_timeout')
  })

  describe('on a server of its own', () => {
    const ask = async ({ call, createClient }: Service, journey: Journey) => {
      const place = { chainId: 8453, address: journey.vault.address }
      const { address } = ALICE
      return call('POST', '/defi-vaults/v1/defi/vault/deposit', {
        key: await createClient([place]),
        body: {
          vaultAddress: place.address,
          amount: `${AMOUNT}`,
          userAddress: address,
          srcChainId: journey.source.chainId,
          srcToken: journey.token.address,
        },
      })
    }

    test('An API that refuses connections ends in an error', async ({ startWithApi, journey }) => {
      const service = await startWithApi()
      expectError(await ask(service, journey), 'upstream_unavailable')
    })

    test('An API that begins its answer and never ends it ends in an error', async ({ startWithApi, journey }) => {
      const service = await startWithApi((_, response) => response.writeHead(200).write('{"outputAmount":'))
      expectError(await ask(service, journey), 'upstream_timeout')
    })

    test.for([301, 302, 303, 307, 308])(
      'An API that redirects with status %i to another is not followed, whatever that one offers',
      async (status, { startWithApi, service, journey, bridge }) => {
        const elsewhere = service.backends.providers.url
        const redirected = await startWithApi((request, response) =>
          response.writeHead(status, { location: `${elsewhere}${request.url}` }).end(),
        )
        expectError(await ask(redirected, journey), 'upstream_bad_answer')
        expect(bridge.quotesFor(journey.vault)).toEqual([])
      },
    )
  })
})

describe("what the bridge's API says besides", () => {
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

  test.for(
    [{ what: 'all at once', extras: EXTRAS }].concat(
      Object.entries(EXTRAS).map(([field, value]) => ({ what: `as ${field}`, extras: { [field]: value } })),
    ),
  )('What it says $what changes nothing', async ({ extras }, { journey, bridge }) => {
    const { body: plain } = await journey.ask(ALICE, AMOUNT)
    bridge.lie((offer) => ({ ...offer, ...extras }))
    const reply = await journey.ask(ALICE, AMOUNT)
    expectDeposit(reply)
    expect(reply.body).toEqual(plain)
  })

  test('An answer that poisons prototypes poisons none', async ({ journey, bridge }) => {
    bridge.answer = (reply) => ({
      ...reply,
      body: JSON.stringify(reply.body).replace('{', '{"__proto__":{"apiKey":"x","integratorId":"0xffff"},'),
    })
    const reply = await journey.ask(ALICE, AMOUNT)
    expectDeposit(reply)
    expect(reply.body.operations[0].data).not.toMatch(/ffff$/)
  })
})

describe('what the bridge is told', () => {
  test('The bridge is asked for this very deposit', async ({ journey, bridge }) => {
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
    })
  })

  test("Without a key it is told none, and never the client's", async ({ service, journey, bridge }) => {
    const reply = await journey.ask(ALICE, AMOUNT)
    const { request } = bridge.quoteBehind(reply)
    expect(request.headers.authorization).toBeUndefined()
    expect(JSON.stringify(request.headers)).not.toContain('jk_')
    // Nothing stands behind the call.
    expect(reply.body.operations[0].data).not.toContain('1dc0de')
    expect(service.apiKey).toMatch(/^jk_/)
  })

  test('Our key is told as a bearer token', async ({ known: { service, bridge } }) => {
    const journey = journeyTo(await openYieldVault(service), service)
    const reply = await journey.ask(ALICE, AMOUNT)
    expectDeposit(reply)
    expect(bridge.quoteBehind(reply).request.headers.authorization).toBe(`Bearer ${API_KEY}`)
  })

  test('Our key is in no answer and in no log, whatever the bridge does', async ({ known: { service, bridge } }) => {
    const { text, lines } = captureLogs()
    const journey = journeyTo(await openYieldVault(service), service)
    const replies: HttpReply[] = []
    const answers: Bridge['answer'][] = [
      undefined,
      () => 'hang up',
      () => ({ status: 401, body: { message: `${API_KEY} is unknown` } }),
      () => ({ status: 500, body: `Bearer ${API_KEY}` }),
      () => ({ status: 400, body: { code: 'AMOUNT_TOO_LOW', message: API_KEY } }),
      () => ({ status: 400, body: { code: API_KEY } }),
      () => ({ status: 200, body: API_KEY }),
      (reply) => ({ ...reply, body: { ...(reply.body as Offer), outputAmount: API_KEY, [API_KEY]: API_KEY } }),
      (reply) => ({ ...reply, body: { ...(reply.body as Offer), extra: API_KEY } }),
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

  test('Our integrator id stands behind the calldata, and the deposit arrives all the same', async ({
    known: { service, bridge },
  }) => {
    bridge.answer = undefined
    const vault = await openLagoonVault(service, { generation: '0.6', asset: 'USDT' })
    const journey = journeyTo(vault, service)
    const reply = await journey.ask(ALICE, AMOUNT)
    expect(reply.body.operations[0].data).toMatch(new RegExp(`1dc0de${INTEGRATOR.slice(2)}$`))
    const receipts = await journey.send(ALICE, reply)
    expectSuccess(receipts)
    expectFairGas(reply, receipts)
    await journey.fill(receipts)
    expect(`${await vault.read('pendingDepositRequest', 0n, ALICE.address)}`).toBe(reply.body.quote.outputAmount)
  })
})
