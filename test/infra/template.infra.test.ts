import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual, promisify } from 'node:util'
import { GetSecretValueCommand, PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import type { Address } from 'viem'
import { afterAll, test as base, describe, expect, onTestFinished, vi } from 'vitest'
import { runCommandLine } from '../../admin/command-line.ts'
import { connectStage } from '../../admin/connect.ts'
import { edgeKeysSecret } from '../../admin/edge-keys.ts'
import { addEdgeKey } from '../../admin/operations/keys.ts'
import { openAwsAccount } from '../../admin/stage/aws-account.ts'
import { bringUpStage } from '../../admin/stage/bring-up.ts'
import { maxBundleKib, readBundle, verifyInputs, writeBundle } from '../../infra/bundling.ts'
import { edgeSecretName } from '../../infra/environments.ts'
import { CONSUMERS, ENDPOINTS, JOBS } from '../../infra/functions.ts'
import { queueName } from '../../infra/queues.ts'
import { tableName } from '../../infra/tables.ts'
import { findQueueUrl, sqsClient } from '../../lib/aws/queue.ts'
import { parseApiKey } from '../../lib/clients/api-key.ts'
import { Scope } from '../../lib/clients/key-limits.ts'
import { type ErrorCode, getErrorDefinition } from '../../lib/core/errors.ts'
import { EDGE_VARIABLE } from '../../lib/frame/edge.ts'
import { listErrors } from '../../reference/openapi.ts'
import type { SynthesizedStack } from '../../sandbox/assembly.ts'
import { type Backends, startBackends } from '../../sandbox/backends.ts'
import { localConfig } from '../../sandbox/dynamo.ts'
import { startEdge, VIEWER_HEADER } from '../../sandbox/edge.ts'
import { startReceiver } from '../../sandbox/receiver.ts'
import { type RunningTemplate, startTemplate } from '../../sandbox/template.ts'
import { startControlPlane } from '../support/control-plane.ts'
import { compareCounts, countStage } from '../support/costs.ts'
import { createTransactionSender, createVerifyingCaller, type Service, USERS } from '../support/service.ts'
import { playWalletStory } from '../support/wallet-story.ts'
import { publishTo, someWebhookEvent } from '../support/webhooks.ts'
import { devWithEdge, synthesizeDev } from './synthesize.ts'

// Garbage collection would take a quarter of esbuild's time, so it is off.
process.env['GOGC'] = 'off'

// Timeouts in milliseconds. They are long, because these tests start many processes, and the machine may be busy.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const NAMES = [...ENDPOINTS, ...JOBS, ...CONSUMERS].map(([name]) => name)
const PAGE = 'http://localhost:3000'

type Properties = Record<string, unknown>
type Variables = { readonly Variables: Properties }
type Change = (properties: Properties) => void

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('backends', { scope: 'file' }, async ({}, { onCleanup }) => {
    const backends = await startBackends()
    onCleanup(backends.stop)
    return backends
  })
  .extend('stacks', { scope: 'file' }, async ({ backends }, { onCleanup }) => {
    const outdir = mkdtempSync(join(tmpdir(), 'vaultline-template-'))
    onCleanup(() => rmSync(outdir, { recursive: true }))
    const secrets = new SecretsManagerClient(localConfig(backends.providers.url))
    const edgeKeys = edgeKeysSecret(edgeSecretName('dev'), secrets)
    const [before, keyHash] = [await addEdgeKey({ edgeKeys, randomBytes }), await addEdgeKey({ edgeKeys, randomBytes })]
    expect(Object.keys(await edgeKeys.read())).toEqual(expect.arrayContaining([before, keyHash]))
    secrets.destroy()
    return await synthesizeDev(outdir, {
      ...devWithEdge(keyHash),
      gradual: true,
      rateLimits: { ...RATE_LIMITS, perNetwork: 20 },
    })
  })
  /** Simulated deployed stage with its secrets, and with a client that has a key and all vaults. */
  .extend('stage', { scope: 'file' }, async ({ stacks, backends }, { onCleanup }) => {
    const template = await deploy(stacks, backends)
    const edge = await startEdgeOf(stacks, template, backends)
    onCleanup(async () => {
      await edge.stop()
      await template.stop()
    })
    Object.assign(process.env, template.operator)
    await copySecrets(backends)
    const [created = ''] = await administer('create-client', '--name', 'Wallet')
    const [, clientId = ''] = /Created client (\w+)/.exec(created) ?? []
    const scopes = Scope.options.join()
    const limits = ['--scopes', scopes, '--rate', '360000/3600']
    const [apiKey = ''] = await administer('issue-key', '--client', clientId, '--name', 'wallet', ...limits)
    for (const { chainId, address } of backends.chains.flatMap(({ vaults }) => vaults)) {
      await administer('add-vault', '--client', clientId, '--chain', `${chainId}`, '--address', address)
    }
    for (const { run } of template.schedules) await run()
    return { template, edge, apiKey }
  })

const RATE_LIMITS = { perNetwork: 100, perUser: 10, perSeed: 100 }

/** Runs these stacks on this machine. Webhooks may reach loopback addresses, because the machine cannot reach public ones. */
function deploy(stacks: readonly SynthesizedStack[], { dynamo, queues, providers }: Backends) {
  const services = { dynamodb: dynamo.endpoint, sqs: queues.endpoint, secretsmanager: providers.url }
  return startTemplate(stacks, services, { variables: { WEBHOOK_REACH: 'loopback' } })
}

/** Runs the simulated CloudFront (the edge) of these stacks in front of the API of a running template. */
function startEdgeOf(stacks: readonly SynthesizedStack[], { url }: RunningTemplate, { providers }: Backends) {
  return startEdge(stacks, { originUrl: url, secretsmanager: providers.url, now: Date.now })
}

/** Copies the local service's secrets to the stage: URLs of chains and services, and the signing keys. */
async function copySecrets({ providers, chains }: Backends): Promise<void> {
  // The service needs two node hosts per chain. The local chain has only one node, so the node appears under two host
  // names.
  const hostsOf = (url: string) =>
    [url, url.replace('127.0.0.1', 'localhost')].map((host) => JSON.stringify(host)).join()
  const withTwoHosts = (text: string) =>
    chains.reduce((changed, { nodes }) => changed.replaceAll(JSON.stringify(nodes.url), hostsOf(nodes.url)), text)

  const secrets = new SecretsManagerClient(localConfig(providers.url))
  for (const name of ['config', 'signing']) {
    const { SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId: `vaultline/local/${name}` }))
    await secrets.send(
      new PutSecretValueCommand({ SecretId: `vaultline/dev/${name}`, SecretString: withTwoHosts(SecretString ?? '') }),
    )
  }
  secrets.destroy()
}

