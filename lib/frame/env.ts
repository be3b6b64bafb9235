import * as z from 'zod'
import { RateLimits } from '../accounts/rate-limits.ts'
import { RelyingParty } from '../accounts/relying-party.ts'

/** The environment of a function that asks who calls. */
export const ClientsEnv = z.object({ CLIENTS_TABLE: z.string().min(1) })

/** The environment of a function that keeps or reads what was recorded of vaults and deposits. */
export const DepositsEnv = z.object({ DEPOSITS_TABLE: z.string().min(1) })

/** The environment of a function that reads chains: the ARN of the secret with its configuration. */
export const ChainsEnv = z.object({ CONFIG_SECRET: z.string().min(1) })

/** The environment of a function that asks market data and balances of upstreams, whose answers all functions share. */
export const CacheEnv = z.object({ CACHE_TABLE: z.string().min(1) })

/** The environment of a function that knows users. */
export const UsersEnv = z.object({ USERS_TABLE: z.string().min(1) })

/** The environment of a function that makes or checks credentials: for whom they are, and the ARN of the secret with the service's key. */
export const CredentialsEnv = z.object({ RELYING_PARTY: json(RelyingParty), IDENTITY_SECRET: z.string().min(1) })

/** The environment of a function that only says for whom credentials are. */
export const RelyingPartyEnv = CredentialsEnv.pick({ RELYING_PARTY: true })

/** The environment of a function that gives out challenges. */
export const LimitsEnv = z.object({ RATE_LIMITS: json(RateLimits) })

/** A value that arrives as JSON text, as variables of an environment must. */
function json<Schema extends z.ZodType>(schema: Schema) {
  return z
    .string()
    .transform((text, context) => {
      try {
        return JSON.parse(text)
      } catch {
        context.issues.push({ code: 'custom', message: 'must be JSON', input: text })
        return z.NEVER
      }
    })
    .pipe(schema)
}
