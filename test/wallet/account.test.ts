import { describe, expect, test } from 'vitest'
import { formatKit, parseKit } from '../../wallet/src/kit-text.ts'
import { redact } from '../../wallet/src/redact.ts'

const KIT = {
  email: 'somebody@example.com',
  keyId: 'W8kqfV_LvwX5419NMm-ISuFFMmz15eGbpY1zPSh-_rc',
  secret: 'D1-MNKDT5-YRT2N-PDPTR-46RS3-JMZVY-788L3H',
}

describe('A recovery kit', () => {
  test('is read from the text that it was saved as', () => {
    expect(parseKit(formatKit(KIT))).toEqual(KIT)
  })

  test.each([
    `${KIT.keyId} ${KIT.secret}`,
    `${KIT.secret}\n${KIT.keyId}`,
    `${KIT.keyId}\n${KIT.secret.toLowerCase().replaceAll('-', ' ')}`,
    `key ${KIT.keyId}\nsecret ${KIT.secret.replaceAll('-', '')}`,
  ])('is read from key id and secret in any order, in any letter case of the secret: %s', (text) => {
    expect(parseKit(text)).toEqual({ keyId: KIT.keyId, secret: KIT.secret })
  })

  test.each(['', KIT.keyId, KIT.secret, `${KIT.keyId} ${KIT.secret.slice(0, -1)}`, `${KIT.keyId}x ${KIT.secret}`])(
    'that lacks a part is not read: %s',
    (text) => {
      expect(parseKit(text)).toBeUndefined()
    },
  )
})

describe('The developer drawer', () => {
  test.each([
    ['a session', { token: 'SECRET', user: { email: 'a@example.com' } }],
    ['a temporary token', { a: { temporaryAuthenticationToken: 'SECRET' } }],
    ['the secret of one-time codes', { publicKeyCredentialCreationOptions: { otpUrl: 'SECRET' } }],
    ['a password', { firstFactor: { kind: 'Password', password: 'SECRET' } }],
    ['a new recovery key', { recoveryCredential: { credentialInfo: { credId: 'SECRET' } } }],
    ['the encrypted recovery key', { allowedRecoveryCredentials: [{ id: 'SECRET', encryptedRecoveryKey: 'SECRET' }] }],
    ['the id of a recovery kit', { email: 'a@example.com', credentialId: 'SECRET' }],
    ['the signature of a recovery key', { recovery: { credentialAssertion: { credId: 'SECRET' } } }],
    ['a private key', { privateKey: 'SECRET' }],
  ])('never shows %s', (_, body) => {
    const text = redact(JSON.stringify(body))
    expect(text).toContain('…')
    expect(text).not.toContain('SECRET')
  })

  test('shows the address of a token, and all other text unchanged', () => {
    const text = '{ "token": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" }'
    expect(JSON.parse(redact(text))).toEqual(JSON.parse(text))
    expect(redact('{ "amount":  "1" }')).toBe('{ "amount":  "1" }')
    expect(redact('<html>')).toBe('<html>')
  })
})
