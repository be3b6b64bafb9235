import { readAccountEntries } from '../../../lib/activity/account-vaults.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { prepareCancellation } from '../../../lib/prepare/cancel.ts'
import { agreeOnReply, toReply } from '../../../lib/prepare/reply.ts'
import { refuseKnownContractAsUser } from '../../../lib/prepare/user.ts'
import { agree, now, records, type Services } from '../../../lib/services.ts'
import { findVault } from '../../../lib/vaults/vault.ts'
import { contract } from './contract.ts'

function buildCancellation({ agree, records, now }: Services<'agree' | 'records' | 'now'>) {
  return ({ client, body }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const vault = findVault(client.vaults, body.vaultAddress, body.chainId)
    const { userAddress: account, kind } = body
    refuseKnownContractAsUser(account, vault)
    return agree(
      [vault.chainId],
      async (getReader) => {
        const listEntries = (to: bigint) => readAccountEntries({ getReader, records, now }, { vault, account, to })
        const prepared = await prepareCancellation(getReader(vault.chainId), { vault, account, kind, listEntries })
        const { cancelled, isAsync } = prepared
        return { ...toReply(vault, account, prepared), isCrossChain: false as const, cancelled, isAsync }
      },
      agreeOnReply,
    )
  }
}

export const handler = endpoint(contract, { agree, records, now }, buildCancellation)
