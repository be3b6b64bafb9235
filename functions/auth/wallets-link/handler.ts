import { completeLink } from '../../../lib/identity/wallets.ts'
import { readConfig, readersOf } from '../../../lib/lambda/config.ts'
import type { Reply, Request } from '../../../lib/lambda/contract.ts'
import { endpoint } from '../../../lib/lambda/endpoint.ts'
import { usersOf } from '../../../lib/lambda/identity.ts'
import { session } from '../../../lib/lambda/session.ts'
import { contract } from './contract.ts'

const link =
  ({ complete }: { complete: ReturnType<typeof completeLink> }) =>
  ({ session, body }: Request<typeof contract>): Promise<Reply<typeof contract>> =>
    complete(session, body.message, body.signature)

export const handler = endpoint(
  contract,
  async (env) =>
    link({
      complete: completeLink({ users: usersOf(env), readerOf: readersOf(await readConfig(env)), now: Date.now }),
    }),
  session,
)
