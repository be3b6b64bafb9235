import type { Page } from 'playwright-core'

const AUTHENTICATOR = {
  protocol: 'ctap2',
  transport: 'internal',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const

/** Virtual WebAuthn authenticator of a browser page. */
export type Authenticator = {
  readonly remove: () => Promise<void>
  /** Copies this authenticator's passkeys to an authenticator of another page, as a password manager does. */
  readonly syncTo: (other: Authenticator) => Promise<void>
  readonly add: (passkey: Passkey) => Promise<void>
  /** Removes all passkeys except the one with this base64url credential id. */
  readonly keepOnly: (credentialId: string) => Promise<void>
}

type Passkey = Readonly<{
  credentialId: string
  isResidentCredential: boolean
  privateKey: string
  signCount: number
}>

/**
 * Adds a virtual authenticator to a page. The authenticator consents to every request. `isSynced` marks passkeys as
 * synchronized.
 */
export async function addAuthenticator(page: Page, { isSynced = false } = {}): Promise<Authenticator> {
  const devTools = await page.context().newCDPSession(page)
  await devTools.send('WebAuthn.enable')
  const backup = { defaultBackupEligibility: isSynced, defaultBackupState: isSynced }
  const { authenticatorId } = await devTools.send('WebAuthn.addVirtualAuthenticator', {
    options: { ...AUTHENTICATOR, ...backup },
  })
  return {
    async remove() {
      await devTools.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
    },
    async syncTo(other) {
      const { credentials } = await devTools.send('WebAuthn.getCredentials', { authenticatorId })
      for (const passkey of credentials) await other.add(passkey)
    },
    async add(passkey) {
      await devTools.send('WebAuthn.addCredential', { authenticatorId, credential: passkey })
    },
    async keepOnly(keptId) {
      const { credentials } = await devTools.send('WebAuthn.getCredentials', { authenticatorId })
      for (const { credentialId } of credentials) {
        const isKept = Buffer.from(credentialId, 'base64').toString('base64url') === keptId
        if (!isKept) await devTools.send('WebAuthn.removeCredential', { authenticatorId, credentialId })
      }
    },
  }
}
