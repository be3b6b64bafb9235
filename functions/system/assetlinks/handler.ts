import { buildAssetLinks } from '../../../lib/accounts/relying-party.ts'
import { openEndpoint } from '../../../lib/frame/endpoint.ts'
import { relyingParty } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = openEndpoint(
  contract,
  { relyingParty },
  ({ relyingParty }) =>
    async () =>
      buildAssetLinks(relyingParty),
)
