import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JSHandle, Page } from 'playwright-core'
import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect } from 'vitest'
import * as z from 'zod'
import {
  type Client,
  completeLogin,
  type FirstFactor,
  listCredentials,
  listSessions,
  listWallets,
  orThrow,
  removeCredential,
  startLogin,
  startRecovery,
  unlinkWallet,
} from '../client/src/index.ts'
import { oneTimeCode, someEmail } from './support/accounts.ts'
import { test as base } from './support/browser.ts'
import {
  bundleSnippets,
  checkSnippets,
  extractGuide,
  listModules,
  listUncalledFunctions,
  runCommand,
} from './support/guides.ts'
import type { Service } from './support/service.ts'

// Tests advance the service's clock instead of waiting.
const { now } = Date
let passed = 0
Date.now = () => now() + passed
afterAll(() => {
  Date.now = now
})
const pass = (seconds: number) => {
  passed += seconds * 1000
}

type Functions = Readonly<Record<string, (...args: readonly unknown[]) => unknown>>
/** Exports of the guide's code blocks, by file name. The browser page has them as a global. */
declare const guide: Readonly<Record<string, Functions>>

type User = { readonly id: string; readonly email: string }
type Started = { readonly otpUrl: string; readonly temporaryAuthenticationToken: string }
type Kit = { readonly credentialId: string; readonly secret: string }

const WEB = 'http://localhost:3000'
const PASSWORD = 'correct horse battery staple'

const test = base
  .extend('integrate', { scope: 'file' }, ({ sharedService: { baseUrl, apiKey } }) =>
    extractGuide('docs/integrate', { BASE_URL: baseUrl, API_KEY: apiKey }),
  )
  .extend('script', { scope: 'file' }, ({ integrate }) => bundleSnippets(integrate))
  .extend('openDevice', ({ open, script }) => async (): Promise<Page> => {
    const page = await open(WEB)
    await page.addScriptTag({ content: script })
    return page
  })

/** Runs a function of the guide in a page. Returns a handle, because some results cannot be serialized. */
function hold(page: Page, file: string, name: string, ...args: unknown[]): Promise<JSHandle> {
  return page.evaluateHandle(([file, name, args]) => guide[file]?.[name]?.(...args), [file, name, args] as const)
}

async function run<Answer = unknown>(page: Page, file: string, name: string, ...args: unknown[]): Promise<Answer> {
  return await (await hold(page, file, name, ...args)).jsonValue()
}

/** Runs a function of the guide that must fail. Returns the text with which the guide explains the failure to users. */
async function explainFailure(page: Page, file: string, name: string, ...args: unknown[]): Promise<unknown> {
  return await page.evaluate(
    ([file, name, args]) =>
      Promise.resolve(guide[file]?.[name]?.(...args)).then(() => 'It went well.', guide['explain.ts']?.['explain']),
    [file, name, args] as const,
  )
}

function logIn(page: Page): Promise<User> {
  return run(page, 'passkey-account.ts', 'logInWithPasskey')
}

async function clientOf(page: Page, { baseUrl: url, apiKey: key }: Service): Promise<Client> {
  const session = await page.evaluate("guide['client.ts'].client.session()")
  return { url, key, session: z.string().parse(session) }
}

test.for([
  ['docs/integrate', 'tsconfig.json', 'the settings that it gives'],
  ['docs/integrate', 'strictest.json', 'the strictest settings, for Node'],
  ['client/README.md', 'strictest.json', 'the strictest settings, for Node'],
  ['README.md', 'strictest.json', 'the strictest settings, for Node'],
] as const)('The snippets of %s are formatted and compile with %s: %s', async ([file, project], { integrate }) => {
  const guide = file === 'docs/integrate' ? integrate : await extractGuide(file, {})
  expect(() => checkSnippets(guide, project)).not.toThrow()
})

test('Node loads each snippet unchanged', ({ integrate: { folder, snippets } }) => {
  const imports = listModules(snippets).map((name) => `import ${JSON.stringify(join(folder, name))}`)
  expect(() => runCommand('node', '--input-type=module', '--eval', imports.join('\n'))).not.toThrow()
})

