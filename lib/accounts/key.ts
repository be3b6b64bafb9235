import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { parseJson } from '../core/json.ts'
import { sha256 } from '../core/sha256.ts'
import { requireCheck } from './check.ts'
import { type ExpectedClientData, verifyClientData } from './client-data.ts'
import { type CredentialOf, type KeyAssertion, KeyAttestation, type NewKey } from './credential.ts'
import { isAcceptedKey } from './public-key.ts'

type SigningKey = CredentialOf<'Key' | 'PasswordProtectedKey' | 'RecoveryKey'>

/**
 * Verifies that a new key signed its own client data and public key, and returns the key. Throws `invalid_credential`.
 * The signature covers the received bytes, because clients order JSON fields and break PEM lines differently.
 */
export function verifyKeyAttestation(
  { credId, clientData, attestationData }: NewKey['credentialInfo'],
  expected: ExpectedClientData,
): Pick<SigningKey, 'id' | 'publicKey'> {
  verifyClientData(clientData, 'key.create', expected)
  const attestation = KeyAttestation.safeParse(parseJson(attestationData)).data
  requireCheck(attestation !== undefined, 'attestation')
  const { publicKey, signature, algorithm } = attestation
  const clientDataHash = sha256(clientData)
  const signed = Buffer.from(JSON.stringify({ clientDataHash, publicKey }))
  const key = publicKeyOf(publicKey)
  requireCheck(verify(hashOf(key, algorithm), signed, key, Buffer.from(signature, 'hex')), 'signature')
  return { id: credId, publicKey: key.export({ type: 'spki', format: 'pem' }).toString() }
}

/** Verifies that a key signed the received client data. Throws `invalid_credential`. */
export function verifyKeyAssertion(
  { credentialAssertion }: Pick<KeyAssertion, 'credentialAssertion'>,
  credential: SigningKey,
  expected: ExpectedClientData,
): void {
  const { clientData, signature, algorithm } = credentialAssertion
  verifyClientData(clientData, 'key.get', expected)
  const key = publicKeyOf(credential.publicKey)
  requireCheck(verify(hashOf(key, algorithm), clientData, key, signature), 'signature')
}

function publicKeyOf(pem: string): KeyObject {
  const key = parsePem(pem)
  requireCheck(key !== undefined, 'attestation')
  requireCheck(isAcceptedKey(key), 'algorithm')
  return key
}

/** Pattern of a single public key in PEM, after spaces and line breaks were removed. */
const ONE_PUBLIC_KEY = /^-----BEGINPUBLICKEY-----[A-Za-z0-9+/]+={0,2}-----ENDPUBLICKEY-----$/

function parsePem(pem: string): KeyObject | undefined {
  // PEM text of any other form is refused. Node.js would accept a private key and use its public half, or ignore text
  // after a public key.
  if (!ONE_PUBLIC_KEY.test(pem.replaceAll(/\s/g, ''))) return undefined
  try {
    return createPublicKey(pem)
  } catch {
    return undefined
  }
}

/** Returns the hash algorithm of a key's signatures. Returns null for Ed25519, whose signatures include the hash. */
function hashOf(
  { asymmetricKeyType }: KeyObject,
  algorithm: KeyAssertion['credentialAssertion']['algorithm'],
): string | null {
  if (asymmetricKeyType === 'ed25519') return null
  return algorithm === 'SHA512' ? 'sha512' : 'sha256'
}
