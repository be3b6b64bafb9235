import * as z from 'zod'
import { ChainKey } from '../chain/registry.ts'
import { Timestamp } from '../core/codecs.ts'
import type { AppError } from '../core/errors.ts'

/** Balances or NFTs read for a user's wallets on one chain, or the error of reading them. */
export type ChainResult = {
  readonly chain: ChainKey
  readonly wallets: readonly string[]
  /** Time of the data; undefined if no data is known. */
  readonly asOf: Date | undefined
  readonly error: string | undefined
  /** Error of the data's source; set only if no data is known. */
  readonly failure?: AppError | undefined
}

/** Values of `ChainResult` for a chain on which the user has no wallet. */
export const NOTHING = { asOf: undefined, error: undefined } as const

/** Fields that all responses about a user's wallets have in common. */
export const WalletsResponse = z.object({
  addresses: z
    .array(
      z.object({ address: z.string().describe('Address with EIP-55 checksum, or base58 on Solana'), chain: ChainKey }),
    )
    .describe('Wallets of the user, each once per chain'),
  updated_at: z.partialRecord(ChainKey, Timestamp).describe('Time of the entries by chain key'),
  errors: z
    .partialRecord(ChainKey, z.string())
    .optional()
    .describe('Reasons why entries are old, incomplete or missing, by chain key'),
})

/** Builds the common fields of a response. Throws the first chain's failure if no data is known of any chain. */
export function walletsResponse(chains: readonly ChainResult[]): z.output<typeof WalletsResponse> {
  const failure = chains.find((chain) => chain.failure)?.failure
  if (failure && chains.every((chain) => chain.failure || !chain.asOf)) throw failure
  const errors = chains.flatMap(({ chain, error }) => (error === undefined ? [] : [[chain, error] as const]))
  const moments = chains.flatMap(({ chain, asOf }) => (asOf === undefined ? [] : [[chain, asOf] as const]))
  return {
    addresses: chains.flatMap(({ chain, wallets }) => wallets.map((address) => ({ address, chain }))),
    updated_at: Object.fromEntries(moments),
    ...(errors.length > 0 && { errors: Object.fromEntries(errors) }),
  }
}

/** Returns the tokens or NFTs of all chains, by chain key. */
export function byChain<Of extends ChainResult, Entry>(
  chains: readonly Of[],
  entriesOf: (of: Of) => readonly Entry[],
): Record<ChainKey, Entry[]> {
  // The cast restores the property names, which the type of `fromEntries` loses.
  return Object.fromEntries(chains.map((of) => [of.chain, [...entriesOf(of)]])) as Record<ChainKey, Entry[]>
}
