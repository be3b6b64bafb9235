import type { ChainReader } from '../../../lib/chain/reader.ts'
import { apiKey } from '../../../lib/frame/api-key.ts'
import { readConfig, readersOf } from '../../../lib/frame/config.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { prepareClaim } from '../../../lib/vaults/claim.ts'
import { findVault } from '../../../lib/vaults/vault.ts'
import { contract } from './contract.ts'

const claim =
  ({ readerOf }: { readerOf: (chainId: number) => ChainReader }) =>
  async ({ client, body }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const vault = findVault(client.vaults, body.vaultAddress, body.chainId)
    const prepared = await prepareClaim(readerOf(vault.chainId), vault, body.userAddress)
    return {
      approval: [],
      ...prepared,
      protocol: vault.kind,
      chainId: vault.chainId,
      isCrossChain: false,
      isAsync: true,
    }
  }

export const handler = endpoint(contract, async (env) => claim({ readerOf: readersOf(await readConfig(env)) }), apiKey)
