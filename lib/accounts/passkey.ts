import { createPublicKey, type KeyObject } from 'node:crypto'
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server'
import {
  cose,
  decodeAttestationObject,
  decodeCredentialPublicKey,
  parseAuthenticatorData,
} from '@simplewebauthn/server/helpers'
import { sha256 } from '../core/sha256.ts'
import { buildFailedCheckError, requireCheck } from './check.ts'
import { type ExpectedClientData, verifyClientData } from './client-data.ts'
import {
  type CredentialOf,
  type Fido2Assertion,
  MAX_COSE_BYTES,
  type NewKey,
  PASSKEY_ALGORITHMS,
} from './credential.ts'
import { isAcceptedKey } from './public-key.ts'
import { equalTexts } from './token.ts'

type Passkey = CredentialOf<'Fido2'>

/**
 * Verifies that a new passkey was created for this service, with user verification, and returns it. Throws
 * `invalid_credential`. The checks before the library's verification name the problem, which the library does not.
 * Attestations with certificates are refused, because the library would fetch URLs in them.
 */
export async function verifyPasskeyAttestation(
  { credId, clientData, attestationData }: NewKey['credentialInfo'],
  { rpId, ...expected }: ExpectedClientData,
): Promise<Pick<Passkey, 'id' | 'publicKey' | 'counter' | 'backedUp' | 'aaguid'>> {
  verifyClientData(clientData, 'webauthn.create', { rpId, ...expected })
  const { hasCertificates, authData, id, key } = parseAttestation(attestationData)
  requireCheck(!hasCertificates, 'attestation')
  verifyAuthenticatorData(authData, rpId)
  requireCheck(id === credId, 'credential id')
  requireCheck(key !== undefined && isAcceptedKey(key), 'algorithm')

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
    throw buildFailedCheckError('attestation')
  })
  requireCheck(registrationInfo?.credential.id === credId, 'attestation')
  // A longer key is refused. WebAuthn allows only the required parameters in a key, so a longer one contains others
  // (https://www.w3.org/TR/webauthn-3/#credential-public-key).
  requireCheck(registrationInfo.credential.publicKey.length <= MAX_COSE_BYTES, 'attestation')
  const { credential, credentialBackedUp: backedUp, aaguid } = registrationInfo
  return { id: credId, publicKey: credential.publicKey, counter: credential.counter, backedUp, aaguid }
}

/**
 * Verifies that a passkey signed a challenge with user verification. Returns the passkey's new counter and backup
 * state. Throws `invalid_credential`, also if the counter of a single-device passkey neither rises nor is 0. Such a
 * counter indicates a copy of the passkey. WebAuthn leaves the decision to the service
 * (https://www.w3.org/TR/webauthn-3/#sctn-sign-counter). Counters of synced passkeys are ignored, because each copy
 * counts separately or not at all.
 */
export async function verifyPasskeyAssertion(
  { credentialAssertion }: Fido2Assertion,
  { publicKey, counter }: Passkey,
  { rpId, ...expected }: ExpectedClientData,
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
    // The stored counter is passed as 0, so that the library accepts any counter. The code below checks the counter
    // instead.
    credential: { id, publicKey: new Uint8Array(publicKey), counter: 0 },
  }).catch(() => {
    throw buildFailedCheckError('signature')
  })
  requireCheck(verified, 'signature')
  const { newCounter, credentialDeviceType, credentialBackedUp } = authenticationInfo
  requireCheck(newCounter > counter || newCounter === 0 || credentialDeviceType === 'multiDevice', 'counter')
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
    // The library's error is not kept as the cause, because it quotes data of the request.
    throw buildFailedCheckError('attestation')
  }
}

/**
 * Parses a passkey's public key in COSE format. Returns undefined if its algorithm is not ES256 or RS256, or does not
 * fit the key type. Throws if the bytes are no key.
 */
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

/** Verifies the relying party and the flags in authenticator data (https://www.w3.org/TR/webauthn-3/#sctn-authenticator-data). */
function verifyAuthenticatorData(bytes: Uint8Array, rpId: string): void {
  const rpIdHash = sha256(rpId)
  requireCheck(equalTexts(Buffer.from(bytes.subarray(0, 32)).toString('hex'), rpIdHash), 'relying party')
  const flags = bytes[32] ?? 0
  const [present, verified] = [1, 4]
  requireCheck((flags & present) > 0 && (flags & verified) > 0, 'user verification')
}

function publicKeyCredential(id: string) {
  return { id, rawId: id, type: 'public-key', clientExtensionResults: {} } as const
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
