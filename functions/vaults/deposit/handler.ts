import { rememberQuote } from '../../../lib/bridge/remember-quote.ts'
import { toBridgedToken } from '../../../lib/bridge/tokens.ts'
import { findVisibleVault, requireAllowedDeposit } from '../../../lib/clients/key-limits.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { prepareDeposit } from '../../../lib/prepare/deposit.ts'
import { prepareDepositAcross } from '../../../lib/prepare/deposit-across.ts'
import { agreeOnReply, toReply } from '../../../lib/prepare/reply.ts'
import { refuseKnownContractAsUser } from '../../../lib/prepare/user.ts'
import { agree, bridge, pins, quotes, records } from '../../../lib/services.ts'
import { buildResponseTerms } from '../../../lib/vaults/terms.ts'
import { contract } from './contract.ts'

export const handler = endpoint(
  contract,
  { agree, bridge, pins, quotes, records },
  ({ agree, bridge, pins, quotes, records }) =>
    async (request) => {
      const { client, limits, body } = request
      const { vaultAddress, chainId, srcChainId, srcToken, userAddress: account, amount } = body
      const vault = findVisibleVault({ client, limits }, vaultAddress, chainId)
      const paidOn = srcChainId ?? vault.chainId
      // Deposit limits of API keys name only wrapped tokens, such as WETH. So a native coin is checked as its wrapped
      // token.
      requireAllowedDeposit(limits, { chainId: paidOn, asset: toBridgedToken(paidOn, srcToken ?? vault.asset), amount })
      refuseKnownContractAsUser(
        account,
        vault,
        srcChainId && srcToken ? { chainId: srcChainId, token: srcToken } : undefined,
      )
      // `recorded` has the waiting times until past settlements, which are an optional part of the vault's terms. If they
      // cannot be read, the deposit is still prepared.
      const recorded = records.recallProgress([vault]).catch(() => [])
      // The contract of this endpoint accepts `srcChainId` and `srcToken` only together.
      const source =
        srcChainId !== undefined && srcToken !== undefined && srcChainId !== vault.chainId
          ? { sourceChainId: srcChainId, sourceToken: srcToken, inputAmount: amount }
          : undefined
      if (!source && srcToken !== undefined && srcToken !== vault.asset) throw new AppError('unsupported_source_token')
      const services = bridge(request)
      const reply = await pins.withPin(vault, (pin) =>
        agree(
          [paidOn, vault.chainId],
          async (getReader) => {
            const prepared = source
              ? await prepareDepositAcross({ getReader, ...services }, { vault, pin, account, ...source })
              : await prepareDeposit(getReader(vault.chainId), { vault, pin, account, amount })
            const { isAsync, deposit } = prepared
            const terms = buildResponseTerms(vault, prepared.terms, (await recorded)[0]?.waits)
            return { ...toReply(vault, account, prepared, paidOn), isAsync, deposit, terms }
          },
          agreeOnReply,
        ),
      )
      return rememberQuote(quotes, vault, reply)
    },
)
