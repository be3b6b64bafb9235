import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { bundle, bundleBudget, verifyInputs, writeBundle } from '../../infra/bundling.ts'
import { CONSUMERS, ENDPOINTS, JOBS } from '../../infra/functions.ts'

// To collect garbage would take esbuild a quarter of its time.
process.env['GOGC'] = 'off'

const NAMES = [...ENDPOINTS, ...JOBS, ...CONSUMERS].map(([name]) => name)

const directory = mkdtempSync(join(tmpdir(), 'vaultline-bundles-'))
afterAll(() => rmSync(directory, { recursive: true }))
const bundles = bundle(NAMES)
for (const [name, made] of bundles) writeBundle(made, join(directory, name))

test.for(NAMES)('%s is within its budget', (name) => {
  expect(bundles.get(name)?.code.length).toBeLessThanOrEqual(bundleBudget(name) * 1024)
})

test('each loads in a Node 24 that has nothing else, and nothing in its environment', async () => {
  const script = `console.log(process.version)
    for (const name of ${JSON.stringify(NAMES)}) console.log(name, typeof (await import(\`./\${name}/index.mjs\`)).handler)`
  const [version, ...loaded] = (await run(script)).trimEnd().split('\n')
  expect(version).toMatch(/^v24\./)
  expect(loaded).toEqual(NAMES.map((name) => `${name} function`))
})

test('what is bundled is only what runs: no other way to find credentials', () => {
  const files = [...bundles.values()].flatMap(({ bytesByFile }) => [...bytesByFile.keys()])
  expect(files).toContain('infra/lambda-credentials.ts')
  expect(files.filter((file) => /credential-provider|nested-clients/.test(file))).toEqual([])
})

test('no package is bundled without the JSON that it reads', () => {
  const version = 'node_modules/@aws-sdk/client-dynamodb/package.json'
  const data = 'node_modules/some-package/chains.json'
  expect(() => verifyInputs(['own-code.js', version])).not.toThrow()
  expect(() => verifyInputs([version, data])).toThrow(`A bundle would be without the content of ${data}.`)
})

/** Makes a run of a chain's job out of its bundle. */
const REFRESH = `const { handler } = await import('./jobs/refresh-chain/index.mjs')
  const run = () => handler({ chainId: 8453 }, { getRemainingTimeInMillis: () => 10_000 });`

test('a bundle signs its requests to AWS with the credentials that Lambda gives it', async () => {
  const requests: IncomingHttpHeaders[] = []
  const { url, close } = await startAws('{"rpcUrls":{}}', (headers) => requests.push(headers))
  const script = `${REFRESH} console.log((await run()).outcome)`
  const reply = await run(script, {
    AWS_ENDPOINT_URL: url,
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'THEROLESKEY',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_SESSION_TOKEN: 'the-session',
    CLIENTS_TABLE: 'clients',
    DEPOSITS_TABLE: 'deposits',
    WEBHOOKS_TABLE: 'webhooks',
    EVENT_QUEUE_URL: 'http://127.0.0.1:9/events',
    CONFIG_SECRET: 'config',
  }).finally(close)

  expect(reply.trimEnd().split('\n').at(-1)).toBe('no vaults')
  expect(requests.map((headers) => headers['x-amz-target'])).toEqual([
    'secretsmanager.GetSecretValue',
    'DynamoDB_20120810.Query',
    'DynamoDB_20120810.Query',
  ])
  for (const headers of requests) {
    expect(headers.authorization).toContain('Credential=THEROLESKEY/')
    expect(headers['x-amz-security-token']).toBe('the-session')
  }
})

test('the stack of an error names our own functions, without a source map', async () => {
  const { url, close } = await startAws('{"rpcUrls":"none"}')
  const script = `${REFRESH} await run().catch(({ stack }) => console.log(stack))`
  const printed = await run(script, {
    AWS_ENDPOINT_URL: url,
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret',
    CLIENTS_TABLE: 'clients',
    DEPOSITS_TABLE: 'deposits',
    WEBHOOKS_TABLE: 'webhooks',
    EVENT_QUEUE_URL: 'http://127.0.0.1:9/events',
    CONFIG_SECRET: 'config',
  }).finally(close)
  expect(printed).toMatch(/at parseSecret \(file/)
})

/** AWS as far as a chain's job asks it: a secret with this text, and empty tables. */
async function startAws(secret: string, receive: (headers: IncomingHttpHeaders) => void = () => {}) {
  const aws = createServer((request, response) => {
    receive(request.headers)
    const isSecret = String(request.headers['x-amz-target']).startsWith('secretsmanager')
    response.setHeader('content-type', 'application/x-amz-json-1.0')
    response.end(JSON.stringify(isSecret ? { SecretString: secret } : { Items: [], Count: 0 }))
  })
  await new Promise<void>((listening) => aws.listen(0, '127.0.0.1', listening))
  const { port } = aws.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => aws.close() }
}

/** What a script prints beside the bundles, in a process with this environment alone. */
async function run(script: string, env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    env,
    cwd: directory,
  })
  return stdout
}
