import type { KeysByAge } from '../keys-by-age.ts'
import type { CreationOptions } from './creation-options.ts'
import { PASSKEY_ALGORITHMS } from './credential.ts'
import type { RelyingParty } from './relying-party.ts'
import { otpUrl, totpSecret } from './totp.ts'

/** The kinds of credentials that each factor can be. */
const SUPPORTED_KINDS: CreationOptions['supportedCredentialKinds'] = {
  firstFactor: ['Fido2', 'Key', 'Password', 'PasswordProtectedKey'],
  secondFactor: ['Fido2', 'Key', 'Totp', 'PasswordProtectedKey'],
}

/** What somebody makes new credentials for. */
type Enrolled = {
  readonly email: string
  readonly userHandle: string
  readonly challenge: string
  /** With which the credentials are handed over. */
  readonly token: string
  /** The ids of the passkeys that authenticators must not make again. */
  readonly passkeys?: readonly string[]
}

/** What a client needs to make new credentials; the secret of one-time codes follows from the challenge. */
export function buildCreationOptions(
  { relyingParty, identityKeys }: { readonly relyingParty: RelyingParty; readonly identityKeys: KeysByAge },
  { email, userHandle, challenge, token, passkeys = [] }: Enrolled,
): CreationOptions {
  return {
    attestation: 'none',
    authenticatorSelection: {
      requireResidentKey: true,
      residentKey: 'required',
      userVerification: 'required',
    },
    challenge,
    excludeCredentials: passkeys.map((id) => ({ type: 'public-key', id })),
    otpUrl: otpUrl(totpSecret(identityKeys[0], challenge), { issuer: relyingParty.name, account: email }),
    pubKeyCredParams: PASSKEY_ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    rp: { id: relyingParty.id, name: relyingParty.name },
    supportedCredentialKinds: SUPPORTED_KINDS,
    temporaryAuthenticationToken: token,
    user: { displayName: email, id: userHandle, name: email },
  }
}
