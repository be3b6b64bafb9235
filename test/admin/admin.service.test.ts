import { execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { getAddress } from 'viem'
import { describe, expect, onTestFinished, vi } from 'vitest'
import { type Admin, AdminError } from '../../admin/admin.ts'
import { clientsAdminStore } from '../../admin/clients.ts'
import { describeFailure, runCommandLine } from '../../admin/command-line.ts'
import { connectLocal, connectStage } from '../../admin/connect.ts'
import { createClient, issueKey } from '../../admin/operations/clients.ts'
import { seedClient } from '../../admin/operations/seed-client.ts'
import { addVault, removeVault } from '../../admin/operations/vaults.ts'
import { createItemsRestorer } from '../../admin/restore.ts'
import { webhooksAdmin } from '../../admin/webhooks.ts'
import { usersStore } from '../../lib/accounts/store.ts'
import type { User } from '../../lib/accounts/user.ts'
import { initialProgress, recordingStore } from '../../lib/activity/store.ts'
import { connectOperator, createOperatorTable } from '../../lib/aws/operator-table.ts'
import { transfersStore } from '../../lib/bridge/store.ts'
import { parseApiKey } from '../../lib/clients/api-key.ts'
import { createClientLookup } from '../../lib/clients/identify.ts'
import { sha256 } from '../../lib/core/sha256.ts'
import type { VaultDescription } from '../../lib/protocols/describe.ts'
import { pinStore } from '../../lib/vaults/pin-store.ts'
import { selectAttempts } from '../../lib/webhooks/attempts.ts'
import { attemptsStore } from '../../lib/webhooks/attempts-store.ts'
import { eventLogStore } from '../../lib/webhooks/log-store.ts'
import { webhooksStore } from '../../lib/webhooks/store.ts'
import { createTables } from '../../sandbox/dynamo.ts'
import { someClient, someVault } from '../support/clients.ts'
import { test as base } from '../support/dynamo-server.ts'
import { someTransfer } from '../support/some-transfer.ts'
import { scanTable } from '../support/tables.ts'

const LOCAL_AWS = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'any', AWS_SECRET_ACCESS_KEY: 'any' }
const SCRIPT = resolve('admin/main.ts')
const VAULT = '0x00000000000000000000000000000000000000A1'
const SECOND = '0x00000000000000000000000000000000000000b2'
const PINNED: Awaited<ReturnType<Admin['readPin']>> = {
  nodes: 2,
  code: [{ role: 'contract', address: VAULT }],
  price: 1_000_000n,
  block: 70_000_000n,
}
/** Services of the command `doctor` that do nothing, because doctor.infra.test.ts tests this command. */
const NOT_EXAMINED: Admin['examined'] = {
  stage: undefined,
  checkAccess: async () => [],
  probeTable: async () => undefined,
  readSecret: async () => undefined,
  countSubscribers: undefined,
  openAccount: undefined,
  cache: { get: () => Promise.reject(new Error('The doctor is not asked here.')) },
  fetch,
  limitMs: 0,
  questionMs: 0,
}
const OTHER_VAULT = '0x00000000000000000000000000000000000000B2'

