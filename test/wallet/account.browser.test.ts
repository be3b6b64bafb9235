import type { Page, Route } from 'playwright-core'
import { describe, expect, onTestFinished } from 'vitest'
import { addAuthenticator } from '../support/authenticator.ts'
import { clickButton, listAxeViolations, test, VIEWS } from '../support/wallet-film.ts'

// The tests of this file use the demo wallet's account pages in a real Chromium. They cover passkeys, sessions,
// recovery, a Solana wallet, and deletion of the account.

const EMAIL = 'owner@example.com'

/** Recovery kits (key id and secret) that the wallet has shown during the tests, oldest first. */
const kits: string[] = []

function passkeysOf(page: Page) {
  return page.getByRole('list', { name: 'Passkeys' }).getByRole('listitem')
}

function sessionsOf(page: Page) {
  return page.getByRole('list', { name: 'Sessions' }).getByRole('listitem')
}

/** Returns accessibility violations (by axe) and overflowing elements, once in a wide light window and once in a narrow dark one. */
async function complaintsAbout(page: Page): Promise<string[]> {
  const problems: string[] = []
  for (const { viewport, colorScheme } of VIEWS.slice(0, 2)) {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    problems.push(...(await listAxeViolations(page)))
    const excess = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    if (excess > 0) problems.push(`wider than the window by ${excess}`)
  }
  return problems
}

async function readDrawer(page: Page): Promise<string> {
  await clickButton(page, /^Requests/)
  const drawer = page.getByRole('complementary', { name: 'Requests of this page' })
  const text = (await drawer.textContent()) ?? ''
  await drawer.getByRole('button', { name: 'Close' }).click()
  return text
}

type Refusal = { readonly status: number; readonly code: string; readonly retryAfter?: string }

/** Makes the next request of this method and URL fail with an error response. */
async function refuseOnce(page: Page, [method, url]: readonly [string, string], refusal: Refusal): Promise<void> {
  const { status, code, retryAfter } = refusal
  const handle = async (route: Route) => {
    if (route.request().method() !== method) return route.fallback()
    const headers = {
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'retry-after',
      ...(retryAfter && { 'retry-after': retryAfter }),
    }
    await route.fulfill({ status, headers, json: { success: false, statusCode: status, code, message: 'Refused.' } })
    await page.unroute(url, handle)
  }
  await page.route(url, handle)
}

/** Makes the page lose the response to its next POST to this URL. The service executes the request. */
async function loseResponse(page: Page, url: string): Promise<void> {
  const handle = async (route: Route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    expect((await route.fetch()).ok()).toBe(true)
    await route.abort('connectionreset')
    await page.unroute(url, handle)
  }
  await page.route(url, handle)
}

async function readStorage(page: Page): Promise<string> {
  return page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))
}

function secretsOf(kit: string): string[] {
  return ['Key id', 'Secret'].map((label) => {
    const [, secret = ''] = new RegExp(`${label}: (\\S+)`).exec(kit) ?? []
    expect(secret.length).toBeGreaterThan(39)
    return secret
  })
}

async function keepKit(page: Page): Promise<string> {
  await page.getByRole('heading', { name: 'Save your new recovery kit' }).waitFor()
  const kit = (await page.locator('pre.kit').textContent()) ?? ''
  kits.push(kit)
  return kit
}

