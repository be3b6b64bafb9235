import * as z from 'zod'
import { BASE64, base64url, Timestamp } from '../core/codecs.ts'
import { buildSiblingIssue, field } from '../core/field.ts'

/** COSE numbers of the accepted passkey algorithms: ES256 and RS256. */
export const PASSKEY_ALGORITHMS = [-7, -257]

/** Maximum size of a passkey's public key in bytes. An RSA key of 4096 bits has 528 bytes. */
export const MAX_COSE_BYTES = 600

/** Id that a client gives to a credential, at most 1023 bytes. Parsing normalizes it to base64url without padding. */
const CredentialId = z
  .string()
  .max(1364)
  .regex(BASE64)
  .transform((text) => Buffer.from(text, 'base64url').toString('base64url'))
  .meta({ pattern: BASE64.source, description: 'base64url of at most 1023 bytes' })

/** Id of a credential of kind `Key`, 32 bytes long. The dummy ids in a login's list have the same length, so they look like real ones. */
export const KeyCredentialId = CredentialId.refine(
  (id) => Buffer.byteLength(id, 'base64url') === 32,
  'must be 32 bytes',
).describe('base64url of 32 bytes')

const ClientDataBytes = base64url(4096).describe('Signed client data, in base64url')

/**
 * Hash algorithm of a key's signature, if it is not the default of the key's type. The OpenAPI document declares any
 * string, because signing libraries do.
 */
const Algorithm = z
  .string()
  .regex(/^(SHA256|SHA512|RSA-SHA256)$/, 'must be SHA256, SHA512 or RSA-SHA256')
  .describe("Signature algorithm, if not the key's default: SHA256, SHA512 or RSA-SHA256")
const EncryptedPrivateKey = z
  .string()
  .min(1)
  .max(1024)
  .describe('Encrypted private key; stored unchanged, unreadable to the service')
const Password = z.string().min(8).max(256).describe('8 to 256 characters')
const OtpCode = z
  .string()
  .regex(/^\d{6}$/, 'must be six digits')
  .describe('Current six-digit code of the authenticator')

const credentialName = z
  .string()
  .min(1)
  .max(100)
  .optional()
  .describe('Name that the user chooses; null in the list unless given')
const made = {
  clientData: ClientDataBytes,
  attestationData: base64url(16_384).describe('Attestation by the authenticator or the key, in base64url'),
}
const credentialInfo = z
  .strictObject({ credId: KeyCredentialId, ...made })
  .describe('Public key, with a signature that proves possession')
const fido2 = z.strictObject({
  credentialKind: z.literal('Fido2'),
  credentialInfo: z
    .strictObject({
      credId: CredentialId,
      ...made,
      transports: z.array(z.string()).optional().describe('Ignored; some clients send it'),
    })
    .describe('Data from the authenticator'),
  credentialName,
})
const key = z.strictObject({ credentialKind: z.literal('Key'), credentialInfo, credentialName })
const passwordProtectedKey = z.strictObject({
  credentialKind: z.literal('PasswordProtectedKey'),
  credentialInfo,
  encryptedPrivateKey: EncryptedPrivateKey,
  credentialName,
})
const password = z.strictObject({
  credentialKind: z.literal('Password'),
  credentialInfo: z.strictObject({ password: Password }).describe('Password as typed'),
  credentialName,
})
const totp = z.strictObject({
  credentialKind: z.literal('Totp'),
  credentialInfo: z
    .strictObject({ otpCode: OtpCode })
    .describe('A code of the otpUrl; proves that the authenticator has the secret'),
  credentialName,
})

/** A new credential for the first factor of a login. */
export const FirstAttestation = field(
  z.discriminatedUnion('credentialKind', [fido2, key, password, passwordProtectedKey]),
  'missing_or_invalid_first_factor_credential',
).meta({ id: 'NewFirstFactor', description: 'A new credential to log in with' })

/** A new credential for the second factor of a login. */
export const SecondAttestation = field(
  z.discriminatedUnion('credentialKind', [fido2, key, totp, passwordProtectedKey]),
  'missing_or_invalid_second_factor_credential',
).meta({ id: 'NewSecondFactor', description: 'A new second factor' })

/** A new recovery key, for a user who has lost all other credentials. */
export const RecoveryAttestation = field(
  z.strictObject({
    credentialKind: z.literal('RecoveryKey'),
    credentialInfo,
    encryptedPrivateKey: EncryptedPrivateKey.optional(),
    credentialName,
  }),
  'missing_or_invalid_recovery_credential',
).meta({ id: 'NewRecoveryKey', description: 'A new recovery key, for a user who has lost all other credentials' })

type CredentialPair = {
  readonly [Field in 'firstFactorCredential' | 'secondFactorCredential']?: Attestation | undefined
}

/**
 * Refuses a request in which both new credentials are passkeys. An authenticator stores one passkey per user handle, so
 * the second passkey would replace the first (https://www.w3.org/TR/webauthn-3/#sctn-op-make-cred).
 */
export const requireAtMostOnePasskey = z.refine<CredentialPair>(
  ({ firstFactorCredential, secondFactorCredential }) =>
    firstFactorCredential?.credentialKind !== 'Fido2' || secondFactorCredential?.credentialKind !== 'Fido2',
  buildSiblingIssue(
    'secondFactorCredential',
    'must be of another kind: a second passkey from the same options replaces the first. Add it with POST /auth/credentials/init',
  ),
)

/** New credentials of a user who recovers an account. They replace all existing credentials. */
export const NewCredentials = z
  .strictObject({
    firstFactorCredential: FirstAttestation,
    secondFactorCredential: SecondAttestation.optional().describe('A passkey only if the first factor is not one'),
    recoveryCredential: RecoveryAttestation.optional(),
  })
  .check(requireAtMostOnePasskey)
