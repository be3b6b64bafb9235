import { openEndpoint } from '../../../lib/frame/endpoint.ts'
import { relyingParty, type Services } from '../../../lib/services.ts'
import { contract } from './contract.ts'

const RELATION = ['delegate_permission/common.handle_all_urls', 'delegate_permission/common.get_login_creds']

const listApps =
  ({ relyingParty }: Services<'relyingParty'>) =>
  async () =>
    relyingParty.androidApps.map(({ packageName, certificateSha256 }) => ({
      relation: RELATION,
      target: {
        namespace: 'android_app' as const,
        package_name: packageName,
        sha256_cert_fingerprints: [certificateSha256],
      },
    }))

export const handler = openEndpoint(contract, { relyingParty }, listApps)