describe('Passkeys', () => {
  test('can be added in another authenticator, after the first one has confirmed it', async ({ visitor }) => {
    const { page, authenticator } = visitor
    await page.goto('/account')
    await page.getByLabel('E-mail address').fill(EMAIL)
    await clickButton(page, 'Sign up with a passkey')
    await page.getByRole('link', { name: /^Passkeys\s*1 passkey$/ }).click()
    await page.getByText('It is your only passkey').waitFor()
    await expect.poll(() => passkeysOf(page).textContent()).toContain('synced by your password manager')
    expect(await page.getByRole('button', { name: /^Remove/ }).count()).toBe(0)
    await clickButton(page, 'Add a passkey')
    await page.getByLabel('Name').fill('Security key')
    expect.soft(await complaintsAbout(page)).toEqual([])
    await clickButton(page, 'Create passkey')
    await page.getByRole('alert').getByText('This device already has a passkey').waitFor()
    await authenticator.remove()
    visitor.authenticator = await addAuthenticator(page, { isSynced: true })
    await clickButton(page, 'Create passkey')
    await page.getByText('Security key is added.').waitFor()
    expect(await passkeysOf(page).count()).toBe(2)
    expect.soft(await complaintsAbout(page)).toEqual([])
  })

  test('log in as soon as they are added', async ({ visitor: { page } }) => {
    await page.getByRole('link', { name: 'Your account' }).click()
    await clickButton(page, 'Log out')
    await clickButton(page, 'Log in')
    await page.getByText(`Logged in as ${EMAIL}`).waitFor()
    await page.getByRole('link', { name: /^Passkeys\s*2 passkeys$/ }).click()
    const used = passkeysOf(page).filter({ hasText: 'You logged in with it' })
    await used.waitFor()
    expect(await used.textContent()).toContain('Security key')
  })

  test('are removed after a confirmation and a fresh login, except the last one', async ({
    visitor: { page },
    sandbox,
  }) => {
    const first = passkeysOf(page).filter({ hasNotText: 'Security key' })
    const remove = first.getByRole('button', { name: /^Remove/ })
    await remove.click()
    await clickButton(page, 'Keep')
    await remove.click()
    expect.soft(await complaintsAbout(page)).toEqual([])
    const path = `${sandbox.apiUrl}/auth/credentials/*`
    await refuseOnce(page, ['DELETE', path], { status: 403, code: 'fresh_login_required' })
    const logins: unknown[] = []
    await page.route(/login\/init$/, async (route) => {
      logins.push(route.request().postDataJSON())
      await route.continue()
    })
    onTestFinished(() => page.unroute(/login\/init$/))
    await remove.click()
    await page.getByText('is removed.').waitFor()
    // The login names the user, so the device offers no passkey of another account.
    expect(logins).toEqual([{ email: EMAIL }])
    expect(await passkeysOf(page).count()).toBe(1)
    await page.getByText('It is your only passkey').waitFor()
    expect(await page.evaluate<string>('document.activeElement.ariaLabel')).toBe('Passkeys')
  })

  test('show how long to wait after too many attempts, and that the service is unreachable', async ({
    visitor: { page },
    sandbox,
  }) => {
    const start = `${sandbox.apiUrl}/auth/credentials/init`
    await refuseOnce(page, ['POST', start], { status: 429, code: 'too_many_requests', retryAfter: '240' })
    await clickButton(page, 'Add a passkey')
    const alert = page.getByRole('alert')
    await expect.poll(() => alert.textContent()).toBe('Too many attempts. Please wait 4 minutes.')
    expect.soft(await complaintsAbout(page)).toEqual([])
    await page.route(start, (route) => route.abort('internetdisconnected'), { times: 1 })
    await clickButton(page, 'Add a passkey')
    await alert.getByText('You are offline, or we cannot be reached.').waitFor()
    await page.route(`${sandbox.apiUrl}/auth/credentials`, (route) => route.abort('internetdisconnected'))
    await page.reload()
    await alert.getByText('You are offline, or we cannot be reached.').waitFor()
    expect.soft(await complaintsAbout(page)).toEqual([])
    await page.unroute(`${sandbox.apiUrl}/auth/credentials`)
    await clickButton(page, 'Try again')
    await expect.poll(() => passkeysOf(page).count()).toBe(1)
  })
})

describe('Sessions', () => {
  test('are listed, and the user can end the others', async ({ visitor, browser, sandbox }) => {
    const { page, authenticator } = visitor
    const context = await browser.newContext({ baseURL: sandbox.walletUrl, locale: 'en-US' })
    onTestFinished(() => context.close())
    const other = await context.newPage()
    await authenticator.syncTo(await addAuthenticator(other, { isSynced: true }))
    await other.goto('/account')
    await clickButton(other, 'Log in')
    await other.getByText(`Logged in as ${EMAIL}`).waitFor()

    await page.goto('/account/sessions')
    await expect.poll(() => sessionsOf(page).count()).toBe(2)
    expect(await sessionsOf(page).filter({ hasText: 'This session' }).count()).toBe(1)
    expect.soft(await complaintsAbout(page)).toEqual([])
    await clickButton(page, /^End session/)
    await page.getByText('There is no other session.').waitFor()
    expect(await sessionsOf(page).count()).toBe(1)

    await other.goto('/account/sessions')
    await other.getByText('You are not logged in').waitFor()
    expect.soft(await complaintsAbout(other)).toEqual([])
    await other.getByRole('link', { name: 'Log in' }).click()
    await clickButton(other, 'Log in')
    await other.getByText(`Logged in as ${EMAIL}`).waitFor()
    await page.reload()
    await clickButton(page, 'End all other sessions')
    await page.getByText('There is no other session.').waitFor()
    await other.reload()
    await other.getByRole('button', { name: 'Log in' }).waitFor()
  })
})

