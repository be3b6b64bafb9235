import type { Success } from '@vaultline/client'
import { DataTime } from './figures.tsx'

type Answered = { readonly data: Success<unknown> | undefined; readonly dataUpdatedAt: number }

/** Shows the time of the data if a response is stale. */
export function StaleSince({ query: { data, dataUpdatedAt } }: { query: Answered }) {
  if (!data?.isStale) return null
  return <DataTime time={dataUpdatedAt - (data.ageMs ?? 0)} />
}
