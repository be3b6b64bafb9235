import { completeRegistration } from '../../../lib/accounts/complete-registration.ts'
import { bearerToken } from '../../../lib/accounts/session.ts'
import { AppError } from '../../../lib/errors.ts'
import { apiKey } from '../../../lib/frame/api-key.ts'
import type { Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { readIdentity } from '../../../lib/frame/identity.ts'
import { contract } from './contract.ts'

const register =
  ({ complete }: { complete: ReturnType<typeof completeRegistration> }) =>
  async ({ client, headers, body }: Request<typeof contract>): Promise<undefined> => {
    const token = body.temporaryAuthenticationToken ?? bearerToken(headers.authorization)
    if (!token) throw missing('missing_or_invalid_temporary_authentication_token', 'temporaryAuthenticationToken')
    const { firstFactorCredential, secondFactorCredential, recoveryCredential } = body.signedChallenge ?? body
    if (!firstFactorCredential) {
      throw missing('missing_or_invalid_first_factor_credential', 'firstFactorCredential')
    }
    if (firstFactorCredential.credentialKind === 'Password' && !secondFactorCredential) {
      throw missing('missing_or_invalid_second_factor_credential', 'secondFactorCredential')
    }
    await complete(client.clientId, token, { firstFactorCredential, secondFactorCredential, recoveryCredential })
  }

function missing(code: (typeof contract)['invalid'][keyof (typeof contract)['invalid']], field: string): AppError {
  return new AppError(code, { details: [{ field, issue: 'is required' }] })
}

export const handler = endpoint(
  contract,
  async (env) => register({ complete: completeRegistration(await readIdentity(env)) }),
  apiKey,
)
