import { type SpawnOptionsWithoutStdio, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseEnv } from 'node:util'
import { afterAll, test as base, describe, expect, vi } from 'vitest'
import * as z from 'zod'
import { connectLocal } from '../../admin/connect.ts'
import { addSigningKey, removeSigningKey } from '../../admin/operations/keys.ts'
import { endpoints } from '../../functions/contracts.ts'
import { Address } from '../../lib/core/codecs.ts'
import { type EndpointContract, methodsOf } from '../../lib/frame/contract.ts'
import { ACCOUNTS, SOLANA_WALLET } from '../../sandbox/accounts.ts'
import { sendHttpRequest } from '../../sandbox/exchange.ts'
import {
  clearSandbox,
  freePort,
  occupyPort,
  readStateFile,
  runSandbox,
  type Sandbox,
  START_SCRIPT,
  startSandbox,
  stateFileOf,
} from '../support/sandbox.ts'

const DEMO = join(import.meta.dirname, '../../sandbox/demo.ts')
const SMOKE = join(import.meta.dirname, '../../scripts/smoke.ts')
/** Folder of compiled code. All processes of this file share it, so that they start faster. */
const NODE_COMPILE_CACHE = mkdtempSync(join(tmpdir(), 'start-compiled-'))
afterAll(() => rmSync(NODE_COMPILE_CACHE, { recursive: true }))
/** `ALLOWED` is the origin of a page under development, which may call the service. `NOT_ALLOWED` may not. */
const ALLOWED = 'http://localhost:5173'
const NOT_ALLOWED = 'https://evil.example'
const ORIGINS = ['https://wallet.example', 'http://localhost:7000']

const Url = z.url({ protocol: /^http$/, hostname: /^(localhost|127\.0\.0\.1)$/ })
const Key = z.string().regex(/^jk_local_[0-9A-Za-z]{10}_[0-9A-Za-z]{38}$/)
const Hex32 = z.string().regex(/^0x[0-9a-f]{64}$/)
const ChainId = z.literal([8453, 42161])

const State = z.object({
  walletUrl: Url,
  baseUrl: Url,
  apiKey: Key,
  otherClient: z.object({ apiKey: Key }),
  signingKey: z.looseObject({ kid: z.string() }),
  chains: z
    .array(z.object({ chainId: ChainId, rpcUrl: Url, nodeUrls: z.array(Url).min(1) }))
    .min(2)
    .max(2),
  vaults: z
    .array(
      z.object({
        chainId: ChainId,
        address: Address,
        type: z.enum(['async', 'sync']),
        protocol: z.string(),
        version: z.string().optional(),
        asset: Address,
      }),
    )
    .min(6),
  tokens: z.array(z.object({ chainId: ChainId, address: Address, symbol: z.string(), decimals: z.int() })).min(6),
  accounts: z.array(z.object({ address: Address, privateKey: Hex32 })).min(2),
  curator: z.looseObject({}),
  providersUrl: Url,
  controlsUrl: Url,
  webhook: z.object({
    id: z.string(),
    url: Url,
    secret: z.string().startsWith('whsec_'),
    apiKey: Key,
    receivedUrl: Url,
  }),
  states: z
    .object({
      apiKey: Key,
      questions: z.record(
        z.string(),
        z.object({ path: z.string(), body: z.looseObject({}).optional(), apiKey: Key.optional() }),
      ),
    })
    .optional(),
})
type State = z.output<typeof State>

