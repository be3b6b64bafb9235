import { endpoint } from '../../../lib/frame/endpoint.ts'
import { now, randomBytes, relyingParty, users } from '../../../lib/services.ts'
import { beginLink } from './begin-link.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { users, relyingParty, randomBytes, now }, beginLink)
