import { beginLogin } from '../../../lib/accounts/begin-login.ts'
import { apiKey } from '../../../lib/frame/api-key.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { limiterOf, readIdentity } from '../../../lib/frame/identity.ts'
import { contract } from './contract.ts'

const loginInit =
  ({ begin }: { begin: ReturnType<typeof beginLogin> }) =>
  ({ client, body, http }: Request<typeof contract>): Promise<Reply<typeof contract>> =>
    begin(client.clientId, body.email, http.sourceIp)

export const handler = endpoint(
  contract,
  async (env) => loginInit({ begin: beginLogin({ ...(await readIdentity(env)), limit: limiterOf(env) }) }),
  apiKey,
)