const GUIDE = readFileSync(join(import.meta.dirname, '../../docs/sandbox.md'), 'utf8')
/** Rows of the table of simulated failures in docs/sandbox.md: name, request and response of each. */
const STATES = [...GUIDE.matchAll(/^\| `([^`]+)` +\| `(GET|POST) ([\w-]+)` +\| (\d{3}) `(.+)` +\|$/gm)].map(
  ([, name = '', method = '', what = '', status, answer = '']) =>
    ({ name, method, what, status: Number(status), answer: JSON.parse(answer) }) as const,
)

const envFileOf = ({ folder }: Sandbox) => join(folder, '.local/.env')

const stateOf = (running: Sandbox): State => State.parse(readStateFile(running))

type Process = { readonly pid: number; readonly parent: number; readonly state: string }

function processes(): Process[] {
  const lines = existsSync('/proc/self/stat')
    ? readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .map((name) => statOf(name))
    : spawnSync('ps', ['-A', '-o', 'pid=,ppid=,stat=']).stdout.toString().split('\n')
  return lines
    .map((line) => line.trim().split(/\s+/))
    .map(([pid, parent, state = '']) => ({ pid: Number(pid), parent: Number(parent), state }))
    .filter(({ pid, state }) => pid > 0 && !/^[ZX]/.test(state))
}

function statOf(pid: string): string {
  try {
    // The second field of /proc/…/stat, the process name, may contain anything, even a bracket.
    const [state, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\)\s/s, '')
      .split(' ')
    return `${pid} ${parent} ${state}`
  } catch {
    return ''
  }
}

function familyOf(pid: number): number[] {
  const all = processes()
  const family = [pid]
  for (const member of family) family.push(...all.filter(({ parent }) => parent === member).map((child) => child.pid))
  return family
}

async function expectAllGone(family: readonly number[]): Promise<void> {
  const alive = () => processes().flatMap(({ pid }) => (family.includes(pid) ? [pid] : []))
  await expect.poll(alive, { interval: 20 }).toEqual([])
}

async function rpc({ rpcUrl }: { rpcUrl: string }, method: string, ...params: unknown[]) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const answer = await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return ((await answer.json()) as { result: string }).result
}

async function run(command: readonly string[], { env, ...options }: SpawnOptionsWithoutStdio = {}) {
  const environment = { ...process.env, NODE_COMPILE_CACHE, ...env }
  const child = spawn(process.execPath, command, { timeout: 100_000, ...options, env: environment })
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { status, stdout, stderr }
}

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('running', { scope: 'file' }, async ({}, { onCleanup }) => {
    const PORT = `${await freePort()}`
    const running = await startSandbox({
      NODE_COMPILE_CACHE,
      PORT,
      ORIGINS: ORIGINS.join(),
    })
    onCleanup(() => clearSandbox(running))
    return { ...running, port: PORT }
  })
  .extend('state', ({ running }) => stateOf(running))

describe('`npm start`', () => {
  test('prints the URLs of its parts, a key, the allowed origins and commands to try', ({ running, state }) => {
    const text = running.printed()
    expect(text).toMatch(
      new RegExp(
        [
          `Control room +${state.walletUrl}/sandbox\\n`,
          `Wallet +${state.walletUrl}\\n`,
          `API +http://localhost:${running.port}\\n`,
          `Docs +${state.baseUrl}/docs\\n`,
          `API key +${state.apiKey}\\n`,
          `Webhook +${state.webhook.url}, which shows what arrives at ${state.webhook.receivedUrl}\\n`,
        ].join(' +'),
      ),
    )
    for (const origin of [state.walletUrl, state.baseUrl, ALLOWED, ...ORIGINS]) {
      expect(text.match(/Origins +(.*)/)?.[1]?.split(' ')).toContain(origin)
    }
    expect(text).toContain('npm run demo')
    expect(text).toContain(`curl -s ${state.controlsUrl}/vaults/settle -d '{}'`)
    expect(text).not.toMatch(/error|warning/i)
  })

  test('redirects its root to the documentation, whose config has its key', async ({ state }) => {
    const { status, headers } = await fetch(state.baseUrl, { redirect: 'manual' })
    expect([status, headers.get('location')]).toEqual([302, '/docs/'])
    const config = await fetch(`${state.baseUrl}/docs/config.json`)
    expect(await config.json()).toEqual({ apiUrl: '/', apiKey: state.apiKey })
  })

  test('writes its state into the state file, readable only by its owner', ({ running, state }) => {
    expect(state.baseUrl).toBe(`http://localhost:${running.port}`)
    expect(new Set(state.chains.map(({ chainId }) => chainId))).toEqual(new Set([8453, 42161]))
    expect(new Set(state.vaults.map(({ type }) => type))).toEqual(new Set(['async', 'sync']))
    expect(new Set(state.tokens.map(({ decimals }) => decimals))).toEqual(new Set([6, 18]))
    expect(statSync(stateFileOf(running)).mode & 0o077).toBe(0)
  })

  test('writes the quick start’s variables into an environment file, readable only by its owner', ({
    running,
    state,
  }) => {
    const file = envFileOf(running)
    const guide = readFileSync(join(import.meta.dirname, '../../docs/guides/quick-start.md'), 'utf8')
    const rows = guide.split('\n').filter((line) => line.startsWith('| `'))
    const named = rows.flatMap((row) => [...row.matchAll(/`([A-Z_\d]+)`/g)].map(([, name]) => name))
    const variables = parseEnv(readFileSync(file, 'utf8'))
    expect(new Set(Object.keys(variables))).toEqual(new Set(named))
    const [account] = state.accounts
    const vault = state.vaults.find(({ address }) => address === variables['VAULT'])
    expect(vault).toMatchObject({ chainId: 8453, type: 'sync' })
    expect(variables).toMatchObject({
      VAULTLINE_URL: state.baseUrl,
      VAULTLINE_KEY: state.apiKey,
      RPC_URL_8453: state.chains.find(({ chainId }) => chainId === 8453)?.rpcUrl,
      ACCOUNT: account?.address,
      PRIVATE_KEY: account?.privateKey,
    })
    expect(statSync(file).mode & 0o077).toBe(0)
  })

  test('prints a curl command that lists the vaults unchanged', async ({ running }) => {
    const line = running
      .printed()
      .split('\n')
      .find((candidate) => candidate.includes('curl') && candidate.includes('/vaults'))
    // The shell splits the guide's command into arguments exactly as it would for curl.
    const shell = spawnSync('/bin/sh', ['-c', `curl() { printf '%s\\n' "$@"; }\n${line}`])
    const words = shell.stdout.toString().split('\n')
    const [name = '', value = ''] = (words[words.indexOf('-H') + 1] ?? '').split(': ')
    const response = await fetch(words.find((word) => word.startsWith('http')) ?? '', { headers: { [name]: value } })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ success: true, data: expect.arrayContaining([expect.anything()]) })
  })

  test.for([
    ['account', 'POST logout: the session is over'],
    ['rewards', 'Sent the claim: mined'],
    ['portfolio', 'POST coins/search'],
    ['states', 'transfer replaced: 200 failed, source_dropped'],
  ])('plays the demo of the %s', async ([demo, last], { running: { folder } }) => {
    const { status, stdout, stderr } = await run([DEMO, demo as string], { cwd: folder })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toContain(last)
    expect(stdout).not.toMatch(/\b(NaN|undefined|null)\b/)
  })

  test('runs once per folder: a second start says so and keeps the first one’s state', async ({ running }) => {
    const before = readStateFile(running)
    const PORT = `${await freePort()}`
    const { status, stdout, stderr } = await run([START_SCRIPT], { cwd: running.folder, env: { PORT } })
    expect({ status, output: stdout + stderr }).toEqual({
      status: 1,
      output: expect.stringContaining(
        `Not started: Process ${running.child.pid} runs in this folder. Stop it first, or remove .local/process`,
      ),
    })
    expect(readStateFile(running)).toEqual(before)
  })

  test('ends a failing demo with status 1 and the reason', async ({ running, state, onTestFinished }) => {
    const folder = mkdtempSync(join(tmpdir(), 'demo-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    mkdirSync(join(folder, '.local'))
    const revoked = readFileSync(stateFileOf(running), 'utf8').replaceAll(state.apiKey, `${state.apiKey.slice(0, -1)}?`)
    writeFileSync(join(folder, '.local/state.json'), revoked)
    const { status, stderr } = await run([DEMO, 'same-chain'], { cwd: folder })
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(/key/i) })
  })

  test('serves all vaults of the state file to one client and one vault to the other', async ({ state }) => {
    const vaultsOf = async (key: string) => {
      const response = await fetch(`${state.baseUrl}/defi-vaults/v1/vaults`, { headers: { 'x-join-key': key } })
      const { data } = (await response.json()) as { data: { chainId: number; poolAddress: string }[] }
      return data.map(({ chainId, poolAddress }) => `${chainId} ${poolAddress}`).sort()
    }
    const all = state.vaults.map(({ chainId, address }) => `${chainId} ${address}`).sort()
    expect(await vaultsOf(state.apiKey)).toEqual(all)
    const other = await vaultsOf(state.otherClient.apiKey)
    expect(other).toHaveLength(1)
    expect(all).toContain(other[0])
  })

  test('records the states of the vaults by itself', async ({ running: { folder } }) => {
    const log = () => readFileSync(join(folder, '.local/service.log'), 'utf8')
    const recorded = /"report":{"outcome":"refreshed","chainId":8453,.*"states":[1-9]/
    await expect.poll(log).toMatch(recorded)
  })

  test('shows the yields of its recorded prices', async ({ state }) => {
    type Listed = { poolAddress: string; chainId: number; annualYield: { from: string; days: number } | null }
    const get = async <T>(path: string) => {
      const headers = { 'x-join-key': state.apiKey }
      return (await (await fetch(`${state.baseUrl}/defi-vaults/v1/${path}`, { headers })).json()) as T
    }
    const list = async () => (await get<{ data: Listed[] }>('vaults')).data
    // The yield needs a recorded price that is at least a week old. The newest such price is two weeks old.
    const listDays = async () => [...new Set((await list()).map(({ annualYield }) => annualYield?.days))]
    // One vault on Base opened three days ago, so it has no yield yet.
    await expect.poll(async () => new Set(await listDays()), { timeout: 15_000 }).toEqual(new Set([14, undefined]))
    expect((await list()).filter(({ annualYield }) => annualYield === null)).toHaveLength(1)
    for (const { poolAddress, chainId, annualYield } of await list()) {
      if (!annualYield) continue
      const path = `defi/vault/${poolAddress}/history?range=all&chainId=${chainId}`
      const { history } = await get<{ history: { at: string }[] }>(path)
      expect(history.map(({ at }) => at)).toContain(annualYield.from)
    }
  })

  test('names its function in each line of the log, also during concurrent work', ({ running: { folder } }) => {
    const Line = z.object({ message: z.literal('request'), route: z.string(), function_name: z.string() })
    const lines = readFileSync(join(folder, '.local/service.log'), 'utf8').split('\n')
    const routes = lines.flatMap((line) => {
      const { success, data } = Line.safeParse(line.startsWith('{') ? JSON.parse(line) : {})
      return success ? [`${data.route}: ${data.function_name}`] : []
    })
    const own = Object.entries<EndpointContract>(endpoints).flatMap(([name, { method, path, aliases = [] }]) =>
      [path, ...aliases].flatMap((each) => [
        `${each}: ${name}`,
        ...methodsOf({ method }).map((one) => `${one} ${each}: ${name}`),
      ]),
    )
    expect(routes.length).toBeGreaterThan(50)
    expect(new Set(routes.filter((route) => !own.includes(route)))).toEqual(new Set())
  })

  test('responds only under its own machine’s names, against DNS rebinding', async ({ state }) => {
    const { baseUrl, walletUrl, controlsUrl } = state
    for (const url of [`${baseUrl}/docs/`, `${baseUrl}/health`, `${walletUrl}/config.json`, controlsUrl]) {
      const { status, text } = await sendHttpRequest(url, { method: 'GET', headers: { host: 'evil.example' } })
      expect({ url, status, text }).toEqual({ url, status: 421, text: '' })
    }
  })

  test('logs into a file without keys or node URLs', ({ running, state }) => {
    const log = readFileSync(join(running.folder, '.local/service.log'), 'utf8')
    expect(log).toContain('"message":"request"')
    const { apiKey, secret } = state.webhook
    for (const one of [
      state.apiKey,
      state.otherClient.apiKey,
      apiKey,
      secret,
      ...state.chains.map(({ rpcUrl }) => rpcUrl),
    ]) {
      expect(log).not.toContain(one)
    }
    expect(running.printed()).not.toContain('"message"')
  })
})

