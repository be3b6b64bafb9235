import { type Query, QueryCache, QueryClient, skipToken } from '@tanstack/react-query'

/** What is on the page is asked for again when somebody comes back to it, and not each time a part of it is shown. */
const FRESH_MS = 10_000
const RETRY_MS = 5000

/**
 * What the pages have asked for. What fails with an error that may pass
 * is tried again for as long as it is on the page.
 */
export function createQueries(mayPass: (error: unknown) => boolean, retryMs = RETRY_MS): QueryClient {
  const queries = new QueryClient({
    queryCache: new QueryCache({ onError: (error, failed) => mayPass(error) && void retry(failed) }),
    defaultOptions: { queries: { staleTime: FRESH_MS } },
  })
  const retried = new Set<string>()

  async function retry(failed: Query<unknown, unknown>) {
    const { queryHash, queryKey } = failed
    if (retried.has(queryHash)) return
    retried.add(queryHash)
    do await new Promise((resolve) => setTimeout(resolve, retryMs))
    while (failed.isActive() && failed.state.status === 'error' && !(await isAnswered(failed)))
    retried.delete(queryHash)
    if (failed.isActive() && failed.state.status === 'error') void queries.refetchQueries({ queryKey, exact: true })
  }

  /** Asks aside, so that the notice of the failure stands still until there is something else to show. */
  async function isAnswered({ queryKey, options: { queryFn } }: Query<unknown, unknown>): Promise<boolean> {
    const aside = { queryKey: ['aside', ...queryKey], retry: false, staleTime: 0, gcTime: 0 }
    return queries.fetchQuery({ ...aside, queryFn: queryFn ?? skipToken }).then(
      () => true,
      (error) => !mayPass(error),
    )
  }

  return queries
}