const test = base
  .extend('clients', ({ tables }) => clientsAdminStore(tables.clients))
  .extend('users', ({ tables }) => usersStore(tables.users))
  .extend('transfers', ({ tables }) => transfersStore(tables.deposits))
  .extend('records', ({ tables }) => recordingStore(tables.deposits))
  .extend('pinStore', ({ tables }) => pinStore(tables.deposits))
  .extend('clock', () => ({ now: Date.parse('2026-06-01T00:00:00.000Z') }))
  .extend('admin', ({ dynamo, tableNames, tables, clients, users, transfers, records, pinStore, clock }): Admin => {
    const now = () => clock.now
    return {
      clients,
      users,
      transfers,
      records,
      pinStore,
      webhooks: webhooksAdmin({
        webhooks: webhooksStore(tables.webhooks),
        eventLog: eventLogStore(tables.webhooks),
        attempts: attemptsStore(tables.webhooks),
        readWebhookKeys: async () => ['k'.repeat(64)],
        webhookReach: 'public',
        enqueue: async () => {},
        randomBytes,
        randomUUID,
        now,
      }),
      deadLetters: {
        list: async () => [],
        redrive: async () => [],
        queues: [],
        count: async () => 0,
        drop: async () => 0,
      },
      examined: NOT_EXAMINED,
      config: { merge: async () => {} },
      signingKeys: secretInMemory([]),
      edgeKeys: secretInMemory({}),
      restoreItems: createItemsRestorer({
        dynamo: connectOperator(dynamo),
        nameOf: (table) => tableNames[table],
        now,
        say: () => {},
      }),
      keyEnvironment: 'test',
      randomBytes,
      now,
      describeVault: async (chainId, address) => describeVaultAt(chainId, address),
      readPin: async () => PINNED,
      simulateRoundTrip: async () => ({
        ...{ block: 70_000_000n, amount: 1n, contradictions: [] },
        measured: {
          roundTrip: { entry: 'instant', exit: 'instant', entryFee: '0.00', exitFee: '0.00' },
          ...{ deposit: 'deposit', noDeposit: undefined, withdrawal: 'redeem', noExit: undefined },
        },
      }),
      nodes: { chainIds: [], urlsOf: async () => [], fetch, now, say: () => {} },
    }
  })
  /** Runs an operator's command in this process and returns its output or its error message. */
  .extend('run', ({ admin }) => async (...args: string[]) => {
    const lines = await runCommandLine(args, async () => admin).catch((error: unknown) => [describeFailure(error)])
    return lines.join('\n')
  })
  /**
   * A local server with two roles: Secrets Manager, and a chain's node that always fails. Its secret has the server's own URL as RPC URL.
   * `requests` lists the requests that the server received.
   */
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('node', async ({}, { onCleanup }) => {
    const requests: string[] = []
    const server = createServer(async (request, response) => {
      const text = Buffer.concat(await request.toArray()).toString()
      const body = JSON.parse(text) as { SecretId: string } | { method: string }[]
      requests.push(...('SecretId' in body ? [body.SecretId] : body.map(({ method }) => method)))
      if (!('SecretId' in body)) return response.writeHead(500).end()
      const secret = { rpcUrls: { '8453': [url] } }
      return response.end(JSON.stringify({ SecretString: JSON.stringify(secret) }))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onCleanup(() => {
      server.close()
      server.closeAllConnections()
    })
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return { url, requests }
  })
  /** An empty directory, without the state file of a local service. */
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('directory', async ({}, { onCleanup }) => {
    const directory = await mkdtemp(join(tmpdir(), 'admin-'))
    onCleanup(() => rm(directory, { recursive: true }))
    return directory
  })
  /** Runs the operator's command line in a separate process, in the empty directory. */
  .extend(
    'execute',
    ({ directory }) =>
      (...args: string[]) =>
        execute(args, directory),
  )
  /**
   * Runs an operator's command in this process. It connects to a stage in AWS, or to the local service whose state file is in `directory`.
   */
  .extend('operate', ({ directory }) => async (...args: string[]) => {
    const connect: Parameters<typeof runCommandLine>[1] = async (stage) =>
      stage ? connectStage(stage) : await connectLocal(join(directory, '.local', 'state.json'))
    return await runCommandLine(args, connect).then(
      (lines) => ({ code: 0, stdout: `${lines.join('\n')}\n`, stderr: '' }),
      (error: unknown) => ({ code: 1, stdout: '', stderr: `${describeFailure(error)}\n` }),
    )
  })

function secretInMemory<Keys>(initialKeys: Keys) {
  let keys = initialKeys
  return {
    read: async () => keys,
    write: async (changed: Keys) => {
      keys = changed
    },
  }
}

/** Returns a vault's description with the fields that the service reads from the chain. */
function describeVaultAt(chainId: number, address: `0x${string}`): VaultDescription {
  const { poolId, description, logoUrl, riskProfile, riskProtocol, addedAt, ...facts } = someVault({ chainId, address })
  return { ...facts, name: 'Name on chain', version: null }
}

function execute(args: string[], cwd: string): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((done) => {
    execFile(process.execPath, [SCRIPT, ...args], { cwd }, (error, stdout, stderr) => {
      done({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr })
    })
  })
}

/** Sets environment variables with AWS credentials and endpoints until the test ends. */
function useAws(endpoints: Record<string, string>): void {
  for (const [name, value] of Object.entries({ ...LOCAL_AWS, ...endpoints })) vi.stubEnv(name, value)
  vi.stubEnv('AWS_PROFILE', undefined)
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
}

async function writeState(
  directory: string,
  endpoint: string,
  { clients, users = 'unused' }: { clients: string; users?: string },
  rpcUrl = 'http://127.0.0.1:9',
) {
  await mkdir(join(directory, '.local'))
  const state = {
    dynamoEndpoint: endpoint,
    providersUrl: endpoint,
    deliveryQueueUrl: endpoint,
    tables: { clients, users, deposits: 'unused', webhooks: 'unused', cache: 'unused' },
    chains: [{ chainId: 8453, rpcUrl }],
    more: 'is ignored',
  }
  await writeFile(join(directory, '.local', 'state.json'), JSON.stringify(state))
}

describe('The admin command', () => {
  test('lists its commands for help or without arguments', async ({ execute, operate }) => {
    const help = await execute('--help')
    expect(help).toMatchObject({ code: 0, stderr: '' })
    for (const command of ['create-client', 'issue-key', 'revoke-key', 'add-vault', 'remove-vault', '--stage']) {
      expect(help.stdout).toContain(command)
    }
    expect(await operate()).toEqual(help)
  })

  test('says that the local service is not running if it never ran', async ({ execute }) => {
    expect(await execute('list-clients')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'The local service is not running. Start it with npm start, or give --stage.\n',
    })
  })

  test('says that the local service is not running if it has ended', async ({ operate, directory }) => {
    await writeState(directory, 'http://127.0.0.1:9', { clients: 'any' })
    expect(await operate('list-clients')).toMatchObject({ code: 1, stderr: expect.stringContaining('npm start') })
  })

  test('creates a client, issues it a key, lists and revokes it', async ({
    operate,
    directory,
    endpoint,
    tableNames,
    clients,
  }) => {
    await writeState(directory, endpoint, tableNames)
    const identify = () => createClientLookup({ get: clients.get, now: Date.now })

    const created = await operate('create-client', '--name', 'Some wallet')
    const clientId = /Created client (\w{10}) \(Some wallet\)/.exec(created.stdout)?.[1] ?? ''
    expect((await operate('list-clients')).stdout).toMatch(new RegExp(`^${clientId} +Some wallet`, 'm'))

    const issued = await operate('issue-key', '--client', clientId, '--name', 'phone', '--expires', '2999-01-31')
    const apiKey = issued.stdout.split('\n')[0] ?? ''
    expect(apiKey).toMatch(/^jk_local_/)
    expect(issued.stdout).toContain('will not be shown again')
    expect(await identify()(apiKey)).toMatchObject({ client: { clientId, name: 'Some wallet' } })

    const listed = await operate('list-keys', '--client', clientId)
    const [, keyId = '', ...row] = /^(\w{10}) {2}(.*)$/m.exec(listed.stdout.split('\n').slice(1).join('\n')) ?? []
    expect(row.join()).toMatch(new RegExp(`^phone +…${apiKey.slice(-4)} .* 2999-01-31T23:59:59.999Z +active$`))
    expect(listed.stdout).not.toContain(sha256(apiKey))
    expect(listed.stdout).not.toContain(apiKey)

    expect(await operate('revoke-key', '--client', clientId, '--key', keyId)).toMatchObject({ code: 0, stderr: '' })
    expect((await operate('list-keys', '--client', clientId)).stdout).toMatch(/revoked$/m)
    await expect(identify()(apiKey)).rejects.toMatchObject({ code: 'invalid_api_key' })
    expect(await operate('revoke-key', '--client', clientId, '--key', keyId)).toMatchObject({
      code: 1,
      stderr: `Key ${keyId} is revoked already.\n`,
    })
  })

  test('issues a key with limits, changes them one by one, and lists the current ones', async ({
    run,
    admin,
    clients,
  }) => {
    const { clientId } = await createClient(admin, 'Some wallet')
    const of = ['--client', clientId]
    const bounds = ['--vaults', `8453:${VAULT}`, '--largest-deposits', `8453:${SECOND}=10000`]
    const issued = await run(
      'issue-key',
      ...of,
      '--name',
      'x',
      '--scopes',
      'vaults,markets',
      '--chains',
      '8453',
      ...bounds,
    )
    expect(issued).toContain('scopes: vaults,markets')
    const { keys } = (await clients.get(clientId)) ?? {}
    expect(keys?.[0]?.limits).toEqual({
      scopes: ['vaults', 'markets'],
      rate: { requests: 6000, seconds: 60 },
      chains: [8453],
      vaults: [{ chainId: 8453, address: VAULT }],
      largestDeposits: [{ chainId: 8453, asset: SECOND, amount: 10_000n }],
    })
    const key = ['--key', keys?.[0]?.keyId ?? '']
    await run('limit-key', ...of, ...key, '--rate', '600/60', '--chains', '8453,42161', '--vaults', 'any')
    const lines = [
      'scopes: vaults,markets',
      'rate: 600/60',
      'chains: 8453,42161',
      'vaults: any',
      `largest deposits: 8453:${SECOND}=10000 (smallest unit)`,
    ]
    const listed = await run('list-keys', ...of)
    for (const line of lines) expect(listed).toContain(`  ${line}`)
    expect(await run('limit-key', ...of, '--key', '0000000000')).toContain('has no key 0000000000')
  })

  test("shows amounts in the asset's unit and warns of vaults and chains that the client lacks", async ({
    run,
    admin,
    clients,
  }) => {
    const { clientId } = await createClient(admin, 'Some wallet')
    const vault = someVault({ chainId: 8453, address: VAULT })
    await clients.putVault(clientId, vault)
    const { asset, assetSymbol } = vault
    const issued = await run(
      ...['issue-key', '--client', clientId, '--name', 'x', '--chains', '8453,1'],
      ...['--vaults', `8453:${VAULT},8453:${SECOND}`, '--largest-deposits', `8453:${asset}=1500000`],
    )
    expect(issued).toContain(`largest deposits: 8453:${asset}=1500000 (1.5 ${assetSymbol})`)
    expect(issued.match(/Warning: .*/g)).toEqual([
      `Warning: the client has no vault 8453:${SECOND}. See list-vaults and add-vault.`,
      'Warning: the client has no vault on chain 1: it is good only for deposits from there to other chains.',
    ])
  })

  test.for<[string, string, string]>([
    ['--scopes', 'vaults,everything', '--scopes.1: '],
    ['--rate', '600', '--rate: must be requests and seconds such as 600/60'],
    ['--rate', '0/60', '--rate: must be 1 to 1000000 requests in 10 to 3600 seconds'],
    ['--rate', '600/1', '--rate: must be 1 to 1000000 requests in 10 to 3600 seconds'],
    ['--rate', `${'9'.repeat(40)}/60`, '--rate: must be 1 to 1000000 requests'],
    ['--chains', 'base', '--chains.0: must be a chain id such as 8453'],
    ['--vaults', VAULT, '--vaults.0: must be a chain and an address such as 8453:0x…'],
    ['--largest-deposits', `8453:${VAULT}`, '--largest-deposits.0: must be a chain, an asset and an amount'],
  ])('refuses %s %s', async ([option, value, problem], { run, admin, clients }) => {
    const { clientId } = await createClient(admin, 'Some wallet')
    expect(await run('issue-key', '--client', clientId, '--name', 'x', option, value)).toContain(problem)
    expect((await clients.get(clientId))?.keys).toEqual([])
  })

  test.for([
    ['dev', 'test'],
    ['staging', 'test'],
    ['prod', 'live'],
  ] as const)(
    'works on the tables of the stage %s, whose keys start with %s',
    async ([stage, word], { operate, endpoint, dynamo }) => {
      const { clients } = await createTables(dynamo, stage)
      await clientsAdminStore(createOperatorTable(connectOperator(dynamo), clients)).create(
        someClient({ clientId: 'AbCdE01234' }),
      )
      useAws({ AWS_ENDPOINT_URL_DYNAMODB: endpoint })
      const args = ['issue-key', '--stage', stage, '--client', 'AbCdE01234', '--name', 'key']
      expect((await operate(...args)).stdout).toMatch(new RegExp(`^jk_${word}_AbCdE01234_`))
    },
  )

  test.for([
    [['list-keys', '--client', 'x'], '--client: must be 10 letters and digits'],
    [['list-vaults'], '--client is missing'],
    [['destroy'], 'There is no command destroy. See npm run admin -- --help.'],
    [['toString'], 'There is no command toString. See npm run admin -- --help.'],
    [['create-client'], '--name is missing'],
    [['create-client', '--name', ' '], '--name: must not be empty'],
    [['create-client', '--nmae', 'x'], "Unknown option '--nmae'"],
    [['create-client', 'x'], "Unexpected argument 'x'"],
    [['list-clients', '--stage', 'production'], '--stage: Invalid option: expected one of "dev"|"staging"|"prod"'],
    [['issue-key', '--client', '0000000000', '--name', 'x'], 'There is no client 0000000000. See list-clients.'],
    [
      ['issue-key', '--client', '0000000000', '--name', 'x', '--expires', '2026-05-31'],
      'The key would have expired already.',
    ],
    [
      ['issue-key', '--client', '0000000000', '--name', 'x', '--expires', '31.1.27'],
      '--expires: must be a date such as 2027-01-31',
    ],
    [
      ['remove-vault', '--client', '0000000000', '--chain', '2', '--address', VAULT],
      '--chain: must be the id of a supported chain',
    ],
    [
      ['add-vault', '--client', '0000000000', '--chain', 'base', '--address', VAULT],
      '--chain: must be a chain id such as 8453',
    ],
    [
      ['add-vault', '--client', '0000000000', '--chain', '8453', '--address', '0xa1'],
      '--address: must be an EVM address with a correct checksum',
    ],
  ] as const)('refuses %s and says why', async ([args, message], { run }) => {
    expect(await run(...args)).toBe(message)
  })

  test('shows every option of a command in its help', async ({ run }) => {
    const help = await run('add-vault', '--help')
    for (const option of ['--client <id>', '[--logo-url <url>]', '[--pool-id <text>]', '--stage']) {
      expect(help).toContain(option)
    }
  })

  test('shows no stack trace for an unexpected failure', async ({ operate, directory, endpoint }) => {
    await writeState(directory, endpoint, { clients: 'no-such-table' })
    const { code, stdout, stderr } = await operate('list-clients')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^ResourceNotFoundException: .*\n$/)
  })
})

