import { type Query, QueryCache, QueryClient, skipToken } from '@tanstack/react-query'

/** Time that data stays fresh: a part that mounts does not fetch it again. */
const FRESH_MS = 10_000

/**
 * Creates the query client of all pages. It retries an active query whose error may pass. `pauseAfter` returns the ms until the
 * next try; undefined for a permanent error.
 */
export function createQueries(pauseAfter: (error: unknown) => number | undefined): QueryClient {
  const queries = new QueryClient({
    queryCache: new QueryCache({ onError: (error, failed) => void retry(error, failed) }),
    defaultOptions: { queries: { staleTime: FRESH_MS } },
  })
  const retried = new Set<string>()

  async function retry(error: unknown, failed: Query<unknown, unknown>) {
    const { queryHash, queryKey } = failed
    let pause = pauseAfter(error)
    if (pause === undefined || retried.has(queryHash)) return
    retried.add(queryHash)
    do {
      await new Promise((resolve) => setTimeout(resolve, pause))
      if (!failed.isActive() || failed.state.status !== 'error') break
      pause = await refetchAside(failed)
    } while (pause !== undefined)
    retried.delete(queryHash)
    if (failed.isActive() && failed.state.status === 'error') void queries.refetchQueries({ queryKey, exact: true })
  }

  /** Refetches under a second key, so the error notice stays until data arrives. Returns the next pause; undefined on success. */
  async function refetchAside({
    queryKey,
    options: { queryFn },
  }: Query<unknown, unknown>): Promise<number | undefined> {
    const aside = { queryKey: ['aside', ...queryKey], retry: false, staleTime: 0, gcTime: 0 }
    return queries.fetchQuery({ ...aside, queryFn: queryFn ?? skipToken }).then(() => undefined, pauseAfter)
  }

  return queries
}
