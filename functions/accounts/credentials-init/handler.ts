import { endpoint } from '../../../lib/frame/endpoint.ts'
import { identityKey, now, randomBytes, relyingParty, users } from '../../../lib/services.ts'
import { beginAddition } from './begin-addition.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { users, relyingParty, identityKey, randomBytes, now }, beginAddition)
