import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test as vitest } from 'vitest'
import { buildSignatureHeaders } from '../lib/webhooks/signature.ts'
import { createHistory, type Entry, HISTORY_STEPS, type PublishedEvent, type Step } from './support/entry-histories.ts'
import { extractGuide } from './support/guides.ts'
import { type Receiver, startReceiver } from './support/receiver.ts'
import { scaleSampleCount } from './support/runs.ts'
import { freePort } from './support/sandbox.ts'
import { startTestServer } from './support/serve.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const USER = '0x00000000000000000000000000000000000000b2'

const test = vitest.extend('guide', { scope: 'file' }, () => extractGuide('docs/guides/webhooks.md', {}))

/** Simulates the service's API for a webhook receiver, with the events, deposits and withdrawals of `history`. */
function serveHistory(history: () => History): Promise<string> {
  return startTestServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://service')
    const { log, list } = history()
    const [, kind] = /(deposit|withdrawal)s$/.exec(pathname) ?? []
    const after = Number(searchParams.get('after'))
    const body =
      kind === 'deposit' || kind === 'withdrawal'
        ? { [`${kind}s`]: list(kind), nextCursor: null }
        : { events: log.slice(after, after + 100) }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  })
}

async function start(folder: string, file: string, history: () => History): Promise<Receiver> {
  const env = { API_URL: await serveHistory(history), API_KEY: 'jk', WEBHOOK_SECRET: SECRET }
  return await startReceiver({ folder, file, env, port: await freePort() })
}

type History = ReturnType<typeof createHistory>

async function deliver({ url }: Receiver, event: PublishedEvent): Promise<boolean> {
  const body = JSON.stringify(event)
  const headers = buildSignatureHeaders({ id: event.id, now: Date.now(), body }, [SECRET])
  return (await fetch(url, { method: 'POST', headers, body })).ok
}

async function deliverInVain(receiver: Receiver, event: PublishedEvent): Promise<boolean> {
  receiver.database.exec('begin exclusive')
  try {
    return await deliver(receiver, event)
  } finally {
    receiver.database.exec('rollback')
  }
}

/**
 * Runs the steps of a history and delivers all of its webhook events except lost ones. Returns the final deposits and
 * withdrawals.
 */
async function live(
  receiver: Receiver,
  history: History,
  steps: readonly Step[],
  { isLatest = true, isLossy = false },
) {
  let reportedCount = 0
  const waiting: PublishedEvent[] = []
  const gather = () => {
    waiting.push(...history.log.slice(reportedCount).filter(({ final }) => isLatest || final))
    reportedCount = history.log.length
  }
  for (const step of steps) {
    gather()
    if (step.kind === 'mine') history.mine(step.pick)
    if (step.kind === 'reorganise') history.reorganise(step.picks)
    if (step.kind === 'publish') history.publish(step.isRead, step.isNamed)
    const [event] = step.kind === 'deliver' ? waiting.splice(step.pick % (waiting.length || 1), 1) : []
    if (step.kind !== 'deliver' || !event || (isLossy && step.isLost)) continue
    const isAccepted = await (step.isLocked ? deliverInVain : deliver)(receiver, event)
    if (!isAccepted || step.isRepeated) waiting.push(event)
  }
  const entries = history.end()
  gather()
  for (const event of waiting.toReversed()) expect(await deliver(receiver, event)).toBe(true)
  return entries
}

function readTable({ database }: Receiver): Entry[] {
  const rows = database.prepare('select entry from entries where entry is not null').all()
  return rows.map(({ entry }) => JSON.parse(String(entry)))
}

const idOf = ({ depositId, withdrawalId }: Entry) => depositId ?? withdrawalId ?? ''

const byChange = (entries: readonly Entry[]) => entries.toSorted((a, b) => a.change - b.change)

