import { readAccountVaults } from '../../../lib/activity/account-vaults.ts'
import { buildPosition } from '../../../lib/activity/position.ts'
import { buildPositionResponse } from '../../../lib/activity/responses.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { getReader, getYield, now, records } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(
  contract,
  { getReader, records, getYield, now },
  ({ getYield, ...dependencies }) =>
    async ({ client, path: { userAddress: account } }) => {
      const { vaults, errors, evidence } = await readAccountVaults(dependencies, client.vaults, account)
      const found = await Promise.all(
        vaults.map(async (ofVault) => {
          const position = buildPosition(ofVault.entries, ofVault.live)
          if (!position) return []
          const { annualYield } = await getYield(ofVault.vault, ofVault.live.sharePrice, ofVault.asOf)
          return [buildPositionResponse(ofVault, position, { account, annualYield })]
        }),
      )
      const positions = found.flat()
      return {
        userAddress: account,
        totalRecords: positions.length,
        positions,
        errors,
        evidence: [...evidence],
      }
    },
)
