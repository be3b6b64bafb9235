import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, dirname } from 'node:path/posix'
import { describe, expect, vi } from 'vitest'
import * as z from 'zod'
import { runCommandLine } from '../../admin/command-line.ts'
import { JOBS } from '../../infra/functions.ts'
import { parseApiKey } from '../../lib/clients/api-key.ts'
import { loadHandler } from '../../sandbox/gateway.ts'
import { createCloudWatch } from '../support/cloudwatch.ts'
import { someContext } from '../support/lambda.ts'
import { captureLogs } from '../support/logs.ts'
import { finalizeBlocks, recordAllBlocks } from '../support/records.ts'
import { type Service, test as serviceTest, startNewContainers, USERS } from '../support/service.ts'
import { openLagoonVault } from '../support/vaults.ts'
import { publishAndDeliver, someWebhookEvent } from '../support/webhooks.ts'
import { startRecordingProxy } from '../support/wire.ts'
import { synthesizeBareDev } from './synthesize.ts'

const BASE = 8453
/** Minute at which the tests read the alarms, six hours after the start. By then the rarest job has reported several times. */
const NOW = 360
const template = await synthesizeBareDev()

/** Returns a function's id in the template. The id of the function's log group begins with it. */
function idOf(name: string): string {
  const words = basename(name).split('-')
  return `${dirname(name)}/${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}`
}

type Cloud = ReturnType<typeof createCloudWatch>
/** Log lines of one invocation of a function. `failed` is true if the function threw, which Lambda counts as an error. */
type Invocation = { readonly lines: readonly object[]; readonly failed: boolean }

async function logsOf(work: () => Promise<unknown>): Promise<Invocation> {
  const { lines } = captureLogs()
  const failed = await work().then(
    () => false,
    () => true,
  )
  return { lines: [...lines], failed }
}

/** Invokes a function in a new container and returns its log lines. */
async function invoke(name: string, event: unknown): Promise<Invocation> {
  vi.resetModules()
  const handler = await loadHandler(name)
  return await logsOf(() => handler(event, someContext({ remainingMs: 30_000 })))
}

/** Adds the log lines and the metrics of an invocation to the simulated CloudWatch at each of these minutes. */
function play(cloud: Cloud, name: string, { lines, failed }: Invocation, minutes: readonly number[]): void {
  for (const minute of minutes) {
    for (const line of lines) cloud.log(`${idOf(name)}Logs`, line, minute)
    const dimensions = { FunctionName: `vaultline-dev-${name.replace('/', '-')}` }
    cloud.measure({ namespace: 'AWS/Lambda', name: 'Invocations', dimensions }, 1, minute)
    cloud.measure({ namespace: 'AWS/Lambda', name: 'Errors', dimensions }, failed ? 1 : 0, minute)
  }
}

const LATELY = [NOW - 15, NOW - 10, NOW - 5]
const times = (count: number) => Array.from({ length: count }, () => NOW - 1)
const RUNS = JOBS.flatMap(([name, { runs, everyMinutes }]) => runs.map((input) => ({ name, input, everyMinutes })))

let reports: Promise<readonly (Invocation & (typeof RUNS)[number])[]> | undefined
/** Runs each job in a healthy service and returns the log lines of each run. */
async function reportAll() {
  const done = []
  for (const run of RUNS) done.push({ ...run, ...(await invoke(run.name, run.input)) })
  return done
}

/** Alarms that went off in any test: the name of the runbook, by the alarm's name. */
const wentOff = new Map<string, string>()
function alarmsOf(cloud: Cloud): string[] {
  const on = cloud.alarmsAt(NOW)
  for (const [id, text] of on) wentOff.set(id, text.replace(/^.* Runbook: /, ''))
  return [...on.keys()].toSorted()
}

const test = serviceTest
  .extend('lagoon', ({ service }) =>
    service.restore('lagoon', async () => {
      const vault = await openLagoonVault(service, { generation: '0.6' })
      await recordAllBlocks(vault.chain)
      return vault
    }),
  )
  /** Simulated CloudWatch after six hours in which all jobs reported, except those of the chains in `without`. */
  .extend('after', async ({ lagoon: _ }) => {
    reports ??= reportAll()
    const all = await reports
    return ({ without = [] as readonly number[] } = {}): Cloud => {
      const cloud = createCloudWatch(template)
      for (const { name, input, everyMinutes, ...invocation } of all) {
        if (without.includes(Number(input['chainId']))) continue
        const minutes = Array.from({ length: NOW / everyMinutes }, (_, index) => index * everyMinutes)
        play(cloud, name, invocation, minutes)
      }
      return cloud
    }
  })

