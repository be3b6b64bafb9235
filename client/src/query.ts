import { CallFailure, type Client, type Operation, pauseFor, type Success } from './operation.ts'

type Asked = { readonly signal?: AbortSignal }
/** What TanStack Query tells of a query: its data so far. */
type Query<Data> = { readonly state: { readonly data?: Data | undefined } }

/**
 * A read as TanStack Query takes it (React, Vue, Solid, Svelte): `useQuery(query(listVaults, client, undefined))`. What is awaited is
 * asked for again as often as its answer says. A query fails with a CallFailure, whose `error` has the code; reads are tried
 * again here, so that `retry` adds nothing.
 */
export function query<Input, Data, Code extends string>(
  operation: Operation<Input, Data, Code>,
  client: Client,
  input: Input,
) {
  const { queryKey, queryFn, retry } = queryAnswer(operation, client, input)
  return {
    queryKey: [...queryKey, 'data'] as const,
    queryFn: async (asked?: Asked): Promise<Data> => (await queryFn(asked)).data,
    refetchInterval: ({ state: { data } }: Query<Data>) => pauseAfter(data),
    retry,
  }
}

/** The same with what came besides the data: `isStale`, `ageMs` and `requestId`. */
export function queryAnswer<Input, Data, Code extends string>(
  operation: Operation<Input, Data, Code>,
  client: Client,
  input: Input,
) {
  const { url, key, session } = client
  return {
    // What one user may see is not another's; the session itself stays out of caches that are kept.
    queryKey: [
      url,
      key,
      fingerprintOf(typeof session === 'function' ? session() : session),
      operation.route,
      input,
    ] as const,
    queryFn: async ({ signal }: Asked = {}): Promise<Success<Data>> => {
      const result = await operation(client, input, { signal })
      if (!result.ok) throw new CallFailure(result.error)
      return result
    },
    refetchInterval: ({ state: { data } }: Query<Success<Data>>) => pauseAfter(data?.data),
    retry: false as const,
  }
}

/** A number that tells sessions apart (FNV-1a, 32 bits), by which none can be found. */
function fingerprintOf(session: string | undefined): number | undefined {
  if (session === undefined) return undefined
  let hash = 0x811c9dc5
  for (const letter of session) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193)
  return hash
}

/** How long to wait before what is awaited is asked for again, in ms; false where nothing is. */
function pauseAfter(data: unknown): number | false {
  const isPolled = typeof data === 'object' && data !== null && 'nextPollAfterMs' in data
  return isPolled && typeof data.nextPollAfterMs === 'number' ? pauseFor(data.nextPollAfterMs) : false
}