describe('Vaults', () => {
  test('are added with the chain’s data and shown with the operator’s words', async ({ run, admin, clients }) => {
    const { clientId } = await createClient(admin, 'Some wallet')
    const output = await run(
      ...['add-vault', '--client', clientId, '--chain', '8453', '--address', VAULT.toLowerCase()],
      ...['--name', 'Steady', '--logo-url', 'https://example.com/logo.svg', '--risk-profile', 'low'],
    )
    expect(output).toContain('Steady')
    expect((await clients.get(clientId))?.client.vaults).toEqual([
      someVault({
        roundTrip: { entry: 'instant', exit: 'instant', entryFee: '0.00', exitFee: '0.00' },
        name: 'Steady',
        logoUrl: 'https://example.com/logo.svg',
        riskProfile: 'low',
        poolId: `8453-${VAULT}`,
        addedAt: new Date('2026-06-01T00:00:00.000Z'),
      }),
    ])
    expect(await run('list-vaults', '--client', clientId)).toContain(VAULT)
  })

  test('have their name on chain unless the operator gives one', async ({ admin }) => {
    const { clientId } = await createClient(admin, 'Some wallet')
    expect(await addVault(admin, { clientId, chainId: 8453, address: VAULT })).toMatchObject({
      vault: { name: 'Name on chain' },
    })
  })

  test('are added once, with unique pool ids', async ({ admin, run }) => {
    const { clientId } = await createClient(admin, 'Some wallet')
    const add = (...args: string[]) => run('add-vault', '--client', clientId, '--address', VAULT, ...args)
    await add('--chain', '8453', '--pool-id', 'usdc')
    expect(await add('--chain', '8453')).toBe(`Client ${clientId} has the vault ${VAULT} on chain 8453 already.`)
    expect(await add('--chain', '42161', '--pool-id', 'usdc')).toContain('Pool id usdc is taken')
    expect(await add('--chain', '42161')).toContain('sees it')
  })

  test('are limited to a thousand per client', async ({ admin, clients }) => {
    const { clientId } = await createClient(admin, 'Some wallet')
    const having = (count: number): Admin => ({
      ...admin,
      clients: {
        ...clients,
        get: async () => ({
          client: {
            ...someClient({ clientId }),
            vaults: Array.from({ length: count }, () => someVault({ chainId: 1 })),
          },
          keys: [],
        }),
      },
    })
    const vault = { clientId, chainId: 8453, address: SECOND } as const
    await expect(addVault(having(1000), vault)).rejects.toThrow(
      `Client ${clientId} has 1000 vaults, which is the maximum. Remove one, or create another client.`,
    )
    expect((await addVault(having(999), vault)).vault.address).toBe(SECOND)
  })

  test('are refused if they share their share token with another vault of the chain', async ({ admin, clients }) => {
    const { clientId } = await createClient(admin, 'Some wallet')
    const shareToken = VAULT
    const describeVault: Admin['describeVault'] = async (chainId, address) => ({
      ...describeVaultAt(chainId, address),
      shareToken,
    })
    const add = (chainId: number, address: typeof VAULT | typeof SECOND) =>
      addVault({ ...admin, describeVault }, { clientId, chainId, address })
    await add(8453, VAULT)
    await expect(add(8453, SECOND)).rejects.toThrow(`the same share token ${VAULT}`)
    // A client may have both vaults, because the same address on another chain is another share token.
    await add(42161, SECOND)
    expect((await clients.get(clientId))?.client.vaults).toHaveLength(2)
  })

  test('are removed only from the named client', async ({ admin, run, clients }) => {
    const vaults = [{ chainId: 8453, address: VAULT }] as const
    const [one, other] = [
      await seedClient(admin, { name: 'One', vaults }),
      await seedClient(admin, { name: 'Other', vaults }),
    ]
    const remove = () => run('remove-vault', '--client', one.clientId, '--chain', '8453', '--address', VAULT)

    expect(await remove()).toContain('no longer has')
    expect(await remove()).toContain('does not have')
    expect((await clients.get(other.clientId))?.client.vaults).toHaveLength(1)
  })

  test('without clients are recorded from the start when a client gets them again', async ({ admin, run, records }) => {
    const vault = { chainId: 8453, address: VAULT } as const
    const others = [
      { ...vault, chainId: 42161 },
      { ...vault, address: OTHER_VAULT },
    ] as const
    const [one, two] = [
      await seedClient(admin, { name: 'One', vaults: [vault, ...others] }),
      await seedClient(admin, { name: 'Two', vaults: [vault] }),
    ]
    const progress = { through: 7, ledger: { assets: 1n, supply: 1n } }
    const readProgress = () => records.getProgress([vault, ...others])
    const recorded = { ...progress, version: 2 }
    const written = await records.putProgress([vault, ...others].map((one) => [one, { ...progress, version: 1 }]))
    expect(written).toEqual([recorded, recorded, recorded])
    const removeFrom = (clientId: string) =>
      run('remove-vault', '--client', clientId, '--chain', '8453', '--address', VAULT)

    const { clientId } = await createClient(admin, 'Three')
    expect(await removeFrom(one.clientId)).not.toContain('is read again')
    await addVault(admin, { clientId, ...vault })
    expect(await readProgress()).toEqual([recorded, recorded, recorded])
    expect(await removeFrom(clientId)).not.toContain('is read again')
    expect(await removeFrom(two.clientId)).toContain('its past is read again when it is added')
    await addVault(admin, { clientId, ...vault })
    const anew = { ...initialProgress(someVault()), version: 3, through: -1, eventsAfter: 70_000_000 }
    expect(await readProgress()).toEqual([anew, recorded, recorded])
  })

  test('that were pinned before are shown beside their present state', async ({ admin, run }) => {
    const vault = { chainId: 8453, address: VAULT } as const
    const { clientId } = await seedClient(admin, { name: 'One', vaults: [vault] })
    await run('remove-vault', '--client', clientId, '--chain', '8453', '--address', VAULT)
    const code = [...PINNED.code, { role: 'clone of', address: SECOND }]
    Object.assign(admin, { readPin: async () => ({ ...PINNED, code }) })
    const said = await run('add-vault', '--client', clientId, '--chain', '8453', '--address', VAULT)
    expect(said).toMatch(/^Pinned since 2026-06-01.*\n.*\ncontract +0x\w+\nprice/m)
    expect(said).toMatch(
      /^Now:\n.*\ncontract +0x\w+\nclone of +0x\w+ +changed\n.* 1000000\n\n.*takes no deposits until confirm-vault\.$/m,
    )
  })

  test('stay pinned if one client loses a vault while another gets it', async ({ admin, pinStore }) => {
    const vault = { chainId: 8453, address: VAULT } as const
    const one = await seedClient(admin, { name: 'One', vaults: [vault] })
    const two = await createClient(admin, 'Two')
    const removeVaultOf: typeof admin.clients.removeVault = async (...args) => {
      const removed = await admin.clients.removeVault(...args)
      await addVault(admin, { clientId: two.clientId, ...vault })
      return removed
    }
    await removeVault(
      { ...admin, clients: { ...admin.clients, removeVault: removeVaultOf } },
      { clientId: one.clientId, ...vault },
    )
    expect(await pinStore.get([vault])).toEqual([expect.objectContaining({ pinnedAt: expect.any(Date) })])
  })
})

