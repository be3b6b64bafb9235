import { expect, test } from 'vitest'
import { refreshChain } from '../../../functions/jobs/refresh-chain/handler.ts'
import { yieldLookup } from '../../../lib/vaults/yields.ts'
import { createCountingChain, createVirtualClock } from '../../support/counted.ts'
import { createJobServices, someVaults, storeVaults } from '../../support/job.ts'
import { memoryDynamo } from '../../support/memory-dynamo.ts'
import { openTables, TEST_TABLES } from '../../support/tables.ts'

const VAULTS = 100
const BLOCKS_PER_MINUTE = 300

test('A silent minute of a hundred new vaults takes ten table requests until all have prices, then six', async () => {
  const memory = memoryDynamo()
  const tables = openTables(memory.dynamo, TEST_TABLES)
  await storeVaults(tables, someVaults(VAULTS), (index) => [String(1_000_000_000 + (index % 3))])
  const clock = createVirtualClock()
  const chain = createCountingChain(clock, { mostCalls: 1_000, mostBlocks: 10_000, delayMs: 50 })
  chain.state.head = 100_000
  const { services: stores } = createJobServices(tables)
  const getYield = yieldLookup({ ...stores, now: clock.now })
  const run = refreshChain({ ...stores, getYield, getReader: () => chain.reader, now: clock.now })
  const minutes: number[] = []
  for (let minute = 0; minute < 7; minute += 1) {
    clock.set(clock.now() + 60_000)
    chain.state.head += BLOCKS_PER_MINUTE
    memory.tries.length = 0
    expect(await run({ chainId: 8453 }, { remainingMs: () => 50_000 })).toMatchObject({ vaults: VAULTS, entries: 0 })
    minutes.push(memory.tries.length)
  }
  // The first minute also creates the records of all vaults, so it is not compared. Each of the next three minutes
  // reads prices for 25 vaults that have none.
  expect(minutes.slice(1)).toEqual([10, 10, 10, 6, 6, 6])
})