describe('The smoke test', () => {
  const smoke = (url: string, key: string) => run([SMOKE, '--url', url, '--origin', ALLOWED], { env: { API_KEY: key } })

  test('passes at a running service', async ({ state }) => {
    const { status, stdout } = await smoke(state.baseUrl, state.apiKey)
    expect(stdout).not.toContain('FAIL')
    expect(stdout).toMatch(/vaults .*\d+ on 2 chains, signed\n/)
    expect(stdout).toMatch(/skip {2}webhooks .*does not have the scope webhooks\nskip {2}events /)
    expect(stdout).toMatch(/11 passed, 2 skipped\.\n$/)
    expect(status).toBe(0)
  })

  test('requests webhooks and events with a key that has the scope', async ({ state }) => {
    const { stdout } = await smoke(state.baseUrl, state.webhook?.apiKey ?? '')
    expect(stdout).toMatch(/ok {4}webhooks .*1 registered, 0 disabled\nok {4}events /)
  })

  test('fails without a service and with an unknown key', async ({ state }) => {
    const otherKey = `${state.apiKey.slice(0, -1)}${state.apiKey.endsWith('a') ? 'b' : 'a'}`
    // The smoke test without a service gets no API key. With a key it would retry for several seconds before it fails.
    const [absent, unknown] = await Promise.all([
      smoke(`http://localhost:${await freePort()}`, ''),
      smoke(state.baseUrl, otherKey),
    ])
    expect(absent.stdout).toMatch(/6 of 6 failed\.\n$/)
    expect(absent.status).toBe(1)
    expect(unknown.stdout).toMatch(/FAIL {2}vaults .*invalid_api_key/)
    expect(unknown.stdout).toMatch(/6 of 13 failed\.\n$/)
    expect(unknown.status).toBe(1)
  })
})

