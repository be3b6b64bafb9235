import { endpoint } from '../../../lib/frame/endpoint.ts'
import { identityKeys, limitTries, now, randomBytes, relyingParty, users } from '../../../lib/services.ts'
import { completeLogin } from './complete-login.ts'
import { contract } from './contract.ts'

export const handler = endpoint(
  contract,
  { users, limitTries, relyingParty, identityKeys, randomBytes, now },
  completeLogin,
)
