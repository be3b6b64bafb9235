import { openEndpoint } from '../../../lib/frame/endpoint.ts'
import { key, limit, now, random, relyingParty, users } from '../../../lib/services.ts'
import { beginRegistration } from './begin-registration.ts'
import { contract } from './contract.ts'

export const handler = openEndpoint(contract, { users, limit, relyingParty, key, random, now }, beginRegistration)
