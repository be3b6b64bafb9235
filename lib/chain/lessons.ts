/** First pause after a refusal; each further one doubles it. */
const FIRST_PAUSE_MS = 5_000
const MAX_PAUSE_MS = 600_000

/** Limit of one kind. `limit`: the most that was accepted, 0 for nothing. `until`: end of the pause, after which twice as much is tried. */
type Lesson = { readonly limit: number; readonly until: number; readonly pauseMs: number }

/** Limits learnt from the refusals of one host, by kind of question. */
export type Lessons = ReturnType<typeof createLessons>

/** Creates the empty record of one host. `now` in milliseconds. */
export function createLessons(now: () => number) {
  const lessons = new Map<string, Lesson>()

  function limitOf(kind: string): number {
    const known = lessons.get(kind)
    if (!known) return Number.POSITIVE_INFINITY
    return now() < known.until ? known.limit : Math.max(1, known.limit * 2)
  }

  return {
    limitOf,
    /** True if no lesson says that the host refuses this size. */
    allows: (kind: string, size: number) => size <= limitOf(kind),
    /** Records that the host refuses more than this. A refusal after the pause doubles the next pause. */
    learn(kind: string, limit: number): void {
      const known = lessons.get(kind)
      const isFirst = known === undefined || now() < known.until
      const pauseMs = isFirst ? (known?.pauseMs ?? FIRST_PAUSE_MS) : Math.min(known.pauseMs * 2, MAX_PAUSE_MS)
      const least = known && isFirst ? Math.min(known.limit, limit) : limit
      lessons.set(kind, { limit: least, until: now() + pauseMs, pauseMs })
    },
    /** Records that the host accepts this size, and deletes a lesson to the contrary. */
    prove(kind: string, size: number): void {
      if (size > (lessons.get(kind)?.limit ?? Number.POSITIVE_INFINITY)) lessons.delete(kind)
    },
  }
}
