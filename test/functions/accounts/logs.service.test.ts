import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect } from 'vitest'
import {
  beginCredentialAddition,
  beginLogin,
  beginRecovery,
  beginRegistration,
  completeCredentialAddition,
  completeLogin,
  completeRecovery,
  completeRegistration,
  createSession,
  oneTimeCode,
  signRecovery,
} from '../../support/accounts.ts'
import { someKeyPair, somePasskey } from '../../support/credentials.ts'
import { captureLogs } from '../../support/logs.ts'
import { chainlessTest as test, USERS } from '../../support/service.ts'

const PASSWORD = 'hunter2 hunter2'
const [USER] = USERS

/** Lists the texts in a value that have at least 6 characters. All secrets of this test are longer. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.length >= 6 ? [value] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

describe('The log of a service during the life of its users', () => {
  test('contains nothing that users sent or received', async ({ coldService: service }) => {
    const { lines, text } = captureLogs()
    const recordedValues: unknown[] = []
    const record = <T>(value: T): T => {
      recordedValues.push(value)
      return value
    }

    const begun = record(await beginRegistration(service, 'alice.hunter2@example.com'))
    const otpCode = record(oneTimeCode(begun.otpUrl))
    const credentials = record({
      firstFactorCredential: { credentialKind: 'Password', credentialInfo: { password: PASSWORD } },
      secondFactorCredential: { credentialKind: 'Totp', credentialInfo: { otpCode } },
      recoveryCredential: someKeyPair().create(begun, {}, { kind: 'RecoveryKey', encryptedPrivateKey: 'hunter2-key' }),
    })
    await completeRegistration(service, begun, credentials)
    await completeRegistration(service, begun, credentials)

    const wrong = record(await beginRegistration(service, 'bob.hunter2@example.com'))
    const origin = 'https://hunter2.example'
    await completeRegistration(
      service,
      wrong,
      record({ firstFactorCredential: somePasskey().create(wrong, { origin }) }),
    )
    const malformed = record(await beginRegistration(service, 'carol.hunter2@example.com'))
    await completeRegistration(service, malformed, {
      firstFactorCredential: 'hunter2',
      secondFactorCredential: PASSWORD,
    })
    await service.call('POST', '/auth/register/init', { headers: { platform: 'hunter2' }, body: { email: 'hunter2@' } })

    const login = record(await beginLogin(service, begun.user.name))
    const factors = { firstFactor: { kind: 'Password', password: PASSWORD }, secondFactor: { kind: 'Totp', otpCode } }
    await completeLogin(service, login, factors)
    const passkey = record(await beginLogin(service))
    await completeLogin(service, passkey, record({ firstFactor: somePasskey().get(passkey) }))

    const recovery = record(await beginRecovery(service, begun.user.name))
    const newCredentials = { firstFactorCredential: record(someKeyPair().create(recovery)) }
    const recoveryKey = someKeyPair()
    await completeRecovery(service, recovery, record(signRecovery(recoveryKey, newCredentials)), newCredentials)
    await beginRecovery(service, begun.user.name, { credentialId: record(recoveryKey.id) })

    const session = await createSession(service)
    const { headers } = session
    record([session.email, session.token, session.userId, session.keyPair.id])
    const addition = record(await beginCredentialAddition(service, headers))
    const newCredential = record({
      firstFactorCredential: { ...somePasskey().create(addition), credentialName: 'hunter2 phone' },
    })
    const confirmation = record({ firstFactor: session.keyPair.get(addition.confirmation) })
    const added = record(await completeCredentialAddition(service, headers, addition, newCredential, confirmation))
    await completeCredentialAddition(
      service,
      headers,
      await beginCredentialAddition(service, headers),
      newCredential,
      confirmation,
    )
    await service.call('DELETE', `/auth/credentials/${added.body.id}`, { headers })
    const wallet = privateKeyToAccount(USER.privateKey)
    const body = { address: wallet.address, chain: 'evm' }
    const { message } = record((await service.call('POST', '/auth/wallets/init', { headers, body })).body)
    const signature = record(await wallet.signMessage({ message }))
    await service.call('POST', '/auth/wallets', { headers, body: { message, signature } })
    await service.call('POST', '/auth/wallets', { headers, body: { message, signature } })
    await service.call('DELETE', `/auth/wallets/${wallet.address}`, { headers })
    await service.call('POST', '/auth/logout', { headers })
    await service.call('POST', '/auth/logout', { headers })
    service.table.fails = () => true
    await service.call('GET', '/auth/wallets', { headers })
    await service.call('POST', '/auth/login/init', { body: { email: session.email } })

    expect(lines.filter(({ message: logged }) => logged === 'request').length).toBeGreaterThan(20)
    expect(lines.filter(({ level }) => level === 'ERROR').length).toBeGreaterThan(0)
    const logged = text()
    // The log may contain these words, because the API's documentation publishes them.
    const words = [
      'public-key',
      'required',
      'second',
      'either',
      'localhost',
      'Vaultline',
      'Password',
      'PasswordProtectedKey',
      'RecoveryKey',
    ]
    const secrets = [...textsIn(recordedValues), 'hunter2', service.apiKey, 'Bearer'].filter(
      (each) => !words.includes(each),
    )
    expect(secrets.length).toBeGreaterThan(40)
    expect(secrets.filter((secret) => logged.includes(secret))).toEqual([])
  })
})
