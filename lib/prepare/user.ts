import type { Address } from 'viem'
import { listBridgeContracts } from '../bridge/route.ts'
import { toBridgedToken } from '../bridge/tokens.ts'
import { AppError } from '../core/errors.ts'
import type { Vault } from '../vaults/vault.ts'

type OtherChain = { readonly chainId: number; readonly token: Address }

/**
 * Throws `missing_or_invalid_user_address` if the account is a contract of the vault or the bridge. No user controls
 * such an address. Funds sent there are lost, or anyone can take them.
 */
export function refuseKnownContractAsUser(
  account: Address,
  { chainId, address, asset, shareToken }: Pick<Vault, 'chainId' | 'address' | 'asset' | 'shareToken'>,
  other?: OtherChain,
): void {
  const chainIds = other ? [chainId, other.chainId] : [chainId]
  const tokens = other ? [other.token, toBridgedToken(other.chainId, other.token)] : []
  const contracts = [address, asset, shareToken, ...tokens, ...chainIds.flatMap(listBridgeContracts)]
  if (!contracts.includes(account)) return
  const issue = "must be a user's own account, not a token or a contract of the vault or the bridge"
  throw new AppError('missing_or_invalid_user_address', { details: [{ field: 'userAddress', issue }] })
}
