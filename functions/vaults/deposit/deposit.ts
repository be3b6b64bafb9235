import { prepareCrossChainDeposit } from '../../../lib/bridge/deposit.ts'
import { findVisibleVault, requireAllowedDeposit } from '../../../lib/clients/key-limits.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import type { Services } from '../../../lib/services.ts'
import { prepareDeposit } from '../../../lib/vaults/deposit.ts'
import { readyToSend } from '../../../lib/vaults/ready.ts'
import type { contract } from './contract.ts'

type Dependencies = Services<'getReader' | 'bridge' | 'pins'>

export function buildDeposit({ getReader, bridge, pins }: Dependencies) {
  return async ({ client, limits, body }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { vaultAddress, chainId, srcChainId, srcToken, userAddress: account, amount } = body
    const vault = findVisibleVault({ client, limits }, vaultAddress, chainId)
    requireAllowedDeposit(limits, { chainId: srcChainId ?? vault.chainId, asset: srcToken ?? vault.asset, amount })
    const to = { protocol: vault.protocol, chainId: vault.chainId }
    // The contract has both of them or none.
    if (srcChainId === undefined || srcToken === undefined || srcChainId === vault.chainId) {
      if (srcToken !== undefined && srcToken !== vault.asset) throw new AppError('unsupported_source_token')
      const prepared = await pins.prepare(vault, (pin) =>
        prepareDeposit(getReader(vault.chainId), { vault, pin, account, amount }),
      )
      return { ...readyToSend(vault, account, vault.chainId, prepared), ...to, isCrossChain: false }
    }
    const prepared = await pins.prepare(vault, (pin) =>
      prepareCrossChainDeposit(
        { getReader, ...bridge(client) },
        { vault, pin, account, inputAmount: amount, sourceChainId: srcChainId, sourceToken: srcToken },
      ),
    )
    return { ...readyToSend(vault, account, srcChainId, prepared), ...to, isCrossChain: true }
  }
}
