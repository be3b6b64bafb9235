import { buildAssetLinks } from '../../../lib/accounts/relying-party.ts'
import { openEndpoint } from '../../../lib/frame/endpoint.ts'
import { relyingParty, type Services } from '../../../lib/services.ts'
import { contract } from './contract.ts'

const listApps =
  ({ relyingParty }: Services<'relyingParty'>) =>
  async () =>
    buildAssetLinks(relyingParty)

export const handler = openEndpoint(contract, { relyingParty }, listApps)
