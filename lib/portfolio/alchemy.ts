import { getAddress, isAddress } from 'viem'
import * as z from 'zod'
import { CHAINS, type ChainKey, type EvmChain } from '../chain/registry.ts'
import { AppError, badResponse } from '../core/errors.ts'
import { parseResponseBody, parseRows, type Upstream, type UpstreamResponse } from '../core/http.ts'
import { REQUEST_UNITS } from '../meter/meter.ts'
import type { AlchemyApi } from './apis.ts'
import { type NftCollection, NftText } from './nft.ts'
import { isSpam } from './spam.ts'
import { IndexedToken, isNftStandard, Logo, ShortText, type TokenIndex, UintText } from './token-index.ts'

// `REQUEST_UNITS.alchemy` charges callers for refreshes of this size, so that many worthless tokens cost their owner.
/** Maximum number of pages that one refresh of a wallet fetches. A page has 100 tokens or NFTs and costs as much as the first one. */
const MAX_PAGES = 2
/** Maximum number of token contracts whose metadata one refresh fetches, at 10 compute units each. Later refreshes fetch the rest. */
const MAX_NEW = 40

/** Chains that Alchemy's NFT API does not cover (https://www.alchemy.com/rpc/bnb, https://www.alchemy.com/rpc/gnosis). */
const WITHOUT_NFTS: readonly ChainKey[] = ['bsc-mainnet', 'gnosis-mainnet']

const EVM_CHAINS = CHAINS.filter((chain) => chain.kind === 'evm')

const EvmAddress = z
  .string()
  .refine((text) => isAddress(text, { strict: false }))
  .transform((text) => getAddress(text))
const HexAmount = z
  .string()
  .regex(/^0x[0-9a-f]{0,64}$/i)
  .transform((text) => (text === '0x' ? 0n : BigInt(text)))
const PageKey = z.string().max(4_096).nullish()

const Failure = z.object({ error: z.object({ code: z.number(), message: z.string().catch('') }) })
const BalancesPage = z.object({
  result: z.object({ address: EvmAddress, tokenBalances: z.array(z.unknown()), pageKey: PageKey }),
})
/** Token of a wallet. The balance is null if Alchemy could not read it. */
const TokenRow = z.object({ contractAddress: EvmAddress, tokenBalance: HexAmount.nullable().catch(null) })
const Metadata = z.object({
  id: z.int(),
  result: z.object({
    name: ShortText,
    symbol: ShortText,
    decimals: IndexedToken.shape.decimals.nullable(),
    logo: Logo,
  }),
})

const { name, description, url, attributes } = NftText
const NftsPage = z.object({ ownedNfts: z.array(z.unknown()), pageKey: PageKey })
const NftRow = z.object({
  contract: z.object({
    address: EvmAddress,
    name: ShortText,
    symbol: ShortText,
    isSpam: z.boolean().catch(false),
    openSeaMetadata: z
      .object({ collectionName: ShortText, floorPrice: z.number().nonnegative().nullable().catch(null) })
      .partial()
      .catch({}),
  }),
  tokenId: UintText,
  tokenType: z.string().catch(''),
  balance: UintText.catch(1n),
  name,
  description,
  tokenUri: url,
  image: z.object({ cachedUrl: url, thumbnailUrl: url, pngUrl: url, originalUrl: url }).partial().catch({}),
  animation: z.object({ cachedUrl: url, originalUrl: url }).partial().catch({}),
  raw: z
    .object({ metadata: z.object({ external_url: url, attributes }).partial().catch({}) })
    .partial()
    .catch({}),
  acquiredAt: z
    .object({ blockTimestamp: z.iso.datetime({ offset: true }).nullable().catch(null) })
    .partial()
    .catch({}),
})
type NftRow = z.output<typeof NftRow>

/**
 * Creates the client of Alchemy's index of EVM wallets (https://www.alchemy.com/docs/data). Each chain has its own
 * host. So `ask` receives complete URLs with the API key instead of paths.
 */
