import type { Success } from '@vaultline/client'
import { AsOf } from './figures.tsx'

type Answered = { readonly data: Success<unknown> | undefined; readonly dataUpdatedAt: number }

/** Shows the time of the data if a response is stale. */
export function StaleSince({ query: { data, dataUpdatedAt } }: { query: Answered }) {
  if (!data?.isStale) return null
  return <AsOf time={dataUpdatedAt - (data.ageMs ?? 0)} />
}
