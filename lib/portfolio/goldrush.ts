import { getAddress, isAddress } from 'viem'
import * as z from 'zod'
import { Amount, MAX_UINT256 } from '../codecs.ts'
import { AppError } from '../errors.ts'
import { parseAnswer, parseRows, type Upstream } from '../http.ts'
import { type NftCollection, NftText } from './nft.ts'
import { spamFilter } from './spam.ts'

/** A token that an indexer knows of a wallet, listed or not. */
export const IndexedToken = z.object({
  /** EIP-55 checksummed on EVM chains, base58 on Solana. */
  address: z.string(),
  symbol: z.string(),
  name: z.string(),
  decimals: z.number().int().min(0).max(36),
  /** In the token's smallest unit; above zero. */
  balance: Amount,
  /** Whether the indexer takes it for spam. */
  isFlagged: z.boolean(),
  /** May be empty. */
  logoUrl: z.string(),
})
export type IndexedToken = z.output<typeof IndexedToken>

const MOST_TOKENS = 500
/** No key, no credits, a plan that does not have it. */
const REFUSALS = [401, 402, 403]

const Digits = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform(BigInt)
  .refine((amount) => amount <= MAX_UINT256)
const ContractAddress = z.string().max(64).transform(checksummed)
const ShortText = z
  .string()
  .transform((text) => text.slice(0, 100))
  .catch('')
const Flag = z.boolean().catch(false)
const Price = z.number().nonnegative().nullable().catch(null)

const Answer = z.object({ error: z.literal(false), data: z.object({ items: z.array(z.unknown()) }) })
const Row = z.object({
  contract_address: ContractAddress,
  contract_name: ShortText,
  contract_ticker_symbol: ShortText,
  is_spam: Flag,
  supports_erc: z.array(z.string()).catch([]),
  balance: Digits,
})
const TokenRow = Row.extend({
  contract_decimals: IndexedToken.shape.decimals,
  logo_url: z.url({ protocol: /^https$/ }).catch(''),
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
  token_id: Digits,
  token_url: url,
  original_owner: ContractAddress.nullable().catch(null),
  external_data: z
    .object({ name, description, ...pictures, animation_url: url, external_url: url, attributes })
    .nullable()
    .catch(null),
})

const isSpam = spamFilter([])

/**
 * GoldRush's index of wallets (https://goldrush.dev/docs/api-reference), which `ask` asks with its key. Throws AppError
 * `upstream_*`; `upstream_unavailable` when the key is refused or has no credits left.
 */
export function createGoldRush(ask: Upstream) {
  /** The rows of this form; a chain that is not known there has none. */
  async function fetchRows<Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.output<Schema>[]> {
    const answer = await ask({ path })
    if (answer.status === 404) return []
    if (REFUSALS.includes(answer.status)) {
      throw new AppError('upstream_unavailable', { cause: new Error(`GoldRush: HTTP status ${answer.status}`) })
    }
    return parseRows(schema, parseAnswer(Answer, answer).data.items)
  }

  return {
    /** The tokens that a wallet holds, at most 500, those that are no spam first; neither the chain's coin nor NFTs. */
    async fetchTokens(chainKey: string, wallet: string): Promise<IndexedToken[]> {
      const rows = await fetchRows(`/${chainKey}/address/${wallet}/balances_v2/`, TokenRow)
      return rows
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
        .sort((left, right) => Number(left.isFlagged) - Number(right.isFlagged))
        .slice(0, MOST_TOKENS)
    },

    /** The NFTs that a wallet holds, as many as one answer has. */
    async fetchNfts(chainKey: string, wallet: string): Promise<NftCollection[]> {
      const rows = await fetchRows(`/${chainKey}/address/${wallet}/balances_nft/`, NftRow)
      return rows
        .filter(({ balance }) => balance > 0n)
        .map(({ nft_data, supports_erc, ...row }) => ({
          ...row,
          is_spam: row.is_spam || isSpam({ name: row.contract_name, symbol: row.contract_ticker_symbol }),
          supports_erc: supports_erc.filter(isNftStandard),
          chainName: chainKey,
          type: 'nft',
          nft_data: parseRows(NftData, nft_data).map(({ token_id, token_url, original_owner, external_data }) => ({
            token_id: token_id.toString(),
            token_url,
            original_owner,
            current_owner: wallet,
            external_data,
          })),
        }))
    },
  }
}

function isNftStandard(standard: string): boolean {
  return standard === 'erc721' || standard === 'erc1155'
}

function checksummed(address: string): string {
  return isAddress(address, { strict: false }) ? getAddress(address) : address
}
