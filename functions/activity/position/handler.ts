import { readAccountVaults } from '../../../lib/activity/account-vaults.ts'
import { buildDepositResponse, buildPriceAndYield } from '../../../lib/activity/entry-responses.ts'
import { buildPosition } from '../../../lib/activity/position.ts'
import { buildPositionResponse } from '../../../lib/activity/responses.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { DAY_SECONDS, toDate } from '../../../lib/core/time.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { sumCancelled } from '../../../lib/protocols/protocol.ts'
import { vaultType } from '../../../lib/protocols/vault-on-chain.ts'
import { readClaimedAmounts } from '../../../lib/rewards/claimed.ts'
import { cache, depositSources, getReader, getYield, now, prices, records } from '../../../lib/services.ts'
import { findVault } from '../../../lib/vaults/vault.ts'
import { contract } from './contract.ts'

const LATEST = 20
const YEAR_SECONDS = 365n * DAY_SECONDS

export const handler = endpoint(
  contract,
  { getReader, records, prices, depositSources, getYield, cache, now },
  ({ getYield, prices, depositSources, cache, ...dependencies }) =>
    async ({ client, path, query }) => {
      const { userAddress: account } = path
      const vault = findVault(client.vaults, path.vaultAddress, query.chainId)
      const since = BigInt(Math.floor(dependencies.now() / 1000)) - YEAR_SECONDS
      const [{ vaults, errors, evidence }, daily, rewards] = await Promise.all([
        readAccountVaults(dependencies, [vault], account),
        prices.list(vault, 'day', since),
        readClaimedAmounts(cache, vault, account),
      ])
      const [ofVault] = vaults
      const built = ofVault && buildPosition(ofVault.entries, ofVault.live)
      // A failed read of the vault must not be reported as a missing position.
      const [reason] = Object.values(errors ?? {})
      if (reason !== undefined) throw new AppError('upstream_unavailable', { cause: new Error(reason) })
      if (!built) throw new AppError('position_not_found')

      const { live } = ofVault
      const latest = built.deposits.toReversed().slice(0, LATEST)
      const [{ annualYield }, sourceOf] = await Promise.all([
        getYield(vault, live.sharePrice, ofVault.asOf),
        depositSources.list(latest.map(({ entry }) => entry)),
      ])
      return {
        ...buildPositionResponse(ofVault, built, { account, annualYield }),
        rewards,
        amounts: {
          pendingDeposit: live.pendingAssets,
          claimableShares: live.claimableShares,
          currentShares: live.shares,
          pendingRedeemShares: live.pendingRedeemShares,
          claimableRedeemAssets: live.claimableRedeemAssets,
          cancelledDeposit: sumCancelled(live.cancelledDeposits),
          cancelledRedeemShares: sumCancelled(live.cancelledRedemptions),
        },
        vault: {
          poolId: vault.poolId,
          name: vault.name,
          type: vaultType(vault),
          protocol: vault.protocol,
          ...buildPriceAndYield(ofVault, annualYield),
          depositEpochId: live.depositEpochId,
          isTotalAssetsValid: live.isTotalAssetsValid,
        },
        deposits: latest.map((deposit) => buildDepositResponse(ofVault, deposit, annualYield, sourceOf(deposit.entry))),
        hasMore: built.deposits.length > LATEST,
        sharePriceHistory: [
          ...daily.map(({ price, timestamp }) => ({ timestamp: toDate(timestamp), sharePrice: price })),
          { timestamp: ofVault.asOf, sharePrice: live.sharePrice },
        ],
        evidence: [...evidence],
      }
    },
)