describe('The demo wallet', () => {
  test('gets the URLs of the API and the chains, and the sandbox accounts to use', async ({ state }) => {
    const answer = await fetch(`${state.walletUrl}/config.json`)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(await answer.json()).toEqual({
      apiUrl: state.baseUrl,
      apiKey: state.apiKey,
      signingKeys: [state.signingKey],
      chains: state.chains.map(({ chainId }) => ({
        chainId,
        rpcUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:/),
        explorerUrl: `${state.walletUrl}/sandbox/explorer/${chainId}`,
      })),
      sandbox: {
        accounts: state.accounts.map(({ address }) => address),
        solanaWallet: SOLANA_WALLET,
        smartAccount: ACCOUNTS.smart.address,
        controlsUrl: `${state.baseUrl}/sandbox`,
        receivedUrl: state.webhook.receivedUrl,
      },
    })
  })

  test('gets the current signing keys after an operator changes them', async ({ running, state }) => {
    const admin = await connectLocal(stateFileOf(running))
    const listKeyIds = async () =>
      z
        .object({ signingKeys: z.array(z.object({ kid: z.string() })) })
        .parse(await (await fetch(`${state.walletUrl}/config.json`)).json())
        .signingKeys.map(({ kid }) => kid)
    const { keyId } = await addSigningKey(admin)
    expect(await listKeyIds()).toEqual([state.signingKey.kid, keyId])
    await removeSigningKey(admin, keyId)
    expect(await listKeyIds()).toEqual([state.signingKey.kid])
  })
})

