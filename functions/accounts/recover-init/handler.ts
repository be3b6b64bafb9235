import { endpoint } from '../../../lib/frame/endpoint.ts'
import { identityKeys, now, randomBytes, relyingParty, users } from '../../../lib/services.ts'
import { beginRecovery } from './begin-recovery.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { users, relyingParty, identityKeys, randomBytes, now }, beginRecovery)