test('The guide installs its snippets’ imports in the versions that these tests use', ({ integrate }) => {
  const [, command = ''] = /^npm i (.*)$/m.exec(readFileSync('docs/integrate.md', 'utf8').replaceAll('\\\n', '')) ?? []
  const installed = Object.fromEntries(
    [...command.matchAll(/(\S+)@([\d.]+)/g)].map(([, name, version]) => [name, version]),
  )
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect({ ...dependencies, ...devDependencies }).toMatchObject(installed)
  const code = [...integrate.snippets.values()].join('')
  const imported = [...code.matchAll(/ from '((?:@[\w-]+\/)?[\w-]+)[/']/g)].map(([, name]) => name)
  expect(new Set([...Object.keys(installed), '@vaultline/client'])).toEqual(new Set(imported))
})

test('A user registers with a passkey and logs in without an e-mail address', async ({ openDevice }) => {
  const [page, email] = [await openDevice(), someEmail()]
  await run(page, 'passkey-account.ts', 'registerWithPasskey', email)
  expect(await logIn(page)).toMatchObject({ email })
})

test('A passkey of a refused registration is not offered for logins', async ({ openDevice }) => {
  const [page, other, email] = [await openDevice(), await openDevice(), someEmail()]
  await run(page, 'passkey-account.ts', 'registerWithPasskey', email)
  const again = run(other, 'passkey-account.ts', 'registerWithPasskey', email)
  await expect(again).rejects.toThrow('user_already_registered: ')
  await expect(logIn(other)).rejects.toThrow('NotAllowedError')
})

test("A user registers and logs in with a passkey through the provider's signer", async ({ openDevice }) => {
  const [page, email] = [await openDevice(), someEmail()]
  await run(page, 'provider-passkey.ts', 'registerWithSigner', email)
  expect(await run(page, 'provider-passkey.ts', 'logInWithSigner')).toMatchObject({ email })
})

test("A user registers and logs in with a browser's key", async ({ openDevice }) => {
  const [page, email] = [await openDevice(), someEmail()]
  const key = await hold(page, 'browser-key.ts', 'registerWithKey', email)
  expect(await run(page, 'browser-key.ts', 'logInWithKey', email, key)).toMatchObject({ email })
  const asAnother = run(page, 'browser-key.ts', 'logInWithKey', someEmail(), key)
  await expect(asAnother).rejects.toThrow('does not match allowed credentials')
})

test('A program in Node registers and logs in with a key', async ({ integrate: { folder } }) => {
  const email = someEmail()
  const { registerProgram, logInProgram } = await import(join(folder, 'node-key.ts'))
  const key = await registerProgram(email)
  expect(await logInProgram(email, key)).toMatchObject({ email })
})

test('A program registers and logs in with its own signer', async ({ integrate: { folder } }) => {
  const email = someEmail()
  const { registerOwnKey, logInOwnKey } = await import(join(folder, 'own-key.ts'))
  const key = await registerOwnKey(email)
  expect(await logInOwnKey(email, key)).toMatchObject({ email })
})

test('A user registers with a password and codes, changes the password, and moves to a passkey', async ({
  openDevice,
  service,
}) => {
  const [page, email] = [await openDevice(), someEmail()]
  const started = await run<Started>(page, 'password.ts', 'startWithPassword', email)
  const codeAfter = (seconds: number) => {
    pass(seconds)
    return oneTimeCode(started.otpUrl)
  }
  const { temporaryAuthenticationToken } = started
  await run(page, 'password.ts', 'registerWithPassword', temporaryAuthenticationToken, PASSWORD, codeAfter(0))
  const user = await run(page, 'password.ts', 'logInWithPassword', email, PASSWORD, codeAfter(30))
  expect(user).toMatchObject({ email })

  const confirmWith = (password: string) =>
    page.evaluateHandle(
      ([password, otpCode]) =>
        async () => ({ firstFactor: { kind: 'Password', password }, secondFactor: { kind: 'Totp', otpCode } }),
      [password, codeAfter(30)] as const,
    )
  const password = 'another horse battery staple'
  await run(page, 'credentials.ts', 'changePassword', password, await confirmWith(PASSWORD))
  await run(page, 'credentials.ts', 'addPasskey', 'laptop', await confirmWith(password))
  await expect(logIn(page)).rejects.toThrow('login_failed: ')

  const client = await clientOf(page, service)
  const { credentials } = orThrow(await listCredentials(client))
  expect(credentials).toMatchObject([{ kind: 'Totp' }, { kind: 'Password' }, { kind: 'Fido2', name: 'laptop' }])
  const [codes = '', oldPassword = ''] = credentials.map(({ id }) => id)
  expect(await removeCredential(client, { id: codes })).toMatchObject({ error: { code: 'last_second_factor' } })
  orThrow(await removeCredential(client, { id: oldPassword }))
  orThrow(await removeCredential(client, { id: codes }))
  expect(await logIn(page)).toEqual(user)
})

