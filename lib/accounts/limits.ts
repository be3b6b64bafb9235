import { isIPv6 } from 'node:net'
import { AppError } from '../errors.ts'
import type { RateLimits } from './rate-limits.ts'
import type { UsersStore } from './store.ts'
import { hashToken } from './token.ts'

const WINDOW_MS = 10 * 60 * 1000

type Dependencies = {
  readonly count: UsersStore['count']
  readonly limits: RateLimits
  /** Epoch milliseconds. */
  readonly now: () => number
}

/**
 * Limits how often challenges are given out, by IP address and by e-mail address, in windows of ten minutes. Both are
 * counted before anything is known of the e-mail address, and are stored as hashes only.
 */
export function limiter({ count, limits, now }: Dependencies) {
  return async (
    action: 'register' | 'login' | 'wallet',
    sourceIp: string,
    email: string | undefined,
  ): Promise<void> => {
    const endsAt = (Math.floor(now() / WINDOW_MS) + 1) * WINDOW_MS
    const key = (subject: string) => hashToken(`${action} ${subject} ${endsAt}`)
    const within = await Promise.all([
      count(key(networkOf(sourceIp)), limits.perAddress, new Date(endsAt)),
      ...(email === undefined ? [] : [count(key(email), limits.perEmail, new Date(endsAt))]),
    ])
    if (within.every(Boolean)) return
    const seconds = Math.max(1, Math.ceil((endsAt - now()) / 1000))
    throw new AppError('too_many_requests', { headers: { 'retry-after': seconds.toString() } })
  }
}

/** The address; of an IPv6 address its /64, because whoever has one has all of them. */
function networkOf(sourceIp: string): string {
  if (!isIPv6(sourceIp) || sourceIp.includes('.')) return sourceIp
  const [left = '', right = ''] = sourceIp.split('%', 1)[0]?.split('::') ?? []
  const groups = (text: string) => text.split(':').filter(Boolean)
  const missing = 8 - groups(left).length - groups(right).length
  const all = sourceIp.includes('::') ? [...groups(left), ...Array(missing).fill('0'), ...groups(right)] : groups(left)
  return all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
