import * as z from 'zod'
import { AppError } from '../errors.ts'
import type { CacheStore } from './store.ts'

const WINDOW_MS = 10 * 60 * 1000

/** How many questions to a service the requests of one client may lead to in ten minutes. */
export const QuestionsPerClient = z.number().int().positive()

/** The services that clients' requests are passed on to. */
export type Service = 'coingecko' | 'defillama' | 'goldrush' | 'das'

/** What a client may still ask of a service in the ten minutes that it is. */
export type Budget = {
  /** Counts a question; false where none is left. */
  readonly take: () => Promise<boolean>
  /** The error where this container knows that none is left: `too_many_requests`. */
  readonly refusal: () => AppError | undefined
}

/** Gives the budget that a client has at a service. */
export type Budgets = (service: Service, clientId: string) => Budget

type Dependencies = {
  readonly count: CacheStore['count']
  /** How many questions each client may ask in ten minutes. */
  readonly limits: Readonly<Record<Service, number>>
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** The Budgets that all containers count together, in windows of ten minutes. */
export function clientBudgets({ count, limits, now }: Dependencies): Budgets {
  /** The windows, by their ends, in which a budget was found to be spent. */
  const spent = new Map<string, number>()
  return (service, clientId) => {
    const subject = `${service}#${clientId}`
    const windowEnd = () => (Math.floor(now() / WINDOW_MS) + 1) * WINDOW_MS
    return {
      async take() {
        const end = windowEnd()
        const isLeft = await count(`budget#${subject}#${end}`, limits[service], new Date(end))
        if (!isLeft) spent.set(subject, end)
        return isLeft
      },
      refusal() {
        const left = (spent.get(subject) ?? 0) - now()
        if (left <= 0) return undefined
        return new AppError('too_many_requests', {
          headers: { 'retry-after': Math.ceil(left / 1000).toString() },
          cause: new Error(`client ${clientId} has asked ${service} ${limits[service]} times in ten minutes`),
        })
      },
    }
  }
}
