import { describe, expect } from 'vitest'
import type * as z from 'zod'
import { refreshChain } from '../../../functions/jobs/refresh-chain/handler.ts'
import { contract } from '../../../functions/queues/refresh-shard/contract.ts'
import { refreshShard } from '../../../functions/queues/refresh-shard/handler.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { buildDepositEvent, createCountingChain, createVirtualClock } from '../../support/counted.ts'
import { test as base } from '../../support/dynamo.ts'
import { createJobServices, someVaults, storeVaults } from '../../support/job.ts'
import { scanTable } from '../../support/tables.ts'

const BASE = 8453
const CLIENTS = ['0000000001', '0000000002']
const TIME = { remainingMs: () => 50_000 }
/** Maximum number of vaults that one Lambda invocation handles in these tests. */
const MOST = 4
const VAULTS = someVaults(12)

type Message = z.output<typeof contract.message>
type Hold = { readonly begun: Promise<void>; readonly end: () => void }

const test = base
  .extend('vaults', () => VAULTS)
  .extend('clock', () => createVirtualClock())
  .extend('chain', ({ clock }) => {
    const chain = createCountingChain(clock, { mostCalls: 500, mostBlocks: 10_000, delayMs: 10 })
    chain.state.head = 10_000
    return chain
  })
  .extend('stage', async ({ tables, vaults, clock, chain }) => {
    await storeVaults(tables, vaults, () => CLIENTS)
    let hold: { begin: () => void; end: Promise<void> } | undefined
    const { services: stores, messages } = createJobServices(tables)
    const { records } = stores
    const services = {
      ...stores,
      records: {
        ...records,
        async record(...of: Parameters<typeof records.record>) {
          const currentHold = hold
          hold = undefined
          currentHold?.begin()
          await currentHold?.end
          return await records.record(...of)
        },
      },
      getReader: () => chain.reader,
      now: clock.now,
    }
    const ofChain = (maxInShard: number) => () => refreshChain(services, { maxInShard })({ chainId: BASE }, TIME)
    return {
      services,
      divided: ofChain(MOST),
      whole: ofChain(1_000),
      take: async (message: Message) => contract.report.parse(await refreshShard(services)(message, TIME)),
      sent: () => messages.splice(0),
      pass: (seconds = 60) => clock.set(clock.now() + seconds * 1000),
      /** Makes the next run wait between its read of events and its write of records. */
      hold(): Hold {
        const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
        hold = { begin: begun.resolve, end: end.promise }
        return { begun: begun.promise, end: end.resolve }
      },
      deposit() {
        const block = chain.state.head
        chain.emit(vaults.map(({ address }) => buildDepositEvent(address, block, 5_000_000n)))
        chain.state.head += 2_000
      },
      async recorded() {
        return await scanTable(tables.deposits)
      },
      async listClientEvents() {
        const all = CLIENTS.map(async (clientId) => {
          const events = await services.eventLog.list(clientId, { after: 0, limit: 1_000, now: 0 })
          return events
            .map(({ event: { type, data } }) => `${type} ${'vaultAddress' in data && data.vaultAddress}`)
            .toSorted()
        })
        return await Promise.all(all)
      },
    }
  })

const settled = async (run: Promise<unknown>) => (await Promise.allSettled([run]))[0].status

const everyVaultOnce = CLIENTS.map(() => VAULTS.map(({ address }) => `deposit.completed ${address}`).toSorted())

describe('A chain with more vaults than one run records', () => {
  test('is recorded in shards like in one run, however often and in whatever order messages arrive', async ({
    stage,
    chain,
    requests: ofTables,
  }) => {
    expect(await stage.divided()).toMatchObject({ outcome: 'enqueued', shards: 4, vaults: 12, unreportedVaults: 0 })
    const first = stage.sent()
    expect(first).toHaveLength(4)
    for (const message of first) expect(await stage.take(message)).toMatchObject({ outcome: 'refreshed', behind: 0 })

    stage.deposit()
    stage.pass()
    await stage.divided()
    const second = stage.sent()
    const outcomes = await Promise.all([...second, ...second.toReversed(), ...first].map(stage.take))
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(outcomes.map(() => 'refreshed'))
    expect(await stage.listClientEvents()).toEqual(everyVaultOnce)
    const reports = await Promise.all(second.map(stage.take))
    expect(reports).toEqual(second.map(() => expect.objectContaining({ through: 11_000, behind: 0, entries: 0 })))

    stage.pass(91)
    const { requests } = chain.counts
    ofTables.length = 0
    for (const message of second) expect(await stage.take(message)).toMatchObject({ outcome: 'too late' })
    expect(ofTables).toEqual([])
    expect(chain.counts.requests).toBe(requests)
    // A run over all vaults finds nothing that the smaller runs did not record.
    const recorded = await stage.recorded()
    expect(await stage.whole()).toMatchObject({ outcome: 'refreshed', vaults: 12, entries: 0, prices: 0 })
    expect(await stage.recorded()).toEqual(recorded)
  })

  test('has its events reported from the first run on, although the nodes refuse all events in it', async ({
    stage,
    chain,
  }) => {
    const { getReader } = stage.services
    const logsUntil = () => Promise.reject(new AppError('upstream_unavailable'))
    stage.services.getReader = () => ({ ...chain.reader, logsUntil })
    await expect(stage.whole()).rejects.toThrow()
    stage.services.getReader = getReader
    stage.deposit()
    stage.pass()
    await stage.whole()
    expect(await stage.listClientEvents()).toEqual(everyVaultOnce)
  })

  test('has the other shards recorded if one fails', async ({ stage }) => {
    await stage.divided()
    for (const message of stage.sent()) await stage.take(message)
    stage.deposit()
    stage.pass()
    await stage.divided()
    const [failing, ...others] = stage.sent()
    const { records } = stage.services
    stage.services.records = { ...records, getProgress: () => Promise.reject(new Error('No table.')) }
    await expect(failing && stage.take(failing)).rejects.toThrow('No table.')
    stage.services.records = records
    for (const message of others) expect(await stage.take(message)).toMatchObject({ outcome: 'refreshed' })
    stage.pass()
    await stage.divided()
    for (const message of stage.sent()) await stage.take(message)
    expect(await stage.listClientEvents()).toEqual(everyVaultOnce)
  })
})

