import type { Address } from 'viem'
import { Address as AddressText } from '../core/codecs.ts'
import { AppError } from '../core/errors.ts'
import { field } from '../core/field.ts'
import type { Vault } from '../vaults/vault.ts'

/** Other chain, and its token, in which an account receives a vault's payment at its own address. */
export type Destination = { readonly chainId: number; readonly token: Address }

/** Request field: token on the chain `dstChainId` in which the vault's payment arrives. */
export const DestinationToken = field(AddressText, 'missing_or_invalid_dst_token')
  .optional()
  .describe(
    "Required with dstChainId: the same asset there. Compare `coinKey` in `GET /portfolio-indexor/markets` (USDC.e is not USDC; on BNB Smart Chain WETH is ETH). If it is the chain's wrapped coin, a plain account receives the coin itself",
  )

/** Request fields that choose another chain. The request schema ensures that both are set or neither. */
type DestinationFields = { readonly dstChainId?: number | undefined; readonly dstToken?: Address | undefined }

/**
 * Returns the other chain and token in which a request asks for the vault's payment; undefined for a payment on the
 * vault's own chain. Throws `unsupported_destination_token` if the request names the vault's chain with another token.
 */
export function findDestination(
  { dstChainId, dstToken }: DestinationFields,
  { chainId, asset }: Pick<Vault, 'chainId' | 'asset'>,
): Destination | undefined {
  if (dstChainId === undefined || dstToken === undefined) return undefined
  if (dstChainId !== chainId) return { chainId: dstChainId, token: dstToken }
  if (dstToken !== asset) throw new AppError('unsupported_destination_token')
  return undefined
}
