import { CallFailure, type Client, type Operation, pauseFor, type Success } from './operation.ts'

type QueryContext = { readonly signal?: AbortSignal }
type Query<Data> = { readonly state: { readonly data?: Data | undefined } }

/**
 * Builds the options of TanStack Query (React, Vue, Solid, Svelte) for a read: `useQuery(query(listVaults, client, undefined))`. The query
 * polls a status as often as the response says. A failed query throws a CallFailure, whose `error` has the code. The client already retries
 * reads, so `retry` is off.
 */
export function query<Input, Data, Code extends string>(
  operation: Operation<Input, Data, Code>,
  client: Client,
  input: Input,
) {
  const { queryKey, queryFn, retry } = queryAnswer(operation, client, input)
  return {
    queryKey: [...queryKey, 'data'] as const,
    queryFn: async (context?: QueryContext): Promise<Data> => (await queryFn(context)).data,
    refetchInterval: ({ state: { data } }: Query<Data>) => pauseAfter(data),
    retry,
  }
}

/** Builds the same options as `query`, but returns the response's `isStale`, `ageMs` and `requestId` beside the data. */
export function queryAnswer<Input, Data, Code extends string>(
  operation: Operation<Input, Data, Code>,
  client: Client,
  input: Input,
) {
  const { url, key, session } = client
  return {
    // The query key keeps users' cached data apart by a hash of the session token. The token itself is left out, because some caches store
    // their keys on disk.
    queryKey: [
      url,
      key,
      fingerprintOf(typeof session === 'function' ? session() : session),
      operation.route,
      input,
    ] as const,
    queryFn: async ({ signal }: QueryContext = {}): Promise<Success<Data>> => {
      const result = await operation(client, input, { signal })
      if (!result.ok) throw new CallFailure(result.error)
      return result
    },
    refetchInterval: ({ state: { data } }: Query<Success<Data>>) => pauseAfter(data?.data),
    retry: false as const,
  }
}

/** Returns a number that distinguishes sessions but does not reveal the token (FNV-1a, 32 bits). */
function fingerprintOf(session: string | undefined): number | undefined {
  if (session === undefined) return undefined
  let hash = 0x811c9dc5
  for (const letter of session) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193)
  return hash
}

/** Returns the pause before the next poll, in ms; false if none is needed. */
function pauseAfter(data: unknown): number | false {
  const isPolled = typeof data === 'object' && data !== null && 'nextPollAfterMs' in data
  return isPolled && typeof data.nextPollAfterMs === 'number' ? pauseFor(data.nextPollAfterMs) : false
}