function administer(...command: string[]): Promise<string[]> {
  return runCommandLine([...command, '--stage', 'dev'], async () => connectStage('dev'))
}

/** Runs the smoke test and returns the result of each check by name: `ok` or the failure. */
async function smoke({ url }: { readonly url: string }, apiKey: string): Promise<Record<string, string>> {
  const command = ['scripts/smoke.ts', '--url', url, '--origin', PAGE]
  const env = { ...process.env, API_KEY: apiKey }
  const { stdout } = await promisify(execFile)(process.execPath, command, { env }).catch((error) => error)
  const lines = [...String(stdout).matchAll(/^(ok|FAIL) +(.+?) +\d+ ms +(.*)$/gm)]
  return Object.fromEntries(lines.map(([, mark, name = '', result]) => [name, mark === 'ok' ? 'ok' : `${result}`]))
}

/** Copies the stacks and changes the resources with these types and names. */
function change(
  stacks: readonly SynthesizedStack[],
  changes: readonly (readonly [type: string, place: string, change: Change])[],
): SynthesizedStack[] {
  const changed = structuredClone([...stacks])
  for (const [type, place, apply] of changes) {
    const [area, name = ''] = place.split('/')
    const resources = changed
      .filter((stack) => stack.name.endsWith(`-${area}`))
      .flatMap(({ template }) => Object.entries(template.Resources))
      .filter(([id, { Type }]) => Type === type && id.startsWith(name))
    expect(resources.length, `${type} of ${place}`).toBeGreaterThan(0)
    for (const [, { Properties }] of resources) apply(Properties)
  }
  return changed
}

/** Copies the stacks of a stage without the parts that belong to CloudFront (the edge). */
function withoutEdge(stacks: readonly SynthesizedStack[]): SynthesizedStack[] {
  const others = structuredClone(stacks.filter(({ name }) => !name.endsWith('-edge')))
  for (const { Type, Properties } of others.flatMap(({ template }) => Object.values(template.Resources))) {
    // The cast is safe because each function of the template has environment variables.
    if (Type === 'AWS::Lambda::Function') delete (Properties['Environment'] as Variables).Variables[EDGE_VARIABLE]
  }
  return others
}

