import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DeleteTableCommand, waitUntilTableNotExists } from '@aws-sdk/client-dynamodb'
import { describe, expect, vi } from 'vitest'
import * as z from 'zod'
import type { Admin } from '../../admin/admin.ts'
import { clientsAdminStore } from '../../admin/clients.ts'
import { describeFailure, runCommandLine } from '../../admin/command-line.ts'
import { COMMANDS } from '../../admin/commands.ts'
import { runChecks } from '../../admin/doctor/examine.ts'
import { buildAppleAssociation, buildAssetLinks } from '../../lib/accounts/relying-party.ts'
import { dynamoClient } from '../../lib/aws/dynamo.ts'
import { findQueueUrl, sendMessages, sqsClient } from '../../lib/aws/queue.ts'
import { RpcUrls } from '../../lib/chain/readers.ts'
import { createSigningKey, keyIdOf, SigningKeys } from '../../lib/signing/keys.ts'
import { pinStore } from '../../lib/vaults/pin-store.ts'
import type { BackendsOptions } from '../../sandbox/backends.ts'
import { createTables, localConfig, startDynamo } from '../../sandbox/dynamo.ts'
import { NODE_PROFILES } from '../../sandbox/node-profiles.ts'
import { startNode } from '../../sandbox/nodes.ts'
import { startAwsAccount } from '../support/aws-account.ts'
import { someClient, someKey } from '../support/clients.ts'
import { someContext } from '../support/lambda.ts'
import { recordAllBlocks } from '../support/records.ts'
import { test as base, type Service } from '../support/service.ts'

const BASE = 8453
const DOMAIN = 'wallet.harbor.dev'
const APPS = {
  iosApps: ['HARBOR1234.dev.harbor.wallet'],
  androidApps: [{ packageName: 'dev.harbor.wallet', certificateSha256: Array(32).fill('AB').join(':') }],
}
const STAGE = {
  corsOrigins: [`https://${DOMAIN}`],
  relyingParty: { id: DOMAIN, name: 'Harbor', ...APPS },
  alarmEmail: 'on-call@harbor.dev',
}
const CONFIRMED = { arn: 'arn:aws:sns:eu-west-1:000000000000:alarms:some-id', protocol: 'email' }
const PENDING = { arn: 'PendingConfirmation', protocol: 'email' }
/** A secret value that must not appear in the command's output. */
const SECRET = 'nobody-is-to-see-this'

type File = { status: number; headers: Record<string, string>; body: unknown }

