import { createHash } from 'node:crypto'
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server'
import {
  decodeAttestationObject,
  decodeCredentialPublicKey,
  parseAuthenticatorData,
} from '@simplewebauthn/server/helpers'
import { assert, failedCheck } from './check.ts'
import { type Expected, verifyClientData } from './client-data.ts'
import { type CredentialOf, type Fido2Assertion, type NewKey, PASSKEY_ALGORITHMS } from './credential.ts'
import { equalTexts } from './token.ts'

type Passkey = CredentialOf<'Fido2'>

const COSE_ALGORITHM = 3

/**
 * The passkey that an authenticator made for us with its user's verification. Throws `invalid_credential`.
 * Our own checks come first, because they tell what is wrong; then the library's.
 */
export async function attestPasskey(
  { credId, clientData, attestationData }: NewKey['credentialInfo'],
  { rpId, ...expected }: Expected,
): Promise<Omit<Passkey, 'kind'>> {
  verifyClientData(clientData, 'webauthn.create', { rpId, ...expected })
  const { authData, id, algorithm } = parseAttestation(attestationData)
  verifyAuthenticatorData(authData, rpId)
  assert(id === credId, 'credential id')
  assert(PASSKEY_ALGORITHMS.includes(algorithm), 'algorithm')

  const { registrationInfo } = await verifyRegistrationResponse({
    response: {
      ...publicKeyCredential(credId),
      response: { clientDataJSON: textOf(clientData), attestationObject: textOf(attestationData) },
    },
    expectedChallenge: () => true,
    expectedOrigin: [...expected.origins],
    expectedRPID: rpId,
    requireUserVerification: true,
    supportedAlgorithmIDs: PASSKEY_ALGORITHMS,
  }).catch(() => {
    throw failedCheck('attestation')
  })
  assert(registrationInfo?.credential.id === credId, 'attestation')
  const { credential, credentialBackedUp: backedUp, aaguid } = registrationInfo
  return { id: credId, publicKey: credential.publicKey, counter: credential.counter, backedUp, aaguid }
}

/** Checks that this passkey signed a login's challenge with its user's verification; gives the authenticator's new counter. Throws `invalid_credential`. */
export async function assertPasskey(
  { credentialAssertion }: Fido2Assertion,
  { publicKey, counter }: Passkey,
  { rpId, ...expected }: Expected,
): Promise<number> {
  const { credId: id, clientData, authenticatorData, signature } = credentialAssertion
  verifyClientData(clientData, 'webauthn.get', { rpId, ...expected })
  verifyAuthenticatorData(authenticatorData, rpId)
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: {
      ...publicKeyCredential(id),
      response: {
        clientDataJSON: textOf(clientData),
        authenticatorData: textOf(authenticatorData),
        signature: textOf(signature),
      },
    },
    expectedChallenge: () => true,
    expectedOrigin: [...expected.origins],
    expectedRPID: rpId,
    requireUserVerification: true,
    credential: { id, publicKey: new Uint8Array(publicKey), counter },
  }).catch(() => {
    throw failedCheck('signature')
  })
  assert(verified, 'signature')
  return authenticationInfo.newCounter
}

function parseAttestation(bytes: Uint8Array): { authData: Uint8Array; id: string; algorithm: number } {
  try {
    const authData = decodeAttestationObject(new Uint8Array(bytes)).get('authData')
    const { credentialID, credentialPublicKey } = parseAuthenticatorData(authData)
    const algorithm = credentialPublicKey && decodeCredentialPublicKey(credentialPublicKey).get(COSE_ALGORITHM)
    return { authData, id: textOf(credentialID ?? new Uint8Array()), algorithm: Number(algorithm) }
  } catch {
    // Not the cause: it quotes what was received.
    throw failedCheck('attestation')
  }
}

/** Checks the start of the authenticator data (https://www.w3.org/TR/webauthn-3/#sctn-authenticator-data). */
function verifyAuthenticatorData(bytes: Uint8Array, rpId: string): void {
  const rpIdHash = createHash('sha256').update(rpId).digest('hex')
  assert(equalTexts(Buffer.from(bytes.subarray(0, 32)).toString('hex'), rpIdHash), 'relying party')
  const flags = bytes[32] ?? 0
  const [present, verified] = [1, 4]
  assert((flags & present) > 0 && (flags & verified) > 0, 'user verification')
}

function publicKeyCredential(id: string) {
  return { id, rawId: id, type: 'public-key', clientExtensionResults: {} } as const
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
