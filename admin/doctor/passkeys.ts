import * as z from 'zod'
import { buildAppleAssociation, buildAssetLinks, type RelyingParty } from '../../lib/accounts/relying-party.ts'
import { FailedTry, sendOnce } from '../../lib/core/http.ts'
import { type Finding, guideSection, joinFirstNames } from './finding.ts'

type Environment = {
  readonly fetch: typeof fetch
  /** Time limit of one request to the passkeys' domain, in milliseconds. */
  readonly questionMs: number
}

/**
 * Maximum size in bytes of an apple-app-site-association file that Apple reads
 * (https://developer.apple.com/documentation/xcode/supporting-associated-domains).
 */
const MAX_BYTES = 128 * 1024

// Schema of the file apple-app-site-association, with only the fields that allow applications to use passkeys. The file
// may contain more.
const AppleAssociation = z.object({ webcredentials: z.object({ apps: z.array(z.string()) }) })
// Schema of the file assetlinks.json, with only the fields that allow applications to use passkeys. The file may
// contain more.
const AssetLinks = z.array(
  z.object({
    relation: z.array(z.string()),
    target: z.looseObject({
      package_name: z.string().optional(),
      sha256_cert_fingerprints: z.array(z.string()).optional(),
    }),
  }),
)

/**
 * Checks that two files on the domain of a stage's passkeys name the stage's iOS and Android applications. Reads the files as Apple's and
 * Google's servers do: over TLS, without a redirect, as JSON. Sends two requests.
 */
export async function checkPasskeyDomain(
  environment: Environment,
  { id, ...apps }: Pick<RelyingParty, 'id' | 'iosApps' | 'androidApps'>,
): Promise<Finding[]> {
  return await Promise.all([
    checkFile(environment, {
      name: 'passkeys on iOS',
      url: `https://${id}/.well-known/apple-app-site-association`,
      count: apps.iosApps.length,
      listMissing: (body) => listMissingIos(apps, body),
    }),
    checkFile(environment, {
      name: 'passkeys on Android',
      url: `https://${id}/.well-known/assetlinks.json`,
      count: apps.androidApps.length,
      listMissing: (body) => listMissingAndroid(apps, body),
    }),
  ])
}

type DomainFile = {
  readonly name: string
  readonly url: string
  /** Number of applications that the file must name. */
  readonly count: number
  /** Lists the applications that a file with this JSON does not name; undefined if the JSON has another structure. */
  readonly listMissing: (body: unknown) => readonly string[] | undefined
}

async function checkFile(
  { fetch, questionMs }: Environment,
  { name, url, count, listMissing }: DomainFile,
): Promise<Finding> {
  if (count === 0) return { mark: 'skip', name, result: 'the stage has no application there' }
  const fail = (why: string): Finding => ({
    ...{ mark: 'FAIL', name, result: `${url} ${why}` },
    remedy: guideSection('stages', 'Passkeys in applications'),
  })
  let contentType = ''
  const watched: typeof fetch = async (...request) => {
    const response = await fetch(...request)
    contentType = response.headers.get('content-type') ?? ''
    return response
  }
  try {
    const request = { url, mostBytes: MAX_BYTES }
    const { status, body } = await sendOnce({ fetch: watched }, request, AbortSignal.timeout(questionMs))
    if (status >= 400) return fail(`answers HTTP status ${status}`)
    if (!/^application\/json *(;|$)/i.test(contentType)) return fail(`is not sent as application/json`)
    const missing = listMissing(body)
    if (!missing) return fail('has another form')
    if (missing.length > 0) return fail(`does not name ${joinFirstNames(missing)}`)
    return { mark: 'ok', name, result: `${url} names ${count}` }
  } catch (error) {
    if (!(error instanceof FailedTry)) throw error
    return fail(
      /^HTTP status 3/.test(error.message) ? `redirects (${error.message})` : `is not there: ${error.message}`,
    )
  }
}

function listMissingIos(apps: Pick<RelyingParty, 'iosApps'>, body: unknown): string[] | undefined {
  const served = AppleAssociation.safeParse(body).data?.webcredentials.apps
  return served && buildAppleAssociation(apps).webcredentials.apps.filter((app) => !served.includes(app))
}

function listMissingAndroid(apps: Pick<RelyingParty, 'androidApps'>, body: unknown): string[] | undefined {
  const served = AssetLinks.safeParse(body).data
  const isNamed = ({ relation, target }: ReturnType<typeof buildAssetLinks>[number]) =>
    relation.every((wanted) =>
      served?.some(
        (statement) =>
          statement.relation.includes(wanted) &&
          statement.target.package_name === target.package_name &&
          target.sha256_cert_fingerprints.every((print) => statement.target.sha256_cert_fingerprints?.includes(print)),
      ),
    )
  return (
    served &&
    buildAssetLinks(apps)
      .filter((statement) => !isNamed(statement))
      .map(({ target }) => target.package_name)
  )
}
