import { Console } from 'node:console'
import * as z from 'zod'
import { refreshChain } from '../functions/jobs/refresh-chain/handler.ts'
import { refreshShard } from '../functions/queues/refresh-shard/handler.ts'
import { buildDepositEvent, createCountingChain, createVirtualClock } from '../test/support/counted.ts'
import { createJobServices, someVaults, storeVaults } from '../test/support/job.ts'
import { memoryDynamo } from '../test/support/memory-dynamo.ts'
import { isReading } from '../test/support/meter.ts'
import { openTables, TEST_TABLES } from '../test/support/tables.ts'

// Script of `npm run bench:shards`. Runs the job that records vault events, for 10,000 vaults of 1,000 clients, with
// tables in memory. The job reads the vaults in groups (shards). The fake node accepts ten calls per JSON-RPC request,
// and 10,000 blocks per request for events. The script prints the requests and the time of each run.

const BASE = 8453
const VAULTS = 10_000
const CLIENTS = 1_000
/** Number of vaults of each client. */
const OF_CLIENT = 100
const EVENTS = 1_000
const NODE_MS = 50

const say = (text: string) => process.stderr.write(`${text}\n`)

const vaults = someVaults(VAULTS)

async function main(): Promise<void> {
  const memory = memoryDynamo()
  const tables = openTables(memory.dynamo, TEST_TABLES)
  say(`Listing ${VAULTS} vaults of ${CLIENTS} clients …`)
  await storeVaults(tables, vaults, (index) =>
    Array.from({ length: (CLIENTS * OF_CLIENT) / VAULTS }, (_, of) => String(1_000_000_000 + ((index + of) % CLIENTS))),
  )
  const clock = createVirtualClock()
  const chain = createCountingChain(clock, { mostCalls: 10, mostBlocks: 10_000, delayMs: NODE_MS })
  chain.state.head = 100_000
  const { services: stores, messages } = createJobServices(tables)
  const services = { ...stores, getReader: () => chain.reader, now: clock.now }
  const time = { remainingMs: () => 50_000 }
  const rows: unknown[] = []
  const measure = async (name: string, run: () => Promise<unknown>) => {
    const before = {
      requests: memory.tries.length,
      chain: { ...chain.counts },
      at: clock.now(),
      cpu: process.cpuUsage(),
      start: performance.now(),
    }
    const report = z.looseObject({ vaults: z.number() }).parse(await run())
    const { user, system } = process.cpuUsage(before.cpu)
    const units = (writes: boolean) =>
      memory.tries
        .slice(before.requests)
        .filter(({ action }) => isReading(action) !== writes)
        .reduce((sum, tried) => sum + tried.units, 0)
    rows.push({
      run: name,
      vaults: report.vaults,
      entries: report['entries'],
      behind: report['behind'],
      'table requests': memory.tries.length - before.requests,
      'read units': units(false),
      'write units': units(true),
      'chain requests': chain.counts.requests - before.chain.requests,
      'chain calls': chain.counts.calls - before.chain.calls,
      'chain s': (clock.now() - before.at) / 1000,
      'wall s': Math.round((performance.now() - before.start) / 100) / 10,
      'CPU s, with the tables': Math.round((user + system) / 100_000) / 10,
      MB: Math.round(process.memoryUsage().rss / 1e6),
    })
    say(`  ${JSON.stringify(rows.at(-1))}`)
  }
  for (const minute of ['first', 'silent', 'with 1,000 events']) {
    say(`A minute: ${minute} …`)
    if (minute === 'with 1,000 events') {
      const block = chain.state.head
      chain.emit(vaults.slice(0, EVENTS).map(({ address }) => buildDepositEvent(address, block, 5_000_000n)))
    }
    clock.set(clock.now() + 60_000)
    chain.state.head += 2_000
    await measure(`${minute}: chain`, () => refreshChain(services)({ chainId: BASE }, time))
    for (const message of messages.splice(0)) {
      await measure(`${minute}: shard ${message.shard}`, () => refreshShard(services)(message, time))
    }
  }
  new Console(process.stdout).table(rows)
}

await main()