async function check(
  folder: string,
  file: string,
  numRuns: number,
  options: { isLatest?: boolean; isLossy?: boolean },
) {
  let [history, count] = [createHistory('h0', USER), 0]
  const receiver = await start(folder, file, () => history)
  return await fc.check(
    fc.asyncProperty(HISTORY_STEPS, async (steps) => {
      receiver.database.exec('delete from entries; delete from progress')
      history = createHistory(`h${++count}`, USER)
      const entries = await live(receiver, history, steps, options)
      if (options.isLossy) {
        await receiver.restart()
        const progress = () => receiver.database.prepare('select sequence from progress').get()?.['sequence'] ?? 0
        await expect.poll(progress, { interval: 5, timeout: 10_000 }).toBe(history.log.length)
      }
      const isClear = (row: Entry) => !history.unclear.has(idOf(row))
      expect(byChange(readTable(receiver).filter(isClear))).toEqual(byChange(entries.filter(isClear)))
    }),
    { numRuns, endOnFailure: true },
  )
}

describe('The receiver of the guide has the right table in the end', () => {
  test('even if events arrive twice, late or in any order, fail, or are reverted', async ({ guide: { folder } }) => {
    expect(fc.defaultReportMessage(await check(folder, 'receiver.ts', scaleSampleCount(60), {}))).toBeUndefined()
  })

  test('with final events only', async ({ guide: { folder } }) => {
    expect(
      fc.defaultReportMessage(await check(folder, 'receiver.ts', scaleSampleCount(40), { isLatest: false })),
    ).toBeUndefined()
  })

  test('after it reads the list, if events never arrive', async ({ guide: { folder } }) => {
    expect(
      fc.defaultReportMessage(await check(folder, 'receiver.ts', scaleSampleCount(15), { isLossy: true })),
    ).toBeUndefined()
  })
})

describe('A receiver has a wrong table in the end', () => {
  const WHERE = /where \(excluded.version, .*/
  test.for([
    ['that stores the last arrival', ''],
    ['that orders by version only', 'where excluded.version >= entries.version'],
  ] as const)('%s', async ([name, where], { guide: { folder, snippets } }) => {
    const file = `${name.replaceAll(' ', '-')}.ts`
    await writeFile(join(folder, file), (snippets.get('receiver.ts') ?? '').replace(WHERE, where))
    expect(await check(folder, file, 300, {})).toMatchObject({ failed: true })
  })

  test('that deletes the rows of reverted entries', async ({ guide: { folder, snippets } }) => {
    const code = (snippets.get('receiver.ts') ?? '').replace(
      'save(id, data.entry)',
      "data.entry === null ? database.prepare('delete from entries where id = ? and version <= ?').run(id, data.version) : save(id, data.entry)",
    )
    await writeFile(join(folder, 'deletes.ts'), code)
    expect(await check(folder, 'deletes.ts', 300, {})).toMatchObject({ failed: true })
  })
})

describe('The receiver of the guide', () => {
  test('does not replace a newer state by an older final one', async ({ guide: { folder } }) => {
    const history = createHistory('h', USER)
    const receiver = await start(folder, 'receiver.ts', () => history)
    for (const number of [0, 0]) history.mine(number)
    history.publish(true, true)
    for (let count = 0; count < 4; count += 1) history.mine()
    history.publish(true, true)
    expect(history.log).toMatchObject([{ final: false }, { final: false }, { type: 'deposit.pending', final: true }])
    for (const event of history.log) await deliver(receiver, event)
    expect(readTable(receiver)).toMatchObject([{ status: 'claimable' }])
  })

  test('refuses unsigned and too long deliveries', async ({ guide: { folder } }) => {
    const history = createHistory('h', USER)
    const receiver = await start(folder, 'receiver.ts', () => history)
    const post = async (body: string, secret = SECRET) => {
      const headers = buildSignatureHeaders({ id: 'evt_1', now: Date.now(), body }, [secret])
      return (await fetch(receiver.url, { method: 'POST', headers, body })).status
    }
    const event = JSON.stringify({ id: 'evt_1', type: 'webhook.test', data: {} })
    const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
    expect(await Promise.all([post(event), post(event, other), post('x'.repeat(70_000))])).toEqual([204, 401, 401])
    expect(await post(JSON.stringify({ id: 'evt_1', type: 'deposit.blessed', data: {} }))).toBe(204)
  })
})