const withoutGrant =
  (action: string): Change =>
  ({ PolicyDocument }) => {
    const document = PolicyDocument as { Statement: { Action: string | string[] }[] }
    document.Statement = document.Statement.filter(({ Action }) => ![Action].flat().includes(action))
  }

type OpenApi = { readonly paths: Record<string, object>; readonly 'x-amazon-apigateway-cors': object }
type Distribution = {
  readonly DistributionConfig: {
    readonly DefaultCacheBehavior: object
    readonly Origins: readonly { readonly OriginCustomHeaders: object[] }[]
  }
}
/** CloudFront's managed policies: the first caches and compresses, the second forwards all that a caller sends. */
const [OPTIMIZED, ALL_VIEWER] = ['658327ea-f89d-4fab-a63d-7e88639e58f6', '216adef6-5c7f-47e4-b989-5492eafa07d3']

function behavingAs(changes: object): Change {
  // The cast is safe because the only distribution has a default behavior.
  return (properties) => Object.assign((properties as Distribution).DistributionConfig.DefaultCacheBehavior, changes)
}

function sendingKey(HeaderValue: string): Change {
  // The cast is safe because the only distribution has an origin with custom headers.
  return (properties) =>
    Object.assign((properties as Distribution).DistributionConfig.Origins[0]?.OriginCustomHeaders[0] ?? {}, {
      HeaderValue,
    })
}

test('Every endpoint serves a wallet with the permissions of the template', {
  timeout: 600_000,
  // The user of a first try exists, so a second try would only fail to register it.
  retry: 0,
}, async ({ stacks, stage: { apiKey }, backends }) => {
  const [chain, other] = backends.chains
  const asyncVault = chain?.vaults.find(({ type }) => type === 'async')?.address as Address
  const otherUsdc = other?.tokens.find(({ symbol }) => symbol === 'USDC')?.address as Address
  const template = await deploy(withoutEdge(stacks), backends)
  onTestFinished(template.stop)
  const target = { baseUrl: template.url, apiKey, backends }
  const ask = createVerifyingCaller(target)
  const call: Service['call'] = async (...request) => {
    // The pause is needed, because a client may test its webhooks only once a second.
    if (request[1].endsWith('/test')) await sleep(1000)
    const reply = await ask(...request)
    expect(reply.status, `${request[0]} ${request[1]}: ${JSON.stringify(reply.body)}`).toBeLessThan(300)
    return reply
  }
  const environment = {
    WEBHOOKS_TABLE: tableName('dev', 'webhooks'),
    DELIVERY_QUEUE_URL: await findQueueUrl(queueName('dev', 'deliveryQueue')),
  }
  const wallets = { ...target, call, consume: template.consume, send: createTransactionSender(backends.chains) }
  // The cast is safe because the simulated wallet user needs only these fields of a service.
  const service = { ...wallets, backends: { ...backends, environment } } as unknown as Service
  const publishEvents = async () => {
    await publishTo(service, parseApiKey(apiKey)?.clientId ?? '', [someWebhookEvent('told')])
    await template.consume()
  }
  await playWalletStory(service, { asyncVault, otherUsdc, publishEvents })
  const lambdas = new Set(template.calls().map(({ principal }) => principal.split('/').at(-1)))
  expect(lambdas.size, 'functions that asked something of AWS').toBeGreaterThan(45)
})

test('A stage and its edge have the resources that docs/cost.json counts', ({ stacks, backends }) => {
  const parts = countStage(stacks, backends.chains.length)
  expect(compareCounts(parts), 'More requests than before? Take them out, or accept them with: npm run cost').toEqual(
    [],
  )
})

test('A stage passes the smoke test through its edge', async ({ stage: { edge, apiKey } }) => {
  const checks = await smoke(edge, apiKey)
  expect(Object.keys(checks)).toEqual(expect.arrayContaining(['health', 'preflight', 'vaults', 'a deposit', 'coins']))
  expect(Object.entries(checks).filter(([, result]) => result !== 'ok')).toEqual([])
})

