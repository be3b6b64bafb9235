import { type Query, QueryCache, QueryClient, skipToken } from '@tanstack/react-query'

/** Milliseconds for which data counts as fresh. A component that mounts within this time does not fetch the data again. */
const FRESH_MS = 10_000

/**
 * Creates the TanStack Query client of all pages. After a temporary error it retries queries of visible components. `pauseAfter` returns
 * the milliseconds until the next try; undefined for a permanent error.
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

  /**
   * Refetches a query under a second key, so the error stays visible until data arrives. Returns the milliseconds until the next try;
   * undefined after success or a permanent error.
   */
  async function refetchAside({
    queryKey,
    options: { queryFn },
  }: Query<unknown, unknown>): Promise<number | undefined> {
    const aside = { queryKey: ['aside', ...queryKey], retry: false, staleTime: 0, gcTime: 0 }
    return queries.fetchQuery({ ...aside, queryFn: queryFn ?? skipToken }).then(() => undefined, pauseAfter)
  }

  return queries
}
