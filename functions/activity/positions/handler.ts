import { buildPosition } from '../../../lib/activity/position.ts'
import { readUserVaults } from '../../../lib/activity/read.ts'
import { positionResponse } from '../../../lib/activity/responses.ts'
import { type RecordsStore, recordsStore } from '../../../lib/activity/store.ts'
import { yieldsOf } from '../../../lib/activity/yields.ts'
import { dynamo } from '../../../lib/aws/dynamo.ts'
import type { ChainReader } from '../../../lib/chain/reader.ts'
import { apiKey } from '../../../lib/frame/api-key.ts'
import { readConfig, readersOf } from '../../../lib/frame/config.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { yieldText } from '../../../lib/vaults/apy.ts'
import { contract } from './contract.ts'

type Dependencies = {
  readerOf: (chainId: number) => ChainReader
  records: RecordsStore
  yieldOf: ReturnType<typeof yieldsOf>
  /** Epoch milliseconds. */
  now: () => number
}

const positions =
  ({ yieldOf, ...dependencies }: Dependencies) =>
  async ({ client, path: { userAddress: user } }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { vaults, errors } = await readUserVaults(dependencies, client.vaults, user)
    const views = await Promise.all(
      vaults.map(async (ofVault) => {
        const position = buildPosition(ofVault.entries, ofVault.live)
        if (!position) return []
        const apy = yieldText(await yieldOf(ofVault.vault, ofVault.live.sharePrice, ofVault.asOf))
        return [positionResponse(ofVault, position, { user, apy })]
      }),
    )
    const found = views.flat()
    return {
      userAddress: user,
      totalRecords: found.length,
      positions: found,
      ...(Object.keys(errors).length > 0 && { errors }),
    }
  }

export const handler = endpoint(
  contract,
  async (env) => {
    const records = recordsStore(dynamo(), env.DEPOSITS_TABLE)
    return positions({
      readerOf: readersOf(await readConfig(env)),
      records,
      yieldOf: yieldsOf({ records, now: Date.now }),
      now: Date.now,
    })
  },
  apiKey,
)