test.for<[string, Parameters<typeof change>[1][number], string]>([
  [
    'a job that could not keep what failed',
    ['AWS::IAM::Policy', 'jobs/RefreshMarketRole', withoutGrant('sqs:SendMessage')],
    'does not have permissions to call sqs:SendMessage',
  ],
  [
    'a schedule that may not start its job',
    ['AWS::IAM::Policy', 'jobs/RefreshTokensSchedulerRole', withoutGrant('lambda:InvokeFunction')],
    'does not have permissions to call lambda:InvokeFunction',
  ],
  [
    'a function that may not take from its queue',
    ['AWS::IAM::Policy', 'queues/DeliverEventsRole', withoutGrant('sqs:ReceiveMessage')],
    'does not have permissions to call sqs:ReceiveMessage',
  ],
  [
    'more variables than Lambda takes',
    [
      'AWS::Lambda::Function',
      'system/JwksFunction',
      // The cast is safe because each function of the template has environment variables.
      ({ Environment }) => Object.assign((Environment as Variables).Variables, { MORE: 'x'.repeat(4096) }),
    ],
    'Lambda takes 4 KB',
  ],
])('is not deployed with %s', async ([, broken, reason], { stacks, backends }) => {
  await expect(deploy(change(stacks, [broken]), backends)).rejects.toThrow(reason)
})

test.for<[string, Parameters<typeof change>[1][number], readonly string[]]>([
  [
    'compresses and keeps what is signed',
    ['AWS::CloudFront::Distribution', 'edge/Distribution', behavingAs({ Compress: true, CachePolicyId: OPTIMIZED })],
    ['signed as sent'],
  ],
  [
    "hands on the caller's host",
    ['AWS::CloudFront::Distribution', 'edge/Distribution', behavingAs({ OriginRequestPolicyId: ALL_VIEWER })],
    ['health', 'unknown route', 'no key', 'preflight', 'vaults'],
  ],
  [
    'sends another key',
    ['AWS::CloudFront::Distribution', 'edge/Distribution', sendingKey('a guess')],
    ['health', 'document', 'signing keys', 'no key', 'vaults'],
  ],
])('an edge that %s fails the smoke test', async ([, broken, expected], { stacks, stage, backends }) => {
  const edge = await startEdgeOf(change(stacks, [broken]), stage.template, backends)
  onTestFinished(edge.stop)
  const failed = Object.entries(await smoke(edge, stage.apiKey)).filter(([, result]) => result !== 'ok')
  expect(failed.map(([name]) => name)).toEqual(expect.arrayContaining([...expected]))
})

test('A request around the edge is refused, and attempts count against the address that calls the edge', async ({
  stage,
}) => {
  const { template, edge, apiKey } = stage
  const around = async (path: string, headers = {}) => {
    const response = await fetch(`${template.url}${path}`, { headers: { 'x-join-key': apiKey, ...headers } })
    return [response.status, Object(await response.json()).code]
  }
  for (const path of ['/health', '/openapi.json', '/defi-vaults/v1/vaults', '/markets/v1/coins', '/nowhere']) {
    expect(await around(path), path).toEqual([404, 'not_found'])
    expect(await around(path, { 'x-vaultline-edge': 'a guess' }), path).toEqual([404, 'not_found'])
  }
  const register = async (viewer: string) => {
    const headers = { [VIEWER_HEADER]: viewer, platform: 'web', 'content-type': 'application/json' }
    const body = JSON.stringify({ email: 'somebody@vaultline.app' })
    return (await fetch(`${edge.url}/auth/register/init`, { method: 'POST', headers, body })).status
  }
  const statuses: number[] = []
  for (let time = 0; time < 21; time += 1) statuses.push(await register('198.51.100.66'))
  expect(statuses).toEqual([...Array(20).fill(200), 429])
  expect(await register('198.51.100.67'), 'from another address').toBe(200)
})

test('A message and a job do their work', async ({ stage: { template, edge, apiKey }, backends }) => {
  const receiver = await startReceiver(Date.now)
  onTestFinished(receiver.stop)
  const call = createVerifyingCaller({ baseUrl: edge.url, apiKey, backends })
  const { body: webhook } = await call('POST', '/webhooks', { body: { url: receiver.url, finality: 'latest' } })
  receiver.trust(webhook.secret)
  const [chain] = backends.chains
  const vault = chain?.vaults.find(({ type }) => type === 'sync')?.address
  const body = { vaultAddress: vault, amount: '1000000', userAddress: USERS[1].address }
  const prepared = await call('POST', '/defi-vaults/v1/defi/vault/deposit', { body })
  await createTransactionSender(backends.chains)(8453, USERS[1], [
    ...prepared.body.approval,
    ...prepared.body.operations,
  ])
  const [job] = template.schedules.filter(({ input }) => isDeepStrictEqual(input, { chainId: 8453 }))
  expect(await job?.run()).toMatchObject({ chainId: 8453 })
  await template.consume()
  const arrived = receiver.listArrivals(0).filter(({ isVerified, isTaken }) => isVerified && isTaken)
  const events = arrived.map(({ event }) => [event?.type, event?.['data']])
  const data = expect.objectContaining({ vaultAddress: vault, userAddress: USERS[1].address })
  expect(events).toContainEqual(['deposit.completed', data])
})

