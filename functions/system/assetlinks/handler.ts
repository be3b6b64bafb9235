import { endpoint } from '../../../lib/frame/endpoint.ts'
import { contract } from './contract.ts'

const RELATION = ['delegate_permission/common.handle_all_urls', 'delegate_permission/common.get_login_creds']

export const handler = endpoint(
  contract,
  ({ RELYING_PARTY: { androidApps } }) =>
    async () =>
      androidApps.map(({ packageName, certificateSha256 }) => ({
        relation: RELATION,
        target: {
          namespace: 'android_app' as const,
          package_name: packageName,
          sha256_cert_fingerprints: [certificateSha256],
        },
      })),
)
