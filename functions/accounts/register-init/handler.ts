import { beginRegistration } from '../../../lib/accounts/begin-registration.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { limiterOf, readIdentity } from '../../../lib/frame/identity.ts'
import { contract } from './contract.ts'

const registerInit =
  ({ begin }: { begin: ReturnType<typeof beginRegistration> }) =>
  ({ headers, body, http }: Request<typeof contract>): Promise<Reply<typeof contract>> =>
    begin(body.email, headers.platform, http.sourceIp)

export const handler = endpoint(contract, async (env) =>
  registerInit({ begin: beginRegistration({ ...(await readIdentity(env)), limit: limiterOf(env) }) }),
)
