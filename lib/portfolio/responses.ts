import * as z from 'zod'
import { ChainKey } from '../chain/registry.ts'
import { Timestamp } from '../codecs.ts'
import type { AppError } from '../errors.ts'

/** What is told of a user on one chain, whatever it is. */
export type OnChain = {
  readonly chain: ChainKey
  readonly wallets: readonly string[]
  /** Of which moment it is; undefined when nothing is known. */
  readonly asOf: Date | undefined
  /** What is wrong with it. */
  readonly error: string | undefined
  /** Why nothing is known, though there is a source. */
  readonly failure?: AppError | undefined
}

/** Nothing, of a chain that the user has no wallet for. */
export const NOTHING = { asOf: undefined, error: undefined } as const

/** What answers about a user's wallets have in common. */
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

/** The common part of an answer about these chains. Throws the first failure where nothing is known of any chain. */
export function walletsResponse(chains: readonly OnChain[]): z.output<typeof WalletsResponse> {
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

/** The entries of all chains, by the chain's key. */
export function byChain<Of extends OnChain, Entry>(
  chains: readonly Of[],
  entriesOf: (of: Of) => readonly Entry[],
): Record<ChainKey, Entry[]> {
  // Entries that are put together lose their names.
  return Object.fromEntries(chains.map((of) => [of.chain, [...entriesOf(of)]])) as Record<ChainKey, Entry[]>
}
