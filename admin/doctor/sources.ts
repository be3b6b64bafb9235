import { findBridgeTokenBySymbol } from '../../lib/bridge/tokens.ts'
import type { Config } from '../../lib/config.ts'
import { FailedTry, type HttpRequest, sendOnce } from '../../lib/core/http.ts'
import { type Finding, guideSection } from './finding.ts'

type Environment = {
  readonly fetch: typeof fetch
  /** Time limit of one request to a data source, in milliseconds. */
  readonly questionMs: number
}

/** Third-party source of data that the service shows, such as prices. */
type Source = {
  readonly name: string
  /** Small request with the configured API key; undefined if the source is not configured. */
  readonly request: HttpRequest | undefined
  readonly hasKey: boolean
  /** Configured plan of the API key; undefined if the source's requests do not depend on it. */
  readonly plan?: string
  /** Data that users lack with this configuration; undefined for none. */
  readonly missed?: string | undefined
  /** Returns whether an error with this status and body still shows that the source works and accepts the caller. */
  readonly isAnswer?: (status: number, body: unknown) => boolean
}

/** EVM account for the test requests. No one has its private key. */
const SOMEBODY = '0x00000000000000000000000000000000000000A1'
/** Solana account for the test requests. No one has its private key. */
const SOLANA_SOMEBODY = '11111111111111111111111111111111'
const HUNDRED_DOLLARS = '100000000'
const [FROM, TO] = [8453, 42161]

/** Lists the data sources, each with the request that tests it. Add a new source here. */
function listSources(config: Config): readonly Source[] {
  const { coinGecko, defiLlama, liFi, merkl, bridge, solanaNfts } = config
  const hasHeaders = (headers: object) => Object.keys(headers).length > 0
  return [
    {
      name: 'CoinGecko',
      request: {
        url: `${coinGecko.url}/simple/price?ids=bitcoin&vs_currencies=usd`,
        headers: coinGecko.headers,
      },
      hasKey: hasHeaders(coinGecko.headers),
      plan: coinGecko.plan,
      missed:
        coinGecko.plan === 'pro' ? undefined : 'charts longer than a year, and a market younger than half an hour',
    },
    { name: 'DefiLlama', request: { url: `${defiLlama.url}/prices/current/coingecko:bitcoin` }, hasKey: false },
    {
      name: 'LI.FI',
      request: { url: `${liFi.url}/tokens?chains=100`, headers: liFi.headers },
      hasKey: hasHeaders(liFi.headers),
    },
    {
      name: 'Merkl',
      request: { url: `${merkl.url}/v4/users/${SOMEBODY}/rewards?chainId=8453`, headers: merkl.headers },
      hasKey: hasHeaders(merkl.headers),
    },
    {
      name: 'Across',
      request: { url: `${bridge.url}/suggested-fees?${quoteOf(FROM, TO)}`, headers: bridge.headers },
      hasKey: hasHeaders(bridge.headers),
      // This error concerns only the transfer in the test request, so it shows that the API accepted the caller.
      isAnswer: (status, body) => status === 400 && JSON.stringify(body ?? '').includes('AcrossApiError'),
    },
    ...listIndexes(config),
    {
      name: 'Solana NFTs',
      request: solanaNfts && {
        url: solanaNfts.url,
        body: JSON.stringify({
          ...{ jsonrpc: '2.0', id: 1, method: 'getAssetsByOwner' },
          params: { ownerAddress: SOLANA_SOMEBODY, page: 1, limit: 1 },
        }),
      },
      hasKey: false,
      missed: solanaNfts ? undefined : 'NFTs on Solana',
    },
  ]
}

