import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign as signBytes } from 'node:crypto'

/** WebAuthn options with which the service requests a new credential. */
export type CreationOptions = {
  readonly challenge: string
  readonly user: { readonly id: string }
  readonly excludeCredentials?: readonly { readonly id: string }[]
}

/** Deviations from a valid credential or login. Tests send them to the service, which must notice them. */
export type CredentialFaults = {
  readonly challenge?: string
  readonly origin?: string | undefined
  readonly type?: string
  readonly rpId?: string
  /** Sum of the flags in the authenticator data: 1 user present, 4 user verified, 64 with a credential. */
  readonly flags?: number
  /** Credential id inside the authenticator data. In a valid credential it equals the credential's own id. */
  readonly innerId?: string
  /** COSE number of the signature algorithm in the public key. */
  readonly algorithm?: number
  readonly padding?: Uint8Array
  readonly crossOrigin?: boolean
  /** Makes the credential sign other data than it sends. */
  readonly signature?: 'of something else'
  readonly userHandle?: string
  readonly counter?: number
  readonly clientData?: (fields: Record<string, unknown>) => string
}

type Attesting = {
  readonly attestation?: 'none' | 'packed' | 'android-key'
  readonly certify?: (publicKey: KeyObject, clientDataHash: Buffer) => Buffer[]
}

const ORIGIN = 'http://localhost:3000'

/** Ids of the passkeys on an authenticator, by user handle. A user's newer passkey replaces the older one. */
type Authenticator = Map<string, string>

/**
 * Creates a passkey as WebAuthn specifies, by default on a new authenticator. On an existing authenticator it replaces the
 * user's older passkey, which can then no longer sign (https://www.w3.org/TR/webauthn-3/#sctn-op-make-cred).
 */
export function somePasskey(
  id = randomBytes(32).toString('base64url'),
  type: KeyType = 'P-256',
  authenticator: Authenticator = new Map(),
) {
  const { publicKey, privateKey } = KEY_PAIRS[type]()
  let counter = 0
  let userHandle = ''

  const authenticatorData = (
    { rpId = 'localhost', flags = 5, counter: counterFault }: CredentialFaults,
    rest = Buffer.alloc(0),
  ) => {
    counter = counterFault ?? counter
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count, rest])
  }

  return {
    id,
    /**
     * Creates the credential for a registration. Every attestation except `none` is signed with the passkey's own key.
     * `certify` makes the attestation's certificates.
     */
    create(
      { challenge, user, excludeCredentials = [] }: CreationOptions,
      { attestation = 'none', certify, ...faults }: CredentialFaults & Attesting = {},
    ) {
      const ownIds = new Set(authenticator.values())
      if (excludeCredentials.some((excluded) => ownIds.has(excluded.id))) throw new Error('InvalidStateError')
      userHandle = user.id
      authenticator.set(userHandle, id)
      const clientData = clientDataOf('webauthn.create', challenge, { origin: ORIGIN, ...faults })
      const innerId = Buffer.from(faults.innerId ?? id, 'base64url')
      const length = Buffer.alloc(2)
      length.writeUInt16BE(innerId.length)
      const credential = Buffer.concat([Buffer.alloc(16), length, innerId, coseKey(publicKey, faults)])
      const authData = authenticatorData({ flags: 0x45, ...faults }, credential)
      const signed = faults.signature ? Buffer.from('else') : Buffer.concat([authData, sha256(clientData)])
      const attStmt = attestation !== 'none' && {
        alg: -7,
        sig: signBytes('sha256', signed, privateKey),
        ...(certify && { x5c: certify(publicKey, sha256(clientData)) }),
      }
      return {
        credentialKind: 'Fido2',
        credentialInfo: {
          credId: id,
          clientData: clientData.toString('base64url'),
          attestationData: cbor({ fmt: attestation, attStmt: attStmt || {}, authData }).toString('base64url'),
        },
      }
    },
    get({ challenge }: { challenge: string }, faults: CredentialFaults = {}) {
      if (userHandle && authenticator.get(userHandle) !== id) throw new Error('NotAllowedError')
      const clientData = clientDataOf('webauthn.get', challenge, { origin: ORIGIN, ...faults })
      const authData = authenticatorData({ flags: 5, ...faults })
      const signed = faults.signature ? Buffer.from('else') : Buffer.concat([authData, sha256(clientData)])
      return {
        kind: 'Fido2',
        credentialAssertion: {
          credId: id,
          clientData: clientData.toString('base64url'),
          authenticatorData: authData.toString('base64url'),
          signature: signBytes('sha256', signed, privateKey).toString('base64url'),
          userHandle: faults.userHandle ?? (userHandle || undefined),
        },
      }
    },
  }
}