const runBase = () => invoke('jobs/refresh-chain', { chainId: BASE })

test('No alarm is on in a healthy service', ({ after }) => {
  expect(alarmsOf(after())).toEqual([])
})

describe('A job alarm goes off', () => {
  const minutes = Array.from({ length: NOW }, (_, minute) => minute)

  test('if a chain has no run or only failing runs, but not if some runs fail', async ({ service, after }) => {
    expect(alarmsOf(after({ without: [10] }))).toEqual(['jobs/RefreshChainLate', 'jobs/RefreshRewardsLate'])
    Object.assign(service.rpc[BASE] ?? {}, { behaviour: 'answer 500' })
    const failing = await runBase()
    const cloud = after({ without: [BASE] })
    play(cloud, 'jobs/refresh-chain', failing, minutes)
    expect(alarmsOf(cloud)).toEqual(['jobs/RefreshChainLate', 'jobs/RefreshRewardsLate'])
    const once = after()
    play(once, 'jobs/refresh-chain', failing, times(3))
    expect(alarmsOf(once)).toEqual([])
  })

  test('if a chain with vaults lags, even if the others do not', async ({ after, clock }) => {
    clock.pass(7200)
    const behind = await runBase()
    const cloud = after()
    play(cloud, 'jobs/refresh-chain', behind, LATELY)
    expect(alarmsOf(cloud)).toEqual(['jobs/RefreshChainLate'])
  })

  test('if a vault changes, and if clients do not get its events', async ({ service, lagoon, after }) => {
    const place = ['--chain', `${BASE}`, '--address', lagoon.address]
    const operate = (...args: string[]) => runCommandLine([...args, ...place], async () => service.backends.admin)
    const [, digest = ''] = /--confirm (\w+)/.exec((await operate('confirm-vault')).join('\n')) ?? []
    await operate('confirm-vault', '--confirm', digest)
    await lagoon.upgrade('0.5.1')
    await finalizeBlocks(lagoon.chain)
    const { webhooks } = service.backends.dynamo.tableNames
    service.table.fails = ({ table }) => table === webhooks
    const unreported = await runBase()
    const cloud = after()
    play(cloud, 'jobs/refresh-chain', unreported, LATELY)
    expect(alarmsOf(cloud)).toEqual(['jobs/changedvaults', 'jobs/unreportedvaults'])
  })
})

test('Alarms for records and for signed responses go off if one of a chain’s two nodes is silent', async ({
  service,
  lagoon,
  after,
}) => {
  const { url = '' } = service.rpc[BASE] ?? {}
  const second = await startRecordingProxy(url)
  second.behaviour = 'answer 500'
  service.backends.setRpcUrls({ [BASE]: [url, second.url] })
  const cold = await startNewContainers(service)
  try {
    const { key, address: vaultAddress } = lagoon
    const body = { chainId: BASE, vaultAddress, userAddress: USERS[0].address, amount: '1000000' }
    const logs = await logsOf(() => cold.service.call('POST', '/defi-vaults/v1/defi/vault/deposit', { key, body }))
    const ran = await runBase()
    const cloud = after()
    play(cloud, 'vaults/deposit', logs, times(3))
    expect(alarmsOf(cloud)).toEqual(['api/nodesdisagreeonwhatissigned'])
    play(cloud, 'jobs/refresh-chain', { ...ran, failed: false }, times(3))
    expect(alarmsOf(cloud)).toEqual(['api/nodesdisagreeonwhatissigned', 'jobs/nodesdisagreeonwhatisrecorded'])
  } finally {
    await cold.stop()
    service.backends.setRpcUrls({ [BASE]: [url] })
    await second.stop()
  }
})

