import { readFileSync, writeFileSync } from 'node:fs'
import { type Hex, keccak256, numberToHex, pad } from 'viem'
import * as z from 'zod'
import { JOBS } from '../../infra/functions.ts'
import { sharedCache } from '../../lib/cache/cache.ts'
import { cacheStore } from '../../lib/cache/store.ts'
import type { SynthesizedStack } from '../../sandbox/assembly.ts'
import type { Backends } from '../../sandbox/backends.ts'
import { sendHttpRequest } from '../../sandbox/exchange.ts'
import { callRpc } from '../../sandbox/rpc.ts'
import { COUNTS_FILE, type Counts, type EndpointCounts } from '../../scripts/cost/counts.ts'
import { fillMarket } from '../../scripts/load/market.ts'
import type { Containers } from './containers.ts'
import { findEndpoint } from './examples.ts'
import { isReading, type Meter, type MeteredRequest } from './meter.ts'
import type { Service } from './service.ts'

type Call = Service['call']

function countsOf(metered: readonly MeteredRequest[]): Counts {
  const of = (...kinds: readonly MeteredRequest['kind'][]) => metered.filter(({ kind }) => kinds.includes(kind))
  const roundsOf = (...kinds: readonly MeteredRequest['kind'][]) => new Set(of(...kinds).map(({ round }) => round)).size
  const units = (reads: boolean) =>
    of('table')
      .filter(({ operations: [action = ''] }) => isReading(action) === reads)
      .reduce((sum, one) => sum + one.units, 0)
  return {
    table: { requests: of('table').length, readUnits: units(true), writeUnits: units(false) },
    secrets: of('secrets').length,
    queue: of('queue').length,
    rpc: timesOf(of('rpc')),
    sources: timesOf(of('sources')),
    inSeries: { aws: roundsOf('table', 'secrets', 'queue'), rpc: roundsOf('rpc'), sources: roundsOf('sources') },
  }
}

function timesOf(metered: readonly MeteredRequest[]): Record<string, number> {
  const groups = Map.groupBy(
    metered.flatMap(({ operations }) => operations),
    (name) => name,
  )
  return Object.fromEntries([...groups].sort(([a], [b]) => a.localeCompare(b)).map(([name, all]) => [name, all.length]))
}

/**
 * Runs several callers at once, but only one call at a time. A caller awaits `pass` after each call, which lets the next caller
 * continue.
 */
export async function runAlternately(plays: readonly ((pass: () => Promise<void>) => Promise<void>)[]): Promise<void> {
  const waiting: (() => void)[] = []
  const wait = () => new Promise<void>((resolve) => waiting.push(resolve))
  const wakeNext = () => waiting.shift()?.()
  const pass = async () => {
    const turn = wait()
    wakeNext()
    await turn
  }
  await Promise.all(
    plays.map(async (play, index) => {
      if (index > 0) await wait()
      await play(pass).finally(wakeNext)
    }),
  )
}

// Compressed sizes vary: ids and signatures differ each time, prices with the date, and histories by a point with the hour.
/** Allowed difference between two sizes, as a fraction of the size. */
const MAX_BYTES_SHARE = 0.1
/** Allowed difference between two sizes, in bytes. */
const MAX_BYTES = 128

const Json = z.record(z.string(), z.unknown())

/**
 * Compares new counts with the counts in COUNTS_FILE. Returns one line per difference. With the environment variable
 * `COSTS=write` it updates the file instead.
 */
export function compareCounts(part: object): string[] {
  const file = Json.parse(JSON.parse(readFileSync(COUNTS_FILE, 'utf8')))
  const counted = Json.parse(compacted(part))
  const written = Object.fromEntries(Object.keys(counted).map((name) => [name, file[name]]))
  if (process.env['COSTS'] !== 'write') return listDifferences(counted, written)
  writeFileSync(COUNTS_FILE, `${lines({ ...file, ...Json.parse(withKnownBytes(counted, written)) })}\n`)
  return []
}

function compacted(value: unknown): unknown {
  const { data } = Json.safeParse(value)
  if (!data) return value === 0 ? undefined : value
  const entries = Object.entries(data).flatMap(([name, one]) => {
    const small = compacted(one)
    return small === undefined || isEmptyPart(name, small) ? [] : [[name, small] as const]
  })
  return Object.fromEntries(entries)
}

/**
 * Returns true if `value` is `{}` and `name` names a group of counts, such as `table`. COUNTS_FILE omits these groups.
 * Other empty objects stay in the file, such as the counts of a call that sends no requests.
 */