describe('The receiver of webhooks', () => {
  const control = async (state: State, name: string, body: object = {}) => {
    const answer = await fetch(`${state.controlsUrl}/${name}`, { method: 'POST', body: JSON.stringify(body) })
    expect(answer.status).toBe(200)
  }
  type Received = {
    attempt: number
    isVerified: boolean
    isTaken: boolean
    status: number
    event: { type: string; final?: boolean }
  }
  const listReceived = async ({ webhook }: State) =>
    ((await (await fetch(webhook.receivedUrl)).json()) as { received: Received[] }).received
  /** Deposits from a local account whose private key is publicly known. */
  const deposit = async (state: State) => {
    const [account] = state.accounts
    const vault = state.vaults.find(({ type, chainId }) => type === 'sync' && chainId === 8453)
    const rpcUrl = state.chains.find(({ chainId }) => chainId === 8453)?.rpcUrl ?? ''
    const answer = await fetch(`${state.baseUrl}/defi-vaults/v1/defi/vault/deposit`, {
      method: 'POST',
      headers: { 'x-join-key': state.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ vaultAddress: vault?.address, amount: '1000000', userAddress: account?.address }),
    })
    const { approval, operations } = (await answer.json()) as Record<'approval' | 'operations', object[]>
    for (const { to, data } of [...approval, ...operations] as { to: string; data: string }[]) {
      const hash = await rpc({ rpcUrl }, 'eth_sendTransaction', { from: account?.address, to, data, gas: '0x7a120' })
      const mined = () => rpc({ rpcUrl }, 'eth_getTransactionReceipt', hash)
      await expect.poll(mined).toMatchObject({ status: '0x1' })
    }
  }

  test('gets refused events again after a successful test, verifies them, and takes each once', async ({ state }) => {
    const patience = { timeout: 25_000, interval: 100 }
    const listDeposits = async (isFinal: boolean) =>
      (await listReceived(state)).filter(({ event }) => event.type === 'deposit.completed' && event.final === isFinal)
    const refused = { isVerified: true, isTaken: false, status: 503, attempt: 1, delayMs: expect.any(Number) }
    await control(state, 'webhooks/refuse', { seconds: 600 })
    await deposit(state)
    await expect.poll(async () => (await listDeposits(false))[0], patience).toMatchObject(refused)
    await control(state, 'chains/advance', { seconds: 180 })
    await expect.poll(async () => (await listDeposits(true))[0], patience).toMatchObject(refused)
    await control(state, 'webhooks/resume')

    const { id, apiKey } = state.webhook
    const listTaken = async () => {
      // The receiver has refused two events, so the service pauses its deliveries for minutes. A test event that the
      // receiver accepts ends the pause.
      await fetch(`${state.baseUrl}/webhooks/${id}/test`, { method: 'POST', headers: { 'x-join-key': apiKey } })
      return (await listDeposits(true)).filter(({ isTaken }) => isTaken)
    }
    await expect
      .poll(listTaken, { ...patience, interval: 1000 })
      .toMatchObject([{ status: 204, attempt: 2, isVerified: true }])
  })

  test('is shown at work by the events demo', async ({ running: { folder }, onTestFinished }) => {
    const demo = spawn(process.execPath, [DEMO, 'events'], { cwd: folder, env: { ...process.env, NODE_COMPILE_CACHE } })
    onTestFinished(() => void demo.kill())
    let printed = ''
    for await (const chunk of demo.stdout) {
      printed += chunk
      if (printed.includes('after it happened, attempt')) break
    }
    expect(printed).toMatch(/ s {2}Event deposit\.completed \(.*\): 1 USDC, Cove USDC Savings, -?\d+\.\d s after/)
  })

  test('gets an event’s deposit on which both nodes of its chain agree', async ({ state: { baseUrl, webhook } }) => {
    const list = await fetch(`${baseUrl}/webhooks/events?limit=100`, { headers: { 'x-join-key': webhook.apiKey } })
    const { events } = (await list.json()) as { events: { type: string; data: { depositId: string; entry: object } }[] }
    const deposits = events.filter(({ type }) => type === 'deposit.completed')
    expect(deposits).not.toEqual([])
    for (const { data } of deposits) expect(data.entry).toMatchObject({ depositId: data.depositId })
  })

  test('is registered with its own key, because the wallet’s key in a page may not see webhooks', async ({
    state: { baseUrl, apiKey, webhook },
  }) => {
    const list = (key: string) => fetch(`${baseUrl}/webhooks`, { headers: { 'x-join-key': key } })
    expect((await list(apiKey)).status).toBe(403)
    expect(await (await list(webhook.apiKey)).json()).toMatchObject({
      webhooks: [{ id: webhook.id, url: webhook.url, finality: 'latest', status: 'active' }],
    })
  })
})