describe('A recovery kit', () => {
  test('is shown once, and is neither in the storage nor in the developer drawer', async ({ visitor: { page } }) => {
    await page.goto('/account')
    await page.getByRole('link', { name: /^Recovery kit\s*Not made yet$/ }).click()
    await clickButton(page, 'Make a recovery kit')
    const secrets = secretsOf(await keepKit(page))
    const done = page.getByRole('button', { name: 'Done' })
    expect(await done.isDisabled()).toBe(true)
    expect.soft(await complaintsAbout(page)).toEqual([])
    const download = page.waitForEvent('download')
    await clickButton(page, 'Download')
    expect((await download).suggestedFilename()).toBe('vaultline-recovery-kit.txt')
    await page.getByLabel('I have saved the kit').check()
    await done.click()
    await page.getByRole('heading', { name: 'You have a kit' }).waitFor()
    expect.soft(await complaintsAbout(page)).toEqual([])
    const drawer = await readDrawer(page)
    expect(drawer).toContain('/auth/credentials')
    const left = `${await page.content()} ${drawer} ${await readStorage(page)}`
    for (const secret of secrets) expect(left).not.toContain(secret)
    const { token } = JSON.parse((await page.evaluate(() => sessionStorage.getItem('vaultline.session'))) ?? '')
    expect(token.length).toBeGreaterThan(20)
    expect(drawer).not.toContain(token)
  })

  test('that may have replaced the old kit is shown with a warning until a new one is made', async ({
    visitor: { page },
    sandbox,
  }) => {
    await loseResponse(page, `${sandbox.apiUrl}/auth/credentials`)
    await clickButton(page, 'Replace the kit')
    const perhaps = await keepKit(page)
    const warning = page.getByRole('status').getByText('It may already be the valid one')
    await warning.waitFor()
    const again = page.getByRole('button', { name: 'Make the kit again' })
    expect(await again.isDisabled()).toBe(true)
    expect.soft(await complaintsAbout(page)).toEqual([])
    await page.getByLabel('I have saved the kit').check()
    await page.route('**/auth/credentials/init', (route) => route.abort('internetdisconnected'), { times: 1 })
    await again.click()
    await page.getByRole('alert').getByText('You are offline').waitFor()
    expect(await page.locator('pre.kit').textContent()).toBe(perhaps)
    await again.click()
    await warning.waitFor({ state: 'detached' })
    expect(await page.getByLabel('I have saved the kit').isChecked()).toBe(false)
    expect(secretsOf(await keepKit(page))).not.toEqual(secretsOf(perhaps))
    await page.getByLabel('I have saved the kit').check()
    await clickButton(page, 'Done')
    await page.getByRole('heading', { name: 'You have a kit' }).waitFor()
  })

  test('opens the account in a browser without passkeys, and gives a new passkey and a new kit', async ({
    visitor,
    browser,
    sandbox,
  }) => {
    const context = await browser.newContext({ baseURL: sandbox.walletUrl, locale: 'en-US' })
    const page = await context.newPage()
    const authenticator = await addAuthenticator(page, { isSynced: true })
    await page.goto('/account')
    await page.getByRole('link', { name: 'Lost your passkey?' }).click()
    const used = kits.at(-1) ?? ''
    const field = page.getByLabel('Recovery kit')
    await field.fill(used.replace(/Secret.*/, ''))
    await page.getByText('This text has no whole kit').waitFor()
    await field.fill(used)
    expect(await page.getByLabel('E-mail address').inputValue()).toBe(EMAIL)
    expect.soft(await complaintsAbout(page)).toEqual([])
    await page.getByLabel('E-mail address').fill('another@example.com')
    await clickButton(page, 'Recover with a new passkey')
    await page.getByRole('alert').getByText('This recovery kit does not fit.').waitFor()
    await page.getByLabel('E-mail address').fill(EMAIL)
    await clickButton(page, 'Recover with a new passkey')
    const secrets = secretsOf(await keepKit(page))
    expect(secretsOf(used)).not.toEqual(secrets)
    await page.getByLabel('I have saved the kit').check()
    await clickButton(page, 'Log in with the new passkey')
    await expect.poll(() => page.evaluate('sessionStorage.getItem("vaultline.session")')).not.toBeNull()
    await page.goto('/account')
    await page.getByText(`Logged in as ${EMAIL}`).waitFor()
    await page.getByRole('link', { name: /^Passkeys\s*1 passkey$/ }).waitFor()
    const left = `${await page.content()} ${await readDrawer(page)} ${await readStorage(page)}`
    for (const secret of [...secrets, ...secretsOf(used)]) expect(left).not.toContain(secret)

    await visitor.page.reload()
    await visitor.page.getByRole('heading', { name: 'Lost your passkey?' }).waitFor()
    await visitor.authenticator.remove()
    visitor.authenticator = await addAuthenticator(visitor.page, { isSynced: true })
    await authenticator.syncTo(visitor.authenticator)
    await context.close()
  })

  test('that was used is no longer valid', async ({ visitor: { page } }) => {
    await page.getByLabel('Recovery kit').fill(kits.at(-2) ?? '')
    await clickButton(page, 'Recover with a new passkey')
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('This recovery kit does not fit.')
  })

  test('that may have recovered the account shows the new kit, and the new passkey logs in', async ({
    visitor: { page, authenticator },
    sandbox,
  }) => {
    await loseResponse(page, `${sandbox.apiUrl}/auth/recover`)
    await page.getByLabel('Recovery kit').fill(kits.at(-1) ?? '')
    await clickButton(page, 'Recover with a new passkey')
    await keepKit(page)
    await page.getByRole('status').getByText('Your new passkey may already work').waitFor()
    expect.soft(await complaintsAbout(page)).toEqual([])
    await page.getByLabel('I have saved the kit').check()
    await clickButton(page, 'Log in with the new passkey')
    await page.getByText(`Logged in as ${EMAIL}`).waitFor()
    const { passkey } = JSON.parse((await page.evaluate(() => sessionStorage.getItem('vaultline.session'))) ?? '')
    // The old passkey is removed from the device. Otherwise the device would still offer it, although it is no longer valid.
    await authenticator.keepOnly(passkey.toString())
    await clickButton(page, 'Log out')
    await page.getByRole('button', { name: 'Log in', exact: true }).waitFor()
  })
})

