import { readAccountEntries } from '../../../lib/activity/account-vaults.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { prepareCancellation } from '../../../lib/prepare/cancel.ts'
import { agreeOnReply, toReply } from '../../../lib/prepare/reply.ts'
import { refuseKnownContractAsUser } from '../../../lib/prepare/user.ts'
import { agree, now, records } from '../../../lib/services.ts'
import { findVault } from '../../../lib/vaults/vault.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { agree, records, now }, ({ agree, records, now }) => ({ client, body }) => {
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
})
