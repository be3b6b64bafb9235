import { readConfig, readersOf } from '../../../lib/frame/config.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { usersOf } from '../../../lib/frame/identity.ts'
import { cacheOf } from '../../../lib/frame/markets.ts'
import { goldRushOf, solanaOf } from '../../../lib/frame/portfolio.ts'
import { session } from '../../../lib/frame/session.ts'
import { decimal, times, tokens, toNumber } from '../../../lib/markets/decimal.ts'
import { readAllBalances } from '../../../lib/portfolio/all-balances.ts'
import { byChain, walletsResponse } from '../../../lib/portfolio/responses.ts'
import { contract } from './contract.ts'

/** Decimals of a millionth of a dollar, and of a lamport. */
const MICRO = 6
const LAMPORTS = 9

const allBalances =
  ({ read }: { read: ReturnType<typeof readAllBalances> }) =>
  async ({ client, session, query }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { chains, kyc, smartGas, rate, rent } = await read(session, client.vaults, query.currency)
    return {
      ...walletsResponse(chains),
      tokens: byChain(chains, ({ entries }) => entries),
      kyc: { status: kyc },
      smartgaz: rate ? toNumber(times(tokens(BigInt(smartGas), MICRO), decimal(rate.now))) : 0,
      smartgaz_available: rate !== undefined,
      solana_rent: toNumber(tokens(rent, LAMPORTS)),
    }
  }

export const handler = endpoint(
  contract,
  async (env) => {
    const config = await readConfig(env)
    return allBalances({
      read: readAllBalances({
        users: usersOf(env),
        cache: cacheOf(env),
        readerOf: readersOf(config),
        solana: solanaOf(config),
        index: goldRushOf(config),
        now: Date.now,
      }),
    })
  },
  session,
)
