import * as z from 'zod'
import { ChainKey } from '../chain/registry.ts'
import { Timestamp } from '../core/codecs.ts'
import type { AppError } from '../core/errors.ts'

/** Balances or NFTs of a user's wallets on one chain, or the error of reading them. */
export type ChainResult = {
  readonly chain: ChainKey
  readonly wallets: readonly string[]
  /** Time at which the data were read; undefined if no data are known. */
  readonly asOf: Date | undefined
  readonly error: string | undefined
  /** Error of the data's source. Set only if no data are known. */
  readonly failure?: AppError | undefined
}

/** Fields of a `ChainResult` without data or error, as for a chain on which the user has no wallet. */
export const NO_DATA = { asOf: undefined, error: undefined } as const

/** Fields that the responses about balances and about NFTs have in common. */
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

/** Builds the common fields of a response. Throws the first chain's failure if no data are known on any chain. */
export function buildWalletsResponse(chains: readonly ChainResult[]): z.output<typeof WalletsResponse> {
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

/** Returns the balances or NFTs of all chains by chain key. */
export function groupByChain<Of extends ChainResult, Entry>(
  chains: readonly Of[],
  entriesOf: (of: Of) => readonly Entry[],
): Record<ChainKey, Entry[]> {
  // The cast restores the property names, because the result type of `fromEntries` does not contain them.
  return Object.fromEntries(chains.map((of) => [of.chain, [...entriesOf(of)]])) as Record<ChainKey, Entry[]>
}