describe('If the number of shards changes during a run', () => {
  test.for([
    ['more', 'whole', 'divided'],
    ['fewer', 'divided', 'whole'],
  ] as const)(
    'to %s, each event is reported once and recorded by the run that comes first',
    async ([, before, after], { stage }) => {
      const takeAll = async () => Promise.all(stage.sent().map(stage.take))
      await stage[before]()
      await takeAll()
      stage.deposit()
      stage.pass()
      const { begun, end } = stage.hold()
      const atWork = stage[before]().then(takeAll)
      await begun
      await stage[after]()
      await takeAll()
      const recorded = await stage.recorded()
      expect(await stage.listClientEvents()).toEqual(everyVaultOnce)
      end()
      await atWork
      expect(await stage.recorded()).toEqual(recorded)
      stage.pass()
      await stage[after]()
      await takeAll()
      expect(await stage.listClientEvents()).toEqual(everyVaultOnce)
    },
  )
})

describe('If a run over a shard begins each minute', () => {
  const many = test.extend('vaults', () => someVaults(300))
  const fewer = test.extend('vaults', () => someVaults(40))

  many(
    'events of 300 vaults are reported, and states recorded within two runs although others fail',
    async ({ stage, chain, vaults }) => {
      const run = async () => {
        stage.pass()
        return await stage.take({ chainId: BASE, shard: '', askedAt: stage.services.now() })
      }
      const statesOf = async () => (await stage.services.records.getProgress(vaults)).map((of) => of?.state)
      await run()
      stage.deposit()
      await run()
      expect((await stage.listClientEvents())[0]).toHaveLength(300)

      const [before] = await statesOf()
      chain.state.totalAssets += 1n
      await run()
      await run()
      const [after, ...others] = await statesOf()
      expect(after).not.toBe(before)
      expect(new Set(others)).toEqual(new Set([after]))

      const { states } = stage.services
      stage.services.states = {
        ...states,
        async record(all) {
          if (all.some(([{ address }]) => address === vaults[0]?.address)) throw new Error('No throughput.')
          await states.record(all)
        },
      }
      chain.state.totalAssets += 1n
      const ended = [await settled(run()), await settled(run()), await settled(run()), await settled(run())]
      expect(ended.toSorted()).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected'])
      const renewed = (await statesOf()).filter((state) => state !== after)
      expect(renewed.length).toBeGreaterThanOrEqual(150)
    },
  )

  fewer('the requests of each of 40 vaults are read within two runs', async ({ stage, vaults }) => {
    const { services } = stage
    const { records, openRequests } = services
    const readAddresses = new Set<string>()
    services.openRequests = {
      ...openRequests,
      list: (reading, ...page) => {
        readAddresses.add(reading.address)
        return openRequests.list(reading, ...page)
      },
    }
    for (let runs = 0; runs < 3; runs += 1) {
      stage.pass()
      await stage.take({ chainId: BASE, shard: '', askedAt: services.now() })
      // Every vault is marked as having open requests. The next run then reads the requests of as many vaults as
      // possible.
      const progress = await records.getProgress(vaults)
      const asking = vaults.flatMap((vault, index) => {
        const of = progress[index]
        return of ? [[vault, { ...of, hasAsked: true }] as const] : []
      })
      await records.putProgress(asking)
    }
    expect(readAddresses.size).toBe(40)
  })
})

describe('A run over vaults', () => {
  const few = test.extend('vaults', () => someVaults(2))

  few(
    'reads the chain every 13 seconds of its minute for webhooks of latest events, else once',
    async ({ stage, clock }) => {
      const { services } = stage
      const { records, webhooks } = services
      const looks: number[] = []
      services.records = {
        ...records,
        getProgress: (...of) => {
          looks.push(clock.now())
          return records.getProgress(...of)
        },
      }
      services.sleep = clock.wait
      const run = async () => {
        looks.length = 0
        stage.pass()
        const begun = clock.now()
        await stage.take({ chainId: BASE, shard: '', askedAt: begun })
        return looks.map((at) => Math.round((at - begun) / 1000))
      }
      expect(await run()).toEqual([0])
      services.webhooks = {
        ...webhooks,
        listLatestClients: async () => new Set(CLIENTS),
        listOf: async (ids) => new Map([...ids].map((id) => [id, [{ finality: 'latest' }]])) as never,
      }
      expect(await run()).toEqual([0, 13, 26, 39])
    },
  )
})
