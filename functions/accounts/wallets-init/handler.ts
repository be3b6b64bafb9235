import { endpoint } from '../../../lib/frame/endpoint.ts'
import { limit, now, random, relyingParty, users } from '../../../lib/services.ts'
import { beginLink } from './begin-link.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { users, limit, relyingParty, random, now }, beginLink)