test('A user links wallets by a private key and by the browser’s wallet', async ({ openDevice, service }) => {
  const page = await openDevice()
  await run(page, 'passkey-account.ts', 'registerWithPasskey', someEmail())
  await logIn(page)
  const privateKey = generatePrivateKey()
  const [own, inBrowser] = [privateKeyToAccount(privateKey), privateKeyToAccount(generatePrivateKey())]
  const { address } = own
  expect(await run(page, 'wallet.ts', 'linkOwnKey', privateKey)).toMatchObject({ address, chain: 'evm' })
  await expect(run(page, 'wallet.ts', 'linkOwnKey', privateKey)).rejects.toThrow('wallet_already_linked: ')

  const methods: unknown[] = []
  await page.exposeFunction('askWallet', ({ method, params }: { method: string; params?: [Hex] }) => {
    methods.push(method)
    return method === 'eth_requestAccounts'
      ? [inBrowser.address]
      : inBrowser.signMessage({ message: { raw: params?.[0] ?? '0x' } })
  })
  const provider = await page.evaluateHandle('({ request: (asked) => askWallet(asked) })')
  await run(page, 'wallet.ts', 'linkBrowserWallet', provider)
  expect(methods).toEqual(['eth_requestAccounts', 'personal_sign'])

  const client = await clientOf(page, service)
  orThrow(await unlinkWallet(client, { address }))
  expect(orThrow(await listWallets(client))).toMatchObject({ wallets: [{ address: inBrowser.address }] })
})

test('A user who has lost the device recovers the account with the kit, and then with the next one', async ({
  openDevice,
}) => {
  const [lost, email] = [await openDevice(), someEmail()]
  // The kit's id and secret must not come from `Math.random`. Whoever guesses the id gets the encrypted key, and could then
  // guess its secret.
  await lost.evaluate('Math.random = () => 0')
  let kit = await run<Kit>(lost, 'register-with-kit.ts', 'registerWithKit', email)
  expect(kit.credentialId).not.toMatch(/^A+$/)
  // The secret has the format of DFNS's SDK (https://github.com/dfns/dfns-sdk-ts, packages/sdk-browser/signers/recovery.ts).
  expect(kit.secret).toMatch(/^D1-[A-HJ-NP-Z2-9]{6}(-[A-HJ-NP-Z2-9]{5}){4}-[A-HJ-NP-Z2-9]{6}$/)
  const user = await logIn(lost)
  const [first, second] = [await openDevice(), await openDevice()]
  const characters = (secret: string) => secret.slice(3).replaceAll('-', '')

  for (const [page, type] of [
    [first, (secret: string) => ` ${secret.toLowerCase().replaceAll('-', ' ')}\n`],
    [second, (secret: string) => characters(secret)],
  ] as const) {
    const typed = { credentialId: ` ${kit.credentialId} `, secret: type(kit.secret) }
    kit = await run(page, 'recover.ts', 'recover', email, typed)
    expect(await logIn(page)).toEqual(user)
    await expect(run(page, 'recover.ts', 'recover', email, typed)).rejects.toThrow('OperationError')
  }
  await expect(run(lost, 'sessions.ts', 'logOutHere')).rejects.toThrow('invalid_session: ')
  for (const page of [lost, first]) await expect(logIn(page)).rejects.toThrow('login_failed: ')

  const confirm = await second.evaluateHandle("guide['credentials.ts'].confirmWithPasskey")
  const newest = await run(second, 'credentials.ts', 'replaceKit', confirm)
  await expect(run(first, 'recover.ts', 'recover', email, kit)).rejects.toThrow('OperationError')
  await run(first, 'recover.ts', 'recover', email, newest)
})

