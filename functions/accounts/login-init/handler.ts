import { endpoint } from '../../../lib/frame/endpoint.ts'
import { key, limit, now, random, relyingParty, users } from '../../../lib/services.ts'
import { beginLogin } from './begin-login.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { users, limit, relyingParty, key, random, now }, beginLogin)
