import { AppError, type ErrorDetail } from '../errors.ts'
import type { Leases, Limit } from './leases.ts'

/** A subject that pays for what it causes. */
export type Subject = {
  readonly name: string
  readonly limit: Limit
  /** Tells the caller which limit is reached; it says nothing about others. */
  readonly detail: ErrorDetail
}

/** Charges each subject a unit, or none at all. Throws `too_many_requests` if one has no units left. */
export type Charge = (subjects: readonly Subject[]) => Promise<void>

/**
 * Returns a function that charges subjects in order, the smallest first: a refused one spends nothing of those behind it. Any
 * subjects will do, so that a session can stand before the network.
 */
export function meter({ spend, findRefusal }: Leases): Charge {
  return async (subjects) => {
    // Known refusals come before any table request, so a flood from new networks writes nothing once the client's units are spent.
    for (const subject of subjects) {
      const seconds = findRefusal(subject.name, subject.limit)
      if (seconds !== undefined) throw refusalOf(subject, seconds)
    }
    const spent: Awaited<ReturnType<typeof spend>>[] = []
    for (const subject of subjects) {
      const spending = await spend(subject.name, subject.limit)
      if (spending.isRefused) {
        for (const { giveBack } of spent) giveBack()
        throw refusalOf(subject, spending.seconds)
      }
      spent.push(spending)
    }
  }
}

function refusalOf({ name, limit, detail }: Subject, seconds: number): AppError {
  return new AppError('too_many_requests', {
    headers: { 'retry-after': seconds.toString() },
    details: [detail],
    cause: new Error(`${name} has spent ${limit.units} units of ${limit.seconds} seconds`),
  })
}
