import type { KeysByAge } from '../core/keys-by-age.ts'
import type { CreationOptions } from './creation-options.ts'
import { PASSKEY_ALGORITHMS } from './credential.ts'
import type { RelyingParty } from './relying-party.ts'
import { deriveTotpSecret, otpUrl } from './totp.ts'

const SUPPORTED_KINDS: CreationOptions['supportedCredentialKinds'] = {
  firstFactor: ['Fido2', 'Key', 'Password', 'PasswordProtectedKey'],
  secondFactor: ['Fido2', 'Key', 'Totp', 'PasswordProtectedKey'],
}

type Enrolled = {
  readonly email: string
  readonly userHandle: string
  readonly challenge: string
  readonly token: string
  /** Ids of the user's passkeys. An authenticator that already has one of them creates no second passkey. */
  readonly passkeys?: readonly string[]
}

/** Builds the options with which a client creates new credentials. The secret of one-time codes is derived from the challenge. */
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
    otpUrl: otpUrl(deriveTotpSecret(identityKeys[0], challenge), { issuer: relyingParty.name, account: email }),
    pubKeyCredParams: PASSKEY_ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    rp: { id: relyingParty.id, name: relyingParty.name },
    supportedCredentialKinds: SUPPORTED_KINDS,
    temporaryAuthenticationToken: token,
    user: { displayName: email, id: userHandle, name: email },
  }
}
