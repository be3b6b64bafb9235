import { buildPosition } from '../../../lib/activity/position.ts'
import { readUserVaults } from '../../../lib/activity/read.ts'
import { depositResponse, positionResponse } from '../../../lib/activity/responses.ts'
import { type DepositSources, depositSources } from '../../../lib/activity/source.ts'
import { type RecordsStore, recordsStore } from '../../../lib/activity/store.ts'
import { yieldsOf } from '../../../lib/activity/yields.ts'
import { dynamo } from '../../../lib/aws/dynamo.ts'
import type { ChainReader } from '../../../lib/chain/reader.ts'
import { AppError } from '../../../lib/errors.ts'
import { apiKey } from '../../../lib/frame/api-key.ts'
import { readConfig, readersOf } from '../../../lib/frame/config.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { protocolOf } from '../../../lib/protocols/protocols.ts'
import { yieldText } from '../../../lib/vaults/apy.ts'
import { findVault } from '../../../lib/vaults/vault.ts'
import { contract } from './contract.ts'

type Dependencies = {
  readerOf: (chainId: number) => ChainReader
  records: RecordsStore
  sources: Pick<DepositSources, 'list'>
  yieldOf: ReturnType<typeof yieldsOf>
  /** Epoch milliseconds. */
  now: () => number
}

const LATEST = 20
const YEAR_SECONDS = 365n * 86_400n

const position =
  ({ yieldOf, sources, ...dependencies }: Dependencies) =>
  async ({ client, path, query }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { userAddress: user } = path
    const vault = findVault(client.vaults, path.vaultAddress, query.chainId)
    const since = BigInt(Math.floor(dependencies.now() / 1000)) - YEAR_SECONDS
    const [{ vaults, errors }, prices] = await Promise.all([
      readUserVaults(dependencies, [vault], user),
      dependencies.records.listPrices(vault, since),
    ])
    const [ofVault] = vaults
    const built = ofVault && buildPosition(ofVault.entries, ofVault.live)
    // Why it cannot be read now: not that there is none.
    const [reason] = Object.values(errors)
    if (reason !== undefined) throw new AppError('upstream_unavailable', { cause: new Error(reason) })
    if (!built) throw new AppError('position_not_found')

    const { live } = ofVault
    const latest = built.deposits.toReversed().slice(0, LATEST)
    const [apy, sourceOf] = await Promise.all([
      yieldOf(vault, live.sharePrice, ofVault.asOf).then(yieldText),
      sources.list(latest.map(({ entry }) => entry)),
    ])
    return {
      ...positionResponse(ofVault, built, { user, apy }),
      amounts: {
        pendingDeposit: live.pendingAssets,
        claimableShares: live.claimableShares,
        currentShares: live.shares,
        pendingRedeemShares: live.pendingRedeemShares,
        claimableRedeemAssets: live.claimableRedeemAssets,
      },
      vault: {
        poolId: vault.poolId,
        name: vault.name,
        type: protocolOf(vault).type,
        protocol: vault.kind,
        apy,
        sharePrice: live.sharePrice,
        assetSymbol: vault.assetSymbol,
        assetDecimals: vault.assetDecimals,
        depositEpochId: live.depositEpochId,
        isTotalAssetsValid: live.isTotalAssetsValid,
      },
      deposits: latest.map((deposit) => depositResponse(ofVault, deposit, apy, sourceOf(deposit.entry))),
      hasMore: built.deposits.length > LATEST,
      sharePriceHistory: prices.map(({ price, timestamp }) => ({
        timestamp: new Date(Number(timestamp) * 1000),
        sharePrice: price,
      })),
    }
  }

export const handler = endpoint(
  contract,
  async (env) => {
    const records = recordsStore(dynamo(), env.DEPOSITS_TABLE)
    return position({
      readerOf: readersOf(await readConfig(env)),
      records,
      sources: depositSources(dynamo(), env.DEPOSITS_TABLE),
      yieldOf: yieldsOf({ records, now: Date.now }),
      now: Date.now,
    })
  },
  apiKey,
)
