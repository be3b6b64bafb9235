import { parseArgs } from 'node:util'
import {
  CallFailure,
  type Client,
  getHealth,
  listCoins,
  listEvents,
  listPositions,
  listVaults,
  listWebhooks,
  orThrow,
  prepareDeposit,
} from '../client/src/index.ts'
import { type PublicKey, verifyingFetch } from '../client/src/verify.ts'

const USAGE = `Usage: API_KEY=jk_… npm run smoke -- --url https://… [--origin https://…]

Sends a running service a few requests of a client and changes nothing. Ends with 0 if each response is correct.

  API_KEY    A client's key; without it only requests without a key run. Webhooks need a key with that scope
  --url      The API's base URL
  --origin   The origin of a page that may call the API
`

/**
 * Address without a known private key: the last 20 bytes of keccak256('vaultline smoke test'). It holds only tokens that others send to it.
 */
const ACCOUNT = '0x049499f1733309f22f08bc995dacec6f21cdec11'
/** Maximum age of the cached market data, in milliseconds: more than three intervals of the job refresh-market. */
const OLDEST_MARKET_MS = 30 * 60_000

/** Description of a correct response, or the reason why the check was skipped. */
type CheckResult = string | { readonly skipped: string }

/** Name of a check, and a function that sends the request and describes the correct response. It throws for a wrong response. */
type Check = readonly [name: string, ask: () => Promise<CheckResult>]

const options = readOptions()
if (options) {
  const url = options.url.replace(/\/+$/, '')
  const failures = await runAll([...openChecks(url, options.origin), ...clientChecks(url, process.env['API_KEY'])])
  process.exitCode = failures > 0 ? 1 : 0
}

/**
 * Reads the command-line options without an npm package, so that this script runs without an installation. Returns undefined if it only
 * printed the usage.
 */
function readOptions(): { url: string; origin: string | undefined } | undefined {
  try {
    const { values } = parseArgs({
      options: { url: { type: 'string' }, origin: { type: 'string' }, help: { type: 'boolean' } },
    })
    if (!values.help)
      return { url: webUrl('url', values.url), origin: values.origin && webUrl('origin', values.origin) }
    process.stdout.write(USAGE)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    process.stderr.write(`${error.message}\n\n${USAGE}`)
    process.exitCode = 2
  }
  return undefined
}

function webUrl(name: string, text = ''): string {
  const { protocol } = URL.parse(text) ?? {}
  if (protocol !== 'https:' && protocol !== 'http:') throw new TypeError(`--${name} takes a URL, as https://…`)
  return text
}

async function runAll(checks: readonly Check[]): Promise<number> {
  let [failures, skips] = [0, 0]
  for (const [name, ask] of checks) {
    const begun = performance.now()
    const result = await ask().then(
      (answered) =>
        typeof answered === 'string' ? { mark: 'ok  ', text: answered } : { mark: 'skip', text: answered.skipped },
      (error: unknown) => ({ mark: 'FAIL', text: describeFailure(error) }),
    )
    if (result.mark === 'FAIL') failures += 1
    if (result.mark === 'skip') skips += 1
    const took = `${Math.round(performance.now() - begun)} ms`
    process.stdout.write(`${result.mark}  ${name.padEnd(22)} ${took.padStart(8)}  ${result.text}\n`)
  }
  const summary = skips > 0 ? `${checks.length - skips} passed, ${skips} skipped` : `All ${checks.length} passed`
  process.stdout.write(failures > 0 ? `${failures} of ${checks.length} failed.\n` : `${summary}.\n`)
  return failures
}

function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return [error.message, error.cause && describeFailure(error.cause)].filter(Boolean).join(': ')
}

/** Returns the same check, but reports it as skipped if the API key lacks the scope. */
function withScope(scope: string, [name, ask]: Check): Check {
  const orSkip = (error: unknown): CheckResult => {
    if (!(error instanceof CallFailure && error.error.code === 'insufficient_scope')) throw error
    return { skipped: `the key does not have the scope ${scope}` }
  }
  return [name, () => ask().catch(orSkip)]
}

function openChecks(url: string, origin: string | undefined): Check[] {
  return [
    ['health', async () => `version ${orThrow(await getHealth({ url, key: '' })).version}`],
    ['document', async () => `${Object.keys((await readJson(url, '/openapi.json'))['paths'] ?? {}).length} paths`],
    ['signing keys', async () => `${(await listKeys(url)).length} published`],
    ['unknown route', async () => expectError(await fetch(`${url}/nowhere`), 404, 'not_found')],
    ['no key', async () => expectError(await fetch(`${url}/defi-vaults/v1/vaults`), 401, 'missing_api_key')],
    ...(origin === undefined ? [] : [['preflight', () => expectPreflight(url, origin)] as const]),
  ]
}