const test = base
  // The database runs as a server, because the command `doctor` reaches DynamoDB over HTTP.
  .extend(
    'backendsOptions',
    { scope: 'file' },
    async (): Promise<BackendsOptions> => ({ chainIds: [BASE], database: await startDynamo() }),
  )
  .extend('dynamo', { scope: 'file' }, ({ sharedService }, { onCleanup }) => {
    const client = dynamoClient(localConfig(sharedService.backends.dynamo.endpoint))
    onCleanup(() => client.destroy())
    return client
  })
  /** Files that the passkeys' domain serves, by name. The files are correct until a test changes them. */
  .extend('files', (): Record<string, File> => {
    const json = { status: 200, headers: { 'content-type': 'application/json' } }
    return {
      'apple-app-site-association': { ...json, body: buildAppleAssociation(APPS) },
      'assetlinks.json': { ...json, body: buildAssetLinks(APPS) },
    }
  })
  /** Redirects requests for the passkeys' domain to a local server that serves these files. */
  .extend('domain', async ({ files }, { onCleanup }) => {
    const paths: string[] = []
    const server = createServer((request, response) => {
      paths.push(request.url ?? '')
      const { status, headers, body } = files[request.url?.replace('/.well-known/', '') ?? ''] ?? NOT_THERE
      response.writeHead(status, headers).end(JSON.stringify(body))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const here = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { fetch } = globalThis
    vi.stubGlobal('fetch', (url: string, init?: RequestInit) => fetch(url.replace(`https://${DOMAIN}`, here), init))
    onCleanup(() => {
      vi.unstubAllGlobals()
      server.close()
      server.closeAllConnections()
    })
    return { paths }
  })
  /** A simulated AWS account. Its stages `dev` and `prod` use the tables of the local service; `staging` has empty tables. */
  .extend('sharedAccount', { scope: 'file' }, async ({ sharedService, dynamo: client }, { onCleanup }) => {
    const { dynamo, providers, queues } = sharedService.backends
    await createTables(client, 'empty')
    const servers = { dynamo: dynamo.endpoint, secrets: providers.url, queues: queues.endpoint }
    const account = await startAwsAccount(servers, { dev: 'local', prod: 'local', staging: 'empty' })
    onCleanup(account.stop)
    return account
  })
  .extend('account', ({ sharedAccount: account }) => {
    account.denied.clear()
    account.secrets.clear()
    account.credentials.refusedAs = undefined
    account.plane.denied.clear()
    account.plane.failures.clear()
    account.plane.account.executions = 1000
    for (const stage of ['dev', 'staging', 'prod']) {
      for (const topic of ['alarms', 'edge-alarms']) account.topics.set(`vaultline-${stage}-${topic}`, [CONFIRMED])
    }
    return account
  })
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('stagesFile', { scope: 'file' }, async ({}, { onCleanup }) => {
    const directory = await mkdtemp(join(tmpdir(), 'doctor-'))
    onCleanup(() => rm(directory, { recursive: true }))
    const file = join(directory, 'stages.json')
    await writeFile(file, JSON.stringify({ dev: STAGE, staging: STAGE, prod: STAGE }))
    return file
  })
  /** The operator's commands. They are imported while AWS_ENDPOINT_URL leads to the simulated AWS account. */
  .extend('stageCommands', { scope: 'file' }, async ({ sharedAccount }) => {
    const environment = { ...process.env }
    for (const name of Object.keys(environment)) if (name.startsWith('AWS_ENDPOINT')) delete process.env[name]
    process.env['AWS_ENDPOINT_URL'] = sharedAccount.url
    vi.resetModules()
    const [{ runCommandLine, describeFailure }, { connectStage }] = await Promise.all([
      import('../../admin/command-line.ts'),
      import('../../admin/connect.ts'),
    ])
    // AWS clients read AWS_ENDPOINT_URL when they are created. This call creates them while the variable is set.
    connectStage('dev')
    return { runCommandLine, describeFailure, connectStage }
  })
  /** Runs the command `doctor` on a stage and returns its output and exit code. */
  .extend('examine', ({ account: _, domain: __, stageCommands, stagesFile }) => async (stage: string) => {
    const { runCommandLine, describeFailure, connectStage } = stageCommands
    return await toOutput(
      runCommandLine(['doctor', '--stage', stage, '--stages', stagesFile], async (to) => connectStage(to ?? 'dev')),
      describeFailure,
    )
  })
  /** Runs the command `doctor` on the local service and returns its output and exit code. */
  .extend('examineLocal', ({ service }) => async (changes: Partial<Admin['examined']> = {}) => {
    const { admin } = service.backends
    const examined = { ...admin.examined, ...changes }
    return await toOutput(
      runCommandLine(['doctor'], async () => ({ ...admin, examined })),
      describeFailure,
    )
  })

const NOT_THERE: File = { status: 404, headers: {}, body: {} }

async function toOutput(lines: Promise<string[]>, describe: (error: unknown) => string) {
  return await lines.then(
    (all) => ({ code: 0, text: all.join('\n') }),
    (error: unknown) => ({ code: 1, text: describe(error) }),
  )
}

/**
 * Makes all checks of `doctor` pass: runs the jobs, which store their data, and stores each vault's current code and price as confirmed.
 */
async function makeWell(service: Service): Promise<void> {
  const { tables, backends } = service
  const { handler: refreshTokens } = await import('../../functions/jobs/refresh-tokens/handler.ts')
  const { handler: refreshMarket } = await import('../../functions/jobs/refresh-market/handler.ts')
  await refreshTokens({}, someContext())
  await refreshMarket({}, someContext())
  for (const chain of backends.chains) await recordAllBlocks(chain)
  const store = pinStore(tables.deposits)
  const vaults = await backends.admin.clients.listVaultsOnChain(BASE)
  for (const vault of vaults) {
    const { nodes: _, block: __, ...pin } = await backends.admin.readPin(vault)
    await store.add(vault, { ...pin, pinnedAt: new Date() })
  }
}

test('A new local service’s report has what exists, what is still to come, and what does not apply', async ({
  service,
  examineLocal,
}) => {
  const { code, text } = await examineLocal()
  expect(code).toBe(1)
  expect(text).toMatch(/^ok {4}secret config +of its form$/m)
  expect(text).toMatch(/^ok {4}nodes of Base +1 host$/m)
  expect(text).toMatch(/^ok {4}clients +1 client, 1 active key$/m)
  expect(text).toMatch(/^skip {2}passkeys +not on the local service$/m)
  expect(text).toMatch(/^skip {2}alarms +not on the local service$/m)
  expect(text).toMatch(
    /^WARN {2}vaults not pinned +8453:0x\w+, .* more\n {6}npm run admin -- confirm-vault --chain 8453/m,
  )
  expect(text).toMatch(/^WARN {2}records of Base +nothing yet, of \d+ vaults\n {6}Wait for some minutes/m)
  expect(text).toMatch(/^FAIL {2}market +unknown: market, rates\n {6}Wait for the job's next run, at most 5 minutes/m)
  expect(text).toMatch(/^FAIL {2}token lists +unknown: eth-mainnet, .* more\n/m)
  expect(text).toMatch(/\n3 failed and \d+ warned of \d+\.$/)

  await service.restore('well', () => makeWell(service))
  const well = await examineLocal()
  expect(well.code).toBe(0)
  expect(well.text).toMatch(/^ok {4}records of Base +\d+ (s|minutes) behind, of \d+ vaults$/m)
  expect(well.text).toMatch(/\n0 failed and 1 warned of \d+\.$/)
})

test('A stage’s report adds passkeys and alarms and needs no more requests than announced', async ({
  service,
  account,
  domain,
  examine,
}) => {
  await service.restore('well', () => makeWell(service))
  account.topics.set('vaultline-dev-alarms', [PENDING, PENDING, CONFIRMED])
  const rpc = service.rpc[BASE]
  rpc?.reset()
  const sources = Object.values(service.backends.providers).flatMap((fake) =>
    typeof fake === 'object' && 'requests' in fake ? [fake] : [],
  )
  for (const { requests } of sources) requests.length = 0
  account.requests.length = 0
  const { code, text } = await examine('dev')
  expect(code, text).toBe(0)
  expect(text).toMatch(/^ok {4}tables +5 can be read$/m)
  expect(text).toMatch(/^ok {4}alarms +reach 1 of 3 subscribers$/m)
  expect(text).toMatch(
    /^ok {4}passkeys on iOS +https:\/\/wallet\.harbor\.dev\/\.well-known\/apple-app-site-association/m,
  )
  expect(text).toMatch(/^ok {4}passkeys on Android +.*assetlinks\.json names 1$/m)
  expect(text).toMatch(/^WARN {2}CoinGecko +answers; users miss charts longer than a year/m)
  expect(text).toMatch(/^WARN {2}nodes of Base +one host alone is asked, and believed/m)
  expect(domain.paths).toHaveLength(2)
  expect(rpc?.bodies).toHaveLength(2)
  expect(account.requests.filter((action) => action === 'Scan')).toHaveLength(1)
  expect(account.requests.length).toBeLessThanOrEqual(53)
  for (const { requests } of sources) expect(requests.length).toBeLessThanOrEqual(12)
})

test('An edge’s report says whether the edge, and only the edge, leads to the API', async ({
  service,
  domain: _,
  account,
  stagesFile,
  stageCommands,
}) => {
  const { runCommandLine, describeFailure, connectStage } = stageCommands
  const [name, origin] = ['api.wallet.harbor.dev', 'https://a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com']
  const [{ keyId = '' } = {}] = (await service.backends.admin.clients.listWithKeys()).flatMap(({ keys }) => keys)
  /** Runs `doctor` on a stage with these CloudFront settings. `answers` has the responses of each origin. */
  const examineEdge = async (edge: object, answers: Readonly<Record<string, () => Response>>) => {
    const { fetch } = globalThis
    vi.stubGlobal('fetch', async (url: string, init?: RequestInit) => {
      const { origin } = new URL(url)
      return origin in answers ? answers[origin]?.() : await fetch(url, init)
    })
    const domain = { name, certificateArn: 'arn:aws:acm:us-east-1:000000000000:certificate/1' }
    const file = join(dirname(stagesFile), 'edge.json')
    const stage = { ...STAGE, edge: { domain, origin, keys: ['0'.repeat(64)], ...edge } }
    await writeFile(file, JSON.stringify({ dev: stage }))
    const run = runCommandLine(['doctor', '--stage', 'dev', '--stages', file], async () => connectStage('dev'))
    const { text } = await toOutput(run, describeFailure)
    vi.stubGlobal('fetch', fetch)
    return text
  }
  const answer =
    (status: number, headers = {}) =>
    () =>
      Response.json({}, { status, headers })
  const well = { [`https://${name}`]: answer(200, { 'x-amz-cf-id': 'some-id' }), [origin]: answer(404) }
  const closed = await examineEdge({ isOnlyWay: true, requestsPerMinute: { key: 10_000_000 } }, well)
  expect(closed).toMatch(/^ok {4}edge +api\.wallet\.harbor\.dev leads to the API$/m)
  expect(closed).toMatch(/^ok {4}around the edge +finds nothing$/m)
  expect(closed).not.toContain('keys that the edge slows')
  expect(closed).toMatch(/^ok {4}alarms +reach 1 of 1 subscriber$/m)
  expect(closed).toMatch(/^ok {4}alarms of the edge +reach 1 of 1 subscriber$/m)

  const open = { [`https://${name}`]: answer(200), [origin]: answer(200) }
  const slow = { isOnlyWay: true, requestsPerMinute: { key: 600 } }
  const wrong = await examineEdge(slow, open)
  expect(wrong).toMatch(
    /^FAIL {2}edge +https:.*\/health does not lead to CloudFront\n {6}docs\/operate\/edge\.md, "Add it"/m,
  )
  expect(wrong).toMatch(/^FAIL {2}around the edge +https:.*amazonaws\.com answers HTTP status 200\n/m)
  expect(wrong).toMatch(new RegExp(`^WARN  keys that the edge slows +${keyId} of client`, 'm'))

  const unreachable = () => {
    throw new TypeError('fetch failed')
  }
  account.topics.set('vaultline-dev-edge-alarms', [PENDING])
  const gone = await examineEdge({}, { [`https://${name}`]: unreachable, [origin]: answer(200) })
  expect(gone).toMatch(/^FAIL {2}edge +https:.*\/health does not answer: no connection\n/m)
  expect(gone).toMatch(/^WARN {2}around the edge /m)
  expect(gone).toMatch(
    /^WARN {2}alarms of the edge +reach nobody: 1 not confirmed\n.*vaultline-dev-edge-alarms in us-east-1 again$/m,
  )
})

test('A newly deployed stage’s report says what its operator does next', async ({ examine }) => {
  const { code, text } = await examine('staging')
  expect(code).toBe(1)
  expect(text).toMatch(
    /^FAIL {2}clients +there is none\n {6}npm run admin -- create-client --name <text> --stage staging$/m,
  )
  expect(text).toMatch(/^FAIL {2}vaults +no client has one\n {6}npm run admin -- add-vault .* --stage staging$/m)
})

test('Without a region or credentials it says only that and what to set', async ({
  account: _,
  domain: __,
  stagesFile,
}) => {
  for (const name of ['AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, undefined)
  for (const name of ['AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE']) vi.stubEnv(name, '/dev/null')
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
  vi.resetModules()
  const [{ runCommandLine, describeFailure }, { connectStage }] = await Promise.all([
    import('../../admin/command-line.ts'),
    import('../../admin/connect.ts'),
  ])
  const { code, text } = await toOutput(
    runCommandLine(['doctor', '--stage', 'dev', '--stages', stagesFile], async () => connectStage('dev')),
    describeFailure,
  )
  vi.unstubAllEnvs()
  expect(code).toBe(1)
  expect(text).toMatch(
    /^FAIL {2}AWS {2}no region \(.*\), no credentials \(.*\)\n {6}Set AWS_REGION .*\n1 failed and 0 warned of 1\.$/,
  )
})

test.for(['ExpiredTokenException', 'UnrecognizedClientException', 'InvalidSignatureException'])(
  'If AWS refuses the credentials with %s it says only that',
  async (refusedAs, { account, examine, onTestFinished }) => {
    account.credentials.refusedAs = refusedAs
    onTestFinished(() => {
      account.credentials.refusedAs = undefined
    })
    const { code, text } = await examine('dev')
    expect(code).toBe(1)
    const refusal = `it refuses your credentials \\(${refusedAs}: The security token is no good\\)`
    expect(text).toMatch(
      new RegExp(`^FAIL {2}AWS {2}${refusal}\\n {6}Set AWS_REGION .*\\n1 failed and 0 warned of 1\\.$`),
    )
  },
)

describe('It finds', () => {
  test('missing or unreadable tables, each by its name', async ({ dynamo, account, examine }) => {
    const lost = { TableName: 'vaultline-empty-webhooks' }
    await dynamo.send(new DeleteTableCommand(lost))
    const wait = { client: dynamo, minDelay: 0.01, maxDelay: 0.1, maxWaitTime: 5 }
    await waitUntilTableNotExists(wait, lost)
    account.denied.add('GetItem')
    const { text: denied } = await examine('dev')
    account.denied.clear()
    const { code, text } = await examine('staging')
    await createTables(dynamo, 'empty')
    expect(code).toBe(1)
    expect(text).toMatch(
      /^FAIL {2}table webhooks +there is none\n {6}A new stage: .*; one that had it: .*restore\.md$/m,
    )
    expect(text.match(/^FAIL {2}table /gm)).toHaveLength(1)
    expect(denied).toMatch(/^FAIL {2}table users +your AWS credentials may not read it\n {6}.*dynamodb:GetItem on/m)
  })

  test('missing, unreadable or malformed secrets, and shows none of their contents', async ({
    service,
    account,
    examine,
  }) => {
    await service.restore('well', () => makeWell(service))
    account.secrets.set('vaultline/dev/identity', null)
    account.denied.add('GetSecretValue vaultline/dev/signing')
    account.secrets.set('vaultline/dev/webhook-key', JSON.stringify({ key: SECRET }))
    account.secrets.set('vaultline/dev/config', JSON.stringify({ rpcUrls: { [SECRET]: SECRET }, goldRush: SECRET }))
    const { code, text } = await examine('dev')
    expect(code).toBe(1)
    expect(text).toMatch(/^FAIL {2}secret identity +there is none\n {6}Deploy the stage/m)
    expect(text).toMatch(/^FAIL {2}secret signing +your AWS credentials may not read it\n {6}.*GetSecretValue/m)
    expect(text).toMatch(/^FAIL {2}secret webhook-key +has no key of 32 characters or more\n/m)
    expect(text).toMatch(/^FAIL {2}secret config +not of the form that is expected: rpcUrls, goldRush\n/m)
    // The check `sources` needs the secret config and fails too. Checks that need no secret still pass.
    expect(text).toMatch(/^FAIL {2}sources +the secret config is not of its form$/m)
    expect(text).toMatch(/^ok {4}clients /m)
    expect(text).not.toContain(SECRET)
  })

  test('unused names in the configuration', async ({ service, account, examine }) => {
    const config = z.looseObject({ rpcUrls: RpcUrls }).parse(await service.backends.admin.examined.readSecret('config'))
    const rpcUrls = { ...config.rpcUrls, 8543: ['https://node.dev'] }
    account.secrets.set('vaultline/dev/config', JSON.stringify({ ...config, rpcUrls, coingecko: {} }))
    expect((await examine('dev')).text).toMatch(
      /^WARN {2}secret config +of its form, and 2 of its names or chain ids are none that the service reads$/m,
    )
  })

  test('the signing key, a missing one, and a pair of keys that do not match', async ({ account, examine }) => {
    const [first, second] = [createSigningKey(new Date()), createSigningKey(new Date())]
    const put = (keys: (typeof first)[]) =>
      account.secrets.set('vaultline/dev/signing', JSON.stringify(SigningKeys.encode({ keys })))
    put([first, second])
    expect((await examine('dev')).text).toContain(`${keyIdOf(first)} signs; ${keyIdOf(second)} is published alone`)
    put([])
    expect((await examine('dev')).text).toMatch(
      /^FAIL {2}secret signing +has no key: answers are not signed\n {6}npm run admin -- add-signing-key --stage dev$/m,
    )
    put([{ ...first, x: second.x }])
    expect((await examine('dev')).text).toMatch(/^FAIL {2}secret signing +what .* signs does not verify\n/m)
  })

  test('nodes that do not respond, lag, or belong to another chain', async ({ service, examine, clock }) => {
    await service.restore('well', () => makeWell(service))
    const rpc = service.rpc[BASE]
    if (!rpc) throw new Error('There is no wire.')
    rpc.behaviour = 'answer 429'
    const { code, text } = await examine('prod')
    expect(code).toBe(1)
    expect(text).toMatch(
      /^FAIL {2}nodes of Base +0 of 1 host can be used: 127\.0\.0\.1:\d+ does not answer: HTTP status 429\n {6}npm run admin -- check-nodes --chain 8453 --stage prod$/m,
    )
    expect(text).toMatch(/^ok {4}records of Base /m)
    rpc.reset()
    expect((await examine('prod')).text).toMatch(/^FAIL {2}nodes of Base +one host alone/m)
    service.backends.setRpcUrls({ [BASE]: [`${service.backends.providers.url}/idle/10`], 10: [rpc.url] })
    const { text: mistaken } = await examine('dev')
    service.backends.setRpcUrls({ [BASE]: [rpc.url] })
    expect(mistaken).toMatch(/^FAIL {2}nodes of Base +.* is chain 10\n/m)
    expect(mistaken).toMatch(/^WARN {2}nodes of OP Mainnet +.* is chain 8453\n/m)
    clock.pass(3 * 3600)
    const { text: later } = await examine('dev')
    expect(later).toMatch(/^FAIL {2}nodes of Base +.* has a last block of 10\d{3} s ago\n/m)
    expect(later).toMatch(
      /^FAIL {2}records of Base +17\d minutes behind, .*\n {6}.*check-nodes --chain 8453 .*docs\/operate\/watch\.md, "Alarms that wake somebody"/m,
    )
    expect(later).toMatch(/^FAIL {2}market +18\d minutes old\n/m)
    expect(later).toMatch(/^FAIL {2}token lists +18\d minutes old\n/m)
  })

  test('hosts of a chain that contradict each other', async ({ service, examine, onTestFinished }) => {
    await service.restore('well', () => makeWell(service))
    const rpc = service.rpc[BASE]
    if (!rpc) throw new Error('There is no wire.')
    const [lying, plain] = await Promise.all([
      startNode(NODE_PROFILES.lying, rpc.url),
      startNode(NODE_PROFILES.plain, rpc.url),
    ])
    onTestFinished(async () => {
      service.backends.setRpcUrls({ [BASE]: [rpc.url] })
      await Promise.all([lying.stop(), plain.stop()])
    })
    service.backends.setRpcUrls({ [BASE]: [rpc.url, plain.url] })
    expect((await examine('dev')).text).toMatch(/^ok {4}nodes of Base +2 hosts$/m)
    service.backends.setRpcUrls({ [BASE]: [rpc.url, lying.url] })
    const { code, text } = await examine('dev')
    expect(code).toBe(1)
    expect(text).toMatch(
      /^FAIL {2}nodes of Base +127\.0\.0\.1:\d+ and 127\.0\.0\.1:\d+ differ in .*block \d+\n {6}npm run admin -- check-nodes --chain 8453 --stage dev, and docs\/runbooks\/nodes-disagree\.md$/m,
    )
  })

  test('hosts of the local service that contradict each other', async ({ service, examineLocal, onTestFinished }) => {
    await service.restore('well', () => makeWell(service))
    const rpc = service.rpc[BASE]
    if (!rpc) throw new Error('There is no wire.')
    const lying = await startNode(NODE_PROFILES.lying, rpc.url)
    onTestFinished(async () => {
      service.backends.setRpcUrls({ [BASE]: [rpc.url] })
      await lying.stop()
    })
    service.backends.setRpcUrls({ [BASE]: [rpc.url, lying.url] })
    const { code, text } = await examineLocal()
    expect(code).toBe(1)
    expect(text).toMatch(/^FAIL {2}nodes of Base +127\.0\.0\.1:\d+ and 127\.0\.0\.1:\d+ differ in .*block \d+$/m)
  })

  test('a new account’s limit of ten executions, which is too low for production', async ({ account, examine }) => {
    account.plane.account.executions = 10
    expect((await examine('dev')).text).toMatch(
      /^WARN {2}quota +10 functions at a time: users get 503 beyond\n {6}aws service-quotas request-service-quota-increase/m,
    )
    expect((await examine('prod')).text).toMatch(/^FAIL {2}quota +10 functions/m)
    const denied = { status: 403, code: 'AccessDeniedException', message: 'User is not authorized' }
    account.plane.failures.set('GetAccountSettings', [denied])
    expect((await examine('dev')).text).toMatch(/^WARN {2}quota +your AWS credentials may not read it\n/m)
  })

  test('no alarms of a stage that observes nothing', async ({ stagesFile, stageCommands, account: _, domain: __ }) => {
    const { runCommandLine, describeFailure, connectStage } = stageCommands
    const file = join(dirname(stagesFile), 'none.json')
    await writeFile(file, JSON.stringify({ dev: { ...STAGE, observe: 'none' } }))
    const run = runCommandLine(['doctor', '--stage', 'dev', '--stages', file], async () => connectStage('dev'))
    expect((await toOutput(run, describeFailure)).text).toMatch(/^skip {2}alarms +the stage observes nothing$/m)
  })

  test("rights that an operator's commands lack", async ({ account, examine }) => {
    expect((await examine('dev')).text).toMatch(/^ok {4}grants +suffice for an operator's commands$/m)
    account.plane.denied.add('dynamodb:PutItem')
    expect((await examine('dev')).text).toMatch(
      /^WARN {2}grants +your AWS credentials may not dynamodb:PutItem\n {6}docs\/operate\/watch\.md, "Rights"$/m,
    )
  })

  test('sources that are not configured, and those that refuse', async ({ service, examine }) => {
    const { coinGecko, defiLlama, goldRush, url } = service.backends.providers
    service.backends.configure({ solanaNfts: undefined })
    const refuse = (status: number) => () => ({ status, body: { error: SECRET } })
    coinGecko.rewrite = refuse(401)
    defiLlama.rewrite = () => 'hang up'
    goldRush.rewrite = refuse(429)
    const { code, text } = await examine('dev')
    coinGecko.rewrite = refuse(403)
    const { text: other } = await examine('dev')
    coinGecko.rewrite = undefined
    const free = { url: `${url}/coingecko` }
    const pro = { ...free, apiKey: SECRET, plan: 'pro' }
    service.backends.configure({ solanaNfts: { url: `${url}/solana` }, coinGecko: pro })
    const { text: paid } = await examine('dev')
    coinGecko.rewrite = refuse(400)
    const { text: mixedUp } = await examine('dev')
    const alchemy = { url: `${url}/alchemy/{network}`, apiKey: 'local' }
    service.backends.configure({ coinGecko: free, alchemy, tokenIndexes: ['alchemy', 'goldRush'] })
    const { text: both } = await examine('dev')
    service.backends.configure({ tokenIndexes: [] })
    const { text: none } = await examine('dev')
    service.backends.configure({ alchemy: {}, tokenIndexes: ['goldRush'] })
    for (const fake of [coinGecko, defiLlama, goldRush]) fake.rewrite = undefined
    expect(code).toBe(1)
    expect(text).toMatch(
      /^FAIL {2}CoinGecko +does not know who has no key \(HTTP status 401\)\n {6}docs\/operate\/secrets\.md, "Nodes and data sources"$/m,
    )
    expect(text).toMatch(/^FAIL {2}DefiLlama +does not answer: no connection.*$/m)
    expect(text).toMatch(/^WARN {2}GoldRush +limits how often it is asked/m)
    expect(text).not.toMatch(/Alchemy/)
    expect(both).toMatch(/^ok {4}Alchemy +takes the key$/m)
    expect(none).toMatch(
      /^WARN {2}Token index +not configured; users miss tokens beyond the list, and NFTs on EVM chains\n/m,
    )
    expect(text).toMatch(/^WARN {2}Solana NFTs +not configured; users miss NFTs on Solana\n/m)
    expect(text).toMatch(/^ok {4}LI\.FI +answers$/m)
    expect(text).toMatch(/^ok {4}Across +answers$/m)
    expect(other).toMatch(/^FAIL {2}CoinGecko +forbids it /m)
    expect(paid).toMatch(/^ok {4}CoinGecko +takes the key of the plan pro$/m)
    expect(mixedUp).toMatch(
      /^FAIL {2}CoinGecko +refuses the request, perhaps as the key is not of the plan pro \(HTTP/m,
    )
    expect(text + paid + mixedUp).not.toContain(SECRET)
  })

  test.for<[string, Partial<File>, RegExp]>([
    [
      'apple-app-site-association',
      { status: 301, headers: { location: '/elsewhere' } },
      /redirects \(HTTP status 301\)/,
    ],
    ['apple-app-site-association', { headers: { 'content-type': 'text/html' } }, /is not sent as application\/json/],
    ['apple-app-site-association', { body: { webcredentials: { apps: [] } } }, /does not name HARBOR1234\.dev/],
    ['assetlinks.json', { status: 404 }, /answers HTTP status 404/],
    ['assetlinks.json', { body: { webcredentials: {} } }, /has another form/],
    [
      'assetlinks.json',
      { body: buildAssetLinks({ androidApps: [{ packageName: 'dev.harbor.wallet', certificateSha256: 'CD' }] }) },
      /does not name dev\.harbor\.wallet/,
    ],
  ])('a domain of passkeys whose %s is %j', async ([name, change, expected], { files, examine }) => {
    files[name] = { ...(files[name] ?? NOT_THERE), ...change }
    const [, line = ''] = /^FAIL {2}passkeys (.*\n.*)$/m.exec((await examine('dev')).text) ?? []
    expect(line).toMatch(expected)
    expect(line).toContain('Passkeys in applications')
  })

  test('alarms without a recipient', async ({ account, examine }) => {
    account.topics.set('vaultline-dev-alarms', [PENDING]).set('vaultline-prod-alarms', [PENDING])
    expect((await examine('dev')).text).toMatch(
      /^WARN {2}alarms +reach nobody: 1 not confirmed\n {6}Confirm the e-mail/m,
    )
    expect((await examine('prod')).text).toMatch(/^FAIL {2}alarms +reach nobody: 1 not confirmed\n/m)
    account.topics.set('vaultline-prod-alarms', [{ arn: 'Deleted', protocol: 'email' }])
    expect((await examine('prod')).text).toMatch(/^FAIL {2}alarms +reach nobody\n {6}Set alarmEmail/m)
    account.topics.delete('vaultline-prod-alarms')
    expect((await examine('prod')).text).toMatch(
      /^FAIL {2}alarms +NotFoundException: Topic does not exist\n {6}Deploy the stage/m,
    )
  })

  test('expiring keys, clients without keys, changed vaults, and dead letters', async ({ service, examineLocal }) => {
    const { tables, backends } = service
    await service.restore('ills', () => makeWell(service))
    const clients = clientsAdminStore(tables.clients)
    const client = someClient()
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000)
    await clients.create(client)
    await clients.putKey(client.clientId, someKey(client.clientId, { keyId: 'Ending0001', expiresAt: inDays(3) }).key)
    await clients.putKey(client.clientId, someKey(client.clientId, { keyId: 'Ended00001', expiresAt: inDays(-3) }).key)
    const store = pinStore(tables.deposits)
    const [vault] = await clients.listVaultsOnChain(BASE)
    if (!vault) throw new Error('There is no vault.')
    const [pin] = await store.get([vault])
    if (pin) await store.replace(vault, { ...pin, changedAt: new Date() })
    const queues = sqsClient(localConfig(backends.queues.endpoint))
    await sendMessages(await findQueueUrl('vaultline-local-deliveries-dead', queues), [{}], { client: queues })

    const { code, text } = await examineLocal()
    expect(code).toBe(0)
    expect(text).toMatch(/^ok {4}clients +2 clients, 2 active keys$/m)
    expect(text).toMatch(
      new RegExp(
        `^WARN {2}keys that end +Ending0001 of client ${client.clientId} on .*\\n {6}.*issue-key --client`,
        'm',
      ),
    )
    expect(text).toContain(`confirm-vault --chain 8453 --address ${vault.address}`)
    expect(text).toMatch(/^WARN {2}vaults that changed +8453:0x/m)
    expect(text).toMatch(
      /^WARN {2}dead letters +1 of vaultline-local-deliveries\n {6}npm run admin -- list-dead-letters, and docs/m,
    )
    backends.queues.clear()
  })
})

test('A source that does not respond does not hide the other findings', async ({ service, examineLocal }) => {
  const { coinGecko } = service.backends.providers
  coinGecko.rewrite = () => new Promise(() => {})
  const { text } = await examineLocal({ questionMs: 500 })
  coinGecko.rewrite = undefined
  expect(text).toMatch(/^FAIL {2}CoinGecko +does not answer: no answer in time$/m)
  expect(text).toMatch(/^ok {4}clients /m)
})

// The test calls `runChecks` with made-up checks, because the command's own checks take real time.
test('A check that never ends delays no other finding, and the operator sees its name', async () => {
  vi.useFakeTimers()
  const said: string[] = []
  const finding = { mark: 'ok', name: 'short', result: 'done' } as const
  const findings = runChecks(
    [
      { name: 'long', look: () => new Promise(() => {}) },
      { name: 'short', look: async () => [finding] },
    ],
    { limitMs: 2_500, say: (line) => said.push(line) },
  )
  await vi.advanceTimersByTimeAsync(2_500)
  vi.useRealTimers()
  expect(await findings).toEqual([{ mark: 'FAIL', name: 'long', result: 'no answer in 2.5 s' }, finding])
  expect(said).toEqual(['Waiting for long …', 'Waiting for long …'])
})

test('The headings and commands that it names exist', async () => {
  const files = (await readdir('admin/doctor')).map((name) => join('admin/doctor', name))
  const source = (await Promise.all([...files, 'admin/doctor.ts'].map((file) => readFile(file, 'utf8')))).join('\n')
  const named = [...source.matchAll(/guideSection\('([a-z]+)', '(.*?)'\)/g)]
  expect(named.length).toBeGreaterThan(8)
  for (const [, page = '', heading = ''] of named) {
    expect((await readFile(`docs/operate/${page}.md`, 'utf8')).split(/^##+ (.*)$/gm)).toContain(heading)
  }
  const commands = [...source.matchAll(/command\(['`]([a-z-]+)/g)].map(([, name]) => name)
  expect(commands.length).toBeGreaterThan(5)
  expect(Object.keys(COMMANDS)).toEqual(expect.arrayContaining(commands))
})
