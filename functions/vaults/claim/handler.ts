import { findDestination } from '../../../lib/bridge/destination.ts'
import { rememberQuote } from '../../../lib/bridge/remember-quote.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { prepareClaim } from '../../../lib/prepare/claim.ts'
import { agreeOnReply, toReply } from '../../../lib/prepare/reply.ts'
import { refuseKnownContractAsUser } from '../../../lib/prepare/user.ts'
import { agree, bridge, quotes } from '../../../lib/services.ts'
import { findVault } from '../../../lib/vaults/vault.ts'
import { contract } from './contract.ts'

export const handler = endpoint(
  contract,
  { agree, bridge, quotes },
  ({ agree, bridge, quotes }) =>
    async ({ client, body, payFor }) => {
      const vault = findVault(client.vaults, body.vaultAddress, body.chainId)
      const destination = findDestination(body, vault)
      refuseKnownContractAsUser(body.userAddress, vault, destination)
      const [account, services] = [body.userAddress, bridge({ payFor })]
      const reply = await agree(
        [vault.chainId, destination?.chainId ?? vault.chainId],
        async (getReader) => {
          const order = { vault, account, kind: body.kind, destination }
          const prepared = await prepareClaim({ getReader, ...services }, order)
          return { ...toReply(vault, account, prepared), claimable: prepared.claimable, isAsync: true as const }
        },
        agreeOnReply,
      )
      return rememberQuote(quotes, vault, reply)
    },
)
