import { completeLink } from '../../../lib/accounts/wallets.ts'
import { readConfig, readersOf } from '../../../lib/frame/config.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { usersOf } from '../../../lib/frame/identity.ts'
import { session } from '../../../lib/frame/session.ts'
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
