import { createHmac, hkdfSync } from 'node:crypto'
import { getChallengeExpiry } from '../../../lib/accounts/challenges.ts'
import { buildCreationOptions } from '../../../lib/accounts/enrolment.ts'
import { randomToken } from '../../../lib/accounts/token.ts'
import { findRecoveryKey, type User } from '../../../lib/accounts/user.ts'
import { sha256 } from '../../../lib/core/sha256.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { identityKeys, now, randomBytes, relyingParty, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

/**
 * Size of an encrypted P-256 private key from the Dfns client libraries: PKCS #8 (138 bytes) and an AES-GCM tag (16
 * bytes).
 */
const ENCRYPTED_BYTES = 138 + 16
/** Size of the nonce with which the Dfns client libraries encrypt such a key. */
const NONCE_BYTES = 16

/**
 * Starts an account recovery. Returns the options for new credentials, a token, and the encrypted private key of the
 * recovery key. The token must come with the new credentials. It works once, within ten minutes. Only the user's
 * recovery kit contains the id of the recovery key. A request with any other id gets a dummy key, the same each time,
 * so callers cannot test ids.
 */
export const handler = endpoint(
  contract,
  { users, relyingParty, identityKeys, randomBytes, now },
  ({ users, relyingParty, identityKeys, randomBytes, now }) => {
    const allowed = (user: User | null, id: string, subject: string) => {
      const dummy = dummyEncryptedKey(identityKeys[0], `encrypted key ${id} ${subject}`)
      return { id, encryptedRecoveryKey: findRecoveryKey(user, id)?.encryptedPrivateKey ?? dummy }
    }
    return async (request) => {
      const { clientId } = request.client
      const { email, credentialId } = request.body
      const { platform } = request.headers
      const [token, userHandle, challenge] = [
        randomToken(randomBytes),
        randomToken(randomBytes),
        randomToken(randomBytes),
      ]
      const subject = `${clientId} ${email}`
      const expiresAt = getChallengeExpiry(now())
      const [user] = await Promise.all([
        credentialId === undefined ? null : users.get({ clientId, email }),
        users.recoveries.put(sha256(token), { clientId, email, platform, userHandle, challenge, expiresAt }),
      ])
      const options = buildCreationOptions({ relyingParty, identityKeys }, { email, userHandle, challenge, token })
      const allowedRecoveryCredential =
        credentialId === undefined
          ? { id: dummyId(identityKeys[0], subject), encryptedRecoveryKey: null }
          : allowed(user, credentialId, subject)
      return {
        temporaryAuthenticationToken: token,
        publicKeyCredentialCreationOptions: { ...options, allowedRecoveryCredentials: [allowedRecoveryCredential] },
      }
    }
  },
)

function dummyId(identityKey: string, subject: string): string {
  return createHmac('sha256', identityKey).update(`credential RecoveryKey ${subject}`).digest('base64url')
}

/** Returns a dummy encrypted key in the format of the Dfns client libraries: JSON in base64. */
function dummyEncryptedKey(identityKey: string, info: string): string {
  const bytes = Buffer.from(hkdfSync('sha256', identityKey, '', info, ENCRYPTED_BYTES + NONCE_BYTES))
  const [key, iv] = [bytes.subarray(0, ENCRYPTED_BYTES), bytes.subarray(ENCRYPTED_BYTES)]
  return Buffer.from(JSON.stringify({ key: key.toString('base64'), iv: iv.toString('base64') })).toString('base64')
}