describe('An API alarm goes off', () => {
  test('if an endpoint reports an internal error, and if requests are not counted', async ({
    service,
    coldService,
    after,
  }) => {
    const { cache, deposits } = service.backends.dynamo.tableNames
    const list = () => coldService.call('GET', '/defi-vaults/v1/vaults')
    service.table.fails = ({ table }) => table === cache
    const uncounted = await logsOf(list)
    // The clock advances by an hour, so that the data in the container's cache are too old to use.
    coldService.pass(3_600)
    service.table.fails = ({ table }) => table === deposits
    const unread = await logsOf(list)
    const cloud = after()
    play(cloud, 'vaults/list', uncounted, times(10))
    expect(alarmsOf(cloud)).toEqual(['api/requestsnotcounted'])
    play(cloud, 'vaults/list', unread, times(1))
    expect(alarmsOf(cloud)).toEqual(['api/requestsnotcounted', 'vaults/ListAlarm'])
  })

  const ofApi = (name: string) => ({
    ...{ namespace: 'AWS/ApiGateway', name },
    dimensions: { ApiId: 'api/Api', Stage: '$default' },
  })
  /** Adds API Gateway's metrics of this many requests in each of these minutes. */
  const ask = (cloud: Cloud, minutes: readonly number[], { requests = 100, failed = 0, slow = 0 }) => {
    for (const minute of minutes) {
      for (let request = 0; request < requests; request += 1) {
        cloud.measure(ofApi('Count'), 1, minute)
        cloud.measure(ofApi('5xx'), request < failed ? 1 : 0, minute)
        cloud.measure(ofApi('Latency'), request < slow ? 9_000 : 300, minute)
      }
    }
    return alarmsOf(cloud)
  }
  const HOUR = Array.from({ length: 12 }, (_, index) => NOW - 5 * (index + 1))

  test.for([
    ['2 of 100 requests fail, for an hour', 'api/Failingrequests', HOUR, { failed: 2 }],
    ['1 of 100 fails, for an hour', undefined, HOUR, { failed: 1 }],
    ['half of them failed, and none fails now', undefined, HOUR.slice(1, 3), { failed: 50 }],
    ['of a handful one fails', undefined, HOUR, { requests: 5, failed: 1 }],
    ['one request in a hundred is slow', 'api/Slowrequests', LATELY, { slow: 2 }],
  ] as const)('or stays off as required: %s', ([, alarm, minutes, counts], { after }) => {
    const cloud = after()
    ask(cloud, minutes.includes(NOW - 5) ? [] : [NOW - 5], { requests: 100 })
    expect(ask(cloud, minutes, counts)).toEqual(alarm ? [alarm] : [])
  })

  const { AccessLogSettings } = template.ofType('AWS::ApiGatewayV2::Stage')['api/Stage'] ?? {}
  const { Format } = z.object({ Format: z.string() }).parse(AccessLogSettings)
  /** Builds a line of the access log. A variable without a value is `-`. */
  const line = (values: Readonly<Record<string, string>>) =>
    JSON.parse(Format.replaceAll(/\$context\.([\w.]+)/g, (_, name: string) => values[name] ?? '-'))

  test.for([
    ['deposits fail', 'POST /defi-vaults/v1/defi/vault/deposit', 10, 2, 'api/Failingtransactions'],
    ['claims fail', 'POST /defi-vaults/v1/defi/vault/claim', 10, 2, 'api/Failingtransactions'],
    ['logins fail', 'POST /auth/login', 10, 2, 'api/Failinglogins'],
    ['one of ten fails', 'POST /auth/login/init', 10, 1, undefined],
    ['nine are too few to tell', 'POST /defi-vaults/v1/defi/vault/withdraw', 9, 9, undefined],
    ['others fail', 'GET /defi-vaults/v1/vaults', 10, 10, undefined],
  ] as const)('or stays off as required: %s', ([, routeKey, requests, failed, alarm], { after }) => {
    const cloud = after()
    for (let request = 0; request < requests; request += 1) {
      cloud.log('api/AccessLogs', line({ routeKey, status: request < failed ? '503' : '200' }), NOW - 1 - request)
    }
    expect(alarmsOf(cloud)).toEqual(alarm ? [alarm] : [])
  })

  test('and stops a deploy if a new version fails in 5 % of calls, but not if the old one does', ({ after }) => {
    const FunctionName = 'vaultline-dev-vaults-list'
    const [version = ''] = Object.keys(template.ofType('AWS::Lambda::Version')).filter((id) =>
      id.startsWith('vaults/ListFunctionCurrentVersion'),
    )
    const ofVersion = (name: string, ExecutedVersion: string) => ({
      ...{ namespace: 'AWS/Lambda', name },
      dimensions: { FunctionName, Resource: `${FunctionName}:live`, ExecutedVersion },
    })
    const isStopped = (
      executed: string,
      { calls, crashed = 0, failed = 0 }: Record<'calls', number> & Partial<Record<'crashed' | 'failed', number>>,
    ) => {
      const cloud = after()
      cloud.measure(ofVersion('Invocations', executed), calls, NOW - 1)
      cloud.measure(ofVersion('Errors', executed), crashed, NOW - 1)
      for (let one = 0; one < failed; one += 1) {
        cloud.log('vaults/ListLogs', { level: 'ERROR', version: executed }, NOW - 1)
      }
      return cloud.isOn('vaults/ListNewVersion', NOW)
    }
    const now = `${version}.Version`
    expect(isStopped(now, { calls: 100, crashed: 5 })).toBe(true)
    expect(isStopped(now, { calls: 100, failed: 5 })).toBe(true)
    expect(isStopped(now, { calls: 100, failed: 4 })).toBe(false)
    expect(isStopped(now, { calls: 49, failed: 49 })).toBe(false)
    expect(isStopped('1', { calls: 1000, failed: 500, crashed: 500 })).toBe(false)
  })

  test('if the gateway or Lambda throttles requests, but not if a key exceeds its rate', ({ after }) => {
    const ofKey = after()
    for (const minute of times(200)) {
      ofKey.log('api/AccessLogs', line({ status: '429', integrationLatency: '12' }), minute)
    }
    expect(alarmsOf(ofKey)).toEqual([])
    const cloud = after()
    for (const minute of times(100)) cloud.log('api/AccessLogs', line({ status: '429' }), minute)
    cloud.measure({ namespace: 'AWS/Lambda', name: 'Throttles' }, 5, NOW - 1)
    expect(alarmsOf(cloud)).toEqual(['api/Throttles', 'api/requestsrefusedbythegateway'])
  })
})

