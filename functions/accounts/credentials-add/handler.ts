import { endpoint } from '../../../lib/frame/endpoint.ts'
import { identityKeys, limitTries, now, randomBytes, relyingParty, users } from '../../../lib/services.ts'
import { completeAddition } from './complete-addition.ts'
import { contract } from './contract.ts'

export const handler = endpoint(
  contract,
  { users, limitTries, relyingParty, identityKeys, randomBytes, now },
  completeAddition,
)
