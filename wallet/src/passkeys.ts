import {
  startRegistration as askForPasskey,
  type PublicKeyCredentialCreationOptionsJSON,
  startAuthentication,
} from '@simplewebauthn/browser'
import {
  type AddCredentialRequest,
  addCredential,
  type Client,
  completeLogin,
  completeRegistration,
  type FirstFactor,
  logOut,
  type NewFirstFactor,
  orThrow,
  type Result,
  type StartAddingCredentialResponse,
  type StartLoginResponse,
  startAddingCredential,
  startLogin,
  startRegistration,
} from '@vaultline/client'
import { session } from './service.ts'

type Passkey = Extract<NewFirstFactor, { credentialKind: 'Fido2' }>
type Challenge = Pick<StartLoginResponse, 'challenge' | 'rp' | 'userVerification'> & {
  readonly allowCredentials: Pick<StartLoginResponse['allowCredentials'], 'webauthn'>
}

/** Options to create a new credential, and the signature by which the user permits adding it to the account. */
export type ConfirmedChange = Omit<StartAddingCredentialResponse, 'confirmation'> &
  Pick<AddCredentialRequest, 'confirmation'>

/**
 * Registers a user with a new passkey and logs in with it. If the user already exists, the browser is told to drop the new passkey. Throws
 * a CallFailure, or the browser's own error.
 */
export async function signUp(service: Client, email: string): Promise<void> {
  const started = orThrow(await startRegistration(service, { platform: 'web', email }))
  const { publicKeyCredentialCreationOptions: options, temporaryAuthenticationToken } = started
  // A new user has no other passkey, so the list of excluded passkeys is empty.
  const passkey = await createPasskey({ ...options, excludeCredentials: [] })
  const completed = await completeRegistration(service, {
    temporaryAuthenticationToken,
    firstFactorCredential: { ...passkey, credentialName: describeDevice() },
  })
  // The service did not store this passkey, so the device must not offer it at login. After any other error the passkey may be valid.
  const isDead = !completed.ok && completed.error.code === 'user_already_registered'
  const { credId: credentialId } = passkey.credentialInfo
  if (isDead) await PublicKeyCredential.signalUnknownCredential?.({ rpId: options.rp.id, credentialId })
  orThrow(completed)
  await logIn(service)
}

/**
 * Logs in with a passkey. With `email`, only passkeys of that user are valid. With `credentialId`, the browser offers only this passkey.
 * Throws a CallFailure, or the browser's own error.
 */
export async function logIn(service: Client, email?: string, credentialId?: string): Promise<void> {
  const { challengeIdentifier, ...challenge } = orThrow(await startLogin(service, { email }))
  const webauthn = credentialId === undefined ? [] : [{ type: 'public-key' as const, id: credentialId }]
  const firstFactor = await signWithPasskey({ ...challenge, allowCredentials: { webauthn } })
  const login = orThrow(await completeLogin(service, { platform: 'web', challengeIdentifier, firstFactor }))
  session.set({ token: login.token, email: login.user.email, passkey: firstFactor.credentialAssertion.credId })
}

/**
 * Runs `act`. If it fails with `fresh_login_required`, logs the same user in again, ends the older session and runs `act` once more. Throws
 * a CallFailure, or the browser's own error.
 */
export async function withFreshLogin<T>(service: Client, act: () => Promise<Result<T>>): Promise<T> {
  const result = await act()
  if (result.ok || result.error.code !== 'fresh_login_required') return orThrow(result)
  const before = session.get()
  // The e-mail address restricts the login to the same user, because `act` would otherwise change another user's account.
  await logIn(service, before?.email)
  await logOut({ ...service, session: before?.token }, undefined)
  return orThrow(await act())
}

/** Lets the user permit a new credential by a signature with an existing passkey. Throws a CallFailure, or the browser's own error. */
export async function confirmChange(service: Client): Promise<ConfirmedChange> {
  const { confirmation, ...options } = orThrow(await startAddingCredential(service, { platform: 'web' }))
  return { ...options, confirmation: { firstFactor: await signWithPasskey(confirmation) } }
}

/** Creates a passkey and adds it to the account under this name. Throws a CallFailure, or the browser's own error. */
export async function addPasskey(service: Client, change: ConfirmedChange, credentialName: string): Promise<void> {
  const { publicKeyCredentialCreationOptions: options, temporaryAuthenticationToken, confirmation } = change
  const firstFactorCredential = { ...(await createPasskey(options)), credentialName }
  orThrow(await addCredential(service, { temporaryAuthenticationToken, firstFactorCredential, confirmation }))
}

/** Creates a passkey on the device or security key that the user picks. Throws the browser's own error. */
export async function createPasskey(optionsJSON: PublicKeyCredentialCreationOptionsJSON): Promise<Passkey> {
  const { id, response } = await askForPasskey({ optionsJSON })
  const { clientDataJSON: clientData, attestationObject: attestationData } = response
  return { credentialKind: 'Fido2', credentialInfo: { credId: id, clientData, attestationData } }
}

async function signWithPasskey({ challenge, rp, userVerification, allowCredentials }: Challenge) {
  const optionsJSON = { challenge, rpId: rp.id, userVerification, allowCredentials: allowCredentials.webauthn }
  const { id, response } = await startAuthentication({ optionsJSON })
  const { clientDataJSON: clientData, authenticatorData, signature, userHandle } = response
  const credentialAssertion = { credId: id, clientData, authenticatorData, signature, userHandle }
  return { kind: 'Fido2', credentialAssertion } as const satisfies FirstFactor
}

const DEVICES: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/iPhone|iPad/, 'iPhone or iPad'],
  [/Android/, 'Android device'],
  [/Mac OS/, 'Mac'],
  [/Windows/, 'Windows computer'],
  [/Linux|CrOS/, 'Linux computer'],
]

/** Returns the kind of this device, as the suggested name of a new passkey. */
export function describeDevice(): string {
  return DEVICES.find(([pattern]) => pattern.test(navigator.userAgent))?.[1] ?? 'Passkey'
}
