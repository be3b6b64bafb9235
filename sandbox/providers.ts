import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { FakeService, RequestHandler } from './fake.ts'
import { listen } from './listen.ts'
import { type BridgedChain, fakeAcross } from './providers/across.ts'
import { type FakeAlchemy, fakeAlchemy } from './providers/alchemy.ts'
import { fakeCoinGecko } from './providers/coingecko.ts'
import { fakeDefiLlama } from './providers/defillama.ts'
import { fakeGoldRush } from './providers/goldrush.ts'
import { fakeIdleChains } from './providers/idle-chain.ts'
import type { IndexedChain } from './providers/indexed-chain.ts'
import { fakeLiFi } from './providers/lifi.ts'
import { madeUpMarket } from './providers/market.ts'
import { fakeMerkl, type RewardedChain } from './providers/merkl.ts'
import { fakeSecretsManager } from './providers/secrets-manager.ts'
import { fakeSolana, SOLANA_TOKENS } from './providers/solana.ts'
import type { Relayer } from './relayer.ts'
import { createRewardOperator, type RewardOperator } from './rewards.ts'

/** Fakes of the outside services that cannot run locally, all on one server. */
export type Providers = {
  readonly url: string
  /** Fake of the bridge's API, under the path /api. */
  readonly acrossApi: FakeService
  /** Fake of CoinGecko, under the path /coingecko. It reports the same invented market as `defiLlama` and `liFi`. */
  readonly coinGecko: FakeService
  /** Fake of DefiLlama, under the path /defillama. */
  readonly defiLlama: FakeService
  /** Fake of LI.FI, under the path /lifi. */
  readonly liFi: FakeService
  /** Fake of the wallet index GoldRush, under the path /goldrush. */
  readonly goldRush: FakeService
  /** Fake of the wallet index Alchemy, under the path /alchemy/<network>. */
  readonly alchemy: FakeAlchemy
  /** Fake Solana node that also lists NFTs, under the path /solana. */
  readonly solana: FakeService
  /** Fake nodes of chains without balances and events, under the path /idle/<chain id>. */
  readonly idleChains: FakeService
  /** Fake of Merkl's API for rewards, under the path /merkl. */
  readonly merkl: FakeService
  stop(): Promise<void>
}

// Maximum bytes of a request's headers: queries of the bridge's API may exceed Node's default.
const MAX_HEADER_BYTES = 64 * 1024

/**
 * Starts all fakes on one free port. `secrets` are the values in the fake of AWS Secrets Manager. The other fakes report the data of
 * `chains`, and Merkl's fake reports `rewards`, by default none. `now` is in epoch milliseconds.
 */
export async function startProviders(options: {
  readonly secrets: Record<string, unknown>
  readonly chains: readonly (BridgedChain & IndexedChain & RewardedChain)[]
  readonly relayer: Relayer
  readonly rewards?: RewardOperator
  readonly now?: () => number
}): Promise<Providers> {
  const { secrets, chains, relayer, rewards = createRewardOperator({ chains }), now = Date.now } = options
  const acrossApi = fakeAcross({ chains, relayer })
  const tokens = [...chains.flatMap(({ tokens, rewardToken = [] }) => tokens.concat(rewardToken)), ...SOLANA_TOKENS]
  const market = madeUpMarket(tokens)
  const coinGecko = fakeCoinGecko(market, now)
  const defiLlama = fakeDefiLlama(market, now)
  const liFi = fakeLiFi(market, tokens, now)
  const goldRush = fakeGoldRush(chains)
  const alchemy = fakeAlchemy(chains, { now })
  const solana = fakeSolana()
  const idleChains = fakeIdleChains(now)
  const merkl = fakeMerkl({ chains, rewards, market, now })
  const fakes = [acrossApi, coinGecko, defiLlama, liFi, goldRush, alchemy, solana, idleChains, merkl].map(
    ({ answer }) => answer,
  )
  const providers = [fakeSecretsManager(secrets), ...fakes]
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    serve(request, response, providers).catch(() => response.writeHead(500).end())
  }
  return {
    ...(await listen(answer, { maxHeaderSize: MAX_HEADER_BYTES })),
    acrossApi,
    coinGecko,
    defiLlama,
    liFi,
    goldRush,
    alchemy,
    solana,
    idleChains,
    merkl,
  }
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  providers: readonly RequestHandler[],
): Promise<void> {
  const body = await text(request)
  const { method = 'GET' } = request
  const url = new URL(request.url ?? '/', 'http://localhost')
  for (const provider of providers) {
    const reply = await provider({ method, url, headers: request.headers, body })
    if (reply === undefined) continue
    if (reply === 'hang up') {
      request.socket.destroy()
      return
    }
    const { status, contentType = 'application/json', headers = {} } = reply
    const sent = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body)
    response.writeHead(status, { ...headers, 'content-type': contentType }).end(sent)
    return
  }
  response.writeHead(404).end()
}
