import { startRegistration as createPasskey, startAuthentication } from '@simplewebauthn/browser'
import {
  type Client,
  completeLogin,
  completeRegistration,
  orThrow,
  type Result,
  startLogin,
  startRegistration,
} from '@vaultline/client'
import { session } from './service.ts'

/**
 * Registers a user with a new passkey, which the device forgets where there is such a user, and logs in with it. Throws a
 * CallFailure, or the browser's own error.
 */
export async function signUp(service: Client, email: string): Promise<void> {
  const started = orThrow(await startRegistration(service, { platform: 'web', email }))
  const { publicKeyCredentialCreationOptions: options, temporaryAuthenticationToken } = started
  // A new user has no other passkey.
  const { id, response } = await createPasskey({ optionsJSON: { ...options, excludeCredentials: [] } })
  const { clientDataJSON: clientData, attestationObject: attestationData } = response
  const credentialInfo = { credId: id, clientData, attestationData }
  const firstFactorCredential = { credentialKind: 'Fido2', credentialInfo } as const
  const completed = await completeRegistration(service, { temporaryAuthenticationToken, firstFactorCredential })
  // The device would offer it to log in with. Of other failures it is not sure that the passkey opens nothing.
  const isDead = !completed.ok && completed.error.code === 'user_already_registered'
  if (isDead) await PublicKeyCredential.signalUnknownCredential?.({ rpId: options.rp.id, credentialId: id })
  orThrow(completed)
  await logIn(service)
}

/** Logs in with a passkey, which tells who it is. Throws a CallFailure, or the browser's own error. */
export async function logIn(service: Client): Promise<void> {
  const { challengeIdentifier, challenge, rp, userVerification } = orThrow(await startLogin(service, {}))
  const optionsJSON = { challenge, rpId: rp.id, userVerification }
  const { id, response } = await startAuthentication({ optionsJSON })
  const { clientDataJSON: clientData, authenticatorData, signature, userHandle } = response
  const credentialAssertion = { credId: id, clientData, authenticatorData, signature, userHandle }
  const firstFactor = { kind: 'Fido2', credentialAssertion } as const
  const login = orThrow(await completeLogin(service, { platform: 'web', challengeIdentifier, firstFactor }))
  session.set({ token: login.token, email: login.user.email })
}

/** Runs `act`; on `fresh_login_required` logs in with the passkey and runs it once more. Throws as `logIn` does. */
export async function withFreshLogin<T>(service: Client, act: () => Promise<Result<T>>): Promise<T> {
  const result = await act()
  if (result.ok || result.error.code !== 'fresh_login_required') return orThrow(result)
  await logIn(service)
  return orThrow(await act())
}
