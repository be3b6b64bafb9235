import { endpoint } from '../../../lib/lambda/endpoint.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, ({ RELYING_PARTY: { iosApps } }) => async () => ({
  webcredentials: { apps: iosApps },
}))
