import { createPublicKey, type KeyObject } from 'node:crypto'
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server'
import {
  cose,
  decodeAttestationObject,
  decodeCredentialPublicKey,
  parseAuthenticatorData,
} from '@simplewebauthn/server/helpers'
import { sha256 } from '../sha256.ts'
import { assert, failedCheck } from './check.ts'
import { type Expected, verifyClientData } from './client-data.ts'
import {
  type CredentialOf,
  type Fido2Assertion,
  MOST_COSE_BYTES,
  type NewKey,
  PASSKEY_ALGORITHMS,
} from './credential.ts'
import { isSound } from './public-key.ts'
import { equalTexts } from './token.ts'

type Passkey = CredentialOf<'Fido2'>

/**
 * The passkey that an authenticator made for us with its user's verification. Throws `invalid_credential`.
 * Our own checks come first, because they tell what is wrong; then the library's. It sees no certificates: it would
 * fetch from where they say.
 */
export async function attestPasskey(
  { credId, clientData, attestationData }: NewKey['credentialInfo'],
  { rpId, ...expected }: Expected,
): Promise<Pick<Passkey, 'id' | 'publicKey' | 'counter' | 'backedUp' | 'aaguid'>> {
  verifyClientData(clientData, 'webauthn.create', { rpId, ...expected })
  const { hasCertificates, authData, id, key } = parseAttestation(attestationData)
  assert(!hasCertificates, 'attestation')
  verifyAuthenticatorData(authData, rpId)
  assert(id === credId, 'credential id')
  assert(key !== undefined && isSound(key), 'algorithm')

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
  // WebAuthn allows a key nothing that it does not need (https://www.w3.org/TR/webauthn-3/#credential-public-key).
  assert(registrationInfo.credential.publicKey.length <= MOST_COSE_BYTES, 'attestation')
  const { credential, credentialBackedUp: backedUp, aaguid } = registrationInfo
  return { id: credId, publicKey: credential.publicKey, counter: credential.counter, backedUp, aaguid }
}

/**
 * Checks that this passkey signed a login's challenge with its user's verification; gives what the authenticator says of it
 * now. Throws `invalid_credential`, also where the counter of a passkey that is bound to one device does not rise, unless it is 0:
 * what WebAuthn leaves to us (https://www.w3.org/TR/webauthn-3/#sctn-sign-counter). Places that a passkey is synced to count
 * each for itself, and some do not at all.
 */
export async function assertPasskey(
  { credentialAssertion }: Fido2Assertion,
  { publicKey, counter }: Passkey,
  { rpId, ...expected }: Expected,
): Promise<Pick<Passkey, 'counter' | 'backedUp'>> {
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
    // The library would refuse any that does not rise.
    credential: { id, publicKey: new Uint8Array(publicKey), counter: 0 },
  }).catch(() => {
    throw failedCheck('signature')
  })
  assert(verified, 'signature')
  const { newCounter, credentialDeviceType, credentialBackedUp } = authenticationInfo
  assert(newCounter > counter || newCounter === 0 || credentialDeviceType === 'multiDevice', 'counter')
  return { counter: newCounter, backedUp: credentialBackedUp }
}

type ParsedAttestation = {
  readonly hasCertificates: boolean
  readonly authData: Uint8Array
  readonly id: string
  readonly key: KeyObject | undefined
}

function parseAttestation(bytes: Uint8Array): ParsedAttestation {
  try {
    const attestation = decodeAttestationObject(new Uint8Array(bytes))
    const format = attestation.get('fmt')
    const isOwn = format === 'none' || (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined)
    const authData = attestation.get('authData')
    const { credentialID, credentialPublicKey } = parseAuthenticatorData(authData)
    const id = textOf(credentialID ?? new Uint8Array())
    return { hasCertificates: !isOwn, authData, id, key: credentialPublicKey && parseCose(credentialPublicKey) }
  } catch {
    // Not the cause: it quotes what was received.
    throw failedCheck('attestation')
  }
}

/** The key that these bytes are in COSE; undefined where its algorithm is none of ours, or that of another type of key. Throws where it is no key. */
function parseCose(bytes: Uint8Array): KeyObject | undefined {
  const key = decodeCredentialPublicKey(new Uint8Array(bytes))
  const text = (part: Uint8Array | undefined) => textOf(part ?? new Uint8Array())
  const { COSEKEYS, COSEALG, COSECRV } = cose
  const algorithm = key.get(COSEKEYS.alg)
  if (cose.isCOSEPublicKeyEC2(key) && algorithm === COSEALG.ES256 && key.get(COSEKEYS.crv) === COSECRV.P256) {
    const point = { x: text(key.get(COSEKEYS.x)), y: text(key.get(COSEKEYS.y)) }
    return createPublicKey({ key: { kty: 'EC', crv: 'P-256', ...point }, format: 'jwk' })
  }
  if (cose.isCOSEPublicKeyRSA(key) && algorithm === COSEALG.RS256) {
    const numbers = { n: text(key.get(COSEKEYS.n)), e: text(key.get(COSEKEYS.e)) }
    return createPublicKey({ key: { kty: 'RSA', ...numbers }, format: 'jwk' })
  }
  return undefined
}

/** Checks the start of the authenticator data (https://www.w3.org/TR/webauthn-3/#sctn-authenticator-data). */
function verifyAuthenticatorData(bytes: Uint8Array, rpId: string): void {
  const rpIdHash = sha256(rpId)
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
