import { openEndpoint } from '../../../lib/frame/endpoint.ts'
import { type Services, signingKeys } from '../../../lib/services.ts'
import { publicKeyOf } from '../../../lib/signing/keys.ts'
import { contract } from './contract.ts'

const listKeys =
  ({ signingKeys }: Services<'signingKeys'>) =>
  async () => ({ keys: (await signingKeys()).map(publicKeyOf) })

export const handler = openEndpoint(contract, { signingKeys }, listKeys)