test('A missing grant, variable, route, permission or origin fails the check that needs it', async ({
  stacks,
  backends,
  stage: { apiKey },
}) => {
  const broken = change(stacks, [
    // This change breaks the endpoint `vaults/deposit`. The smoke test calls it by POST and fails at once. It would
    // retry a GET for 15 seconds.
    ['AWS::IAM::Policy', 'vaults/DepositRole', withoutGrant('dynamodb:Query')],
    [
      'AWS::Lambda::Function',
      'activity/PositionsFunction',
      ({ Environment }) => {
        // The cast is safe because each function of the template has environment variables.
        delete (Environment as Variables).Variables['CACHE_TABLE']
      },
    ],
    [
      'AWS::Lambda::Permission',
      'api/systemhealth',
      (properties) => {
        properties['Principal'] = 'events.amazonaws.com'
      },
    ],
    [
      'AWS::ApiGatewayV2::Api',
      'api/Api',
      ({ Body }) => {
        const { paths, 'x-amazon-apigateway-cors': cors } = Body as OpenApi
        delete paths['/portfolio-indexor/markets']
        Object.assign(cors, { allowOrigins: ['https://elsewhere.example'] })
      },
    ],
  ])
  const template = await deploy(broken, backends)
  const edge = await startEdgeOf(broken, template, backends)
  const failed = Object.entries(await smoke(edge, apiKey)).filter(([, result]) => result !== 'ok')
  const logOf = (name: string) => template.logs(template.names().find((each) => each.endsWith(name)) ?? '')
  const logs = { deposit: logOf('vaults-deposit'), positions: logOf('activity-positions') }
  await edge.stop()
  await template.stop()
  expect(Object.fromEntries(failed)).toEqual({
    'a deposit': expect.stringContaining('service_unavailable'),
    positions: expect.stringContaining('internal'),
    coins: expect.stringContaining('not_found'),
    health: expect.stringContaining('500'),
    preflight: `${PAGE} may not call`,
  })
  expect(logs.deposit).toMatch(
    /AccessDeniedException.*assumed-role\/.*is not authorized to perform: dynamodb:Query on resource: arn:aws:dynamodb:.*:table\/vaultline-dev-clients because no identity-based policy allows the dynamodb:Query action/,
  )
  // The stack trace names the service's own functions, without a source map.
  expect(logs.positions).toMatch(/The environment lacks CACHE_TABLE\..*at readEnv \(file/)
})

test('A stage has a client, its key and its vault after npm run up, and passes the smoke test with that key', async ({
  stage: { edge },
  backends,
}) => {
  const plane = await startControlPlane()
  for (const service of ['STS', 'IAM', 'LAMBDA', 'CLOUDFORMATION']) vi.stubEnv(`AWS_ENDPOINT_URL_${service}`, plane.url)
  onTestFinished(async () => {
    vi.unstubAllEnvs()
    await plane.stop()
  })
  const admin = connectStage('dev')
  const before = (await admin.clients.list()).map(({ clientId }) => clientId)
  const list = async () => (await admin.clients.list()).filter(({ clientId }) => !before.includes(clientId))
  const [vault] = backends.chains.flatMap(({ vaults }) => vaults)
  if (!vault) throw new Error('There is no vault.')
  const { chainId, address } = vault
  const printed: string[] = []
  await bringUpStage(
    { stage: 'dev', domain: undefined, alarmEmail: undefined, config: undefined, vault: { chainId, address } },
    {
      accountIn: openAwsAccount,
      connect: () => ({
        ...admin,
        clients: { ...admin.clients, list },
        // `describeVault` cannot find the block of the vault's deployment, because the local nodes keep no old states.
        // So the test names a block.
        describeVault: async (...at) => ({ ...(await admin.describeVault(...at)), firstBlock: 1 }),
      }),
      // The template runs already, so this simulated CDK only reports its API stack.
      cdk: async () => {
        plane.stacks.set('vaultline-dev-api', { status: 'CREATE_COMPLETE', outputs: { ApiUrl: edge.url } })
        return { code: 0, tail: '' }
      },
      smoke: async (url, apiKey = '') => {
        const failed = Object.entries(await smoke({ url }, apiKey)).filter(([, result]) => result !== 'ok')
        return { code: failed.length, tail: failed.join('\n') }
      },
      doctor: async () => ({ code: 0, tail: '' }),
      agree: async () => true,
      say: () => {},
      print: (line) => printed.push(line),
      stagesFile: undefined,
      priceOf: () => 0,
      sleep,
    },
  )
  expect(printed).toEqual([expect.stringMatching(/^API key, shown once: jk_test_\w+$/), `URL: ${edge.url}`])
  const [client] = await list()
  const record = await admin.clients.get(client?.clientId ?? '')
  expect(record?.keys.map(({ name }) => name)).toEqual(['first key'])
  expect(record?.client.vaults.map((one) => one.address)).toEqual([address])
})

test('A caller without AWS credentials is refused', async ({ stage: { template } }) => {
  const endpoint = template.operator['AWS_ENDPOINT_URL'] ?? ''
  const client = sqsClient({ ...localConfig(endpoint), maxAttempts: 1 })
  onTestFinished(() => client.destroy())
  const queueUrl = findQueueUrl(queueName('dev', 'deliveryQueue'), client)
  await expect(queueUrl).rejects.toThrow('The security token included in the request is invalid.')
})

describe('The bundle of a function', () => {
  const directory = mkdtempSync(join(tmpdir(), 'vaultline-bundles-'))
  afterAll(() => rmSync(directory, { recursive: true }))

  test.for(NAMES)('%s is within its budget', (name) => {
    expect(readBundle(name).code.length).toBeLessThanOrEqual(maxBundleKib(name) * 1024)
  })

  test('loads in a bare Node 24 with an empty environment and without undici', async () => {
    for (const name of NAMES) writeBundle(readBundle(name), join(directory, name))
    const script = `console.log(process.version)
      const tell = (name, is) =>
        console.log(name, is, process.moduleLoadList.some((each) => each.endsWith('/undici')) ? 'with undici' : 'alone')
      for (const name of ${JSON.stringify(NAMES)}) tell(name, typeof (await import(\`./\${name}/index.mjs\`)).handler)
      tell('Headers', typeof Headers)`
    const evaluated = ['--input-type=module', '--eval', script]
    const { stdout } = await promisify(execFile)(process.execPath, evaluated, { env: {}, cwd: directory })
    const [version, ...loaded] = stdout.trimEnd().split('\n')
    expect(version).toMatch(/^v24\./)
    // The script finally reads the global `Headers`, which loads undici. Its last line must report undici. Otherwise
    // the script could not detect undici in the functions.
    expect(loaded.pop()).toBe('Headers function with undici')
    expect(loaded).toEqual(NAMES.map((name) => `${name} function alone`))
  })

  test('contains only one provider of credentials', () => {
    const files = NAMES.flatMap((name) => [...readBundle(name).bytesByFile.keys()])
    expect(files).toContain('infra/lambda-credentials.ts')
    expect(files.filter((file) => /credential-provider|nested-clients/.test(file))).toEqual([])
  })

  test.for(ENDPOINTS)('%s has every error that it can raise', ([name, contract]) => {
    const code = Buffer.from(readBundle(name).code).toString()
    // Endpoints with the tag `System` do not limit requests themselves. CloudFront's firewall limits them and returns
    // `too_many_requests`, so their code lacks this error.
    const isOfEdge = (each: ErrorCode) => each === 'too_many_requests' && contract.tag === 'System'
    const raised = listErrors(contract).filter((each) => !isOfEdge(each))
    expect(raised.filter((each) => !code.includes(getErrorDefinition(each).message))).toEqual([])
  })

  test('contains the JSON that its packages read', () => {
    const version = 'node_modules/@aws-sdk/client-dynamodb/package.json'
    const data = 'node_modules/some-package/chains.json'
    expect(() => verifyInputs(['own-code.js', version])).not.toThrow()
    expect(() => verifyInputs([version, data])).toThrow(`A bundle would be without the content of ${data}.`)
  })
})
