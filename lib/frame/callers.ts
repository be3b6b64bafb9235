import { getExpiring } from '../accounts/expiring.ts'
import { identifySession, Session } from '../accounts/session.ts'
import { dynamo } from '../aws/dynamo.ts'
import type { Client } from '../clients/client.ts'
import { identifyClient } from '../clients/identify.ts'
import { clientsStore } from '../clients/store.ts'
import type { EndpointContract } from './contract.ts'
import type { Env } from './resources.ts'

/** A contract whose caller must be known. */
export type CallerContract = EndpointContract & { readonly caller: 'client' | 'user' }

/** Finds out who calls from a request's headers, or throws. */
export type Identify = (
  headers: Readonly<Record<string, string | undefined>>,
) => Promise<{ readonly client?: Client; readonly session?: Session }>

/**
 * Returns a function that finds the client that x-join-key names and, where the contract asks for a user, the session
 * that Authorization carries. It throws `missing_api_key`, `invalid_api_key`, `missing_session` or `invalid_session`.
 */
export function identifyCaller({ caller }: CallerContract, env: Env<'clients'> & Partial<Env<'users'>>): Identify {
  const findClient = identifyClient({ get: clientsStore(dynamo(), env.clients).get, now: Date.now })
  if (caller === 'client') return async (headers) => ({ client: await findClient(headers['x-join-key']) })

  // A contract whose callers are users has their table (`listUses`).
  const { users: TableName } = env as Env<'users'>
  const sessions = { client: dynamo(), TableName, type: 'SESSION', schema: Session } as const
  const findSession = identifySession({ get: (hash) => getExpiring(sessions, hash), now: Date.now })
  return async (headers) => {
    const client = await findClient(headers['x-join-key'])
    return { client, session: await findSession(headers['authorization'], client.clientId) }
  }
}
