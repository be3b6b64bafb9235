import { Console } from 'node:console'
import * as z from 'zod'
import type { Told } from './load/backends.ts'
import { type Driven, drive, readAnswer, type Target } from './load/drive.ts'
import { type Helper, startProcess } from './load/process.ts'
import { readOptions } from './options.ts'

// Run by `npm run load`. Puts the service under load on this machine: the driver, the functions, what they talk to, and the
// nodes of the chains are processes of their own. Each connection has a process of functions to itself. So a process has one
// request at a time, as a container of Lambda has, and no two requests share a read. All targets take turns of some seconds,
// so that what else the machine does meets each of them: compare them, rather than figures of different days.

const USAGE = `Usage: npm run load -- [--seconds <n>] [--connections <n>]

Asks each target for so many seconds in all (60) over so many connections (8), each to a process of its own, and ends with
1 where an answer was not right. The health of the service is compared with a function of nothing behind the same HTTP
server.
`
const TURN_SECONDS = 10
const WARM_UP_SECONDS = 2

type Server = Helper<string>
type Measured = {
  readonly name: string
  readonly servers: readonly Server[]
  /** The same path of each server. */
  readonly targets: readonly Target[]
  /** What is wrong with an answer; undefined where nothing is. */
  readonly problem: (answer: unknown) => string | undefined
  readonly turns: (Driven & { readonly cpu: number })[]
}

const Whole = z
  .string()
  .regex(/^[1-9]\d*$/, 'takes a whole number above zero')
  .transform(Number)
const Settings = z.object({ seconds: Whole.default(60), connections: Whole.default(8) })

const say = (text: string) => process.stderr.write(`${text}\n`)

async function main({ seconds, connections }: z.output<typeof Settings>): Promise<void> {
  say('Starting two chains, the tables and the functions …')
  const gateway = new URL('load/gateway.ts', import.meta.url)
  const backends = await startProcess<Told>(new URL('load/backends.ts', import.meta.url))
  const { environment, apiKey, vaults, tokens } = backends.told
  const startServers = (...of: [args: string[], environment?: Readonly<Record<string, string>>]) =>
    Promise.all(Array.from({ length: connections }, () => startProcess<string>(gateway, ...of)))
  const service = await startServers([], { ...environment, SERVICE_VERSION: 'load' })
  const bare = await startServers(['bare'])
  say(`Each target is ${connections} processes, as containers are: each has one connection and one request at a time.`)

  // As wallets ask.
  const headers = { 'x-join-key': apiKey, 'accept-encoding': 'gzip' }
  const target = (name: string, servers: readonly Server[], path: string, answer: z.ZodType): Measured => ({
    ...{ name, servers, targets: servers.map(({ told }) => ({ headers, url: `${told}${path}` })), turns: [] },
    problem: (body) => answer.safeParse(body).error?.message,
  })
  const Health = z.object({ status: z.literal('ok') })
  const Fresh = z.object({ stateAsOf: z.object({ stale: z.literal(false) }) })
  const targets = [
    target('bare', bare, '/health', Health),
    target('health', service, '/health', Health),
    target(
      `list of ${vaults} vaults`,
      service,
      '/defi-vaults/v1/vaults',
      z.object({ data: z.array(Fresh).length(vaults) }),
    ),
    target(
      `markets of ${tokens} tokens`,
      service,
      '/portfolio-indexor/markets?currency=eur',
      z.array(z.object({})).length(tokens),
    ),
  ]
  for (const one of targets) {
    await verify(one)
    await drive(one.targets, WARM_UP_SECONDS)
  }
  for (let left = seconds; left > 0; left -= TURN_SECONDS) {
    for (const one of targets) {
      await cpuOf(one)
      const driven = await drive(one.targets, Math.min(left, TURN_SECONDS))
      one.turns.push({ ...driven, cpu: await cpuOf(one) })
      await verify(one)
      say(`  ${JSON.stringify(row(one, one.turns.slice(-1)))}`)
    }
  }
  const rows = targets.map((one) => row(one, one.turns))
  const [first] = rows
  new Console(process.stdout).table(
    rows.map((one) => ({
      ...one,
      'of bare': `${Math.round((100 * one['requests/s']) / (first?.['requests/s'] ?? 0))} %`,
    })),
  )
  for (const { name, turns } of targets) {
    for (const [error, times] of Map.groupBy(
      turns.flatMap(({ errors }) => errors),
      (error) => error,
    )) {
      say(`${name}: ${times.length} × ${error}`)
      process.exitCode = 1
    }
  }
  await Promise.all([...bare, ...service].map((server) => server.stop()))
  await backends.stop()
}

/** Milliseconds of CPU time that the processes of a target have used since they were last asked. */
async function cpuOf({ servers }: Measured): Promise<number> {
  const each = await Promise.all(servers.map((server) => server.cpu()))
  return each.reduce((sum, cpu) => sum + cpu, 0)
}

/** Throws where the answer of one of a target's processes is not right. */
async function verify({ name, problem, targets }: Measured): Promise<void> {
  for (const target of targets) {
    const wrong = problem(await readAnswer(target))
    if (wrong) throw new Error(`The answer of ${name} is not right: ${wrong}`)
  }
}

function row({ name, servers }: Measured, turns: Measured['turns']) {
  const sum = (of: (turn: Measured['turns'][number]) => number) => turns.reduce((total, turn) => total + of(turn), 0)
  const times = turns.flatMap(({ milliseconds }) => milliseconds).sort((a, b) => a - b)
  const quantile = (share: number) => Math.round((times[Math.floor(times.length * share)] ?? Number.NaN) * 10) / 10
  const requests = sum(({ milliseconds }) => milliseconds.length)
  return {
    target: name,
    processes: servers.length,
    'requests/s': Math.round(requests / sum(({ seconds }) => seconds)),
    errors: sum(({ errors }) => errors.length),
    'p50 ms': quantile(0.5),
    'p99 ms': quantile(0.99),
    'KB/answer': Math.round(sum(({ bytes }) => bytes) / requests / 100) / 10,
    'CPU ms/answer': Math.round((100 * sum(({ cpu }) => cpu)) / requests) / 100,
  }
}

const settings = readOptions(USAGE, Settings)
if (settings) await main(settings)