describe('A page in a browser', () => {
  const preflight = (state: State, origin: string, method: string) =>
    fetch(`${state.baseUrl}/defi-vaults/v1/defi/vault/deposit`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'content-type,x-join-key',
      },
    })

  test('of an allowed origin may call with its key and its JSON', async ({ state }) => {
    const { status, headers } = await preflight(state, ALLOWED, 'POST')
    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe(ALLOWED)
    expect(headers.get('access-control-allow-methods')?.split(',')).toEqual(
      expect.arrayContaining(['GET', 'POST', 'DELETE']),
    )
    const allowed = headers.get('access-control-allow-headers')?.split(',')
    expect(allowed).toEqual(expect.arrayContaining(['content-type', 'x-join-key', 'authorization', 'platform']))
    expect(headers.get('access-control-allow-credentials')).toBeNull()
    expect(headers.get('vary')).toMatch(/origin/i)
  })

  test('of the wallet, the reference and ORIGINS may call', async ({ state }) => {
    for (const origin of [state.walletUrl, state.baseUrl, ...ORIGINS]) {
      const { headers } = await preflight(state, origin, 'POST')
      expect(headers.get('access-control-allow-origin')).toBe(origin)
    }
  })

  test('of an allowed origin may read responses, errors and request ids', async ({ state }) => {
    for (const path of ['/health', '/defi-vaults/v1/vaults', '/nope']) {
      const { headers } = await fetch(state.baseUrl + path, { headers: { origin: ALLOWED } })
      expect(headers.get('access-control-allow-origin')).toBe(ALLOWED)
      expect(headers.get('access-control-expose-headers')?.split(',')).toEqual(
        expect.arrayContaining(['x-request-id', 'retry-after']),
      )
    }
  })

  test.for([[NOT_ALLOWED], ['null'], [`${ALLOWED}.evil.example`], ['https://localhost:5173']])(
    'of the origin %s may not call',
    async ([origin], { state }) => {
      const before = await preflight(state, origin as string, 'POST')
      const answer = await fetch(`${state.baseUrl}/health`, { headers: { origin: origin as string } })
      for (const { headers } of [before, answer]) expect(headers.get('access-control-allow-origin')).toBeNull()
    },
  )
})

describe('The controls', () => {
  const control = (state: State, name: string, body: unknown = {}) =>
    fetch(`${state.controlsUrl}/${name}`, { method: 'POST', body: JSON.stringify(body) })
  const done = async (state: State, name: string, body?: unknown) => {
    const answer = await control(state, name, body)
    expect(answer.status, await answer.clone().text()).toBe(200)
    return (await answer.json()) as Record<string, unknown>
  }
  type Chain = State['chains'][number]

  test('are listed with a description and a working command', async ({ state }) => {
    const answer = await fetch(state.controlsUrl, { headers: { origin: state.walletUrl } })
    expect(answer.headers.get('access-control-allow-origin')).toBe(state.walletUrl)
    type List = { controls: { name: string; group?: string; does: string; try: string; schema: object; on: [] }[] }
    const { controls } = (await answer.json()) as List
    expect(controls).toContainEqual(expect.objectContaining({ name: 'chains/stop', group: 'A chain', on: [] }))
    const withoutForm = controls.flatMap(({ name, group }) => (group === undefined ? [name] : []))
    expect(withoutForm.filter((name) => !name.endsWith('/resume'))).toEqual([
      ...['vaults/unpause', 'vaults/confirm', 'transfers/list'],
    ])
    expect(withoutForm).toHaveLength(9)
    for (const { does, try: command } of controls) {
      expect(does).toMatch(/\w/)
      expect(command).toMatch(new RegExp(`^curl -s ${state.controlsUrl}/[a-z-]+/[a-z-]+ -d '\\{.*\\}'$`))
    }
    // The guide names only controls that exist.
    for (const [, name] of GUIDE.matchAll(/`([a-z]+\/[a-z-]+)[ `]/g)) {
      expect(controls.some((one) => one.try.includes(`/sandbox/${name} `))).toBe(true)
    }
    expect((await control(state, 'chains/dance')).status).toBe(404)
  })

  test.for([
    ['chains/stop', {}],
    ['chains/stop', { chainId: 1 }],
    ['chains/resume', { chain: 8453 }],
    ['accounts/mint', { chainId: 8453, to: '0x12', amount: '1' }],
    ['accounts/mint', { chainId: 8453, to: `0x${'12'.repeat(20)}`, amount: '-1' }],
    ['sources/fail', { source: 'nobody' }],
    ['api/throttle', { seconds: 0 }],
    ['webhooks/refuse', {}],
    ['transfers/fill', { transactionHash: '0x12' }],
    ['transfers/ignore', {}],
    ['nodes/lag', { chainId: 8453, blocks: 0 }],
    ['chains/reorganise', { chainId: 8453, blocks: 1000 }],
    ['rewards/grant', { chainId: 8453, account: '0x12', amount: '1' }],
    ['rewards/source', { shows: 'last' }],
  ] as const)('refuse %s with %o and say why', async ([name, body], { state }) => {
    const answer = await control(state, name, body)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toEqual({ error: expect.stringContaining('✖') })
  })

  test.for([
    [
      'accounts/mint',
      { chainId: 8453, to: `0x${'12'.repeat(20)}`, amount: '1', token: `0x${'34'.repeat(20)}` },
      'no token',
    ],
    ['vaults/settle', { vaultAddress: `0x${'34'.repeat(20)}` }, 'no vault'],
    ['vaults/upgrade', { chainId: 8453, vaultAddress: `0x${'34'.repeat(20)}` }, 'no proxy'],
    ['transfers/fill', { transactionHash: `0x${'56'.repeat(32)}` }, 'no such transfer'],
    ['rewards/dispute', { chainId: 8453 }, 'no tree is in its dispute period'],
    ['rewards/resolve', { chainId: 8453, isValid: true }, 'no dispute is open'],
  ] as const)('refuse %s if the target of %o does not exist', async ([name, body, why], { state }) => {
    const answer = await control(state, name, body)
    expect(answer.status).toBe(409)
    expect(await answer.json()).toEqual({ error: expect.stringContaining(why) })
  })

  test('report what is on and the control that ends it', async ({ state }) => {
    const listOn = async () => {
      const { controls } = (await (await fetch(state.controlsUrl)).json()) as { controls: { on: { end: Ending }[] }[] }
      return controls.flatMap(({ on }) => on)
    }
    type Ending = { name: string; body: object }
    const seconds = { seconds: 600 }
    const chainId = 42161
    for (const [name, body] of [
      ['transfers/hold', {}],
      ['transfers/delay', { seconds: 60 }],
      ['transfers/pause', { chainId, what: 'fills', pause: true }],
      ['chains/stop', { chainId }],
      ['nodes/lag', { chainId, blocks: 3 }],
      ['api/tamper', {}],
      ['sources/fail', { source: 'lifi' }],
      ['webhooks/refuse', seconds],
      ['rewards/dispute', { chainId }],
      ['rewards/source', { shows: 'effective' }],
    ] as const) {
      await done(state, name, body)
    }
    const on = await listOn()
    expect(on).toHaveLength(10)
    for (const { end } of on) await done(state, end.name, end.body)
    expect(await listOn()).toEqual([])
  })

  test('give an account tokens and coins', async ({ state }) => {
    const [chain] = state.chains as [Chain]
    const token = state.tokens.find(({ chainId }) => chainId === chain.chainId)?.address
    const to = `0x${'12'.repeat(20)}`
    const balances = () =>
      Promise.all([
        rpc(chain, 'eth_getBalance', to, 'latest'),
        // The calldata begins with the selector of balanceOf(address).
        rpc(chain, 'eth_call', { to: token, data: `0x70a08231${to.slice(2).padStart(64, '0')}` }, 'latest'),
      ])
    for (const more of [{}, { token }]) {
      await done(state, 'accounts/mint', { chainId: chain.chainId, to, amount: '7', ...more })
    }
    expect((await balances()).map(Number)).toEqual([7, 7])
  })

  test('upgrade a vault, whose deposits stop until an operator confirms it', async ({ state }) => {
    const vault = state.vaults.findLast(({ protocol, chainId }) => protocol === 'lagoon' && chainId === 42161)
    const [{ address: userAddress } = {}] = state.accounts
    const codeOfDeposit = async () => {
      const answer = await fetch(`${state.baseUrl}/defi-vaults/v1/defi/vault/deposit`, {
        method: 'POST',
        headers: { 'x-join-key': state.apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ vaultAddress: vault?.address, amount: '1000000', userAddress }),
      })
      return ((await answer.json()) as { code?: string }).code
    }
    expect(await codeOfDeposit()).toBeUndefined()
    await done(state, 'vaults/upgrade', { chainId: 42161, vaultAddress: vault?.address })
    expect(await codeOfDeposit()).toBe('vault_has_changed')
    await done(state, 'vaults/confirm', { chainId: 42161, vaultAddress: vault?.address })
    await expect.poll(codeOfDeposit).toBeUndefined()
  })
})

