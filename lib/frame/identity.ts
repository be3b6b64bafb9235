import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { type Limiter, limiter } from '../accounts/limits.ts'
import { type UsersStore, usersStore } from '../accounts/store.ts'
import { dynamo } from '../aws/dynamo.ts'
import { readSecretJson } from '../aws/secrets.ts'
import type { CredentialsEnv, LimitsEnv, UsersEnv } from './env.ts'

const IdentitySecret = z.object({ key: z.string().min(32) })

/** What a function needs to make or check credentials. Throws when the secret cannot be read or has another form. */
export async function readIdentity(env: z.output<typeof UsersEnv> & z.output<typeof CredentialsEnv>) {
  const { key } = await readSecretJson(env.IDENTITY_SECRET, IdentitySecret)
  return { users: usersOf(env), relyingParty: env.RELYING_PARTY, key, randomBytes, now: Date.now }
}

/** The table of users of a function. */
export function usersOf({ USERS_TABLE }: z.output<typeof UsersEnv>): UsersStore {
  return usersStore(dynamo(), USERS_TABLE)
}

/** The limiter of a function. */
export function limiterOf(env: z.output<typeof UsersEnv> & z.output<typeof LimitsEnv>): Limiter {
  return limiter({ count: usersOf(env).count, limits: env.RATE_LIMITS, now: Date.now })
}