describe('A vault is read', () => {
  test('from the chains of the local service, and from no others', async ({
    operate,
    directory,
    endpoint,
    tableNames,
    admin,
    node,
  }) => {
    await writeState(directory, endpoint, tableNames, node.url)
    const { clientId } = await createClient(admin, 'Some wallet')
    const add = (chain: string) => operate('add-vault', '--client', clientId, '--address', VAULT, '--chain', chain)

    expect(await add('8453')).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Upstream unavailable\./) })
    expect(node.requests).toContain('eth_call')
    expect(await add('10')).toEqual({ code: 1, stdout: '', stderr: 'The local service has no chain 10.\n' })
  })

  test("of a stage from the URLs in the stage's secret", async ({ operate, endpoint, dynamo, node }) => {
    const { clients } = await createTables(dynamo, 'dev')
    await clientsAdminStore(createOperatorTable(connectOperator(dynamo), clients)).create(
      someClient({ clientId: 'Secret0001' }),
    )
    useAws({ AWS_ENDPOINT_URL_DYNAMODB: endpoint, AWS_ENDPOINT_URL_SECRETS_MANAGER: node.url })
    const args = ['add-vault', '--stage', 'dev', '--client', 'Secret0001', '--chain', '8453', '--address', VAULT]

    expect((await operate(...args)).stderr).toMatch(/^Upstream unavailable\./)
    expect(node.requests).toEqual(expect.arrayContaining(['vaultline/dev/config', 'eth_call']))
  })
})

