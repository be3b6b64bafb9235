import { readConfig } from '../../../lib/frame/config.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { usersOf } from '../../../lib/frame/identity.ts'
import { cacheOf } from '../../../lib/frame/markets.ts'
import { goldRushOf, solanaNftsOf } from '../../../lib/frame/portfolio.ts'
import { session } from '../../../lib/frame/session.ts'
import { readAllNfts } from '../../../lib/portfolio/all-nfts.ts'
import { byChain, walletsResponse } from '../../../lib/portfolio/responses.ts'
import { contract } from './contract.ts'

const nfts =
  ({ read }: { read: ReturnType<typeof readAllNfts> }) =>
  async ({ session }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const chains = await read(session)
    return { ...walletsResponse(chains), nfts: byChain(chains, ({ collections }) => collections) }
  }

export const handler = endpoint(
  contract,
  async (env) => {
    const config = await readConfig(env)
    return nfts({
      read: readAllNfts({
        users: usersOf(env),
        cache: cacheOf(env),
        goldRush: goldRushOf(config),
        solanaNfts: solanaNftsOf(config),
        now: Date.now,
      }),
    })
  },
  session,
)
