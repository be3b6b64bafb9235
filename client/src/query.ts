import { type Client, type Operation, orThrow } from './operation.ts'

/**
 * A read as TanStack Query takes it (React, Vue, Solid, Svelte): `useQuery(query(listVaults, client))`. What is awaited is
 * asked for again as often as its answer says. A query fails with a CallFailure, whose `error` has the code; reads are tried
 * again here, so that `retry` adds nothing.
 */
export function query<Input, Data, Code extends string>(
  operation: Operation<Input, Data, Code>,
  client: Client,
  input: Input,
) {
  const { url, key, session } = client
  return {
    // What one user may see is not another's.
    queryKey: [url, key, typeof session === 'function' ? session() : session, operation.route, input] as const,
    queryFn: async ({ signal }: { readonly signal?: AbortSignal } = {}): Promise<Data> =>
      orThrow(await operation(client, input, { signal })),
    refetchInterval: ({
      state: { data },
    }: {
      readonly state: { readonly data?: Data | undefined }
    }): number | false => {
      const isPolled = typeof data === 'object' && data !== null && 'nextPollAfterMs' in data
      return isPolled && typeof data.nextPollAfterMs === 'number' ? data.nextPollAfterMs : false
    },
    retry: false,
  }
}
