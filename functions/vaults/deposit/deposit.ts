import { prepareCrossChainDeposit } from '../../../lib/bridge/deposit.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import type { Services } from '../../../lib/services.ts'
import { prepareDeposit } from '../../../lib/vaults/deposit.ts'
import { findVault } from '../../../lib/vaults/vault.ts'
import type { contract } from './contract.ts'

type Dependencies = Services<'readerOf' | 'bridge'>
type Body = Request<typeof contract>['body']

export const buildDeposit =
  ({ readerOf, bridge }: Dependencies) =>
  async ({ client, body }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const source = sourceOf(body)
    const vault = findVault(client.vaults, body.vaultAddress, body.chainId)
    const to = { protocol: vault.protocol, chainId: vault.chainId }
    const { userAddress: user, amount } = body

    if (source === undefined || source.chainId === vault.chainId) {
      if (source !== undefined && source.token !== vault.asset) throw new AppError('unsupported_source_token')
      const prepared = await prepareDeposit(readerOf(vault.chainId), { vault, user, amount })
      return { ...prepared, ...to, isCrossChain: false }
    }
    const prepared = await prepareCrossChainDeposit(
      { readerOf, ...bridge },
      { vault, user, inputAmount: amount, sourceChainId: source.chainId, sourceToken: source.token },
    )
    return { ...prepared, ...to, isCrossChain: true }
  }

/** Where the deposit is paid, undefined for the vault's own chain. */
function sourceOf({ srcChainId: chainId, srcToken: token }: Body) {
  return chainId === undefined || token === undefined ? undefined : { chainId, token }
}