test('An abandoned recovery keeps the previous passkey on its authenticator', async ({ openDevice, service }) => {
  const [lost, page, email] = [await openDevice(), await openDevice(), someEmail()]
  const kit = await run<Kit>(lost, 'register-with-kit.ts', 'registerWithKit', email)
  await run(page, 'recover.ts', 'recover', email, kit)
  await logIn(page)
  const client = await clientOf(page, service)
  const { credentials } = orThrow(await listCredentials(client))
  const id = credentials.find(({ kind }) => kind === 'Fido2')?.credentialId

  const begun = orThrow(await startRecovery(client, { platform: 'web', email }))
  await run(page, 'passkey.ts', 'createPasskey', begun.publicKeyCredentialCreationOptions)
  const { challengeIdentifier, ...challenge } = orThrow(await startLogin(client, { email }))
  const options = { ...challenge, allowCredentials: { webauthn: [{ type: 'public-key', id }] } }
  const firstFactor = await run<FirstFactor>(page, 'passkey.ts', 'signWithPasskey', options)
  expect(orThrow(await completeLogin(client, { challengeIdentifier, firstFactor }))).toMatchObject({ user: { email } })
})

test('A user adds the passkey of a second device, confirmed on the first one, which is then lost', async ({
  openDevice,
  service,
}) => {
  const [phone, laptop, email] = [await openDevice(), await openDevice(), someEmail()]
  await run(phone, 'passkey-account.ts', 'registerWithPasskey', email)
  await logIn(phone)
  const confirm = await phone.evaluateHandle("guide['credentials.ts'].confirmWithPasskey")
  expect(await explainFailure(phone, 'credentials.ts', 'addPasskey', 'phone', confirm)).toBe(
    'This device is enrolled already.',
  )

  // The laptop's page signs with the phone's passkey, as browsers do after a QR code scan.
  await laptop.exposeFunction('askPhone', async (challenge: object) => {
    return { firstFactor: await run(phone, 'passkey.ts', 'signWithPasskey', challenge) }
  })
  const { session } = await clientOf(phone, service)
  await run(laptop, 'client.ts', 'setSession', session)
  await run(laptop, 'credentials.ts', 'addPasskey', 'laptop', await laptop.evaluateHandle('askPhone'))
  await logIn(laptop)

  const client = await clientOf(laptop, service)
  const [first] = orThrow(await listCredentials(client)).credentials
  await run(laptop, 'sessions.ts', 'shutOut', first?.id)
  await expect(logIn(phone)).rejects.toThrow('login_failed: ')
  await expect(run(phone, 'sessions.ts', 'logOutHere')).rejects.toThrow('invalid_session: ')
  const { sessions } = orThrow(await listSessions(client))
  expect(sessions).toMatchObject([{ platform: 'web', isCurrent: true }])
})

test('A user logs out and deletes the account after a fresh login', async ({ openDevice, service }) => {
  const page = await openDevice()
  await run(page, 'passkey-account.ts', 'registerWithPasskey', someEmail())
  await logIn(page)
  const client = await clientOf(page, service)
  await run(page, 'sessions.ts', 'logOutHere')
  expect(await listSessions(client)).toMatchObject({ error: { code: 'invalid_session' } })
  await logIn(page)
  pass(11 * 60)
  await expect(run(page, 'sessions.ts', 'deleteAccount')).rejects.toThrow('fresh_login_required: ')
  await logIn(page)
  await run(page, 'sessions.ts', 'deleteAccount')
  await expect(logIn(page)).rejects.toThrow('login_failed: ')
})

