import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useAppContext } from './context.ts'
import { isEventOfOwner, type Owner, type WebhookDelivery } from './events.ts'
import { useStore } from './store.ts'
import { transfers } from './transfers.ts'
import { useAccounts } from './use-accounts.ts'

const PAUSE_MS = 1000
const MAX_ARRIVALS = 100

/** Returns the webhook events received for this wallet, newest first; undefined outside of the sandbox. */
export function useWebhookDeliveries(): readonly WebhookDelivery[] | undefined {
  const { sandbox } = useAppContext().config
  const { data = NONE } = useQuery({
    queryKey: ['arrivals', sandbox?.receivedUrl],
    queryFn: ({ client, queryKey, signal }) => fetchArrivals(client, queryKey, sandbox?.receivedUrl, signal),
    enabled: sandbox !== undefined,
    staleTime: PAUSE_MS,
    refetchInterval: PAUSE_MS,
    retry: false,
  })
  return sandbox && data
}

const NONE: readonly WebhookDelivery[] = []

async function fetchArrivals(
  queries: QueryClient,
  queryKey: readonly unknown[],
  receivedUrl = '',
  signal: AbortSignal,
): Promise<readonly WebhookDelivery[]> {
  const deliveries = queries.getQueryData<readonly WebhookDelivery[]>(queryKey) ?? NONE
  const response = await fetch(`${receivedUrl}?after=${deliveries[0]?.number ?? 0}`, { signal })
  const { received }: { received: readonly WebhookDelivery[] } = await response.json()
  return [...received.toReversed(), ...deliveries].slice(0, MAX_ARRIVALS)
}

function useOwner(): Owner {
  const { accounts } = useAccounts()
  const sent = useStore(transfers).filter(({ account }) => accounts.has(account))
  return { accounts, transfers: new Set(sent.map(({ hash }) => hash)) }
}

/**
 * Refetches all data of the page when a webhook event about the user arrives. An event that undoes another one, after a chain
 * reorganisation, has the same effect.
 */
export function useRefetchOnEvents(): void {
  const queries = useQueryClient()
  const owner = useOwner()
  const latest = useWebhookDeliveries()?.find(
    ({ isTaken, receivedAt, event }) =>
      isTaken &&
      // Earlier events are already included in the page's first reads, so they cause no refetch.
      Date.parse(receivedAt) > performance.timeOrigin &&
      event &&
      (isEventOfOwner(event, owner) || 'eventId' in event.data),
  )?.number
  useEffect(() => {
    if (latest !== undefined) void queries.invalidateQueries()
  }, [latest, queries])
}