describe('An edge alarm goes off', () => {
  const ofEdge = (name: string) => ({
    ...{ namespace: 'AWS/CloudFront', name },
    dimensions: { DistributionId: 'edge/Distribution', Region: 'Global' },
  })
  /** Adds CloudFront's metrics: 200 requests in each five minutes, of which this percentage failed. */
  const measured = (cloud: Cloud, rate: '5xxErrorRate' | '4xxErrorRate', percent: number) => {
    for (const minute of LATELY) {
      for (let minutes = 0; minutes < 5; minutes += 1) {
        cloud.measure(ofEdge('Requests'), 40, minute + minutes)
        cloud.measure(ofEdge(rate), percent, minute + minutes)
      }
    }
    return alarmsOf(cloud)
  }

  test.for([
    ['more than one request in twenty fails', '5xxErrorRate', 6, ['edge/Failingedge']],
    ['more than half of them are refused', '4xxErrorRate', 60, ['edge/Refusingedge']],
    ['as many are refused as at other times', '4xxErrorRate', 30, []],
  ] as const)('or stays off as required: %s', ([, rate, percent, alarms], { after }) => {
    expect(measured(after(), rate, percent)).toEqual(alarms)
  })

  test('if the firewall blocks many requests for a quarter of an hour, by any rule', ({ after }) => {
    const [acl] = Object.values(template.ofType('AWS::WAFv2::WebACL'))
    const { MetricName } = z.object({ MetricName: z.string() }).parse(acl?.['VisibilityConfig'])
    const blocked = (rule: string) => ({
      ...{ namespace: 'AWS/WAFV2', name: 'BlockedRequests' },
      dimensions: { WebACL: MetricName, Rule: rule },
    })
    const cloud = after()
    cloud.measure(blocked('ALL'), 5_000, NOW - 1)
    expect(alarmsOf(cloud), 'once').toEqual([])
    for (const minute of LATELY) {
      cloud.measure(blocked('ALL'), 1_000, minute)
      cloud.measure(blocked('by-address'), 1_000, minute)
    }
    expect(alarmsOf(cloud)).toEqual(['edge/Blockedrequests'])
  })
})

const ofQueue = (name: string, queue: string) => ({
  ...{ namespace: 'AWS/SQS', name },
  dimensions: { QueueName: queue },
})

/** Adds SQS's metrics of a queue: the waiting messages, and the messages delivered per five minutes. */
function wait(
  cloud: Cloud,
  queue: string,
  { waiting, received, minutes = 30 }: { waiting: number; received: number; minutes?: number },
): void {
  for (let minute = NOW - minutes; minute < NOW; minute += 1) {
    cloud.measure(ofQueue('ApproximateNumberOfMessagesVisible', queue), waiting, minute)
    cloud.measure(ofQueue('NumberOfMessagesReceived', queue), received / 5, minute)
  }
}

