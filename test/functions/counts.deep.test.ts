import type { Address } from 'viem'
import { expect, onTestFinished, vi } from 'vitest'
import { CHAINS } from '../../lib/chain/registry.ts'
import { parseApiKey } from '../../lib/clients/api-key.ts'
import { Scope } from '../../lib/clients/key-limits.ts'
import type { LocalAccount } from '../../sandbox/accounts.ts'
import type { Backends } from '../../sandbox/backends.ts'
import { startDynamo } from '../../sandbox/dynamo.ts'
import { callRpc } from '../../sandbox/rpc.ts'
import type { Counts } from '../../scripts/cost/counts.ts'
import { type Containers, startContainers } from '../support/containers.ts'
import {
  addOneHostCounts,
  compareCounts,
  countJobUsage,
  createCostMeter,
  createYieldMiner,
  MARKET_TOKEN_COUNT,
  measureResponse,
  runAlternately,
} from '../support/costs.ts'
import { type ChainNode, type Meter, startMeter } from '../support/meter.ts'
import { test as base, type Service, USERS } from '../support/service.ts'
import { playWalletStory } from '../support/wallet-story.ts'
import { someWebhookEvent } from '../support/webhooks.ts'

/**
 * Pause between two calls, in seconds. Short-lived cache entries expire meanwhile, so no call uses what another call
 * has just read.
 */
const PAUSE_SECONDS = 3
const HOUR_SECONDS = 3_600
const HOSTS = ['one', 'two']
const [ALICE, BOB, CAROL, DAVE] = USERS

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .override('backendsOptions', { scope: 'file' }, async ({}) => ({ database: await startDynamo() }))
  /** Advances the clock of containers and chains by a number of seconds. Time stands still otherwise. */
  .extend('tick', async ({ service: { backends, pass } }) => {
    const onAll = (...calls: readonly RpcCall[]) => Promise.all(backends.chains.map((chain) => callRpc(chain, calls)))
    await onAll({ method: 'anvil_setBlockTimestampInterval', params: [0] })
    return async (seconds: number) => {
      pass(seconds)
      await onAll({ method: 'evm_setNextBlockTimestamp', params: [Math.floor(Date.now() / 1000)] })
      await onAll({ method: 'evm_mine', params: [] })
    }
  })
  .extend('meter', async ({ service: { backends } }, { onCleanup }) => {
    const { chains, dynamo } = backends
    const nodes = new Map(
      await Promise.all(
        chains.map(
          async (chain): Promise<[string, ChainNode]> => [
            `${chain.chainId}`,
            { url: chain.rpcUrl, before: await createYieldMiner(chain) },
          ],
        ),
      ),
    )
    const meter = startMeter({
      tables: dynamo.endpoint,
      nodeAt: (url) => nodes.get(url.split('/').at(-1) ?? ''),
    })
    onCleanup(meter.stop)
    return meter
  })

test('Every endpoint and job makes the requests and round trips that docs/cost.json counts', {
  timeout: 600_000,
  // The counts are exact. A second run would count a used service and name other endpoints.
  retry: 0,
}, async ({ service, tick, meter }) => {
  const { chains } = service.backends
  const counted = await service.standingStill(async () => {
    const twoHosts = await startPlay(service, { hosts: HOSTS, meter, tick })
    const jobs = await countJobUsage(twoHosts.containers, service, meter)
    // The calls begin one second after an hour, so that no hour or day begins during them.
    await tick(13 * HOUR_SECONDS + 1 - (Math.floor(Date.now() / 1000) % HOUR_SECONDS))
    await countJobUsage(twoHosts.containers, service, meter)
    const two = await twoHosts.play([ALICE, CAROL])
    const one = await (await startPlay(service, { hosts: HOSTS.slice(1), meter, tick })).play([BOB, DAVE])
    return { endpoints: addOneHostCounts(two.endpoints, one.endpoints), jobs, event: two.event }
  })
  const size = {
    vaults: chains.flatMap(({ vaults }) => vaults).length,
    chainsWithVaults: chains.length,
    chains: CHAINS.length,
    tokens: MARKET_TOKEN_COUNT,
  }
  expect(
    compareCounts({ size, ...counted }),
    'More requests than before? Take them out, or accept them with: npm run cost',
  ).toEqual([])
})

type RpcCall = Parameters<typeof callRpc>[1][number]
type PlayOptions = {
  readonly hosts: readonly string[]
  readonly meter: Meter
  readonly tick: (seconds: number) => Promise<void>
}

async function startPlay(service: Service, { hosts, meter, tick }: PlayOptions) {
  const { chains } = service.backends
  const urlsOf = (chainId: number) => hosts.map((host) => `http://${host}.example/${chainId}`)
  // The cast is safe, because `hosts` is never empty.
  const rpcUrls = chains.map(({ chainId }) => [chainId, urlsOf(chainId) as [string, ...string[]]] as const)
  service.backends.setRpcUrls(Object.fromEntries(rpcUrls))
  const containers = await startContainers(service)
  onTestFinished(containers.stop)
  return {
    containers,
    play: (users: readonly [LocalAccount, LocalAccount]) => playForTwo(containers, users, { meter, tick }),
  }
}

/**
 * Makes each call of a wallet for two users in turns. The first user's call fills the caches that the second user's
 * call then uses.
 */
async function playForTwo(
  containers: Containers,
  users: readonly [LocalAccount, LocalAccount],
  { meter, tick }: Pick<PlayOptions, 'meter' | 'tick'>,
) {
  const { backends, createClient } = containers.service
  const vaults = backends.chains.flatMap(({ vaults }) => vaults)
  const apiKey = await createClient(vaults, { scopes: Scope.options, rate: { requests: 360_000, seconds: 3_600 } })
  const clientId = parseApiKey(apiKey)?.clientId ?? ''
  const service = { ...containers.service, apiKey }
  const costs = createCostMeter(meter, service)
  vi.resetModules()
  const { publishTo } = await import('../support/webhooks.ts')
  let event: Counts | undefined
  const play = (account: LocalAccount, temperature: 'cold' | 'warm') => async (pass: () => Promise<void>) => {
    const email = `${temperature}-${clientId}@example.com`
    const strict: Service['call'] = async (method, path, { key = apiKey, ...options } = {}) => {
      const reply = await containers.service.call(method, path, { key, ...options })
      expect(reply.status, `${method} ${path}: ${JSON.stringify(reply.body)}`).toBeLessThan(300)
      return reply
    }
    const counting = costs.counting(strict, temperature, pass)
    const call: Service['call'] = async (...args) => {
      await tick(PAUSE_SECONDS)
      return await counting(...args)
    }
    const publishEvents = async () => {
      const counts = await costs.during(async () => {
        await publishTo(service, clientId, [someWebhookEvent(email)])
        await service.consume()
      })
      event ??= counts
    }
    await playWalletStory({ ...service, call }, { ...placesOf(backends), publishEvents, alice: { account, email } })
  }
  await runAlternately([play(users[0], 'cold'), play(users[1], 'warm')])
  const unknown = () => measureResponse(`${service.baseUrl}/nowhere`, {})
  const [cold, warm] = [await costs.during(unknown), await costs.during(unknown)]
  return { endpoints: { ...costs.endpoints, 'system/unknown-route': { cold, warm, bytes: await unknown() } }, event }
}

function placesOf({ chains: [chain, other] }: Backends) {
  const asyncVault = chain?.vaults.find(({ type }) => type === 'async')?.address as Address
  const otherUsdc = other?.tokens.find(({ symbol }) => symbol === 'USDC')?.address as Address
  return { asyncVault, otherUsdc }
}