test('The guide explains problems with an address, a password or a code', async ({ openDevice }) => {
  const page = await openDevice()
  expect(await explainFailure(page, 'passkey-account.ts', 'registerWithPasskey', 'nobody')).toContain('e-mail address')
  const register = async (password: string, codeOf: (otpUrl: string) => string) => {
    const started = await run<Started>(page, 'password.ts', 'startWithPassword', someEmail())
    const { temporaryAuthenticationToken: token, otpUrl } = started
    return await explainFailure(page, 'password.ts', 'registerWithPassword', token, password, codeOf(otpUrl))
  }
  const wrong = (otpUrl: string) => oneTimeCode(otpUrl).replace(/.$/, (digit) => ((Number(digit) + 5) % 10).toString())
  expect(await register(PASSWORD, wrong)).toContain('new QR code')
  expect(await register('short', oneTimeCode)).toContain('8 to 256 characters')
  expect(await register(PASSWORD, () => '12345')).toContain('six digits')
  const logInWith = (password: string, code: string) =>
    explainFailure(page, 'password.ts', 'logInWithPassword', someEmail(), password, code)
  expect(await logInWith('short', '123456')).toContain('8 to 256 characters')
  expect(await logInWith(PASSWORD, '12345')).toContain('six digits')
  expect(await logInWith(PASSWORD, '123456')).toContain('did not work')

  await run(page, 'passkey-account.ts', 'registerWithPasskey', someEmail())
  await logIn(page)
  const confirm = await page.evaluateHandle("guide['credentials.ts'].confirmWithPasskey")
  expect(await explainFailure(page, 'credentials.ts', 'changePassword', PASSWORD, confirm)).toContain(
    'needs one-time codes',
  )
})

test('The guide explains that a kit or a key does not fit, and is silent about declined requests', async ({
  openDevice,
}) => {
  const [page, email] = [await openDevice(), someEmail()]
  const kit = await run<Kit>(page, 'register-with-kit.ts', 'registerWithKit', email)
  const recoverWith = (kitChange: Partial<Kit>) =>
    explainFailure(page, 'recover.ts', 'recover', email, { ...kit, ...kitChange })
  expect(await recoverWith({ secret: 'D1-' })).toContain('kit does not fit')
  expect(await recoverWith({ credentialId: kit.credentialId.slice(1) })).toContain('kit does not fit')
  expect(await recoverWith({ credentialId: `${kit.credentialId.slice(0, -2)}AA` })).toContain('kit does not fit')

  const key = await hold(page, 'browser-key.ts', 'registerWithKey', someEmail())
  expect(await explainFailure(page, 'browser-key.ts', 'logInWithKey', email, key)).toContain('no key of this account')

  await logIn(page)
  const declining = await page.evaluateHandle(
    '({ request: () => Promise.reject(Object.assign(Error(), { code: 4001 })) })',
  )
  expect(await explainFailure(page, 'wallet.ts', 'linkBrowserWallet', declining)).toBeUndefined()
  await page.context().setOffline(true)
  expect(await explainFailure(page, 'sessions.ts', 'deleteAccount')).toContain('check your connection')
})

test('The guide has a message for every error that concerns the user', async ({ integrate: { folder } }) => {
  const { explain } = await import(join(folder, 'explain.ts'))
  const { CallFailure } = await import(join(folder, 'node_modules/@vaultline/client/dist/index.js'))
  const tell = (code: string, more = {}) =>
    explain(new CallFailure({ code, message: '', requestId: 'r-1', details: [], ...more }))
  expect(tell('fresh_login_required')).toBe(tell('invalid_session'))
  expect(tell('too_many_requests', { status: 429, retryAfterMs: 61_000 })).toContain('2 min')
  expect(tell('throttled', { status: 429 })).toContain('1 min')
  expect(tell('upstream_unavailable', { status: 503 })).toContain('in a while')
  expect(tell('internal', { status: 500 })).toContain('r-1')
  expect(tell('unexpected', { status: 200, requestId: undefined })).toContain('unexpected')
  expect(tell('aborted', { status: 0 })).toBeUndefined()
  expect(explain(new DOMException('', 'NotAllowedError'))).toBeUndefined()
  expect(() => explain(new TypeError('a mistake'))).toThrow('a mistake')
})

test('A test or another snippet calls each function of the guides', ({ integrate: { snippets } }) => {
  expect(listUncalledFunctions(snippets, readFileSync(import.meta.filename, 'utf8'))).toEqual([])
})
