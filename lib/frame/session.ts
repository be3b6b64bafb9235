import { identifySession, type Session } from '../accounts/session.ts'
import { usersStore } from '../accounts/store.ts'
import { dynamo } from '../aws/dynamo.ts'
import type { Client } from '../clients/client.ts'
import { apiKey } from './api-key.ts'

/**
 * Finds the client that the x-join-key header names and the session of its user that the Authorization header carries;
 * throws `missing_api_key`, `invalid_api_key`, `missing_session` or `invalid_session`.
 */
export function session({ CLIENTS_TABLE, USERS_TABLE }: { CLIENTS_TABLE: string; USERS_TABLE: string }) {
  const identifyClient = apiKey({ CLIENTS_TABLE })
  const identify = identifySession({ get: usersStore(dynamo(), USERS_TABLE).sessions.get, now: Date.now })
  return async (
    headers: Readonly<Record<string, string | undefined>>,
  ): Promise<{ client: Client; session: Session }> => {
    const { client } = await identifyClient(headers)
    return { client, session: await identify(headers['authorization'], client.clientId) }
  }
}