function isEmptyPart(name: string, value: unknown): boolean {
  return ['table', 'rpc', 'sources', 'inSeries'].includes(name) && JSON.stringify(value) === '{}'
}

/**
 * Returns the new counts, but keeps each stored byte count that differs only within the tolerance. So an update of
 * COUNTS_FILE shows only real changes of sizes.
 */
function withKnownBytes(counted: unknown, written: unknown, place = ''): unknown {
  const { data } = Json.safeParse(counted)
  if (!data) return listDifferences(counted, written, place).length === 0 ? written : counted
  const before = Json.safeParse(written).data ?? {}
  return Object.fromEntries(
    Object.entries(data).map(([name, one]) => [name, withKnownBytes(one, before[name], `${place}.${name}`)]),
  )
}

/** Formats counts as JSON with one line per kind of call. A changed number is then one line of a diff. */
function lines(value: unknown, depth = 0): string {
  const { data } = Json.safeParse(value)
  const isDeep = data && Object.values(data).some((one) => typeof one === 'object')
  if (!isDeep || depth === DEPTH) return JSON.stringify(value, null, 1).replaceAll(/\n */g, ' ')
  const indent = '  '.repeat(depth + 1)
  const fields = Object.entries(data).map(([name, one]) => `${indent}${JSON.stringify(name)}: ${lines(one, depth + 1)}`)
  return `{\n${fields.join(',\n')}\n${'  '.repeat(depth)}}`
}

/** JSON nesting depth at which `lines` writes an object in one line. */
const DEPTH = 3

/**
 * Compares new counts with stored counts. Returns one line per difference, which begins with the JSON path of the
 * count.
 */
export function listDifferences(counted: unknown, written: unknown, place = ''): string[] {
  const [one, other] = [counted, written].map((side) => Json.safeParse(side).data)
  if (one && other) {
    const names = new Set([...Object.keys(one), ...Object.keys(other)])
    return [...names].flatMap((name) => listDifferences(one[name], other[name], place ? `${place}.${name}` : name))
  }
  if (counted === written || (place.includes('.bytes.') && isNear(Number(counted), Number(written)))) return []
  return [`${place}: ${textOf(written)} before, ${textOf(counted)} now`]
}

function textOf(value: unknown): string {
  return JSON.stringify(value) ?? 'nothing'
}

function isNear(counted: number, written: number): boolean {
  return Math.abs(counted - written) <= Math.max(MAX_BYTES, written * MAX_BYTES_SHARE)
}

/** Number of tokens that the real market lists have for all chains. */
export const MARKET_TOKEN_COUNT = 2_400

/**
 * Counts the requests of every scheduled job on every chain. Each job runs in a warm Lambda container after three
 * blocks without events. The least frequent jobs run first. The other jobs find `MARKET_TOKEN_COUNT` stored tokens, as many as the
 * real market has.
 */
export async function countJobUsage({ run }: Containers, { tables, backends }: Service, meter: Meter) {
  const table = cacheStore(tables.cache)
  const counts: Record<string, { counts: Counts; everyMinutes: number }> = {}
  for (const [name, { everyMinutes, runs }] of JOBS.toSorted(([, a], [, b]) => b.everyMinutes - a.everyMinutes)) {
    for (const input of runs) {
      await run(name, input)
      await Promise.all(backends.chains.map((chain) => callRpc(chain, [MINE, MINE, MINE])))
      const counted = countsOf(await meter.during(() => run(name, input)))
      const { chainId } = z.object({ chainId: z.int().optional() }).parse(input)
      counts[chainId === undefined ? name : `${name} ${chainId}`] = { counts: counted, everyMinutes }
    }
    if (everyMinutes === MAX_MINUTES) await fillMarket(sharedCache({ table, now: Date.now }), MARKET_TOKEN_COUNT)
  }
  return counts
}

const MINE = { method: 'evm_mine', params: [] }
/**
 * Returns a function that mines a block and raises each synchronous vault's asset balance, which raises its share price. The
 * block has the time of the previous block. Asynchronous vaults change their price only when they settle.
 */