/** Lists the checks with a client's API key. Verifies the signature of every response that must be signed, with the published keys. */
function clientChecks(url: string, key: string | undefined): Check[] {
  if (!key) return []
  const clientOf = async (): Promise<Client> => ({ url, key, fetch: verifyingFetch({ keys: await listKeys(url) }) })
  return [
    [
      'vaults',
      async () => {
        const { data } = orThrow(await listVaults(await clientOf()))
        const stale = data.filter(({ stateAsOf }) => stateAsOf?.stale !== false)
        if (data.length === 0) throw new Error('there is none')
        if (stale.length > 0) throw new Error(`${stale.length} of ${data.length} are not of now`)
        return `${data.length} on ${new Set(data.map(({ chainId }) => chainId)).size} chains, signed`
      },
    ],
    [
      'signed as sent',
      async () => {
        const path = '/defi-vaults/v1/vaults'
        const signed = await fetch(`${url}${path}`, { headers: { 'x-join-key': key, 'accept-encoding': 'gzip, br' } })
        const encoding = signed.headers.get('content-encoding')
        if (encoding !== null) throw new Error(`what is signed is compressed on its way: ${encoding}`)
        // The second request has no API key, so it must fail. A cache between client and service would answer it with the stored response
        // to the first request.
        return await expectError(await fetch(`${url}${path}`), 401, 'missing_api_key')
      },
    ],
    [
      'a deposit',
      async () => {
        const client = await clientOf()
        const [vault] = orThrow(await listVaults(client)).data
        if (!vault) throw new Error('there is no vault')
        const prepared = await prepareDeposit(client, {
          ...{ vaultAddress: vault.poolAddress, userAddress: ACCOUNT, amount: '1' },
        })
        if (prepared.ok) return `${prepared.data.operations.length} operation, signed`
        const { code, status, message } = prepared.error
        if (status >= 500 || status === 0) throw new Error(`${code}: ${message}`)
        return `refused rightly: ${code}`
      },
    ],
    [
      'positions',
      async () => {
        const { positions } = orThrow(await listPositions(await clientOf(), { userAddress: ACCOUNT }))
        return `${positions.length} of an account that is asked about`
      },
    ],
    withScope('markets', [
      'coins',
      async () => {
        const coins = await listCoins(await clientOf())
        const { length } = orThrow(coins)
        if (coins.ok && coins.ageMs > OLDEST_MARKET_MS) throw new Error(`they are ${coins.ageMs / 60_000} minutes old`)
        return `${length} coins`
      },
    ]),
    withScope('webhooks', [
      'webhooks',
      async () => {
        const { webhooks } = orThrow(await listWebhooks({ url, key }))
        const disabled = webhooks.filter(({ status }) => status === 'disabled')
        return `${webhooks.length} registered, ${disabled.length} disabled`
      },
    ]),
    withScope('webhooks', [
      'events',
      async () => {
        const { events } = orThrow(await listEvents({ url, key }, { limit: 1 }))
        return events.length > 0 ? `the oldest that is kept is number ${events[0]?.sequence}` : 'none yet'
      },
    ]),
  ]
}

async function readJson(url: string, path: string): Promise<Record<string, unknown>> {
  const answer = await fetch(`${url}${path}`)
  if (answer.status !== 200) throw new Error(`${path} answers ${answer.status}`)
  const body: unknown = await answer.json()
  if (typeof body !== 'object' || body === null) throw new Error(`${path} is no object`)
  return { ...body }
}

async function listKeys(url: string): Promise<readonly PublicKey[]> {
  const { keys } = await readJson(url, '/.well-known/jwks.json')
  if (!Array.isArray(keys) || keys.length === 0) throw new Error('there is none: npm run admin -- add-signing-key')
  // The cast is safe: a key of another form only makes the verification of responses fail.
  return keys as PublicKey[]
}

async function expectError(answer: Response, status: number, code: string): Promise<string> {
  const body: unknown = await answer.json().catch(() => undefined)
  const errorCode = typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined
  if (answer.status !== status || errorCode !== code) throw new Error(`answers ${answer.status} ${errorCode ?? ''}`)
  return `${status} ${code}`
}

async function expectPreflight(url: string, page: string): Promise<string> {
  const headers = {
    origin: page,
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'x-join-key',
  }
  const answer = await fetch(`${url}/defi-vaults/v1/vaults`, { method: 'OPTIONS', headers })
  if (answer.headers.get('access-control-allow-origin') !== page) throw new Error(`${page} may not call`)
  return `${page} may call`
}