describe('Keys', () => {
  test.for(['local', 'test', 'live'] as const)('name their environment %s', async (keyEnvironment, { admin }) => {
    const { clientId } = await createClient(admin, 'Some wallet')
    const { text } = await issueKey({ ...admin, keyEnvironment }, { clientId, name: 'key' })
    expect(text).toMatch(new RegExp(`^jk_${keyEnvironment}_${clientId}_`))
    expect(parseApiKey(text)).toEqual({ clientId })
  })

  test('of an unknown client are not issued', async ({ admin, requests }) => {
    await expect(issueKey(admin, { clientId: '0000000000', name: 'key' })).rejects.toThrow(AdminError)
    expect(requests).not.toContain('PutItem')
  })
})

test('The edge’s key is created, rotated through a second one, and never shown', async ({ run, admin }) => {
  const hashIn = (text: string) => /^[0-9a-f]{64}$/m.exec(text)?.[0] ?? ''
  const first = hashIn(await run('add-edge-key'))
  const second = hashIn(await run('add-edge-key'))
  const storedKeys = await admin.edgeKeys?.read()
  expect(Object.keys(storedKeys ?? {}).toSorted()).toEqual([first, second].toSorted())
  for (const [hash, key] of Object.entries(storedKeys ?? {})) expect(hash).toBe(sha256(key))
  expect(await run('add-edge-key')).toContain('There are two keys already. See remove-edge-key.')
  expect(await run('remove-edge-key', '--key', first)).toBe(`Key ${first} is gone.`)
  expect(await run('remove-edge-key', '--key', first)).toContain(`There is no key ${first}.`)
  expect(Object.keys((await admin.edgeKeys?.read()) ?? {})).toEqual([second])
  expect(
    await runCommandLine(['add-edge-key'], async () => ({ ...admin, edgeKeys: undefined })).catch(describeFailure),
  ).toContain('The local service has no edge.')
})