describe('The states', () => {
  test('are listed with the sentence, account and page that show each in the wallet', async ({ state }) => {
    const answer = await fetch(state.controlsUrl)
    const { states } = (await answer.json()) as { states: { name: string; page: string; account?: string }[] }
    expect(states.map(({ name }) => name).sort()).toEqual(STATES.map(({ name }) => name).sort())
    const shown = (name: string) => states.find((one) => one.name === name)
    const question = state.states?.questions['deposit claimable']?.path ?? ''
    expect(question).toContain(shown('deposit claimable')?.account)
    expect(question).toContain(shown('deposit claimable')?.page.split('/')[3])
    expect(shown('transfer expired')?.page).toMatch(/^\/transfers\/8453\/0x/)
    expect(shown('deposit cancelled')?.page).toBe('/activity')
    expect(shown('key without the scope')?.page).toBe('/markets')
  })

  test('match those of the guide', ({ state }) => {
    expect(Object.keys(state.states?.questions ?? {}).sort()).toEqual(STATES.map(({ name }) => name).sort())
  })

  test.for(STATES)(
    '$name has the response that the guide shows',
    async ({ name, method, what, status, answer }, { state }) => {
      const { path, body, apiKey = state.states?.apiKey ?? '' } = state.states?.questions[name] ?? { path: '' }
      expect(path).toContain(`/${what}`)
      const ask = async () => {
        const reply = await fetch(`${state.baseUrl}${path}`, {
          method,
          headers: { 'x-join-key': apiKey, 'content-type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
        })
        return { status: reply.status, body: await reply.json() }
      }
      await expect.poll(ask).toMatchObject({ status, body: answer })
    },
  )
})

test('Without WALLET_PORT the wallet takes the first free port from 3000 up', async ({ state }) => {
  const port = Number(new URL(state.walletUrl).port)
  expect(port).toBeGreaterThanOrEqual(3000)
  expect(port).toBeLessThan(3100)
  expect((await fetch(`${state.walletUrl}/config.json`)).status).toBe(200)
})

test('Without NODES each chain is read at two hosts, and responses say so', async ({ state }) => {
  for (const { rpcUrl, nodeUrls } of state.chains) expect(new Set([...nodeUrls, rpcUrl]).size).toBe(3)
  const hash = `0x${'5c'.repeat(32)}`
  const path = `/defi-vaults/v1/defi/cross-chain/${hash}/status?srcChainId=42161`
  const response = await fetch(`${state.baseUrl}${path}`, { headers: { 'x-join-key': state.apiKey } })
  expect(await response.json()).toMatchObject({ status: 'pending', evidence: [{ chainId: 42161, nodes: 2 }] })
})

test('A transfer from a chain outside the sandbox is pending', async ({ state }) => {
  const path = `/defi-vaults/v1/defi/cross-chain/0x${'5c'.repeat(32)}/status?srcChainId=10`
  const response = await fetch(`${state.baseUrl}${path}`, { headers: { 'x-join-key': state.apiKey } })
  expect(await response.json()).toMatchObject({ status: 'pending', evidence: [{ chainId: 10 }] })
})

// This test ends the service that the tests above share, so it must be the last one.
test('Ctrl-C, also twice, ends cleanly: code 0 and no process, open port or state file', async ({ running }) => {
  const { child } = running
  const family = familyOf(child.pid as number)
  // The processes include at least two local chains besides the service.
  expect(family.length).toBeGreaterThan(2)
  for (const signal of ['SIGINT', 'SIGINT'] as const) child.kill(signal)
  expect(await once(child, 'exit')).toEqual([0, null])
  await expectAllGone(family)
  for (const file of [stateFileOf(running), envFileOf(running)]) expect(existsSync(file)).toBe(false)
})

describe('A start that fails', () => {
  test.for([['PORT'], ['WALLET_PORT']])(
    'because %s is taken names the port’s setting and leaves nothing behind',
    async ([name], { onTestFinished }) => {
      const taken = await occupyPort()
      onTestFinished(() => {
        taken.close()
      })
      const running = runSandbox({
        NODE_COMPILE_CACHE,
        [name as string]: String((taken.address() as AddressInfo).port),
      })
      onTestFinished(() => clearSandbox(running))
      expect(await once(running.child, 'exit')).toEqual([1, null])
      expect(running.printed()).toMatch(new RegExp(`Not started: Port \\d+ is taken; choose another with ${name}`))
      expect(existsSync(stateFileOf(running))).toBe(false)
    },
  )

  test.for([
    ['MARKETS', 'reel'],
    ['PAST', 'no'],
  ] as const)('because %s is %s names the valid values', async ([name, value], { onTestFinished }) => {
    const running = runSandbox({ NODE_COMPILE_CACHE, [name]: value })
    onTestFinished(() => clearSandbox(running))
    expect(await once(running.child, 'exit')).toEqual([1, null])
    expect(running.printed()).toMatch(
      new RegExp(`Not started: ${name} is ${value}; it can be \\w+, or left out\\.$`, 'm'),
    )
  })

  test('because of another start in its folder says so, but a killed one does not block it', async ({
    onTestFinished,
  }) => {
    const folder = mkdtempSync(join(tmpdir(), 'killed-'))
    const lock = join(folder, '.local/process')
    mkdirSync(join(folder, '.local'))
    symlinkSync(`${spawnSync(process.execPath, ['--version']).pid}`, lock)
    const PORT = `${await freePort()}`
    const running = runSandbox({ NODE_COMPILE_CACHE, PORT }, folder)
    onTestFinished(() => clearSandbox(running))
    await expect.poll(() => readlinkSync(lock)).toBe(`${running.child.pid}`)
    const other = await run([START_SCRIPT], { cwd: folder, env: { PORT: `${await freePort()}` } })
    expect(other.stdout + other.stderr).toContain(`Not started: Process ${running.child.pid} runs in this folder.`)
    running.child.kill('SIGTERM')
    await once(running.child, 'exit')
    expect(existsSync(lock)).toBe(false)
  })

  test('because of an early SIGTERM leaves nothing behind', async ({ onTestFinished }) => {
    const running = runSandbox({ NODE_COMPILE_CACHE, PORT: `${await freePort()}` })
    onTestFinished(() => clearSandbox(running))
    const { child } = running
    const family = await vi.waitFor(
      () => {
        const members = familyOf(child.pid as number)
        expect(members.length).toBeGreaterThan(2)
        return members
      },
      { timeout: 10_000, interval: 50 },
    )
    child.kill('SIGTERM')
    await once(child, 'exit')
    await expectAllGone(family)
    expect(existsSync(stateFileOf(running))).toBe(false)
  })
})
