import { beginLogin } from '../../../lib/identity/begin-login.ts'
import { apiKey } from '../../../lib/lambda/api-key.ts'
import type { Reply, Request } from '../../../lib/lambda/contract.ts'
import { endpoint } from '../../../lib/lambda/endpoint.ts'
import { limiterOf, readIdentity } from '../../../lib/lambda/identity.ts'
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
