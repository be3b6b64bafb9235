import { describe, expect } from 'vitest'
import * as z from 'zod'
import { refreshChain } from '../../../functions/jobs/refresh-chain/refresh-chain.ts'
import { contract } from '../../../functions/queues/refresh-group/contract.ts'
import { refreshGroup } from '../../../functions/queues/refresh-group/refresh-group.ts'
import { ALL_VAULTS } from '../../../lib/activity/recording/vault-groups.ts'
import { AppError } from '../../../lib/errors.ts'
import { relayEvents } from '../../../lib/webhooks/relay.ts'
import { countedChain, depositOf, virtualClock } from '../../support/counted.ts'
import { test as base } from '../../support/dynamo.ts'
import { jobServices, listVaults, someVaults } from '../../support/job.ts'
import { scanTable } from '../../support/tables.ts'

const BASE = 8453
const CLIENTS = ['0000000001', '0000000002']
const TIME = { remainingMs: () => 50_000 }
/** So many vaults fill a group here. */
const MOST = 4
const VAULTS = someVaults(12)

type Message = z.output<typeof contract.message>
type Hold = { readonly begun: Promise<void>; readonly end: () => void }

const test = base
  .extend('vaults', () => VAULTS)
  .extend('clock', () => virtualClock())
  .extend('chain', ({ clock }) => {
    const chain = countedChain(clock, { mostCalls: 500, mostBlocks: 10_000, delayMs: 10 })
    chain.state.head = 10_000
    return chain
  })
  .extend('stage', async ({ tables, vaults, clock, chain }) => {
    await listVaults(tables, vaults, () => CLIENTS)
    let hold: { begin: () => void; end: Promise<void> } | undefined
    const { services: stores, messages } = jobServices(tables)
    const { records } = stores
    const services = {
      ...stores,
      records: {
        ...records,
        async record(...of: Parameters<typeof records.record>) {
          const held = hold
          hold = undefined
          held?.begin()
          await held?.end
          return await records.record(...of)
        },
      },
      getReader: () => chain.reader,
      now: clock.now,
    }
    const ofChain = (mostInGroup: number) => () => refreshChain(services, { mostInGroup })({ chainId: BASE }, TIME)
    return {
      services,
      divided: ofChain(MOST),
      whole: ofChain(1_000),
      take: async (message: Message) => contract.report.parse(await refreshGroup(services)(message, TIME)),
      /** The messages that were sent since this was last asked. */
      sent: () => messages.splice(0),
      /** Goes on to the next minute. */
      pass: (seconds = 60) => clock.set(clock.now() + seconds * 1000),
      /** Holds up the next run that has read events, before it records them. */
      hold(): Hold {
        const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
        hold = { begin: begun.resolve, end: end.promise }
        return { begun: begun.promise, end: end.resolve }
      },
      /** Has a deposit in each vault, and so many blocks after it that it is final. */
      deposit() {
        const block = chain.state.head
        chain.emit(vaults.map(({ address }) => depositOf(address, block, 5_000_000n)))
        chain.state.head += 2_000
      },
      /** What is recorded, by its keys. */
      async recorded() {
        const items = await scanTable(tables.deposits)
        return new Map([...items].filter(([key]) => !key.startsWith('LEASE#')))
      },
      /** What each client was told, in order of its vaults. */
      async told() {
        const { eventLog, webhooks: registered } = services
        const all = CLIENTS.map(async (clientId) => {
          await relayEvents(
            {
              eventLog,
              webhooks: registered,
              wakeRelays: async () => {},
              wakeDeliveries: async () => {},
              now: Date.now,
            },
            clientId,
          )
          const events = await eventLog.list(clientId, { after: 0, limit: 1_000, now: 0 })
          return events.map(({ type, data }) => `${type} ${data.vaultAddress}`).toSorted()
        })
        return await Promise.all(all)
      },
    }
  })

const settled = async (run: Promise<unknown>) => (await Promise.allSettled([run]))[0].status

const everyVaultOnce = CLIENTS.map(() => VAULTS.map(({ address }) => `deposit.completed ${address}`).toSorted())