export async function createYieldMiner(chain: Backends['chains'][number]): Promise<() => Promise<void>> {
  const vaults = chain.vaults.filter(({ type }) => type === 'sync')
  // The sandbox's tokens keep their balances in storage slot 0.
  const slots = vaults.map(({ asset, address }) => [asset, keccak256(pad(address).concat(SLOT_ZERO) as Hex)] as const)
  const words = await callRpc(
    chain,
    slots.map((slot) => ({ method: 'eth_getStorageAt', params: [...slot, 'latest'] })),
  )
  if (words.every((word) => BigInt(String(word)) === 0n))
    throw new Error(`No vault of ${chain.chainId} holds anything.`)
  return async () => {
    const balances = await callRpc(
      chain,
      slots.map((slot) => ({ method: 'eth_getStorageAt', params: [...slot, 'latest'] })),
    )
    const risen = slots.flatMap((slot, index) => {
      const balance = BigInt(String(balances[index]))
      return balance === 0n ? [] : [[...slot, numberToHex(balance + GAIN, { size: 32 })]]
    })
    await callRpc(
      chain,
      risen.map((params) => ({ method: 'anvil_setStorageAt', params })),
    )
    await callRpc(chain, [{ method: 'anvil_mine', params: ['0x1', '0x0'] }])
  }
}

const SLOT_ZERO = '0'.repeat(64)
const GAIN = 1_000n

const MAX_MINUTES = Math.max(...JOBS.map(([, { everyMinutes }]) => everyMinutes))

const Lambda = z.object({ MemorySize: z.int() })
const Alarm = z.object({
  AlarmDescription: z.string(),
  Metrics: z.array(z.object({ MetricStat: z.unknown().optional() })).optional(),
})
const Filter = z.object({
  MetricTransformations: z.tuple([
    z.object({ MetricName: z.string(), MetricValue: z.string(), Dimensions: z.array(z.unknown()).default([]) }),
  ]),
})

const WebAcl = z.object({ Rules: z.array(z.unknown()) })

/**
 * Counts the AWS resources that cost money without any request. `stage` counts the resources in the stacks of the
 * stage's region. `edge` counts the resources in CloudFront's stack.
 */
export function countStage(stacks: readonly SynthesizedStack[], chainsWithVaults: number) {
  const [edge = [], own = []] = [true, false].map((isEdge) =>
    stacks.filter(({ name }) => name.endsWith('-edge') === isEdge),
  )
  const firewalls = resourcesOf(edge, 'AWS::WAFv2::WebACL').map((properties) => WebAcl.parse(properties).Rules.length)
  return {
    stage: countOwn(own, chainsWithVaults),
    edge: { ...countAlarms(alarmsOf(edge)), firewalls: firewalls.length, firewallRules: sum(firewalls) },
  }
}

/**
 * Counts a stage's AWS resources. `observe.all` counts every alarm except the alarms that roll deployments back.
 * `observe.slo` also excludes alarms that only open tickets.
 */
function countOwn(stacks: readonly SynthesizedStack[], chainsWithVaults: number) {
  const count = (type: string) => resourcesOf(stacks, type).length
  const memory = resourcesOf(stacks, 'AWS::Lambda::Function').map((properties) => Lambda.parse(properties).MemorySize)
  const alarms = alarmsOf(stacks)
  const isOfDeploy = ({ AlarmDescription }: z.output<typeof Alarm>) => AlarmDescription.endsWith('is rolled back.')
  const isTicket = ({ AlarmDescription }: z.output<typeof Alarm>) => AlarmDescription.startsWith('[ticket]')
  const watching = alarms.filter((alarm) => !isOfDeploy(alarm))
  const composites = { compositeAlarms: count('AWS::CloudWatch::CompositeAlarm') }
  return {
    observe: {
      slo: {
        ...countAlarms(watching.filter((alarm) => !isTicket(alarm))),
        ...composites,
        ...{ dashboards: 0, insightRules: 0, ownMetrics: 1 },
      },
      all: {
        ...countAlarms(watching),
        ...composites,
        dashboards: count('AWS::CloudWatch::Dashboard'),
        insightRules: count('AWS::CloudWatch::InsightRule'),
        ownMetrics: countReported(stacks, chainsWithVaults),
      },
    },
    gradual: countAlarms(alarms.filter(isOfDeploy)),
    secrets: count('AWS::SecretsManager::Secret'),
    polledQueues: count('AWS::Lambda::EventSourceMapping'),
    // Endpoints have more memory than jobs and consumers, because a user waits for an endpoint.
    memoryMiB: { endpoints: Math.max(...memory), others: Math.min(...memory) },
  }
}

function countReported(stacks: readonly SynthesizedStack[], chainsWithVaults: number): number {
  const filters = resourcesOf(stacks, 'AWS::Logs::MetricFilter').map((properties) => Filter.parse(properties))
  const reported = filters
    .map(({ MetricTransformations: [transformation] }) => transformation)
    .filter(({ MetricValue }) => /\.(lagSeconds|\w+Vaults)$/.test(MetricValue))
  const ways = new Map(reported.map(({ MetricName, Dimensions }) => [MetricName, Dimensions.length]))
  return sum([...ways.values()].map((dimensions) => (dimensions > 0 ? chainsWithVaults : 1)))
}