describe('Webhooks', () => {
  const URL = 'https://wallet.example/hooks'

  test('are registered with a secret that is printed once, listed and removed', async ({ admin, run }) => {
    const { clientId } = await createClient(admin, 'Some wallet')
    const of = ['--client', clientId]
    const added = await run('add-webhook', ...of, '--url', URL, '--types', 'deposit.completed, vault.paused')
    const [, secret = '', id = ''] = /^(whsec_\S{44})\n\nWebhook (wh_[0-9a-f]{24}) of client/.exec(added) ?? []
    expect(added).toContain(`gets deposit.completed,vault.paused at ${URL}.`)
    const list = await run('list-webhooks', ...of)
    expect(list).toMatch(
      new RegExp(
        `^${clientId}  ${id}  ${URL}  deposit.completed,vault.paused  final  .*  active +none +0 +none +0 +none$`,
        'm',
      ),
    )
    expect(await run('list-webhooks')).toContain(`${clientId}  ${id} `)
    expect(list).not.toContain(secret)
    expect(await run('add-webhook', ...of, '--url', URL)).toContain('Webhook already registered')
    expect(await run('remove-webhook', ...of, '--webhook', id)).toContain(`no longer has the webhook ${id}`)
    expect(await run('remove-webhook', ...of, '--webhook', id)).toContain(`has no webhook ${id}`)
    expect(await run('list-webhooks', ...of)).toBe('None.')
  })

  test('that accept no delivery are listed as such', async ({ admin, run, tables }) => {
    const { clientId } = await createClient(admin, 'Some wallet')
    const store = webhooksStore(tables.webhooks)
    for (const name of ['gone', 'down', 'late']) {
      await admin.webhooks.add(clientId, { url: `${URL}/${name}`, finality: name === 'late' ? 'latest' : 'final' })
    }
    const find = async (name: string) => {
      const webhook = (await store.list(clientId)).find(({ url }) => url.endsWith(name))
      if (!webhook) throw new Error(`There is no webhook ${name}.`)
      return webhook
    }
    const gone = await find('gone')
    const disabled = { disabledAt: new Date('2026-05-30T00:00:00.000Z'), disabledReason: 'gone' } as const
    await store.replace(clientId, gone, { ...gone, ...disabled })
    const down = await find('down')
    const probeAt = Date.parse('2026-06-01T00:05:00.000Z')
    await store.replace(clientId, down, { ...down, behind: { from: 7, probeAt, isLive: false } })
    const late = await find('late')
    const at = Date.parse('2026-05-31T00:00:00.000Z')
    const attempts = { ...selectAttempts(late, undefined), untaken: 2, failingSince: at, givenUpBefore: 2 }
    await attemptsStore(tables.webhooks).put(
      { clientId, webhookId: late.id },
      undefined,
      { ...attempts, waiting: { 1: { page: 1, attempts: 1, dueAt: at } }, lastFailure: { at, reason: 'timeout' } },
      at,
    )
    const list = await run('list-webhooks', '--client', clientId)
    expect(list).toMatch(/ BEHIND FROM +WAITING +NEXT ATTEMPT +GIVEN UP +LAST FAILURE$/m)
    expect(list).toMatch(
      /\/gone +all +final .* disabled since 2026-05-30T00:00:00.000Z: gone +none +0 +none +0 +none$/m,
    )
    expect(list).toMatch(/\/down +all +final .* active +7 +0 +2026-06-01T00:05:00.000Z +0 +none$/m)
    expect(list).toMatch(
      /\/late +all +latest .* failing since 2026-05-31T00:00:00.000Z +none +1 +2026-06-01T00:00:00.000Z +2 +2026-05-31T00:00:00.000Z: timeout$/m,
    )
    expect(await run('resume-webhooks', '--client', clientId)).toBe('Webhooks that get what they did not take: 2.')
    expect(await run('list-webhooks', '--client', clientId)).toMatch(
      /\/down .* active +7 +0 +2026-06-01T00:00:00.000Z/m,
    )
  })

  test('get no given-up event again after an operator drops the events', async ({ admin, run, tables }) => {
    const { clientId } = await createClient(admin, 'Some wallet')
    const { webhook } = await admin.webhooks.add(clientId, { url: URL, finality: 'final' })
    const at = Date.parse('2026-05-31T00:00:00.000Z')
    await attemptsStore(tables.webhooks).put(
      { clientId, webhookId: webhook.id },
      undefined,
      { ...selectAttempts(webhook, undefined), givenUp: [{ sequence: 3, page: 3, at }] },
      at,
    )
    const of = ['--client', clientId]
    expect(await run('list-given-up', ...of)).toMatch(/ 3 +no longer in the log +2026-05-31T00:00:00.000Z$/m)
    expect(await run('drop-given-up', ...of)).toContain('never be sent again: 1, of webhooks: 1. Add --yes')
    expect(await run('drop-given-up', ...of, '--yes')).toBe('Events that are never sent again: 1.')
    expect(await run('list-given-up', ...of)).toBe('None.')
  })

  test.for([
    [['--url', 'https://10.0.0.1/'], 'Missing or invalid url'],
    [['--url', 'nowhere'], '--url: must be an https URL'],
    [
      ['--url', URL, '--types', 'vault.paused vault.sold'],
      '--types: has unknown types, such as "vault.paused vault.sold"; known types are deposit.pending, ',
    ],
    [['--url', URL, '--client', '0000000000'], 'There is no client 0000000000'],
  ] as const)('are not registered with %j', async ([args, problem], { admin, run }) => {
    const { clientId } = await createClient(admin, 'Some wallet')
    expect(await run('add-webhook', '--client', clientId, ...args)).toContain(problem)
    expect(await run('list-webhooks', '--client', clientId)).toBe('None.')
  })

  test('cannot be used with a key for certain chains or vaults', async ({ admin, run }) => {
    const { clientId } = await createClient(admin, 'Some wallet')
    const { key } = await issueKey(admin, { clientId, name: 'x', limits: { chains: [8453] } })
    const change = (...args: string[]) => run('limit-key', '--client', clientId, '--key', key.keyId, ...args)
    const refusal = 'cannot be limited to chains or vaults'
    expect(await change('--scopes', 'vaults,webhooks')).toContain(refusal)
    expect(await change('--scopes', 'vaults,webhooks', '--chains', 'any')).toContain('scopes: vaults,webhooks')
    expect(await change('--vaults', `8453:${VAULT}`)).toContain(refusal)
    const limits = (await admin.clients.get(clientId))?.keys[0]?.limits
    expect(limits).toEqual({ scopes: ['vaults', 'webhooks'], rate: key.limits.rate })
  })
})

