// These schemas are written only from the published API document. They import nothing from lib/, because they must reveal
// mistakes in lib/.
import * as z from 'zod'

const Kinds = z.array(z.enum(['Fido2', 'Key', 'Password', 'Totp', 'RecoveryKey', 'PasswordProtectedKey']))

/** Response to `POST /auth/register/init`. */
export const RegistrationInit = z.strictObject({
  publicKeyCredentialCreationOptions: z.strictObject({
    attestation: z.string(),
    authenticatorSelection: z.strictObject({
      requireResidentKey: z.literal(true),
      residentKey: z.string(),
      userVerification: z.string(),
    }),
    challenge: z.string(),
    excludeCredentials: z.array(z.strictObject({ type: z.string(), id: z.number() })),
    otpUrl: z.string(),
    pubKeyCredParams: z.array(z.strictObject({ type: z.string(), alg: z.number() })),
    rp: z.strictObject({ id: z.string(), name: z.string() }),
    supportedCredentialKinds: z.strictObject({ firstFactor: Kinds, secondFactor: Kinds }),
    temporaryAuthenticationToken: z.string(),
    user: z.strictObject({ displayName: z.string(), id: z.string(), name: z.string() }),
  }),
  temporaryAuthenticationToken: z.string(),
})

/** Response to `POST /auth/register`. The API document says: "status 200 with an empty body". */
export const Registration = z.undefined()
