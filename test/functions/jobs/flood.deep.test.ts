import { zeroAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import { openRequestsStore } from '../../../lib/activity/open-requests-store.ts'
import { recordingStore } from '../../../lib/activity/store.ts'
import { refreshVaults } from '../../../lib/follow/refresh-vaults.ts'
import type { VaultOnChain } from '../../../lib/protocols/vault-on-chain.ts'
import { priceStore } from '../../../lib/vaults/price-store.ts'
import { stateStore } from '../../../lib/vaults/state-store.ts'
import {
  buildDepositEvent,
  buildTransferEvent,
  createCountingChain,
  createVirtualClock,
} from '../../support/counted.ts'
import { someVaults } from '../../support/job.ts'
import { memoryDynamo } from '../../support/memory-dynamo.ts'
import { NO_YIELDS } from '../../support/no-yields.ts'
import { openTables, TEST_TABLES } from '../../support/tables.ts'

const RUN_MS = 42_000
const BEFORE = 100_000

describe('20,000 transfers of one unit in one of a hundred vaults', () => {
  const vaults = someVaults(100).map(
    (vault): VaultOnChain => ({ ...vault, protocol: 'erc4626', shareToken: vault.address }),
  )
  const [flooded = vaults[0], ...others] = vaults

  test.for([
    { where: 'within a minute', blocks: 300, gap: 300 },
    { where: 'within a minute of a day that is caught up on', blocks: 300, gap: 400_000 },
  ])(
    '$where leave the other vaults recorded in the same run, and at most double the events read',
    async ({ blocks, gap }) => {
      const clock = createVirtualClock()
      const chain = createCountingChain(clock, { mostCalls: 10, mostBlocks: 10_000, delayMs: 50 })
      const tables = openTables(memoryDynamo().dynamo, TEST_TABLES)
      const records = recordingStore(tables.deposits)
      const [openRequests, states] = [openRequestsStore(tables.deposits), stateStore(tables.deposits)]
      const prices = priceStore(tables.deposits)
      const ledger = { assets: 10n ** 12n, supply: 10n ** 12n }
      const through = { through: BEFORE - 1_000, timestamp: chain.timeOf(BEFORE - 1_000), eventsAfter: 0 }
      await records.putProgress(vaults.map((vault) => [vault, { ...through, ledger }]))

      chain.emit(
        Array.from({ length: 20_000 }, (_, index) =>
          buildTransferEvent(flooded?.address ?? zeroAddress, BEFORE + Math.floor((index * blocks) / 20_000), 1n),
        ),
      )
      chain.emit(others.map(({ address }, index) => buildDepositEvent(address, BEFORE + (index % gap), 5_000_000n)))
      chain.state.head = BEFORE + gap + 1_000
      const { length: ofChain } = JSON.stringify(chain.logsOf(flooded?.address ?? zeroAddress))
      const report = await refreshVaults(
        {
          ...{ reader: chain.reader, records, prices, openRequests, states, now: clock.now },
          publish: async () => {},
          getYield: async () => NO_YIELDS,
          getWantsLatest: async () => () => false,
        },
        vaults,
        clock.now() + RUN_MS,
      )

      expect(report.entries).toBe(2 * 20_000 + others.length)
      expect(chain.counts.bytes / ofChain).toBeLessThanOrEqual(2)
      expect(report.behind).toBe(0)
    },
  )
})
