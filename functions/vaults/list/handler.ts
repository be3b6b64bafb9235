import { recordsStore } from '../../../lib/activity/store.ts'
import { yieldsOf } from '../../../lib/activity/yields.ts'
import { dynamo } from '../../../lib/aws/dynamo.ts'
import { AppError } from '../../../lib/errors.ts'
import { apiKey } from '../../../lib/frame/api-key.ts'
import { readConfig, readersOf } from '../../../lib/frame/config.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { protocolOf } from '../../../lib/protocols/protocols.ts'
import { yieldText } from '../../../lib/vaults/apy.ts'
import { type ListedVault, listVaults } from '../../../lib/vaults/list.ts'
import { stateStore } from '../../../lib/vaults/state-store.ts'
import { contract } from './contract.ts'

const list =
  ({ read }: { read: ReturnType<typeof listVaults> }) =>
  async ({ client }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    if (client.vaults.length === 0) throw new AppError('no_vaults_configured')
    const vaults = await read(client.vaults)
    return { success: true, data: vaults.map(toReply) }
  }

function toReply({ vault, apy, hasCap, state, asOf }: ListedVault): Reply<typeof contract>['data'][number] {
  return {
    poolId: vault.poolId,
    chainId: vault.chainId,
    name: vault.name,
    logo_url: vault.logoUrl,
    riskProfile: vault.riskProfile,
    riskProtocol: vault.riskProtocol,
    poolAddress: vault.address,
    depositTokenAddress: vault.asset,
    yieldTokenAddress: vault.shareToken,
    type: protocolOf(vault).type,
    MaxCap: hasCap ?? vault.hasCap,
    description: vault.description,
    APY: yieldText(apy),
    apy,
    asset: { symbol: vault.assetSymbol, decimals: vault.assetDecimals },
    shareDecimals: vault.shareDecimals,
    totalAssets: state?.totalAssets ?? null,
    stateAsOf: asOf ?? null,
    ...(vault.kind === 'lagoon' && {
      protocol: 'lagoon',
      curatorAddress: state?.safe ?? vault.safe,
      valuationManager: state?.valuationManager ?? vault.valuationManager,
      vaultState: state,
    }),
  }
}

export const handler = endpoint(
  contract,
  async (env) =>
    list({
      read: listVaults({
        readerOf: readersOf(await readConfig(env)),
        states: stateStore(dynamo(), env.DEPOSITS_TABLE),
        yieldOf: yieldsOf({ records: recordsStore(dynamo(), env.DEPOSITS_TABLE), now: Date.now }),
      }),
    }),
  apiKey,
)
