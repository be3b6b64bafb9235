import * as z from 'zod'
import { field } from '../core/field.ts'

/** Platform of an application, which decides the allowed origins of its credentials. */
export const Platform = z.enum(['web', 'ios', 'android'])
export type Platform = z.output<typeof Platform>

/** Header with the application's platform. */
export const PlatformHeader = field(Platform, 'missing_or_invalid_platform').describe('Platform of the application')

/** An Android application: its name, and its signing certificate's SHA-256 as Android's tools print it. */
const AndroidApp = z.object({
  packageName: z.string().min(1),
  certificateSha256: z.string().regex(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/, 'must be 32 bytes in upper case, with colons'),
})

/** WebAuthn's relying party, with the web pages and applications that may use its passkeys. */
export const RelyingParty = z.object({
  /** Domain that all these web pages and applications share. */
  id: z.string().min(1),
  name: z.string().min(1),
  webOrigins: z.array(z.url()),
  /** Application identifiers with the team in front: `TEAM123456.example.wallet`. */
  iosApps: z.array(z.string().regex(/^[0-9A-Z]{10}\.[\w.-]+$/)),
  androidApps: z.array(AndroidApp),
})
export type RelyingParty = z.output<typeof RelyingParty>

/** Builds the file with which a domain lets iOS applications use its passkeys. */
export function buildAppleAssociation({ iosApps }: Pick<RelyingParty, 'iosApps'>) {
  return { webcredentials: { apps: iosApps } }
}

const ANDROID_RELATION = ['delegate_permission/common.handle_all_urls', 'delegate_permission/common.get_login_creds']

/** Builds the file with which a domain lets Android applications use its passkeys. */
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

/** Lists the origins that clients on a platform write into client data. */
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

/** Lists the origins of all platforms. */
export function listAllOrigins(relyingParty: RelyingParty): string[] {
  return Platform.options.flatMap((platform) => listOrigins(relyingParty, platform))
}
