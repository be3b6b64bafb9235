import * as z from 'zod'
import { field } from '../core/field.ts'

/** Platform of a client's application. It decides which origins the application's credentials may have. */
export const Platform = z.enum(['web', 'ios', 'android'])
export type Platform = z.output<typeof Platform>

/** Request header with the platform of the application. */
export const PlatformHeader = field(Platform, 'missing_or_invalid_platform').describe('Platform of the application')

/** An Android application, and the SHA-256 of its signing certificate in the form that Android's tools print. */
const AndroidApp = z.object({
  packageName: z.string().min(1),
  certificateSha256: z.string().regex(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/, 'must be 32 bytes in upper case, with colons'),
})

/** WebAuthn's relying party, with the web pages and applications that may use its passkeys. */
export const RelyingParty = z.object({
  /** Domain that all web pages and applications of the relying party share. */
  id: z.string().min(1),
  name: z.string().min(1),
  webOrigins: z.array(z.url()),
  /** Apple application identifiers: the team id, a dot and the bundle id, such as `TEAM123456.example.wallet`. */
  iosApps: z.array(z.string().regex(/^[0-9A-Z]{10}\.[\w.-]+$/)),
  androidApps: z.array(AndroidApp),
})
export type RelyingParty = z.output<typeof RelyingParty>

/** Builds the file apple-app-site-association, in which a domain lists the iOS applications that may use its passkeys. */
export function buildAppleAssociation({ iosApps }: Pick<RelyingParty, 'iosApps'>) {
  return { webcredentials: { apps: iosApps } }
}

const ANDROID_RELATION = ['delegate_permission/common.handle_all_urls', 'delegate_permission/common.get_login_creds']

/** Builds the file assetlinks.json, in which a domain lists the Android applications that may use its passkeys. */
export function buildAssetLinks({ androidApps }: Pick<RelyingParty, 'androidApps'>) {
  return androidApps.map(({ packageName, certificateSha256 }) => ({
    relation: ANDROID_RELATION,
    target: {
      namespace: 'android_app' as const,
      package_name: packageName,
      sha256_cert_fingerprints: [certificateSha256],
    },
  }))
}

/** Lists the origins that applications on a platform write into WebAuthn client data. */
export function listOrigins({ id, webOrigins, androidApps }: RelyingParty, platform: Platform): string[] {
  switch (platform) {
    case 'web':
      return webOrigins
    case 'ios':
      return [`https://${id}`]
    case 'android':
      return androidApps.map(({ certificateSha256 }) => {
        const hash = Buffer.from(certificateSha256.replaceAll(':', ''), 'hex')
        return `android:apk-key-hash:${hash.toString('base64url')}`
      })
  }
}

/** Lists the origins that applications on all platforms write into WebAuthn client data. */
export function listAllOrigins(relyingParty: RelyingParty): string[] {
  return Platform.options.flatMap((platform) => listOrigins(relyingParty, platform))
}
