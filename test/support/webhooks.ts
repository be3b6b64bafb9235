import type { Item, PageKey, TransactingDynamo } from '../../lib/aws/requests.ts'
import { appendingLog, enqueueDeliveries, webhooks } from '../../lib/services.ts'
import { publishNotices } from '../../lib/webhooks/append.ts'
import type { Notice } from '../../lib/webhooks/event.ts'
import { buildWebhookId } from '../../lib/webhooks/ids.ts'
import type { Webhook } from '../../lib/webhooks/webhook.ts'
import type { Service } from './service.ts'

type Completed = Extract<Notice, { type: 'deposit.completed' }>

/** Creates a webhook event about a completed deposit, ready to be published. Tests override the fields on which they depend. */
export function someWebhookEvent(
  key: string,
  { data, ...overrides }: Partial<Omit<Completed, 'data'>> & { data?: Partial<Completed['data']> } = {},
): Completed {
  return {
    key,
    type: 'deposit.completed',
    timestamp: new Date('2026-11-01T00:00:00.000Z'),
    final: true,
    ...overrides,
    data: {
      chainId: 8453,
      vaultAddress: '0x00000000000000000000000000000000000000A1',
      userAddress: '0x00000000000000000000000000000000000000b2',
      transactionHash: `0x${'1'.repeat(64)}`,
      blockNumber: 1,
      depositId: null,
      entry: null,
      version: 1,
      assets: 1n,
      shares: 1n,
      ...data,
    },
  }
}

/** Creates a client's webhook that receives all final events of the client. Tests override the fields on which they depend. */
export function someWebhook(clientId: string, overrides: Partial<Webhook> = {}): Webhook {
  const url = overrides.url ?? 'https://receiver.example/'
  return {
    ...{ id: buildWebhookId(clientId, url), version: 'first', url, types: null, finality: 'final' },
    ...{ secret: { version: 'one' }, createdAt: new Date('2026-11-02T00:00:00.000Z'), after: 0, ...overrides },
  }
}

/** Publishes webhook events to a client as the job refresh-chain does, and delivers them. */
export async function publishAndDeliver(service: Service, clientId: string, notices: readonly Notice[]): Promise<void> {
  await publishTo(service, clientId, notices)
  await service.consume()
}

/** Publishes webhook events to a client. The functions that consume queues deliver them later. */
export async function publishTo(service: Service, clientId: string, notices: readonly Notice[]): Promise<void> {
  const { DELIVERY_QUEUE_URL: deliveryQueue = '', WEBHOOKS_TABLE: table = '' } = service.backends.environment
  const env = { deliveryQueue, webhooks: table }
  const services = { eventLog: appendingLog(env), webhooks: webhooks(env), enqueue: enqueueDeliveries(env) }
  await publishNotices({ ...services, now: Date.now, random: Math.random }, notices, () => [clientId])
}

/** Decides when a database request runs. To simulate a crash of the caller, a gate throws before or after the request. */
export type Gate = <T>(request: () => Promise<T>) => Promise<T>

/** Gate that runs every request at once. */
export const PASSING_GATE: Gate = (request) => request()

/**
 * Wraps DynamoDB so that each request passes a gate. A query passes the gate once per item, because other writes may happen
 * between the items.
 */
export function createGatedDynamo(dynamo: TransactingDynamo, gate: Gate): TransactingDynamo {
  if (gate === PASSING_GATE) return dynamo
  const atGate =
    <Request, Response>(send: (request: Request) => Promise<Response>) =>
    (request: Request) =>
      gate(() => send(request))
  return {
    getItem: atGate(dynamo.getItem),
    batchGetItem: atGate(dynamo.batchGetItem),
    putItem: atGate(dynamo.putItem),
    updateItem: atGate(dynamo.updateItem),
    deleteItem: atGate(dynamo.deleteItem),
    batchWriteItem: atGate(dynamo.batchWriteItem),
    transactWriteItems: atGate(dynamo.transactWriteItems),
    async query({ limit = Number.POSITIVE_INFINITY, ...query }) {
      const items: Item[] = []
      let after: PageKey | undefined = query.after
      while (items.length < limit) {
        const [item] = (await gate(() => dynamo.query({ ...query, limit: 1, after }))).items
        if (!item) return { items }
        items.push(item)
        after = { pk: item.pk, sk: item.sk }
      }
      return { items, next: after }
    },
  }
}

/**
 * Returns a gate that runs the first `passed` requests, then throws before the next one, as if the caller had crashed. A crash
 * after a request has the same effect as one before the next request.
 */
export function createCrashingGate(passed: number): { readonly gate: Gate; readonly count: () => number } {
  let requestCount = 0
  return {
    count: () => requestCount,
    gate: async (request) => {
      requestCount += 1
      if (requestCount > passed) throw new Error('killed')
      return await request()
    },
  }
}

/**
 * Runs functions concurrently, but only one of their requests at a time. `choose` gets the number of waiting requests and
 * returns the index of the next one. Errors of the functions are ignored.
 */
export async function interleaveRequests(
  runs: readonly ((gate: Gate) => Promise<unknown>)[],
  choose: (waiting: number) => number,
): Promise<void> {
  const waiting: { readonly run: number; readonly pass: () => Promise<void> }[] = []
  const live = new Set(runs.keys())
  const started = runs.map((run, index) =>
    run(
      (request) =>
        new Promise((resolve, reject) => {
          waiting.push({ run: index, pass: async () => await request().then(resolve, reject) })
        }),
    )
      .catch(() => {})
      .finally(() => live.delete(index)),
  )
  const isReady = () => [...live].every((index) => waiting.some(({ run }) => run === index))
  while (live.size > 0) {
    // The loop waits until every running function has ended or waits at its next request.
    do await new Promise((resolve) => setImmediate(resolve))
    while (!isReady())
    await waiting.splice(choose(waiting.length), 1)[0]?.pass()
  }
  await Promise.all(started)
}
