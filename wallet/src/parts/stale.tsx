import type { Success } from '@vaultline/client'
import { AsOf } from './figures.tsx'

/** What a query by `queryAnswer` has. */
type Answered = { readonly data: Success<unknown> | undefined; readonly dataUpdatedAt: number }

/** Of which moment an answer is, where the service has no newer one. */
export function StaleSince({ query: { data, dataUpdatedAt } }: { query: Answered }) {
  if (!data?.isStale) return null
  return <AsOf time={dataUpdatedAt - (data.ageMs ?? 0)} />
}
