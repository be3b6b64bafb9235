import * as z from 'zod'
import { AppError } from '../core/errors.ts'
import { parseResponseBody, parseRows, type Upstream } from '../core/http.ts'
import { type NftCollection, NftText } from './nft.ts'
import { isSpam } from './spam.ts'

const MAX_ASSETS = 500
const CHAIN = 'solana-mainnet'

const Answer = z.object({ result: z.object({ items: z.array(z.unknown()) }) })
const { name, description, url, attributes } = NftText
const Asset = z.object({
  interface: z.string().catch(''),
  id: z.string().min(1).max(64),
  burnt: z.boolean().catch(false),
  content: z
    .object({
      json_uri: url,
      metadata: z.object({ name, symbol: name, description, attributes }).partial().catch({}),
      links: z.object({ image: url, animation_url: url, external_url: url }).partial().catch({}),
      files: z.array(z.object({ cdn_uri: url })).catch([]),
    })
    .partial()
    .catch({}),
  grouping: z
    .array(
      z.object({
        group_key: z.string(),
        group_value: z.string().max(64),
        collection_metadata: z.object({ name, symbol: name }).partial().catch({}),
      }),
    )
    .catch([]),
  ownership: z.object({ owner: z.string().max(64) }),
})
type Asset = z.output<typeof Asset>

/**
 * Creates the client of a Solana node with the Digital Asset Standard API, which lists NFTs
 * (https://github.com/metaplex-foundation/digital-asset-standard-api).
 */
export function createSolanaNftClient(ask: Upstream) {
  return {
    /**
     * Fetches a wallet's NFTs by collection, from the wallet's first 500 assets. Burnt and fungible assets are left
     * out. Throws AppError `upstream_*`.
     */
    async fetchNfts(wallet: string): Promise<NftCollection[]> {
      const params = { ownerAddress: wallet, page: 1, limit: MAX_ASSETS }
      const answer = await ask({ path: '', body: { jsonrpc: '2.0', id: 1, method: 'getAssetsByOwner', params } })
      if (answer.status === 401 || answer.status === 403) {
        throw new AppError('upstream_unavailable', { cause: new Error(`the DAS node: HTTP status ${answer.status}`) })
      }
      const assets = parseRows(Asset, parseResponseBody(Answer, answer).result.items).filter(
        (asset) => !asset.burnt && !asset.interface.startsWith('Fungible'),
      )
      return [...Map.groupBy(assets, collectionOf)].map(([address, members]) => describe(address, members))
    },
  }
}

/** Returns the id of the collection to which an NFT belongs. An NFT without a collection is its own collection. */
function collectionOf({ id, grouping }: Asset): string {
  return grouping.find(({ group_key }) => group_key === 'collection')?.group_value ?? id
}

function describe(address: string, assets: readonly Asset[]): NftCollection {
  const [first] = assets
  const group = first?.grouping.find(({ group_value }) => group_value === address)?.collection_metadata
  const name = group?.name ?? first?.content.metadata?.name ?? ''
  const symbol = group?.symbol ?? first?.content.metadata?.symbol ?? ''
  return {
    contract_address: address,
    contract_name: name,
    contract_ticker_symbol: symbol,
    supports_erc: ['metaplex'],
    chainName: CHAIN,
    is_spam: isSpam({ name, symbol }),
    balance: BigInt(assets.length),
    type: 'nft',
    last_transfered_at: null,
    floor_price_quote: null,
    floor_price_native_quote: null,
    nft_data: assets.map(({ id, content, ownership }) => {
      const { metadata = {}, links = {}, files = [] } = content
      return {
        token_id: id,
        token_url: content.json_uri ?? null,
        original_owner: null,
        current_owner: ownership.owner,
        external_data: {
          name: metadata.name ?? null,
          description: metadata.description ?? null,
          image: links.image ?? files.find(({ cdn_uri }) => cdn_uri)?.cdn_uri ?? null,
          image_256: null,
          image_512: null,
          image_1024: null,
          animation_url: links.animation_url ?? null,
          external_url: links.external_url ?? null,
          attributes: metadata.attributes ?? [],
        },
      }
    }),
  }
}
