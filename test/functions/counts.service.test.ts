import { readFileSync, writeFileSync } from 'node:fs'
import type { Address } from 'viem'
import { expect, onTestFinished, vi } from 'vitest'
import { CHAINS } from '../../lib/chain/registry.ts'
import { parseApiKey } from '../../lib/clients/api-key.ts'
import { Scope } from '../../lib/clients/key-limits.ts'
import type { LocalAccount } from '../../sandbox/accounts.ts'
import { startDynamo } from '../../sandbox/dynamo.ts'
import { callRpc } from '../../sandbox/rpc.ts'
import { COUNTS_FILE, type Counts } from '../../scripts/cost/counts.ts'
import { startContainers } from '../support/containers.ts'
import { costMeter, countJobs, differences, playInTurns, receive, startMoving, TOKENS } from '../support/costs.ts'
import { startMeter } from '../support/meter.ts'
import { type Service, test as base, USERS } from '../support/service.ts'
import { playWallet } from '../support/wallet-story.ts'
import { someNotice } from '../support/webhooks.ts'

/** What requests of a container share for a moment is over after so many seconds. */
const PAUSE_SECONDS = 3
const DAY_MS = 86_400_000
const HOSTS = ['one', 'two'] as const

// biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
const test = base.override('backendsOptions', { scope: 'file' }, async ({}) => ({ database: await startDynamo() }))

test('costs what was written', { timeout: 300_000 }, async ({ service }) => {
  const counted = await service.standingStill(() => countAll(service))
  writeFileSync('/tmp/counted.json', JSON.stringify(counted, null, 1))
  const written = JSON.parse(readFileSync(COUNTS_FILE, 'utf8'))
  expect(differences(counted.two.endpoints, written.endpoints)).toEqual([])
})

async function countAll(service: Service) {
  const { chains } = service.backends
  const moves = new Map(
    await Promise.all(chains.map(async (chain) => [chain.chainId, [chain, await startMoving(chain)]] as const)),
  )
  const meter = startMeter({
    tables: service.backends.dynamo.endpoint,
    nodeAt: (url) => {
      const [, chainId] = /\.example\/(\d+)$/.exec(url) ?? []
      const [chain, before] = moves.get(Number(chainId)) ?? []
      return chain && before && { url: chain.rpcUrl, before }
    },
  })
  onTestFinished(meter.stop)
  const tick = async (seconds: number) => {
    service.pass(seconds)
    await Promise.all(
      chains.map((chain) =>
        callRpc(chain, [
          { method: 'evm_setNextBlockTimestamp', params: [Math.floor(Date.now() / 1000)] },
          { method: 'evm_mine', params: [] },
        ]),
      ),
    )
  }
  for (const chain of chains) await callRpc(chain, [{ method: 'anvil_setBlockTimestampInterval', params: [0] }])
  // At noon, so that no day, hour or minute begins at another call each time.
  await tick((DAY_MS * 1.5 - (Date.now() % DAY_MS)) / 1000)
  return { two: await countWith(2), one: await countWith(1) }

  async function countWith(hosts: 1 | 2) {
    const urls = (chainId: number) =>
      HOSTS.slice(0, hosts).map((host) => `http://${host}.example/${chainId}`) as [string, ...string[]]
    service.backends.setRpcUrls(Object.fromEntries(chains.map(({ chainId }) => [chainId, urls(chainId)])))
    const containers = await startContainers(service)
    onTestFinished(containers.stop)
    const rate = { requests: 360_000, seconds: 3600 }
    const apiKey = await service.createClient(
      chains.flatMap(({ vaults }) => vaults),
      { scopes: Scope.options, rate },
    )
    const mine = { ...containers.service, apiKey }
    const costs = costMeter(meter, mine)
    const jobs = hosts === 2 ? await countJobs(containers, service, meter) : {}
    let event: Counts | undefined
    const clientId = parseApiKey(apiKey)?.clientId ?? ''
    const [chain, other] = chains
    const asyncVault = chain?.vaults.find(({ type }) => type === 'async')?.address as Address
    const otherUsdc = other?.tokens.find(({ symbol }) => symbol === 'USDC')?.address as Address
    const play =
      (user: LocalAccount, email: string, temperature: 'cold' | 'warm') => async (pass: () => Promise<void>) => {
        const call: Service['call'] = async (method, path, { key = apiKey, ...options } = {}) => {
          const reply = await mine.call(method, path, { key, ...options })
          expect(reply.status, `${method} ${path}: ${JSON.stringify(reply.body)}`).toBeLessThan(300)
          return reply
        }
        const counting = costs.counting(call, temperature, pass)
        const ticking: Service['call'] = async (...asked) => {
          await tick(PAUSE_SECONDS)
          return await counting(...asked)
        }
        vi.resetModules()
        const { publishTo } = await import('../support/webhooks.ts')
        const tell = async () => {
          const counts = await costs.during(async () => {
            await publishTo(mine, clientId, [someNotice(email)])
            await mine.consume()
          })
          event ??= counts
        }
        await playWallet({ ...mine, call: ticking }, { asyncVault, otherUsdc, tell, alice: { account: user, email } })
      }
    const [alice, , carol] = USERS
    const name = (who: string) => `${who}${hosts}@example.com`
    await playInTurns([play(alice, name('alice'), 'cold'), play(carol, name('carol'), 'warm')])
    const unknown = () => receive(`${mine.baseUrl}/nowhere`, {})
    const [cold, warm] = [await costs.during(unknown), await costs.during(unknown)]
    return {
      size: { vaults: 0, chains: CHAINS.length, tokens: TOKENS },
      endpoints: { ...costs.endpoints, 'system/unknown-route': { cold, warm, bytes: await unknown() } },
      jobs,
      event,
    }
  }
}
