import { findDestination } from '../../../lib/bridge/destination.ts'
import { rememberQuote } from '../../../lib/bridge/remember-quote.ts'
import type { Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { agreeOnReply, toReply } from '../../../lib/prepare/reply.ts'
import { refuseKnownContractAsUser } from '../../../lib/prepare/user.ts'
import { prepareWithdrawal } from '../../../lib/prepare/withdraw.ts'
import type { WithdrawalAmount } from '../../../lib/protocols/protocol.ts'
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
          const order = { vault, account, amount: amountIn(body), destination }
          const prepared = await prepareWithdrawal({ getReader, ...services }, order)
          return { ...toReply(vault, account, prepared), withdrawal: prepared.withdrawal, isAsync: prepared.isAsync }
        },
        agreeOnReply,
      )
      return rememberQuote(quotes, vault, reply)
    },
)

function amountIn({ amount, shares }: Request<typeof contract>['body']): WithdrawalAmount {
  if (amount !== undefined) return { assets: amount }
  return shares === undefined ? 'max' : { shares }
}