/** Lists the wallet indexes (APIs that list all tokens of a wallet) that have a key. Without any, users do not see all their tokens. */
function listIndexes({ alchemy, goldRush, tokenIndexes }: Config): readonly Source[] {
  const balances = { jsonrpc: '2.0', id: 1, method: 'alchemy_getTokenBalances', params: [SOMEBODY, 'erc20'] }
  const sources = {
    alchemy: alchemy.apiKey && {
      name: 'Alchemy',
      request: {
        url: `${alchemy.url.replace('{network}', 'gnosis-mainnet')}/v2/${alchemy.apiKey}`,
        body: JSON.stringify(balances),
      },
      hasKey: true,
    },
    goldRush: goldRush.apiKey && {
      name: 'GoldRush',
      request: {
        url: `${goldRush.url}/gnosis-mainnet/address/${SOMEBODY}/balances_v2/`,
        headers: { authorization: `Bearer ${goldRush.apiKey}` },
      },
      hasKey: true,
    },
  }
  const configured = tokenIndexes.flatMap((name) => sources[name] || [])
  if (configured.length > 0) return configured
  const missed = 'tokens beyond the list, and NFTs on EVM chains'
  return [{ name: 'Token index', request: undefined, hasKey: false, missed }]
}

function quoteOf(originChainId: number, destinationChainId: number): string {
  const tokenOf = (chainId: number) => findBridgeTokenBySymbol(chainId, 'USDC')?.address ?? ''
  return new URLSearchParams({
    inputToken: tokenOf(originChainId),
    outputToken: tokenOf(destinationChainId),
    originChainId: String(originChainId),
    destinationChainId: String(destinationChainId),
    amount: HUNDRED_DOLLARS,
    recipient: SOMEBODY,
  }).toString()
}

/**
 * Sends one small request with the configured API key to each data source. Returns whether the source accepts it, and the data that users
 * lack with this configuration.
 */
export async function checkSources(environment: Environment, config: Config): Promise<Finding[]> {
  return await Promise.all(listSources(config).map((source) => checkSource(environment, source)))
}

async function checkSource(environment: Environment, source: Source): Promise<Finding> {
  const { name, request, missed, hasKey, plan } = source
  const remedy = guideSection('secrets', 'Nodes and data sources')
  if (!request) return { mark: 'WARN', name, result: `not configured; users miss ${missed}`, remedy }
  const problem = await askSource(environment, source, request)
  if (problem) return { name, ...problem }
  const answered = hasKey ? `takes the key${plan ? ` of the plan ${plan}` : ''}` : 'answers'
  if (missed) return { mark: 'WARN', name, result: `${answered}; users miss ${missed}`, remedy }
  return { mark: 'ok', name, result: answered }
}

/** Describes what is wrong with the response of a source; undefined if nothing is. */
async function askSource(
  { fetch, questionMs }: Environment,
  { hasKey, plan, isAnswer = () => false }: Source,
  request: HttpRequest,
): Promise<Omit<Finding, 'name'> | undefined> {
  try {
    const { status, body } = await sendOnce({ fetch }, request, AbortSignal.timeout(questionMs))
    if (status < 300 || isAnswer(status, body)) return undefined
    const remedy = guideSection('secrets', 'Nodes and data sources')
    const what = hasKey ? 'the key' : 'who has no key'
    switch (status) {
      case 401:
        return { mark: 'FAIL', result: `does not know ${what} (HTTP status 401)`, remedy }
      case 402:
        return { mark: 'FAIL', result: 'has no credits left for the key (HTTP status 402)', remedy }
      case 403:
        return { mark: 'FAIL', result: `forbids it to ${what}, as another plan would not (HTTP status 403)`, remedy }
      case 429:
        return { mark: 'WARN', result: 'limits how often it is asked, now (HTTP status 429)', remedy }
      default: {
        const perhaps = hasKey && plan ? `, perhaps as the key is not of the plan ${plan}` : ''
        return { mark: 'FAIL', result: `refuses the request${perhaps} (HTTP status ${status})`, remedy }
      }
    }
  } catch (error) {
    if (!(error instanceof FailedTry)) throw error
    return { mark: 'FAIL', result: `does not answer: ${error.message}` }
  }
}
