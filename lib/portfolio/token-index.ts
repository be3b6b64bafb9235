import { getAddress, isAddress } from 'viem'
import * as z from 'zod'
import type { ChainKey } from '../chain/registry.ts'
import { Amount, MAX_UINT256 } from '../core/codecs.ts'
import { AppError } from '../core/errors.ts'
import type { OwnedNfts } from './nft.ts'

/** Token of a wallet as a token index reports it, a service that lists wallets' tokens. This service may not support the token. */
export const IndexedToken = z.object({
  /** Contract address: EIP-55 checksummed on EVM chains, or the mint address in base58 on Solana. */
  address: z.string(),
  symbol: z.string(),
  name: z.string(),
  decimals: z.number().int().min(0).max(36),
  /** Balance in the token's smallest unit. It is always above zero. */
  balance: Amount,
  /** True if the token index reports the token as spam. */
  isFlagged: z.boolean(),
  /** URL of the token's picture; may be empty. */
  logoUrl: z.string(),
})
export type IndexedToken = z.output<typeof IndexedToken>

/** Schema of a decimal number with up to 256 bits as text. Parsing converts it to a bigint. */
export const UintText = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform(BigInt)
  .refine((amount) => amount <= MAX_UINT256)
/** Address of a token contract on an EVM chain, parsed with its EIP-55 checksum, or of a mint on Solana. */
export const ContractAddress = z
  .string()
  .max(64)
  .transform((text) => (isAddress(text, { strict: false }) ? getAddress(text) : text))
/** Short text that a third party wrote, cut to 100 characters so that many fit into a table item. Any other value becomes an empty text. */
export const ShortText = z
  .string()
  .transform((text) => text.slice(0, 100))
  .catch('')
/** URL of a picture with https. Any other value becomes an empty text. */
export const Logo = z
  .url({ protocol: /^https$/ })
  .max(500)
  .catch('')

/** Returns true if a token standard is one of NFTs: `erc721` or `erc1155`. */
export function isNftStandard(standard: string): boolean {
  return standard === 'erc721' || standard === 'erc1155'
}

/** Tokens that a wallet has on a chain. `isWhole` is true if the token index reported all of them except spam. */
export type IndexedTokens = { readonly tokens: readonly IndexedToken[]; readonly isWhole: boolean }

/**
 * Client of a token index, a service that lists wallets' tokens. Its functions throw AppError `upstream_*`:
 * `upstream_unavailable` if the service refuses the API key.
 */
export type TokenIndex = {
  /** Cost of one request for tokens or for NFTs, in rate-limit units that the API caller pays. */
  readonly units: { readonly tokens: number; readonly nfts: number }
  readonly tokenChains: readonly ChainKey[]
  readonly nftChains: readonly ChainKey[]
  /**
   * Fetches a wallet's tokens, except the chain's native coin and NFTs. `known` has the tokens of the last response,
   * whose metadata need not be fetched again. The index may omit tokens in `listed`, because their balances are read
   * from the chain.
   */
  fetchTokens(
    chainKey: ChainKey,
    wallet: string,
    known: readonly IndexedToken[],
    listed: ReadonlySet<string>,
  ): Promise<IndexedTokens>
  fetchNfts(chainKey: ChainKey, wallet: string): Promise<OwnedNfts>
}

/** Returns a token index that tries these indexes in order until one succeeds. Returns undefined if the list is empty. */
export function createFallbackIndex(indexes: readonly TokenIndex[]): TokenIndex | undefined {
  if (indexes.length === 0) return undefined
  return {
    units: {
      tokens: Math.max(...indexes.map(({ units }) => units.tokens)),
      nfts: Math.max(...indexes.map(({ units }) => units.nfts)),
    },
    tokenChains: [...new Set(indexes.flatMap(({ tokenChains }) => tokenChains))],
    nftChains: [...new Set(indexes.flatMap(({ nftChains }) => nftChains))],
    fetchTokens: (chainKey, wallet, known, listed) =>
      firstOf(
        indexes.filter(({ tokenChains }) => tokenChains.includes(chainKey)),
        (index) => index.fetchTokens(chainKey, wallet, known, listed),
      ),
    fetchNfts: (chainKey, wallet) =>
      firstOf(
        indexes.filter(({ nftChains }) => nftChains.includes(chainKey)),
        (index) => index.fetchNfts(chainKey, wallet),
      ),
  }
}

/** Returns the response of the first index that succeeds. If all fail, it throws the error of the last one. */
async function firstOf<T>(indexes: readonly TokenIndex[], ask: (index: TokenIndex) => Promise<T>): Promise<T> {
  let failure: unknown = new AppError('upstream_unavailable', { cause: new Error('no index knows this chain') })
  for (const index of indexes) {
    try {
      return await ask(index)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      failure = error
    }
  }
  throw failure
}