export function createAlchemy(
  ask: Upstream,
  { url: template, apiKey }: Pick<AlchemyApi, 'url'> & { readonly apiKey: string },
): TokenIndex {
  const urlOf = ({ alchemyNetwork }: EvmChain, path: string) =>
    `${template.replace('{network}', alchemyNetwork)}${path}/${apiKey}`

  /** Fetches pages until the last one or MAX_PAGES. `isWhole` is true if the last page was fetched. */
  async function fetchPages<T extends { readonly pageKey?: string | null | undefined }>(
    fetchPage: (pageKey: string | undefined) => Promise<T>,
  ): Promise<{ pages: T[]; isWhole: boolean }> {
    const pages: T[] = []
    let pageKey: string | undefined
    do {
      const page = await fetchPage(pageKey)
      pages.push(page)
      pageKey = page.pageKey ?? undefined
    } while (pageKey !== undefined && pages.length < MAX_PAGES)
    return { pages, isWhole: pageKey === undefined }
  }

  async function fetchBalances(chain: EvmChain, wallet: string, pageKey: string | undefined) {
    const params = [wallet, 'erc20', ...(pageKey === undefined ? [] : [{ pageKey }])]
    const body = { jsonrpc: '2.0', id: 1, method: 'alchemy_getTokenBalances', params }
    const { result } = parseAlchemy(BalancesPage, await ask({ path: urlOf(chain, '/v2'), body }))
    if (result.address !== getAddress(wallet)) throw badResponse('balances of another wallet')
    return result
  }

  /** Fetches the metadata of tokens by contract, in one batch. Metadata that cannot be read are missing. */
  async function fetchMetadata(chain: EvmChain, contracts: readonly string[]) {
    if (contracts.length === 0) return new Map()
    const body = contracts.map((contract, id) => ({
      ...{ jsonrpc: '2.0', id, method: 'alchemy_getTokenMetadata' },
      params: [contract],
    }))
    const rows = parseAlchemy(z.array(z.unknown()), await ask({ path: urlOf(chain, '/v2'), body }))
    return new Map(parseRows(Metadata, rows).map(({ id, result }) => [contracts[id] ?? '', result]))
  }

  return {
    units: REQUEST_UNITS.alchemy,
    tokenChains: EVM_CHAINS.map(({ key }) => key),
    nftChains: EVM_CHAINS.map(({ key }) => key).filter((key) => !WITHOUT_NFTS.includes(key)),

    async fetchTokens(chainKey, wallet, known, listed) {
      const chain = chainOf(chainKey)
      const { pages, isWhole } = await fetchPages((pageKey) => fetchBalances(chain, wallet, pageKey))
      const all = pages.flatMap(({ tokenBalances }) => tokenBalances)
      const rows = parseRows(TokenRow, all)
      const knownOf = new Map(known.map((token) => [token.address, token]))
      const held = rows.filter(
        ({ contractAddress, tokenBalance }) => tokenBalance !== 0n && !listed.has(contractAddress),
      )
      const fresh = held.filter(({ contractAddress, tokenBalance }) => tokenBalance && !knownOf.has(contractAddress))
      const metadata = await fetchMetadata(
        chain,
        fresh.slice(0, MAX_NEW).map(({ contractAddress }) => contractAddress),
      )
      const described = held.map(({ contractAddress: address, tokenBalance }): IndexedToken | 'unread' | 'no token' => {
        const last = knownOf.get(address)
        if (last) return { ...last, balance: tokenBalance ?? last.balance }
        const found = metadata.get(address)
        if (tokenBalance === null || !found) return 'unread'
        const { decimals, logo, ...words } = found
        if (decimals === null) return 'no token'
        return { address, ...words, decimals, balance: tokenBalance, isFlagged: isSpam(words), logoUrl: logo }
      })
      return {
        tokens: described.filter((token) => typeof token !== 'string'),
        isWhole: isWhole && rows.length === all.length && !described.includes('unread'),
      }
    },

    async fetchNfts(chainKey, wallet) {
      const chain = chainOf(chainKey)
      const { pages, isWhole } = await fetchPages(async (pageKey) => {
        const query = {
          owner: wallet,
          withMetadata: 'true',
          pageSize: '100',
          ...(pageKey !== undefined && { pageKey }),
        }
        return parseAlchemy(NftsPage, await ask({ path: `${urlOf(chain, '/nft/v3')}/getNFTsForOwner`, query }))
      })
      const all = pages.flatMap(({ ownedNfts }) => ownedNfts)
      const rows = parseRows(NftRow, all)
      const byContract = Map.groupBy(rows, ({ contract }) => contract.address)
      return {
        collections: [...byContract.values()].map((nfts) => describe(chain, wallet, nfts)),
        isWhole: isWhole && rows.length === all.length,
      }
    },
  }
}