describe('A Solana wallet', () => {
  test('is linked by its signature, and its tokens are in the portfolio', async ({ visitor: { page } }) => {
    await page.goto('/account')
    await clickButton(page, 'Log in')
    await clickButton(page, 'Link Local Solana account')
    const linked = page.getByRole('list', { name: 'Linked wallets' }).getByRole('listitem')
    await linked.waitFor()
    expect(await linked.textContent()).toContain('Solana')
    expect.soft(await complaintsAbout(page)).toEqual([])
    await page.setViewportSize(VIEWS[0].viewport)
    await page.getByRole('navigation').getByRole('link', { name: 'Home' }).click()
    await page.getByRole('row', { name: /^SOL Solana/ }).waitFor()
    await page.goto('/account')
    await clickButton(page, 'Unlink')
    await linked.waitFor({ state: 'detached' })
  })
})

describe('An account', () => {
  test('is deleted once its e-mail address is typed, and then no passkey logs in', async ({ visitor: { page } }) => {
    await page.getByRole('link', { name: /^Delete account/ }).click()
    const remove = page.getByRole('button', { name: 'Delete my account' })
    const field = page.getByLabel(/^To confirm, type/)
    await field.fill('another@example.com')
    expect(await remove.isDisabled()).toBe(true)
    await field.fill(EMAIL.toUpperCase())
    expect.soft(await complaintsAbout(page)).toEqual([])
    const headers = { 'access-control-allow-origin': '*' }
    await page.route(/auth\/user$/, (route) =>
      route.request().method() === 'DELETE' ? route.fulfill({ status: 204, headers }) : route.continue(),
    )
    await remove.click()
    await page.getByRole('alert').getByText('Your account is not deleted').waitFor()
    await page.unroute(/auth\/user$/)
    await remove.click()
    await page.getByRole('heading', { name: 'Your account is deleted' }).waitFor()
    expect.soft(await complaintsAbout(page)).toEqual([])
    expect(await readStorage(page)).not.toContain(EMAIL)
    await page.goto('/account')
    await clickButton(page, 'Log in')
    await page.getByRole('alert').getByText('That did not work.').waitFor()
  })
})

test('No page threw, and none sent a request to another host', ({ visitor: { trouble } }) => {
  expect(trouble).toEqual([])
})
