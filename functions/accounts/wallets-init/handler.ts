import { randomBytes } from 'node:crypto'
import { beginLink } from '../../../lib/accounts/wallets.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { limiterOf, usersOf } from '../../../lib/frame/identity.ts'
import { session } from '../../../lib/frame/session.ts'
import { contract } from './contract.ts'

const walletsInit =
  ({ begin }: { begin: ReturnType<typeof beginLink> }) =>
  async ({ session, headers, body, http }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { address, chain } = body.address
    if (chain !== body.chain) {
      const issue = `is not an address of ${body.chain}`
      throw new AppError('missing_or_invalid_address', { details: [{ field: 'address', issue }] })
    }
    return await begin(session, { address, chain, chainId: body.chainId }, { ...headers, sourceIp: http.sourceIp })
  }

export const handler = endpoint(
  contract,
  (env) =>
    walletsInit({
      begin: beginLink({
        users: usersOf(env),
        limit: limiterOf(env),
        relyingParty: env.RELYING_PARTY,
        randomBytes,
        now: Date.now,
      }),
    }),
  session,
)
