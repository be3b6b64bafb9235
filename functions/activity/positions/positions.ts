import { buildPosition } from '../../../lib/activity/position.ts'
import { readAccountVaults } from '../../../lib/activity/account-vaults.ts'
import { positionResponse } from '../../../lib/activity/responses.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import type { Services } from '../../../lib/services.ts'
import { yieldText } from '../../../lib/vaults/apy.ts'
import type { contract } from './contract.ts'

type Dependencies = Services<'readerOf' | 'records' | 'yieldOf' | 'now'>

export const listPositions =
  ({ yieldOf, ...dependencies }: Dependencies) =>
  async ({ client, path: { userAddress: user } }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { vaults, errors } = await readAccountVaults(dependencies, client.vaults, user)
    const found = await Promise.all(
      vaults.map(async (ofVault) => {
        const position = buildPosition(ofVault.entries, ofVault.live)
        if (!position) return []
        const apy = yieldText(await yieldOf(ofVault.vault, ofVault.live.sharePrice, ofVault.asOf))
        return [positionResponse(ofVault, position, { user, apy })]
      }),
    )
    const positions = found.flat()
    return {
      userAddress: user,
      totalRecords: positions.length,
      positions,
      errors,
    }
  }