export type NewCredentials = z.output<typeof NewCredentials>

/** A new credential in the form in which a client sends it. */
export type Attestation = z.output<typeof FirstAttestation | typeof SecondAttestation | typeof RecoveryAttestation>
export type NewKey = Extract<Attestation, { credentialInfo: { attestationData: Uint8Array } }>

const fido2Assertion = z.strictObject({
  kind: z.literal('Fido2'),
  credentialAssertion: z
    .strictObject({
      credId: CredentialId,
      clientData: ClientDataBytes,
      authenticatorData: base64url(4096).describe('Authenticator data, in base64url'),
      signature: base64url(1024).describe('Signature of the client data, in base64url'),
      // Safari sends an empty text if the authenticator returns no user handle (https://bugs.webkit.org/show_bug.cgi?id=239737).
      userHandle: z
        .union([base64url(128), z.literal('')])
        .nullish()
        .describe('User handle from the authenticator, in base64url'),
      algorithm: z.string().max(20).optional().describe('Ignored; some clients send it'),
    })
    .describe('Response to the challenge'),
})
const keyAssertion = z.strictObject({
  kind: z.enum(['Key', 'PasswordProtectedKey']).describe("A client's key, plain or encrypted with a password"),
  credentialAssertion: z
    .strictObject({
      credId: CredentialId,
      clientData: ClientDataBytes,
      signature: base64url(1024).describe('Signature of the client data, in base64url'),
      algorithm: Algorithm.optional(),
    })
    .describe('Response to the challenge'),
})
const passwordAssertion = z.strictObject({ kind: z.literal('Password'), password: Password })
const totpAssertion = z.strictObject({ kind: z.literal('Totp'), otpCode: OtpCode })

/**
 * Signature of a recovery key over new credentials. The limit of the client data is large, because they contain the new
 * credentials, encoded twice in base64url.
 */
export const RecoveryAssertion = field(
  z.strictObject({
    kind: z.literal('RecoveryKey'),
    credentialAssertion: keyAssertion.shape.credentialAssertion
      .extend({
        clientData: base64url(8192).describe('Signed client data, in base64url'),
      })
      .describe('Signature over the new credentials'),
  }),
  'missing_or_invalid_recovery',
).meta({ id: 'Recovery', description: "The recovery key's signature over the new credentials" })

/** Proof of a first factor, in response to the challenge of a login. */
export const FirstAssertion = field(
  z.discriminatedUnion('kind', [fido2Assertion, keyAssertion, passwordAssertion]),
  'missing_or_invalid_first_factor',
).meta({ id: 'FirstFactor', description: "A first factor's response to the challenge" })

/** Proof of a second factor, in response to the challenge of a login. */
export const SecondAssertion = field(
  z.discriminatedUnion('kind', [fido2Assertion, keyAssertion, totpAssertion]),
  'missing_or_invalid_second_factor',
).meta({ id: 'SecondFactor', description: "A second factor's response to the challenge" })

export type Assertion = z.output<typeof FirstAssertion | typeof SecondAssertion>
export type Fido2Assertion = z.output<typeof fido2Assertion>
export type KeyAssertion = z.output<typeof keyAssertion>
export type RecoveryAssertion = z.output<typeof RecoveryAssertion>

/** Decoded attestation data of a credential of kind `Key`: JSON with these fields. */
export const KeyAttestation = z.object({
  publicKey: z.string().max(1024),
  signature: z.string().regex(/^([0-9a-f]{2})+$/i),
  algorithm: Algorithm.optional(),
})

/** Purpose of a credential: first factor, second factor or recovery. */
export const Factor = z
  .enum(['first', 'second', 'recovery'])
  .describe('Purpose: first factor of a login, second factor, or recovery')

const held = {
  factor: Factor,
  name: z.string().optional(),
  createdAt: Timestamp,
  /** Time of the last login or change that this credential confirmed. */
  lastUsedAt: Timestamp.optional(),
}
const Fido2Credential = z.object({
  ...held,
  kind: z.literal('Fido2'),
  id: z.string(),
  /** WebAuthn's user handle, under which the authenticator stores the passkey. */
  userHandle: z.string(),
  /** Public key in the COSE format. */
  publicKey: base64url(MAX_COSE_BYTES),
  /** Signature counter of the passkey at its last use. It is 0 if the authenticator does not count. */
  counter: z.number().int(),
  /** True if the passkey was backed up, for example to a cloud, at its last use. */
  backedUp: z.boolean(),
  aaguid: z.string(),
})
const KeyCredential = z.object({
  ...held,
  kind: z.enum(['Key', 'PasswordProtectedKey']).describe("A client's key, plain or encrypted with a password"),
  id: z.string(),
  /** Public key in PEM (SPKI), as Node.js exports it. */
  publicKey: z.string(),
  encryptedPrivateKey: z.string().optional(),
})

/** A stored credential. Of a password only the hash is stored. Of a generator of one-time codes only the seed of the secret is stored. */
export const Credential = z.discriminatedUnion('kind', [
  Fido2Credential,
  KeyCredential,
  KeyCredential.extend({ kind: z.literal('RecoveryKey') }),
  z.object({ ...held, kind: z.literal('Password'), hash: z.string() }),
  z.object({
    ...held,
    kind: z.literal('Totp'),
    seed: z.string(),
    /** Last 30-second step whose one-time code was used. Codes of this and earlier steps are refused, so no code works twice. */
    lastStep: z.number().int(),
  }),
])
export type Credential = z.output<typeof Credential>
export type CredentialOf<Kind extends Credential['kind']> = Extract<Credential, { kind: Kind }>
