/** The first pause after a refusal; each further one doubles it. */
const FIRST_PAUSE_MS = 5_000
const MAX_PAUSE_MS = 600_000

/** `limit`: the most that was taken, 0 for nothing. `until`: then the host is tried with twice as much. */
type Lesson = { readonly limit: number; readonly until: number; readonly pauseMs: number }

/** What the refusals of one host teach, by kind of question. */
export type Lessons = ReturnType<typeof createLessons>

/** The record of one host, empty. `now` in milliseconds. */
export function createLessons(now: () => number) {
  const lessons = new Map<string, Lesson>()

  /** The most to ask of this kind; infinite if nothing is known. */
  function limitOf(kind: string): number {
    const known = lessons.get(kind)
    if (!known) return Number.POSITIVE_INFINITY
    return now() < known.until ? known.limit : Math.max(1, known.limit * 2)
  }

  return {
    limitOf,
    /** True if no lesson says that the host refuses so much. */
    allows: (kind: string, size: number) => size <= limitOf(kind),
    /** Notes that the host refuses more than this. A refusal after the pause doubles the next pause. */
    learn(kind: string, limit: number): void {
      const known = lessons.get(kind)
      const isFirst = known === undefined || now() < known.until
      const pauseMs = isFirst ? (known?.pauseMs ?? FIRST_PAUSE_MS) : Math.min(known.pauseMs * 2, MAX_PAUSE_MS)
      const least = known && isFirst ? Math.min(known.limit, limit) : limit
      lessons.set(kind, { limit: least, until: now() + pauseMs, pauseMs })
    },
    /** Notes that the host takes so much, and deletes a lesson to the contrary. */
    prove(kind: string, size: number): void {
      if (size > (lessons.get(kind)?.limit ?? Number.POSITIVE_INFINITY)) lessons.delete(kind)
    },
  }
}
