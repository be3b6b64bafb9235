import { completeLogin } from '../../../lib/accounts/complete-login.ts'
import { apiKey } from '../../../lib/frame/api-key.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { readIdentity } from '../../../lib/frame/identity.ts'
import { contract } from './contract.ts'

const login =
  ({ complete }: { complete: ReturnType<typeof completeLogin> }) =>
  ({ client, body }: Request<typeof contract>): Promise<Reply<typeof contract>> =>
    complete(client.clientId, body)

export const handler = endpoint(
  contract,
  async (env) => login({ complete: completeLogin(await readIdentity(env)) }),
  apiKey,
)
