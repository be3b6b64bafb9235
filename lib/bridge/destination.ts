import type { Address } from 'viem'
import { Address as AddressText } from '../codecs.ts'
import { AppError } from '../errors.ts'
import { field } from '../field.ts'
import type { Vault } from '../vaults/vault.ts'

/** Where what a vault pays is to go: to the account's own address on another chain, as this token. */
export type Destination = { readonly chainId: number; readonly token: Address }

/** The token as which a body asks for what a vault pays, beside its `dstChainId`. */
export const DestinationToken = field(AddressText, 'missing_or_invalid_dst_token')
  .optional()
  .describe(
    "Required with dstChainId: the same asset there. Compare `coinKey` in `GET /portfolio-indexor/markets` (USDC.e is not USDC; on BNB Smart Chain WETH is ETH). If it is the chain's wrapped coin, a plain account receives the coin itself",
  )

/** What a body says of another chain, whose contract has both or neither. */
type Asked = { readonly dstChainId?: number | undefined; readonly dstToken?: Address | undefined }

/**
 * Where what a vault pays is to go by a request, undefined where it stays on the vault's chain. Throws
 * `unsupported_destination_token`.
 */
export function findDestination(
  { dstChainId, dstToken }: Asked,
  { chainId, asset }: Pick<Vault, 'chainId' | 'asset'>,
): Destination | undefined {
  if (dstChainId === undefined || dstToken === undefined) return undefined
  if (dstChainId !== chainId) return { chainId: dstChainId, token: dstToken }
  if (dstToken !== asset) throw new AppError('unsupported_destination_token')
  return undefined
}
