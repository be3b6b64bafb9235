import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { exchange } from '../../sandbox/exchange.ts'
import { listen } from '../../sandbox/listen.ts'
import { readBody } from '../../sandbox/read-body.ts'

/** One request that went through a meter. */
export type Metered = {
  /** The target that it went to. */
  readonly target: string
  readonly kind: 'aws' | 'rpc' | 'http'
  /** The action of AWS, the methods of a batch of JSON-RPC, else the first part of the path. */
  readonly asked: readonly string[]
  /** What DynamoDB said that it consumed. */
  readonly units: number
  readonly begun: number
  readonly ended: number
}

/** A proxy before several servers, which counts what is asked of them. */
export type Meter = {
  /** Where a target is asked through the meter. */
  readonly urlOf: (target: string) => string
  /** What goes through meanwhile. */
  during(work: () => Promise<unknown>): Promise<Metered[]>
  stop(): Promise<void>
}

/** An answer is held back for so long, so that requests made side by side are seen to be: here they take no time. */
const HELD_MS = 8
const MAX_BYTES = 20 * 1024 * 1024

const Call = z.object({ jsonrpc: z.string(), method: z.string() })
const Calls = z.union([z.array(Call), Call.transform((call) => [call])])
const Capacity = z.object({ CapacityUnits: z.number() })
const Consumed = z.object({
  ConsumedCapacity: z.union([z.array(Capacity), Capacity.transform((capacity) => [capacity])]).default([]),
})

/**
 * Starts a meter before these servers. Of DynamoDB it asks, besides, how many units each request consumes. Each request to a chain
 * waits for `beforeChain`.
 */
export async function startMeter(
  targets: Readonly<Record<string, string>>,
  beforeChain: (target: string) => Promise<unknown> = async () => {},
): Promise<Meter> {
  let metered: Metered[] = []
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const [, target = '', rest = ''] = /^\/([^/?]+)(.*)$/.exec(request.url ?? '') ?? []
    const body = ((await readBody(request, MAX_BYTES)) ?? Buffer.of()).toString()
    const begun = performance.now()
    const action = String(request.headers['x-amz-target'] ?? '')
    const isTable = action.startsWith('DynamoDB')
    const sent = isTable ? JSON.stringify({ ...JSON.parse(body), ReturnConsumedCapacity: 'TOTAL' }) : body
    const { host: _, connection: __, 'content-length': ___, 'transfer-encoding': ____, ...headers } = request.headers
    const { method = 'POST' } = request
    const one = { target, ...whatIsAsked(action, body, rest), units: 0, begun, ended: Number.POSITIVE_INFINITY }
    // What an SDK asks again, because this machine was busy, it would not have asked.
    if (/attempt=1\b|^$/.test(String(request.headers['amz-sdk-request'] ?? ''))) metered.push(one)
    if (one.kind === 'rpc') await beforeChain(target)
    const answer = await exchange(`${targets[target]}${rest}`, { method, headers, ...(sent && { body: sent }) })
    await sleep(Math.max(0, begun + HELD_MS - performance.now()))
    if (isTable) one.units = unitsIn(action, body, answer.text)
    one.ended = performance.now()
    const { connection: _c, 'transfer-encoding': _t, 'keep-alive': _k, 'content-length': _l, ...told } = answer.headers
    response.writeHead(answer.status, told).end(answer.text)
  }
  const { url, stop } = await listen((request, response) => {
    pass(request, response).catch(() => request.destroy())
  })
  return {
    urlOf: (target) => `${url}/${target}`,
    async during(work) {
      const before = metered.length
      await work()
      return metered.slice(before)
    },
    async stop() {
      metered = []
      await stop()
    },
  }
}

function whatIsAsked(action: string, body: string, path: string): Pick<Metered, 'kind' | 'asked'> {
  if (action) return { kind: 'aws', asked: [action.split('.').at(-1) ?? ''] }
  const calls = parseCalls(body)
  return calls ? { kind: 'rpc', asked: calls } : { kind: 'http', asked: [path.split(/[/?]/)[1] ?? ''] }
}

function parseCalls(body: string): string[] | undefined {
  if (!/^\s*[[{]/.test(body)) return undefined
  return Calls.safeParse(JSON.parse(body)).data?.map(({ method }) => method)
}

/**
 * What a request consumed, at least what DynamoDB takes for the least: half a unit to read, a whole one to read what is certain
 * or to write, also where there is nothing, or a condition refuses it.
 */
function unitsIn(action: string, asked: string, answer: string): number {
  const { success, data } = Consumed.safeParse(JSON.parse(answer))
  const units = success ? data.ConsumedCapacity.reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0) : 0
  const isRead = isReading(action)
  return Math.max(units, isRead && !asked.includes('"ConsistentRead":true') ? 0.5 : 1)
}

/** Whether an action of DynamoDB's reads. */
export function isReading(action: string): boolean {
  return /(Get|BatchGet)Item$|Query$|Scan$/.test(action)
}