describe('A user', () => {
  const clientId = 'AbCdE01234'
  const email = 'alice@example.com'
  const user: User = {
    clientId,
    email,
    userId: 'any',
    createdAt: new Date('2026-01-01T00:00:00.000Z'),
    credentials: {},
    sessions: {},
    version: 0,
    wallets: {},
  }

  test('gets the operator’s changes and keeps the rest', async ({ run, users }) => {
    await users.create(user)
    const set = (...args: string[]) => run('set-user', '--client', clientId, '--email', ' Alice@Example.com', ...args)
    expect(await set('--kyc', 'approved', '--smart-gas-usd', '12.50')).toBe(
      `User ${email} of client ${clientId}: kyc approved, 12.5 dollars left for fees.`,
    )
    expect(await users.get(user)).toEqual({ ...user, kyc: 'approved', smartGas: 12_500_000 })
    expect(await set('--smart-gas-usd', '0.000001')).toContain('kyc approved, 0.000001 dollars')
    expect(await set('--kyc', 'expired')).toContain('kyc expired, 0.000001 dollars')
    expect(await users.get(user)).toEqual({ ...user, kyc: 'expired', smartGas: 1 })
  })

  const createdAt = new Date('2026-01-01T00:00:00.000Z')
  const session = { hash: 'h', platform: 'ios' as const, createdAt, expiresAt: new Date('2100-01-01T00:00:00.000Z') }
  const totp = { kind: 'Totp' as const, factor: 'second' as const, name: 'phone', seed: 's', lastStep: 1, createdAt }
  const of = ['--client', clientId, '--email', email]

  test('is shown with sessions and credentials, and logged out everywhere', async ({ run, users }) => {
    await users.create({
      ...user,
      credentials: { a: totp },
      sessions: { one: session, old: { ...session, expiresAt: createdAt } },
    })
    const shown = await run('list-sessions', ...of)
    expect(shown).toContain('one      ios       2026-01-01T00:00:00.000Z  2100-01-01T00:00:00.000Z')
    expect(shown).toContain('Totp        second  phone  2026-01-01T00:00:00.000Z  never')
    expect(shown).not.toContain('old')
    expect(await run('end-sessions', ...of)).toBe(
      `User ${email} of client ${clientId} is logged out everywhere; sessions ended: 1.`,
    )
    expect((await users.get(user))?.sessions).toEqual({})
  })

  test('is logged out of one session, and stays in the others', async ({ run, users }) => {
    const two = { ...session, hash: 'h2' }
    await users.create({ ...user, sessions: { '-one': session, two } })
    const stored = { clientId, user: { id: user.userId, email }, createdAt, expiresAt: session.expiresAt }
    await users.sessions.put(session.hash, { ...stored, id: '-one', hash: session.hash })
    await users.sessions.put(two.hash, { ...stored, id: 'two', hash: two.hash })
    const end = () => run('end-sessions', ...of, '--session=-one')
    expect(await end()).toBe(`Session -one of user ${email} of client ${clientId} is ended.`)
    expect((await users.get(user))?.sessions).toEqual({ two })
    expect(await users.sessions.get(session.hash)).toBeNull()
    expect(await users.sessions.get(two.hash)).toMatchObject({ id: 'two' })
    expect(await end()).toBe(`User ${email} of client ${clientId} has no session -one. See list-sessions.`)
  })

  test('is deleted only after the operator sees who it is', async ({ run, users }) => {
    await users.create({ ...user, credentials: { a: totp }, sessions: { one: session } })
    expect(await run('delete-user', ...of)).toBe(
      `User ${email} of client ${clientId} (registered 2026-01-01, credentials: 1, wallets: 0) would be deleted, for good. Add --yes to do it.`,
    )
    expect(await users.get(user)).not.toBeNull()
    expect(await run('delete-user', ...of, '--yes')).toBe(`User ${email} of client ${clientId} is deleted.`)
    expect(await users.get(user)).toBeNull()
    expect(await run('delete-user', ...of, '--yes')).toBe(`Client ${clientId} has no user ${email}.`)
    expect(await run('delete-user', '--help')).toMatch(/ \[--yes\]\n/)
  })

  test('is changed in the tables of the local service', async ({ operate, directory, endpoint, tableNames, users }) => {
    await writeState(directory, endpoint, tableNames)
    await users.create(user)
    const args = ['set-user', '--client', clientId, '--email', email, '--kyc', 'pending']
    expect(await operate(...args)).toMatchObject({ code: 0, stderr: '' })
    expect(await users.get(user)).toMatchObject({ kyc: 'pending' })
  })

  test.for([
    [['--kyc', 'approved'], `Client ${clientId} has no user ${email}.`],
    [[], 'Give --kyc, --smart-gas-usd, or both.'],
    [['--kyc', 'perhaps'], '--kyc: Invalid option: expected one of "none"|"pending"|"approved"|"rejected"|"expired"'],
    [['--smart-gas-usd', '-1'], "Option '--smart-gas-usd' argument is ambiguous"],
    [['--smart-gas-usd', '1.2345678'], '--smart-gas-usd: must be dollars such as 12.50'],
    [['--smart-gas-usd', '1e3'], '--smart-gas-usd: must be dollars such as 12.50'],
  ] as const)('is not set with %j', async ([args, message], { run, users }) => {
    expect(await run('set-user', '--client', clientId, '--email', email, ...args)).toContain(message)
    expect(await users.get(user)).toBeNull()
  })
})