function alarmsOf(stacks: readonly SynthesizedStack[]) {
  return resourcesOf(stacks, 'AWS::CloudWatch::Alarm').map((properties) => Alarm.parse(properties))
}

function countAlarms(alarms: readonly z.output<typeof Alarm>[]) {
  const metrics = alarms.map(({ Metrics }) => Metrics?.filter(({ MetricStat }) => MetricStat).length ?? 1)
  return { alarms: metrics.length, alarmMetrics: sum(metrics) }
}

function resourcesOf(stacks: readonly SynthesizedStack[], type: string) {
  const resources = stacks.flatMap(({ template }) => Object.values(template.Resources))
  return resources.filter(({ Type }) => Type === type).map(({ Properties }) => Properties)
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}

/**
 * Counts requests and response bytes of the calls that two users make alternately. The first user meets cold Lambda containers.
 */
export function createCostMeter(meter: Meter, { baseUrl, apiKey }: Pick<Service, 'baseUrl' | 'apiKey'>) {
  const endpoints: Record<string, Partial<EndpointCounts>> = {}
  const during = async (work: () => Promise<unknown>) => countsOf(await meter.during(work))
  return {
    endpoints,
    during,
    /** Wraps `call`, which sends requests to the service. The wrapper counts the first call of each endpoint. */
    counting:
      (call: Call, temperature: 'cold' | 'warm', pass: () => Promise<void>): Call =>
      async (...args) => {
        const [method, path, options = {}] = args
        const { name } = findEndpoint(method, path)
        const counted = endpoints[name] ?? {}
        endpoints[name] = counted
        let reply: Awaited<ReturnType<Call>> | undefined
        const counts = await during(async () => {
          reply = await call(...args)
        })
        if (!reply) throw new Error('It was answered.')
        if (!counted[temperature]) {
          counted[temperature] = counts
          const key = options.key === undefined ? apiKey : options.key
          const headers = { ...(key !== null && { 'x-join-key': key }), 'accept-encoding': 'gzip', ...options.headers }
          if (method !== 'GET') counted.bytes = bytesOf([...reply.headers].flat(), JSON.stringify(reply.body) ?? '')
          else if (temperature === 'warm') {
            const again = () =>
              during(async () => {
                counted.bytes = await measureResponse(`${baseUrl}${path}`, headers)
              })
            // The first repetition may also write to the table: the container leases more units of the key's request
            // rate. The cost model adds such writes separately. So only the second repetition is counted.
            await again()
            counted.again = await again()
          }
        }
        await pass()
        return reply
      },
  }
}

/**
 * Adds a field `oneHost` to each endpoint's counts: the node requests if each chain has only one node host. `others`
 * has the counts that were measured with such chains.
 */
export function addOneHostCounts(
  endpoints: Readonly<Record<string, Partial<EndpointCounts>>>,
  others: Readonly<Record<string, Partial<EndpointCounts>>>,
): Record<string, Partial<EndpointCounts>> {
  const ways = ['cold', 'warm', 'again'] as const
  return Object.fromEntries(
    Object.entries(endpoints).map(([name, counts]) => {
      const oneHostCounts = ways.flatMap((way) => {
        const { rpc = {}, inSeries } = others[name]?.[way] ?? {}
        return Object.keys(rpc).length > 0 && inSeries ? [[way, { rpc, inSeries: { rpc: inSeries.rpc } }]] : []
      })
      return [name, { ...counts, ...(oneHostCounts.length > 0 && { oneHost: Object.fromEntries(oneHostCounts) }) }]
    }),
  )
}

/** Header that API Gateway adds. The local server lacks it. */
const OF_GATEWAY = `apigw-requestid: ${'0'.repeat(36)}\r\n`

function bytesOf(headers: readonly string[], body: string | Buffer): EndpointCounts['bytes'] {
  // HTTP/1.1 also sends a status line, ": " and a line end per header, and an empty line before the body.
  const headerBytes = headers.join('').length + headers.length * 2 + `HTTP/1.1 200 OK\r\n${OF_GATEWAY}\r\n`.length
  return { headers: headerBytes, body: Buffer.byteLength(body) }
}

/** Sends a GET request and returns the size of the response's headers and body in bytes. */
export async function measureResponse(url: string, headers: Record<string, string>): Promise<EndpointCounts['bytes']> {
  const { rawHeaders, bytes } = await sendHttpRequest(url, { method: 'GET', headers })
  return bytesOf(rawHeaders, bytes)
}