describe('A webhook alarm goes off', () => {
  test('if messages fail, wait or are given up, and if runs are given up', async ({ after }) => {
    const record = { messageId: randomUUID(), body: '{}', attributes: { ApproximateReceiveCount: '1' } }
    const failing = await invoke('queues/deliver-events', { Records: [record] })
    const cloud = after()
    play(cloud, 'queues/deliver-events', failing, times(3))
    expect(alarmsOf(cloud)).toEqual(['queues/DeliverEventsAlarm'])
    wait(cloud, 'vaultline-dev-deliveries', { waiting: 40, received: 30 })
    cloud.measure(ofQueue('ApproximateNumberOfMessagesVisible', 'jobs/DeadLetters.QueueName'), 1, NOW - 1)
    expect(alarmsOf(cloud)).toEqual(['jobs/Undoneruns', 'queues/DeliverEventsAlarm', 'queues/Latewebhooks'])
    const dead = after()
    wait(dead, 'vaultline-dev-deliveries-dead', { waiting: 1, received: 0 })
    expect(alarmsOf(dead)).toEqual(['queues/Latewebhooks'])
  })

  test('but not if a busy queue always has some messages or many wait for a moment', ({ after }) => {
    const cloud = after()
    wait(cloud, 'vaultline-dev-deliveries', { waiting: 200, received: 3_000 })
    wait(cloud, 'vaultline-dev-shards', { waiting: 1_000, received: 0, minutes: 20 })
    expect(alarmsOf(cloud)).toEqual([])
  })

  test('if shards of vaults fail, wait or are given up, but not if nodes fail for a moment', async ({
    service,
    after,
  }) => {
    service.backends.setRpcUrls({ [BASE]: ['http://127.0.0.1:9'] })
    const body = JSON.stringify({ chainId: BASE, shard: '', askedAt: Date.now() })
    const record = { messageId: randomUUID(), body, attributes: { ApproximateReceiveCount: '1' } }
    const failing = await invoke('queues/refresh-shard', { Records: [record] })
    service.backends.setRpcUrls({ [BASE]: [service.rpc[BASE]?.url ?? ''] })
    const cloud = after()
    play(cloud, 'queues/refresh-shard', failing, times(30))
    expect(alarmsOf(cloud)).toEqual([])
    for (const before of [15, 30]) {
      play(
        cloud,
        'queues/refresh-shard',
        failing,
        times(10).map((minute) => minute - before),
      )
    }
    expect(alarmsOf(cloud)).toEqual(['queues/RefreshShardAlarm'])
    wait(cloud, 'vaultline-dev-shards', { waiting: 1, received: 0 })
    cloud.measure(ofQueue('ApproximateNumberOfMessagesVisible', 'vaultline-dev-shards-dead'), 1, NOW - 1)
    expect(alarmsOf(cloud)).toEqual([...['queues/Backlogofshards', 'queues/RefreshShardAlarm', 'queues/Undoneshards']])
  })

  test('if three clients’ servers are unreachable or one responds 410, but not if they respond 500', async ({
    service,
    after,
  }) => {
    const answers: { status?: number } = {}
    const server = createServer((request, response) => {
      if (answers.status) response.writeHead(answers.status).end()
      else request.socket.destroy()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const urlOf = (number: number) => `http://localhost:${port}/${number}`
    /** Delivers events to clients with these numbers of webhooks, and returns the alarms that are then on. */
    const alarmsAfter = async (...webhooks: number[]) => {
      const clients = await Promise.all(webhooks.map((count) => registered(service, count, urlOf)))
      const delivered = await logsOf(async () => {
        for (const { clientId } of clients) await publishAndDeliver(service, clientId, [someWebhookEvent('one')])
        await service.consume()
      })
      const cloud = after()
      play(cloud, 'queues/deliver-events', delivered, times(1))
      return alarmsOf(cloud)
    }
    expect(await alarmsAfter(1, 1, 1)).toEqual(['queues/Failingwebhooks'])
    expect(await alarmsAfter(5)).toEqual([])
    answers.status = 500
    expect(await alarmsAfter(1, 1, 1)).toEqual([])
    answers.status = 410
    expect(await alarmsAfter(1)).toEqual(['queues/webhooksswitchedoff'])
    server.close()
  })
})

async function registered(service: Service, count: number, urlOf: (number: number) => string) {
  const key = await service.createClient([])
  for (let number = 1; number <= count; number += 1) {
    const { status } = await service.call('POST', '/webhooks', { key, body: { url: urlOf(number) } })
    expect(status).toBe(201)
  }
  return { clientId: parseApiKey(key)?.clientId ?? '' }
}

test('Each runbook that an alarm names belongs to an alarm that went off above', () => {
  const all = ['Alarm', 'CompositeAlarm'].flatMap((type) => Object.values(template.ofType(`AWS::CloudWatch::${type}`)))
  const named = all.flatMap(({ AlarmDescription, AlarmActions }) =>
    AlarmActions ? String(AlarmDescription).replace(/^.* Runbook: /, '') : [],
  )
  expect(new Set(wentOff.values())).toEqual(new Set(named))
})
