import { openEndpoint } from '../../../lib/frame/endpoint.ts'
import { signingKeys } from '../../../lib/services.ts'
import { publicKeyOf } from '../../../lib/signing/keys.ts'
import { contract } from './contract.ts'

export const handler = openEndpoint(contract, { signingKeys }, ({ signingKeys }) => async () => ({
  keys: (await signingKeys()).map(publicKeyOf),
}))
