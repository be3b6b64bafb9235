import { getExpiring } from '../accounts/expiring.ts'
import { identifySession, Session } from '../accounts/session.ts'
import { dynamo } from '../aws/dynamo.ts'
import type { Client } from '../clients/client.ts'
import { identifyClient } from '../clients/identify.ts'
import { clientsStore } from '../clients/store.ts'
import type { EndpointContract } from './contract.ts'
import type { Env } from './resources.ts'

/** Finds out who calls from a request's headers, or throws. */
export type Identify = (
  headers: Readonly<Record<string, string | undefined>>,
) => Promise<{ readonly client?: Client; readonly session?: Session }>

/**
 * Returns a function that finds the client that x-join-key names and, where the contract asks for a user, the session
 * that Authorization carries; neither where anyone may call. It throws `missing_api_key`, `invalid_api_key`, `missing_session` or `invalid_session`.
 */
export function identifyCaller({ caller }: EndpointContract, env: Partial<Env<'clients' | 'users'>>): Identify {
  if (caller === 'anyone') return async () => ({})

  // A contract whose callers are known has these tables (`listUses`).
  const { clients, users: TableName } = env as Env<'clients' | 'users'>
  const findClient = identifyClient({ get: clientsStore(dynamo(), clients).get, now: Date.now })
  if (caller === 'client') return async (headers) => ({ client: await findClient(headers['x-join-key']) })

  const sessions = { client: dynamo(), TableName, type: 'SESSION', schema: Session } as const
  const findSession = identifySession({ get: (hash) => getExpiring(sessions, hash), now: Date.now })
  return async (headers) => {
    const client = await findClient(headers['x-join-key'])
    return { client, session: await findSession(headers['authorization'], client.clientId) }
  }
}