describe('A chain with more vaults than one run records', () => {
  test('is recorded in groups, each once however often and in whatever order it is asked for, as one run would', async ({
    stage,
    chain,
    requests: ofTables,
  }) => {
    expect(await stage.divided()).toMatchObject({ outcome: 'refreshed', vaults: 12, through: null, lagSeconds: 0 })
    const first = stage.sent()
    expect(first.length).toBeGreaterThanOrEqual(3)
    for (const message of first) expect(await stage.take(message)).toMatchObject({ outcome: 'refreshed', behind: 0 })

    stage.deposit()
    stage.pass()
    await stage.divided()
    const second = stage.sent()
    const outcomes = await Promise.all([...second, ...second.toReversed(), ...first].map(stage.take))
    expect(outcomes.filter(({ outcome }) => outcome === 'refreshed')).toHaveLength(second.length)
    const { requests } = chain.counts
    ofTables.length = 0
    for (const message of [...first, ...second]) {
      expect(await stage.take(message)).toMatchObject({ outcome: 'nothing to do' })
    }
    expect(ofTables).toEqual([...first, ...second].map(() => 'UpdateItem'))
    expect(chain.counts.requests).toBe(requests)
    expect(await stage.told()).toEqual(everyVaultOnce)

    expect(await stage.divided()).toMatchObject({
      groups: second.length,
      ...{ vaults: 12, through: 11_000, behind: 0, entries: 12, untoldVaults: 0, changedVaults: 0 },
    })
    expect(stage.sent()).toHaveLength(second.length)
    // What was recorded is reported once, also where no group has run since.
    stage.pass()
    expect(await stage.divided()).toMatchObject({ vaults: 12, through: 11_000, entries: 0, prices: 0 })
    stage.sent()
    const recorded = await stage.recorded()
    // One run over all has nothing to add.
    expect(await stage.whole()).toMatchObject({ groups: 1, vaults: 12, entries: 0, prices: 0 })
    expect(await stage.recorded()).toEqual(recorded)
  })

  test('is told of from the first run on, though the nodes refuse all events in it', async ({ stage, chain }) => {
    const { getReader } = stage.services
    const logsUntil = () => Promise.reject(new AppError('upstream_unavailable'))
    stage.services.getReader = () => ({ ...chain.reader, logsUntil })
    await expect(stage.whole()).rejects.toThrow()
    stage.services.getReader = getReader
    stage.deposit()
    stage.pass()
    await stage.whole()
    expect(await stage.told()).toEqual(everyVaultOnce)
  })

  test('is behind by its group that is furthest behind', async ({ stage, chain }) => {
    await stage.divided()
    const [stuck, ...others] = stage.sent()
    for (const message of [stuck, ...others]) if (message) await stage.take(message)
    const { lagSeconds: atFirst } = z.object({ lagSeconds: z.number() }).parse(await stage.divided())
    stage.sent()
    chain.state.head += 36_000
    stage.pass(7_200)
    await stage.divided()
    for (const message of stage.sent().filter(({ group }) => group !== stuck?.group)) await stage.take(message)
    const { lagSeconds } = z.object({ lagSeconds: z.number() }).parse(await stage.divided())
    expect(lagSeconds - atFirst).toBeGreaterThanOrEqual(7_200)
  })

  test('has the other groups recorded where one fails', async ({ stage }) => {
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
    expect(await stage.told()).toEqual(everyVaultOnce)
  })
})

describe('Where the number of groups changes while a run is at work', () => {
  test.for([
    ['more', 'whole', 'divided'],
    ['fewer', 'divided', 'whole'],
  ] as const)(
    'to %s, no vault is recorded by two, and what happened is told once',
    async ([, before, after], { stage }) => {
      const takeAll = async () => Promise.all(stage.sent().map(stage.take))
      await stage[before]()
      await takeAll()
      stage.deposit()
      stage.pass()
      const { begun, end } = stage.hold()
      const atWork = stage[before]().then(async (report) => [report, ...(await takeAll())])
      await begun
      const ofOthers = [await stage[after](), ...(await takeAll())]
      // Of groups those that are done by now are free.
      const overlapping = ofOthers.filter(({ outcome }) => /work|nothing/.test(outcome))
      expect(overlapping.length).toBeGreaterThan(0)
      end()
      await atWork
      expect(await stage.told()).toEqual(everyVaultOnce)
      stage.pass()
      const next = [await stage[after](), ...(await takeAll())]
      expect(next.map(({ outcome }) => outcome)).toEqual(next.map(() => 'refreshed'))
      expect(await stage.told()).toEqual(everyVaultOnce)
    },
  )

  test('a run that has outlived its lease records nothing over what the groups have recorded since', async ({
    stage,
  }) => {
    await stage.whole()
    stage.deposit()
    stage.pass()
    const { begun, end } = stage.hold()
    const late = expect(stage.whole()).rejects.toThrow('the lease was lost')
    await begun
    stage.pass(120)
    await stage.divided()
    const outcomes = await Promise.all(stage.sent().map(stage.take))
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(outcomes.map(() => 'refreshed'))
    const recorded = await stage.recorded()
    end()
    await late
    expect(await stage.recorded()).toEqual(recorded)
    expect(await stage.told()).toEqual(everyVaultOnce)
  })
})

describe('Where a run over a group begins every other minute', () => {
  const many = test.extend('vaults', () => someVaults(300))
  const fewer = test.extend('vaults', () => someVaults(40))

  many(
    'each of 300 vaults is told of, and has its new state recorded within two runs, whatever is wrong with those of another turn',
    async ({ stage, chain, vaults }) => {
      const run = async () => {
        stage.pass(120)
        return await stage.take({ chainId: BASE, group: ALL_VAULTS, askedAt: stage.services.now() })
      }
      const statesOf = async () => (await stage.services.records.getProgress(vaults)).map((of) => of?.state)
      await run()
      stage.deposit()
      await run()
      expect((await stage.told())[0]).toHaveLength(300)

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

  fewer('each of 40 vaults is asked about its requests within two runs', async ({ stage, vaults }) => {
    const { services } = stage
    const { records, openRequests } = services
    const seen = new Set<string>()
    services.openRequests = {
      ...openRequests,
      list: (reading, ...page) => {
        seen.add(reading.address)
        return openRequests.list(reading, ...page)
      },
    }
    for (let runs = 0; runs < 3; runs += 1) {
      stage.pass(120)
      await stage.take({ chainId: BASE, group: ALL_VAULTS, askedAt: services.now() })
      // Requests are made in all of them.
      const progress = await records.getProgress(vaults)
      const asking = vaults.flatMap((vault, index) => {
        const of = progress[index]
        return of ? [[vault, { ...of, hasAsked: true }] as const] : []
      })
      await records.putProgress(asking)
    }
    expect(seen.size).toBe(40)
  })
})