function chainOf(chainKey: ChainKey): EvmChain {
  const chain = EVM_CHAINS.find(({ key }) => key === chainKey)
  if (!chain) throw new AppError('upstream_unavailable', { cause: new Error(`Alchemy: no index of ${chainKey}`) })
  return chain
}

/**
 * Parses the body of a response. Throws `upstream_unavailable` if Alchemy refuses the API key, or if a response with
 * status 200 contains an error.
 */
function parseAlchemy<Schema extends z.ZodType>(schema: Schema, answer: UpstreamResponse): z.output<Schema> {
  const failure = Failure.safeParse(answer.body).data?.error
  const isRefused = answer.status === 401 || answer.status === 403
  if (isRefused || (failure && answer.status < 300)) {
    const why = isRefused ? `HTTP status ${answer.status}` : `error ${failure?.code}`
    throw new AppError('upstream_unavailable', { cause: new Error(`Alchemy: ${why}`) })
  }
  return parseResponseBody(schema, answer)
}

function describe({ key, nativeCoin }: EvmChain, wallet: string, nfts: readonly NftRow[]): NftCollection {
  // The cast is safe: a collection has at least one NFT.
  const [{ contract, tokenType }] = nfts as [NftRow]
  const words = { name: contract.name || (contract.openSeaMetadata.collectionName ?? ''), symbol: contract.symbol }
  const times = nfts.flatMap(({ acquiredAt }) => acquiredAt.blockTimestamp ?? []).sort()
  return {
    contract_address: contract.address,
    contract_name: words.name,
    contract_ticker_symbol: words.symbol,
    supports_erc: [tokenType.toLowerCase()].filter(isNftStandard),
    chainName: key,
    is_spam: contract.isSpam || isSpam(words),
    balance: nfts.reduce((sum, { balance }) => sum + balance, 0n),
    type: 'nft',
    last_transfered_at: times.at(-1) ?? null,
    floor_price_quote: null,
    // Alchemy reports floor prices in ether on all chains. So the price in the native coin is known only on chains
    // whose native coin is ether.
    floor_price_native_quote: nativeCoin.symbol === 'ETH' ? (contract.openSeaMetadata.floorPrice ?? null) : null,
    nft_data: nfts.map(({ tokenId, tokenUri, image, animation, raw, name, description }) => ({
      token_id: tokenId.toString(),
      token_url: tokenUri,
      original_owner: null,
      current_owner: wallet,
      external_data: {
        name,
        description,
        image: image.cachedUrl ?? image.originalUrl ?? null,
        image_256: image.thumbnailUrl ?? null,
        image_512: null,
        image_1024: image.pngUrl ?? null,
        animation_url: animation.cachedUrl ?? animation.originalUrl ?? null,
        external_url: raw.metadata?.external_url ?? null,
        attributes: raw.metadata?.attributes ?? [],
      },
    })),
  }
}
