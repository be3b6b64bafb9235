import { issueKey } from '../../admin/operations/clients.ts'
import { seedClient } from '../../admin/operations/seed-client.ts'
import { createTable } from '../../lib/aws/table.ts'
import { sharedCache } from '../../lib/cache/cache.ts'
import { cacheStore } from '../../lib/cache/store.ts'
import { DEFAULT_LIMITS } from '../../lib/clients/key-limits.ts'
import { campaignsKey } from '../../lib/rewards/campaigns.ts'
import { startBackends } from '../../sandbox/backends.ts'
import { fillMarket } from './market.ts'
import { reportToParent, startProcess } from './process.ts'

/** Description of the running backends, which the parent process receives as a message. */
export type BackendsDescription = {
  readonly environment: Readonly<Record<string, string>>
  /** API key with a rate limit that the load never reaches. */
  readonly apiKey: string
  readonly vaults: number
  readonly tokens: number
}

// Starts the backends of the functions: two chains behind nodes that replay recorded responses, tables with one client that has all vaults,
// and invented market data of 2,400 tokens.

/** Rate limit that no machine can reach, so that the service refuses no request of the load. */
const RATE = { requests: 1_000_000, seconds: 10 }
const TOKENS = 2_400

const backends = await startBackends()
const { admin, chains, dynamo } = backends
const nodes = await Promise.all(
  chains.map(({ rpcUrl }) => startProcess<string>(new URL('node.ts', import.meta.url), [rpcUrl])),
)
backends.setRpcUrls(Object.fromEntries(chains.map(({ chainId }, i) => [chainId, [nodes[i]?.firstMessage ?? '']])))
const vaults = chains.flatMap(({ vaults }) => vaults.map(({ chainId, address }) => ({ chainId, address })))
const { clientId } = await seedClient(admin, { name: 'load', vaults })
const { text: apiKey } = await issueKey(admin, { clientId, name: 'load', limits: { ...DEFAULT_LIMITS, rate: RATE } })

const answers = cacheStore(createTable(dynamo.connection, dynamo.tableNames.cache))
const cache = sharedCache({ table: answers, now: Date.now })
await fillMarket(cache, TOKENS)
for (const { chainId } of chains) await cache.put(campaignsKey(chainId), {})

const description: BackendsDescription = {
  environment: backends.environment,
  apiKey,
  vaults: vaults.length,
  tokens: TOKENS,
}
reportToParent(description, async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  await backends.stop()
})
