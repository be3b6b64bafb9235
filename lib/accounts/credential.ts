import * as z from 'zod'
import { BASE64, base64url, Timestamp } from '../codecs.ts'
import { field, problemBeside } from '../field.ts'

/** The algorithms that a passkey may have, by their COSE numbers: ES256 and RS256. */
export const PASSKEY_ALGORITHMS = [-7, -257]

/** How many bytes the public key of a passkey may have: one of RSA with 4096 bits has 528. */
export const MOST_COSE_BYTES = 600

/** The id of a credential, at most 1023 bytes: base64url without padding after it was read, whatever it was written in. */
const CredentialId = z
  .string()
  .max(1364)
  .regex(BASE64)
  .transform((text) => Buffer.from(text, 'base64url').toString('base64url'))
  .meta({ pattern: BASE64.source, description: 'base64url of at most 1023 bytes' })

/** The id of a key: as long as those of dummies, or a list would tell them apart. */
export const KeyId = CredentialId.refine(
  (id) => Buffer.byteLength(id, 'base64url') === 32,
  'must be 32 bytes',
).describe('base64url of 32 bytes')

const ClientDataBytes = base64url(4096).describe('Signed client data, in base64url')

/** The hash with which a key signed, where it is not the usual one of its type. A string to clients, as signers type it. */
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
  .strictObject({ credId: KeyId, ...made })
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

/** A new credential with which a user shall log in. */
export const FirstAttestation = field(
  z.discriminatedUnion('credentialKind', [fido2, key, password, passwordProtectedKey]),
  'missing_or_invalid_first_factor_credential',
).meta({ id: 'NewFirstFactor', description: 'A new credential to log in with' })

/** A new credential that a user shall need besides. */
export const SecondAttestation = field(
  z.discriminatedUnion('credentialKind', [fido2, key, totp, passwordProtectedKey]),
  'missing_or_invalid_second_factor_credential',
).meta({ id: 'NewSecondFactor', description: 'A new second factor' })

/** A new key for the day on which all others are lost. */
export const RecoveryAttestation = field(
  z.strictObject({
    credentialKind: z.literal('RecoveryKey'),
    credentialInfo,
    encryptedPrivateKey: EncryptedPrivateKey.optional(),
    credentialName,
  }),
  'missing_or_invalid_recovery_credential',
).meta({ id: 'NewRecoveryKey', description: 'A new recovery key, for a user who has lost all other credentials' })

/** Credentials that are made from the same options. */
type MadeTogether = { readonly [Field in 'firstFactorCredential' | 'secondFactorCredential']?: Attestation | undefined }

/**
 * The check that of credentials made from the same options one is a passkey at most: an authenticator keeps one for each
 * user handle, so that a second one takes the place of the first (https://www.w3.org/TR/webauthn-3/#sctn-op-make-cred).
 */
export const onePasskey = z.refine<MadeTogether>(
  ({ firstFactorCredential, secondFactorCredential }) =>
    firstFactorCredential?.credentialKind !== 'Fido2' || secondFactorCredential?.credentialKind !== 'Fido2',
  problemBeside(
    'secondFactorCredential',
    'must be of another kind: a second passkey from the same options replaces the first. Add it with POST /auth/credentials/init',
  ),
)

/** All credentials with which a user shall go on. */
export const NewCredentials = z
  .strictObject({
    firstFactorCredential: FirstAttestation,
    secondFactorCredential: SecondAttestation.optional().describe('A passkey only if the first factor is not one'),
    recoveryCredential: RecoveryAttestation.optional(),
  })
  .check(onePasskey)
export type NewCredentials = z.output<typeof NewCredentials>

/** A credential as a client hands it over at registration. */
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
      // Safari writes an empty text for none (https://bugs.webkit.org/show_bug.cgi?id=239737).
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
 * What a recovery key made of new credentials. Its client data has them once more inside, twice in base64url: a request
 * has room for as much.
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

/** What a credential that was registered as first factor made of a login's challenge. */
export const FirstAssertion = field(
  z.discriminatedUnion('kind', [fido2Assertion, keyAssertion, passwordAssertion]),
  'missing_or_invalid_first_factor',
).meta({ id: 'FirstFactor', description: "A first factor's response to the challenge" })

/** What a credential that was registered as second factor made of a login's challenge. */
export const SecondAssertion = field(
  z.discriminatedUnion('kind', [fido2Assertion, keyAssertion, totpAssertion]),
  'missing_or_invalid_second_factor',
).meta({ id: 'SecondFactor', description: "A second factor's response to the challenge" })

export type Assertion = z.output<typeof FirstAssertion | typeof SecondAssertion>
export type Fido2Assertion = z.output<typeof fido2Assertion>
export type KeyAssertion = z.output<typeof keyAssertion>
export type RecoveryAssertion = z.output<typeof RecoveryAssertion>

/** What the attestation data of a key is once it is decoded: JSON in these words. */
export const KeyAttestation = z.object({
  publicKey: z.string().max(1024),
  signature: z.string().regex(/^([0-9a-f]{2})+$/i),
  algorithm: Algorithm.optional(),
})

/** What a credential is asked for: to log in with, besides another one, or when all others are lost. */
export const Factor = z
  .enum(['first', 'second', 'recovery'])
  .describe('Purpose: first factor of a login, second factor, or recovery')

/** What every stored credential has besides what it is. */
const held = {
  factor: Factor,
  name: z.string().optional(),
  createdAt: Timestamp,
  /** When somebody last logged in with it, or confirmed a change. */
  lastUsedAt: Timestamp.optional(),
}
const Fido2Credential = z.object({
  ...held,
  kind: z.literal('Fido2'),
  id: z.string(),
  /** WebAuthn's user handle, under which the authenticator keeps it. */
  userHandle: z.string(),
  /** As COSE. */
  publicKey: base64url(MOST_COSE_BYTES),
  /** How often the authenticator had signed when it was last seen; 0 where it does not count. */
  counter: z.number().int(),
  /** As the authenticator said when it was last seen. */
  backedUp: z.boolean(),
  aaguid: z.string(),
})
const KeyCredential = z.object({
  ...held,
  kind: z.enum(['Key', 'PasswordProtectedKey']).describe("A client's key, plain or encrypted with a password"),
  id: z.string(),
  /** As PEM, as Node.js writes it. */
  publicKey: z.string(),
  encryptedPrivateKey: z.string().optional(),
})

/** A stored credential: of a password only its hash, of a one-time-code generator what its secret follows from. */
export const Credential = z.discriminatedUnion('kind', [
  Fido2Credential,
  KeyCredential,
  KeyCredential.extend({ kind: z.literal('RecoveryKey') }),
  z.object({ ...held, kind: z.literal('Password'), hash: z.string() }),
  z.object({
    ...held,
    kind: z.literal('Totp'),
    seed: z.string(),
    /** The last 30-second step whose code was used. */
    lastStep: z.number().int(),
  }),
])
export type Credential = z.output<typeof Credential>
export type CredentialOf<Kind extends Credential['kind']> = Extract<Credential, { kind: Kind }>
