import { getAddress, isAddress } from 'viem'
import * as z from 'zod'
import type { ChainKey } from '../chain/registry.ts'
import { Amount, MAX_UINT256 } from '../core/codecs.ts'
import { AppError } from '../core/errors.ts'
import type { OwnedNfts } from './nft.ts'

/** A token that an index reports for a wallet, listed or not. */
export const IndexedToken = z.object({
  /** EIP-55 checksummed on EVM chains, base58 on Solana. */
  address: z.string(),
  symbol: z.string(),
  name: z.string(),
  decimals: z.number().int().min(0).max(36),
  /** Balance in the token's smallest unit; above zero. */
  balance: Amount,
  /** True if the index flags it as spam. */
  isFlagged: z.boolean(),
  /** May be empty. */
  logoUrl: z.string(),
})
export type IndexedToken = z.output<typeof IndexedToken>

/** A number of up to 256 bits in decimal digits. */
export const Digits = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform(BigInt)
  .refine((amount) => amount <= MAX_UINT256)
/** Address of a contract with EIP-55 checksum, or of a mint on Solana. */
export const ContractAddress = z
  .string()
  .max(64)
  .transform((text) => (isAddress(text, { strict: false }) ? getAddress(text) : text))
/** A text by a third party, cut so that many fit; empty if it is no text. */
export const ShortText = z
  .string()
  .transform((text) => text.slice(0, 100))
  .catch('')
/** https URL of a picture; empty for anything else. */
export const Logo = z
  .url({ protocol: /^https$/ })
  .max(500)
  .catch('')

/** True for the NFT standards erc721 and erc1155, in lower case. */
export function isNftStandard(standard: string): boolean {
  return standard === 'erc721' || standard === 'erc1155'
}

/** Tokens of a wallet on a chain; `isWhole` if the index reported all except spam. */
export type IndexedTokens = { readonly tokens: readonly IndexedToken[]; readonly isWhole: boolean }

/** An index of wallets. Reads throw AppError `upstream_*`; `upstream_unavailable` also for a key without rights. */
export type TokenIndex = {
  /** Prices of a question at the meter. */
  readonly units: { readonly tokens: number; readonly nfts: number }
  readonly tokenChains: readonly ChainKey[]
  readonly nftChains: readonly ChainKey[]
  /**
   * Fetches a wallet's tokens without the own coin and NFTs. `known` are those of the last response. The index may omit `listed` ones,
   * which are read from the chain.
   */
  fetchTokens(
    chainKey: ChainKey,
    wallet: string,
    known: readonly IndexedToken[],
    listed: ReadonlySet<string>,
  ): Promise<IndexedTokens>
  fetchNfts(chainKey: ChainKey, wallet: string): Promise<OwnedNfts>
}

/** Combines indexes; on a failure it queries the next one. Undefined if there is none. */
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

/** Returns the first response; throws the failure of the last index. */
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
