import type { ChainReader } from '../../../lib/chain/reader.ts'
import { apiKey } from '../../../lib/frame/api-key.ts'
import { readConfig, readersOf } from '../../../lib/frame/config.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { readDepositStatus, STATUS_DESCRIPTIONS } from '../../../lib/vaults/status.ts'
import { findVault } from '../../../lib/vaults/vault.ts'
import { contract } from './contract.ts'

/** Curators settle every few hours or days: often enough to see it soon, seldom enough to cost little. */
const SETTLEMENT_POLL_MS = 30_000

const depositStatus =
  ({ readerOf }: { readerOf: (chainId: number) => ChainReader }) =>
  async ({ client, path, query }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const vault = findVault(client.vaults, path.vaultAddress, query.chainId)
    const found = await readDepositStatus(readerOf(vault.chainId), vault, query.userAddress)
    const { status, pendingDeposit, claimableShares, currentShares, depositEpochId, isTotalAssetsValid } = found
    return {
      vaultAddress: vault.address,
      userAddress: query.userAddress,
      chainId: vault.chainId,
      status,
      statusDescription: STATUS_DESCRIPTIONS[status],
      amounts: { pendingDeposit, claimableShares, currentShares },
      vault: { depositEpochId, isTotalAssetsValid },
      nextPollAfterMs: pendingDeposit > 0n ? SETTLEMENT_POLL_MS : null,
    }
  }

export const handler = endpoint(
  contract,
  async (env) => depositStatus({ readerOf: readersOf(await readConfig(env)) }),
  apiKey,
)
