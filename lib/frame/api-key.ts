import { dynamo } from '../aws/dynamo.ts'
import type { Client } from '../clients/client.ts'
import { identifyClient } from '../clients/identify.ts'
import { clientsStore } from '../clients/store.ts'

/** Finds the client that the x-join-key header names; throws `missing_api_key` or `invalid_api_key`. */
export function apiKey({ CLIENTS_TABLE }: { CLIENTS_TABLE: string }) {
  const identify = identifyClient({ get: clientsStore(dynamo(), CLIENTS_TABLE).get, now: Date.now })
  return async (headers: Readonly<Record<string, string | undefined>>): Promise<{ client: Client }> => ({
    client: await identify(headers['x-join-key']),
  })
}