/** Key types that the service accepts for credentials. */
export const KEY_TYPES = ['P-256', 'Ed25519', 'RSA'] as const

const KEY_PAIRS = {
  'P-256': () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  Ed25519: () => generateKeyPairSync('ed25519'),
  RSA: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  'P-384': () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  'RSA of 1024 bits': () => generateKeyPairSync('rsa', { modulusLength: 1024 }),
  'RSA with the exponent 3': () => generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 3 }),
}

/** Key type, including those that the service refuses. */
export type KeyType = keyof typeof KEY_PAIRS

/** Creates a credential whose private key the client stores itself, unlike a passkey's. */
export function someKeyPair(
  type: KeyType = 'P-256',
  { id = randomBytes(32).toString('base64url'), pem = (text: string) => text } = {},
) {
  const { publicKey, privateKey } = KEY_PAIRS[type]()
  const hash = type === 'Ed25519' ? null : 'sha256'
  return {
    id,
    create<Extra extends object>(
      { challenge }: CreationOptions,
      faults: CredentialFaults = {},
      { kind = 'Key', ...extra }: { kind?: string } & Extra = {} as Extra,
    ) {
      const clientData = clientDataOf('key.create', challenge, faults)
      const text = pem(publicKey.export({ type: 'spki', format: 'pem' }).toString())
      const fingerprint = JSON.stringify({ clientDataHash: sha256(clientData).toString('hex'), publicKey: text })
      const signed = Buffer.from(faults.signature ?? fingerprint)
      const signature = signBytes(hash, signed, privateKey).toString('hex')
      return {
        credentialKind: kind,
        credentialInfo: {
          credId: id,
          clientData: clientData.toString('base64url'),
          attestationData: Buffer.from(JSON.stringify({ publicKey: text, signature })).toString('base64url'),
        },
        ...extra,
      }
    },
    get({ challenge }: { challenge: string }, faults: CredentialFaults = {}, kind = 'Key') {
      const clientData = clientDataOf('key.get', challenge, faults)
      const signed = faults.signature ? Buffer.from('else') : clientData
      return {
        kind,
        credentialAssertion: {
          credId: id,
          clientData: clientData.toString('base64url'),
          signature: signBytes(hash, signed, privateKey).toString('base64url'),
        },
      }
    },
  }
}

function clientDataOf(usualType: string, usualChallenge: string, faults: CredentialFaults): Buffer {
  const { type = usualType, challenge = usualChallenge, origin, crossOrigin, clientData = JSON.stringify } = faults
  return Buffer.from(clientData({ type, challenge, ...(origin && { origin }), ...(crossOrigin && { crossOrigin }) }))
}

function coseKey(key: KeyObject, { algorithm, padding }: CredentialFaults): Buffer {
  const { kty, x = '', y = '', n = '', e = '' } = key.export({ format: 'jwk' })
  const bytes = (text: string) => Buffer.from(text, 'base64url')
  const besides: [number, Uint8Array][] = padding ? [[2, padding]] : []
  if (kty === 'RSA') return cborMap([[1, 3], [3, algorithm ?? -257], [-1, bytes(n)], [-2, bytes(e)], ...besides])
  return cborMap([[1, 2], [3, algorithm ?? -7], [-1, 1], [-2, bytes(x)], [-3, bytes(y)], ...besides])
}

function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value < 0 ? cborHead(1, -1 - value) : cborHead(0, value)
  if (typeof value === 'string') return Buffer.concat([cborHead(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([cborHead(2, value.length), value])
  if (Array.isArray(value)) return Buffer.concat([cborHead(4, value.length), ...value.map(cbor)])
  return cborMap(Object.entries(value as object))
}

function cborMap(entries: readonly (readonly [unknown, unknown])[]): Buffer {
  return Buffer.concat([cborHead(5, entries.length), ...entries.flat().map(cbor)])
}

function cborHead(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length])
  if (length < 256) return Buffer.from([(major << 5) | 24, length])
  return Buffer.from([(major << 5) | 25, length >> 8, length & 0xff])
}

function sha256(data: string | Uint8Array): Buffer {
  return createHash('sha256').update(data).digest()
}
