/**
 * Milliseconds after a node's first refusal until a larger call is tried again. A refusal of the larger call doubles
 * this pause.
 */
const FIRST_PAUSE_MS = 5_000
const MAX_PAUSE_MS = 600_000

/**
 * Limit of one kind of calls to a node. `limit` is the largest size to send, 0 for none. After `until`, in
 * milliseconds, a call of twice that size is tried.
 */
type Lesson = { readonly limit: number; readonly until: number; readonly pauseMs: number }

/** Limits of one node, by kind of calls, learnt from its refusals. */
export type LearntLimits = ReturnType<typeof createLearntLimits>

/** Creates the learnt limits of one node, empty at first. `now` returns milliseconds. */
export function createLearntLimits(now: () => number) {
  const lessons = new Map<string, Lesson>()

  function limitOf(kind: string): number {
    const known = lessons.get(kind)
    if (!known) return Number.POSITIVE_INFINITY
    return now() < known.until ? known.limit : Math.max(1, known.limit * 2)
  }

  return {
    limitOf,
    /** True if calls of this size are within the limit learnt for their kind. */
    allows: (kind: string, size: number) => size <= limitOf(kind),
    /**
     * Records that the node refuses calls of this kind that are larger than `limit`. After a pause, a larger call is
     * tried again. A refusal after that pause doubles the next pause.
     */
    learn(kind: string, limit: number): void {
      const known = lessons.get(kind)
      const isFirst = known === undefined || now() < known.until
      const pauseMs = isFirst ? (known?.pauseMs ?? FIRST_PAUSE_MS) : Math.min(known.pauseMs * 2, MAX_PAUSE_MS)
      const least = known && isFirst ? Math.min(known.limit, limit) : limit
      lessons.set(kind, { limit: least, until: now() + pauseMs, pauseMs })
    },
    /** Records that the node accepts calls of this kind and size. Deletes the learnt limit if it is smaller. */
    prove(kind: string, size: number): void {
      if (size > (lessons.get(kind)?.limit ?? Number.POSITIVE_INFINITY)) lessons.delete(kind)
    },
  }
}
