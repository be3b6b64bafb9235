import { endpoint } from '../../../lib/frame/endpoint.ts'
import { now, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { removeCredential } from './remove-credential.ts'

export const handler = endpoint(contract, { users, now }, removeCredential)
