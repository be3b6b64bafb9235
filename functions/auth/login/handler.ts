import { completeLogin } from '../../../lib/identity/complete-login.ts'
import { apiKey } from '../../../lib/lambda/api-key.ts'
import type { Reply, Request } from '../../../lib/lambda/contract.ts'
import { endpoint } from '../../../lib/lambda/endpoint.ts'
import { readIdentity } from '../../../lib/lambda/identity.ts'
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
