import { endpoint } from '../../../lib/frame/endpoint.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, ({ RELYING_PARTY: { iosApps } }) => async () => ({
  webcredentials: { apps: iosApps },
}))