describe('A seeded client', () => {
  test('has a key that works and its vaults', async ({ admin, clients, clock }) => {
    const seeded = await seedClient(admin, {
      name: 'Seeded',
      vaults: [{ chainId: 8453, address: VAULT, poolId: 'usdc' }],
    })
    const { client } = await createClientLookup({ get: clients.get, now: () => clock.now })(seeded.apiKey)
    expect(client).toMatchObject({
      clientId: seeded.clientId,
      name: 'Seeded',
      vaults: [{ poolId: 'usdc', address: VAULT }],
    })
    expect(seeded.vaults).toEqual(client.vaults)
  })
})

test('forget-transfer makes a final transfer be read again', async ({ run, transfers }) => {
  const hash = `0x${'ab'.repeat(32)}` as const
  const key = { sourceChainId: 8453, hash }
  const account = getAddress(VAULT)
  const args = ['forget-transfer', '--chain', '8453', '--tx', hash]
  expect(await run(...args)).toContain('Nothing is recorded')
  const deposit = { depositor: account, hash, quotedAt: 1, relayHash: hash }
  await transfers.recordSent(key, { deposits: [deposit], isFinal: true })
  const transfer = { sourceChainId: 8453, depositor: account, relayHash: hash }
  await transfers.record(transfer, someTransfer(account))
  expect(await run(...args)).toContain('are deleted')
  expect(await transfers.getSent(key)).toBeUndefined()
  expect(await transfers.getMany([transfer])).toEqual([])
})

test('The result of a write is reported even if the table’s response is lost', async ({
  admin,
  transfers,
  run,
  requests,
  loseAnswers,
}) => {
  await transfers.recordSent({ sourceChainId: 8453, hash: `0x${'ab'.repeat(32)}` }, { deposits: [], isFinal: true })
  loseAnswers()
  const { clientId } = await createClient(admin, 'Acme')
  const { key: issued } = await issueKey(admin, { clientId, name: 'first' })
  const client = ['--client', clientId]
  expect(await run('revoke-key', ...client, '--key', issued.keyId)).toContain('Revoked')
  const { vault } = await addVault(admin, { clientId, chainId: 8453, address: VAULT })
  expect(vault.address).toBe(VAULT)
  const place = ['--chain', '8453', '--address', VAULT]
  expect(await run('remove-vault', ...client, ...place)).not.toContain('does not have')
  expect(await run('forget-transfer', '--chain', '8453', '--tx', `0x${'ab'.repeat(32)}`)).toContain('are deleted')
  // The SDK sent each write twice, because the first response was lost.
  const writes = requests.filter((request) => /^((Put|Update|Delete)Item|TransactWriteItems)$/.test(request))
  expect(writes).toHaveLength(2 * 8 + 1)
})

test('restore-items restores missing items, changed ones on request, and no expired ones', async ({
  dynamo,
  tables,
  admin,
  run,
}) => {
  const { users: restored } = await createTables(dynamo, 'restored')
  const item = (pk: string, name: string, rest: object = {}) => ({ pk, sk: 'USER', name, ...rest })
  const expired = { expiresAt: admin.now() / 1000 }
  await createOperatorTable(connectOperator(dynamo), restored).putMany([
    ...[item('USER#a', 'as it was'), item('USER#b', 'as it was'), item('USER#c', 'the same')],
    ...[
      item('USER#d', 'too old', expired),
      item('SESSION#a', 'of another kind', { expiresAt: expired.expiresAt + 60 }),
    ],
  ])
  await tables.users.putMany([
    ...[item('USER#b', 'changed since'), item('USER#c', 'the same'), item('USER#e', 'made since')],
  ])
  const names = async () =>
    Object.fromEntries([...(await scanTable(tables.users)).values()].map(({ pk, name }) => [pk, name]))
  const before = await names()
  const args = ['restore-items', '--table', 'users', '--from', restored, '--partition', 'USER#']
  expect(await run(...args)).toContain(`Of 3 items of ${restored}: 1 missing, 1 different.`)
  expect(await run(...args)).toContain('Nothing was written.')
  expect(await names()).toEqual(before)
  expect(await run(...args, '--yes')).toBe(`Of 3 items of ${restored}: 1 put back, 1 left as they are.`)
  expect(await names()).toEqual({ ...before, 'USER#a': 'as it was' })
  expect(await run(...args, '--replace', '--yes')).toBe(`Of 3 items of ${restored}: 0 put back, 1 replaced.`)
  expect(await names()).toEqual({ ...before, 'USER#a': 'as it was', 'USER#b': 'as it was' })
  expect(await run('restore-items', '--table', 'users', '--from', 'no-such-table')).toMatch(/ResourceNotFound/)
})
