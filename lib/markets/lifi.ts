import * as z from 'zod'
import { CHAINS, type Chain } from '../chain/registry.ts'
import { badResponse } from '../core/errors.ts'
import { parseResponseBody, parseRows, type Upstream } from '../core/http.ts'
import { parseTokenAddress } from './address.ts'
import { ListedToken } from './coin.ts'

const MAX_TOKENS = 300
const Tokens = z.object({ tokens: z.record(z.string(), z.unknown()) })
const Token = z.object({
  address: z.string().max(64),
  symbol: z.string().min(1),
  name: z.string().min(1),
  decimals: ListedToken.shape.decimals,
  coinKey: z.string().catch(''),
  logoURI: z.url({ protocol: /^https?$/ }).catch(''),
  verificationStatus: z.string().catch(''),
  marketCapUSD: z.number().positive().catch(0),
})
type Token = z.output<typeof Token>

/** Creates the client of LI.FI's token list (https://docs.li.fi). It throws AppError `upstream_*`. */
export function createLiFi(ask: Upstream) {
  return {
    /**
     * Fetches the tokens of all supported chains by chain key, at most 300 per chain. The chain's native coin comes
     * first, then tokens with a `coinKey`, then others by market cap. The field `coinGeckoId` is empty. A chain without
     * tokens at LI.FI is missing. The response has several megabytes.
     */
    async fetchTokens(): Promise<Map<string, ListedToken[]>> {
      const query = { chains: CHAINS.map(({ id }) => id).join(','), chainTypes: 'EVM,SVM', extended: 'true' }
      const { tokens } = parseResponseBody(Tokens, await ask({ path: '/tokens', query }))
      const listed = new Map<string, ListedToken[]>()
      for (const chain of CHAINS) {
        const ofChain = listedTokens(chain, tokens[chain.id])
        if (ofChain.length > 0) listed.set(chain.key, ofChain)
      }
      if (listed.size === 0) throw badResponse('LI.FI: no usable token on any chain')
      return listed
    },
  }
}

function listedTokens(chain: Chain, rows: unknown): ListedToken[] {
  const candidates = parseRows(Token, Array.isArray(rows) ? rows : []).filter(
    ({ verificationStatus }) => verificationStatus !== 'flagged',
  )
  if (candidates.length === 0) return []
  const isNative = ({ address }: Token) => parseTokenAddress(chain, address) === 'native'
  const contracts = candidates
    .filter((token) => !isNative(token) && (token.coinKey !== '' || token.marketCapUSD > 0))
    .sort((left, right) => rankOf(right) - rankOf(left) || right.marketCapUSD - left.marketCapUSD)
  const listed = new Map([['native', nativeCoin(chain, candidates.find(isNative))]])
  for (const token of contracts) {
    if (listed.size === MAX_TOKENS) break
    const address = parseTokenAddress(chain, token.address)
    if (address && !listed.has(address)) listed.set(address, listedToken(chain, { ...token, address }))
  }
  return [...listed.values()]
}

function rankOf({ coinKey }: Token): number {
  return coinKey === '' ? 0 : 1
}

/** Builds the entry of the chain's native coin. The coin is listed even if LI.FI does not list it. */
function nativeCoin(chain: Chain, token: Token | undefined): ListedToken {
  const { coinKey = '', logoURI = '' } = token ?? {}
  return listedToken(chain, { ...chain.nativeCoin, address: 'native', coinKey, logoURI })
}

function listedToken({ key: chain }: Chain, token: Omit<Token, 'verificationStatus' | 'marketCapUSD'>): ListedToken {
  const { address, symbol, name, decimals, coinKey, logoURI: logoUrl } = token
  return { chain, address, symbol, name, decimals, coinKey, logoUrl, coinGeckoId: '' }
}
