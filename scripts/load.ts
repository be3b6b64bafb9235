import { Console } from 'node:console'
import * as z from 'zod'
import type { BackendsDescription } from './load/backends.ts'
import { type DriveResult, driveLoad, readAnswer, type Target } from './load/drive.ts'
import { type ChildProcessHandle, startProcess } from './load/process.ts'
import { readOptions } from './options.ts'

// Script of `npm run load`. Measures the service under load on this machine. The load generator, the functions, their
// backends and the chains' nodes are separate processes. Each connection has its own process of functions, which
// handles one request at a time, as a Lambda container does. The load moves to another target every few seconds, so
// that other work on the machine affects all targets. Compare the targets with each other, not with figures of other
// days.

const USAGE = `Usage: npm run load -- [--seconds <n>] [--connections <n>]

Puts load on each target for this many seconds in all (60), over this many connections (8), each to its own process. There are
four targets, and starting them takes about a minute. Ends with 1 if a response was wrong. Compares the health of the service with an empty function behind the same HTTP server.
`
const TURN_SECONDS = 10
const WARM_UP_SECONDS = 2

type Server = ChildProcessHandle<string>
type Measured = {
  readonly name: string
  readonly servers: readonly Server[]
  /** Requests to the same path, one for each process in `servers`. */
  readonly targets: readonly Target[]
  /** Describes what is wrong with a response; undefined if nothing is. */
  readonly problem: (answer: unknown) => string | undefined
  readonly turns: (DriveResult & { readonly cpu: number })[]
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
  const backends = await startProcess<BackendsDescription>(new URL('load/backends.ts', import.meta.url))
  const { environment, apiKey, vaults, tokens } = backends.firstMessage
  const startServers = (...of: [args: string[], environment?: Readonly<Record<string, string>>]) =>
    Promise.all(Array.from({ length: connections }, () => startProcess<string>(gateway, ...of)))
  const service = await startServers([], { ...environment, SERVICE_VERSION: 'load' })
  const bare = await startServers(['bare'])
  say(`Each target is ${connections} processes, as containers are: each has one connection and one request at a time.`)

  // Wallets send the same two headers.
  const headers = { 'x-join-key': apiKey, 'accept-encoding': 'gzip' }
  const target = (name: string, servers: readonly Server[], path: string, answer: z.ZodType): Measured => ({
    ...{
      name,
      servers,
      targets: servers.map(({ firstMessage }) => ({ headers, url: `${firstMessage}${path}` })),
      turns: [],
    },
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
    await driveLoad(one.targets, WARM_UP_SECONDS)
  }
  for (let left = seconds; left > 0; left -= TURN_SECONDS) {
    for (const one of targets) {
      await cpuOf(one)
      const driven = await driveLoad(one.targets, Math.min(left, TURN_SECONDS))
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

/** Returns the milliseconds of CPU time that the processes of a target used since the last call. */
async function cpuOf({ servers }: Measured): Promise<number> {
  const each = await Promise.all(servers.map((server) => server.cpu()))
  return each.reduce((sum, cpu) => sum + cpu, 0)
}

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
