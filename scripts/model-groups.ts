import { Console } from 'node:console'
import { contract } from '../functions/queues/refresh-group/contract.ts'
import { DAY, MINUTE } from '../lib/time.ts'

// A model of a day of groups of which each minute asks, and which so many functions take at a time: how long a group waits from
// one run to the next, and how many messages wait, where SQS gives them out in order and where it does so at random, for it
// promises nothing. `node scripts/model-groups.ts`

/** How many seconds a run takes, and a message that asks for nothing any more. */
const CASES = [
  { groups: 16, run: 15 },
  { groups: 16, run: 42 },
  { groups: 96, run: 2.4 },
  { groups: 96, run: 15 },
  { groups: 800, run: 2.5 },
]
const STALE = 0.1
/** After so many seconds messages could be dropped unread. */
const DROPPED = 120
const AT_A_TIME = contract.mostAtATime

type Message = { readonly group: number; readonly askedAt: number }
const NONE: Message = { group: 0, askedAt: 0 }

/** Numbers from 0 to 1, the same ones each time (Lehmer's, with Park and Miller's factor). */
function seeded(): () => number {
  let state = 47
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/** A day on which no message that is older than `oldest` seconds is worked on. */
function playDay({ groups, run }: (typeof CASES)[number], order: 'in order' | 'at random', oldest: number) {
  const random = seeded()
  const queue: Message[] = []
  const begunAt = Array.from({ length: groups }, () => -MINUTE)
  const freeAt = Array.from({ length: AT_A_TIME }, () => 0)
  const waits: number[] = []
  let most = 0
  for (let asked = 0; asked < DAY; asked += MINUTE) {
    let taken = 0
    queue.push(...begunAt.map((_, group) => ({ group, askedAt: asked })))
    most = Math.max(most, queue.length)
    while (taken < queue.length) {
      const now = Math.max(asked, Math.min(...freeAt))
      if (now >= asked + MINUTE) break
      const place = order === 'in order' ? taken : taken + Math.floor(random() * (queue.length - taken))
      const { group, askedAt } = queue[place] ?? NONE
      // What is taken stands at the beginning until the minute is over: to take it out each time moves all others.
      queue[place] = queue[taken] ?? NONE
      taken += 1
      const last = begunAt[group] ?? 0
      const isDue = last < askedAt && last + run <= now && now - askedAt <= oldest
      if (isDue) {
        if (last >= 0) waits.push(now - last)
        begunAt[group] = now
      }
      freeAt[freeAt.indexOf(Math.min(...freeAt))] = now + (isDue ? run : STALE)
    }
    queue.splice(0, taken)
  }
  const all = [...waits, ...begunAt.map((last) => DAY - last)].toSorted((left, right) => left - right)
  const at = (share: number) => Math.round(all[Math.floor((all.length - 1) * share)] ?? 0)
  return { 'half wait, s': at(0.5), 'one in 100, s': at(0.99), 'the longest, s': at(1), 'messages at most': most }
}

const rows = CASES.flatMap((of) =>
  (['in order', 'at random'] as const).flatMap((order) =>
    [Number.POSITIVE_INFINITY, DROPPED].map((oldest) => ({ ...of, order, oldest, ...playDay(of, order, oldest) })),
  ),
)
new Console(process.stdout).table(rows)
