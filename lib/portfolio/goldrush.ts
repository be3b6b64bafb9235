import * as z from 'zod'
import { CHAINS } from '../chain/registry.ts'
import { AppError } from '../core/errors.ts'
import { parseResponseBody, parseRows, type Upstream } from '../core/http.ts'
import { REQUEST_UNITS } from '../meter/meter.ts'
import { NftText } from './nft.ts'
import { isSpam } from './spam.ts'
import {
  ContractAddress,
  IndexedToken,
  isNftStandard,
  Logo,
  ShortText,
  type TokenIndex,
  UintText,
} from './token-index.ts'

/** HTTP statuses with which GoldRush refuses a missing API key, a key without credits, or a plan without the endpoint. */
const REFUSALS = [401, 402, 403]

const Flag = z.boolean().catch(false)
const Price = z.number().nonnegative().nullable().catch(null)

const Answer = z.object({ error: z.literal(false), data: z.object({ items: z.array(z.unknown()) }) })
const Row = z.object({
  contract_address: ContractAddress,
  contract_name: ShortText,
  contract_ticker_symbol: ShortText,
  is_spam: Flag,
  supports_erc: z.array(z.string()).catch([]),
  balance: UintText,
})
const TokenRow = Row.extend({
  contract_decimals: IndexedToken.shape.decimals,
  logo_url: Logo,
  native_token: Flag,
})
const NftRow = Row.extend({
  last_transfered_at: z.iso.datetime({ offset: true }).nullable().catch(null),
  floor_price_quote: Price,
  floor_price_native_quote: Price,
  nft_data: z.array(z.unknown()).catch([]),
})
const { name, description, url, attributes } = NftText
const pictures = { image: url, image_256: url, image_512: url, image_1024: url }
const NftData = z.object({
  token_id: UintText,
  token_url: url,
  original_owner: ContractAddress.nullable().catch(null),
  external_data: z
    .object({ name, description, ...pictures, animation_url: url, external_url: url, attributes })
    .nullable()
    .catch(null),
})

/**
 * Creates the client of GoldRush, a service that lists wallets' tokens (https://goldrush.dev/docs/api-reference). `ask`
 * adds the API key. Functions throw AppError `upstream_*`: `upstream_unavailable` if GoldRush refuses the key or its
 * credits are spent.
 */
export function createGoldRush(ask: Upstream): TokenIndex {
  /** Fetches the rows of a response and omits invalid rows. Returns an empty list if GoldRush does not support the chain. */
  async function fetchRows<Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.output<Schema>[]> {
    const answer = await ask({ path })
    if (answer.status === 404) return []
    if (REFUSALS.includes(answer.status)) {
      throw new AppError('upstream_unavailable', { cause: new Error(`GoldRush: HTTP status ${answer.status}`) })
    }
    return parseRows(schema, parseResponseBody(Answer, answer).data.items)
  }

  return {
    units: REQUEST_UNITS.goldrush,
    tokenChains: CHAINS.map(({ key }) => key),
    nftChains: CHAINS.flatMap(({ kind, key }) => (kind === 'evm' ? [key] : [])),

    async fetchTokens(chainKey, wallet) {
      const rows = await fetchRows(`/${chainKey}/address/${wallet}/balances_v2/`, TokenRow)
      const tokens = rows
        .filter((row) => !row.native_token && row.balance > 0n && !row.supports_erc.some(isNftStandard))
        .map((row) => ({
          address: row.contract_address,
          symbol: row.contract_ticker_symbol,
          name: row.contract_name,
          decimals: row.contract_decimals,
          balance: row.balance,
          isFlagged: row.is_spam,
          logoUrl: row.logo_url,
        }))
      return { tokens, isWhole: true }
    },

    async fetchNfts(chainKey, wallet) {
      const rows = await fetchRows(`/${chainKey}/address/${wallet}/balances_nft/`, NftRow)
      const collections = rows
        .filter(({ balance }) => balance > 0n)
        .map(({ nft_data, supports_erc, ...row }) => ({
          ...row,
          is_spam: row.is_spam || isSpam({ name: row.contract_name, symbol: row.contract_ticker_symbol }),
          supports_erc: supports_erc.filter(isNftStandard),
          chainName: chainKey,
          type: 'nft' as const,
          nft_data: parseRows(NftData, nft_data).map(({ token_id, token_url, original_owner, external_data }) => ({
            token_id: token_id.toString(),
            token_url,
            original_owner,
            current_owner: wallet,
            external_data,
          })),
        }))
      return { collections, isWhole: true }
    },
  }
}
