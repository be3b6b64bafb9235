import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { privateKeyToAccount } from 'viem/accounts'
import { type LocalAccount, SOLANA_WALLET } from '../accounts.ts'
import { signOnSolana } from '../solana-wallet.ts'

/** What the demo reads of the service's answers. */
type Options = { readonly challenge: string; readonly temporaryAuthenticationToken: string }
type LoginStart = { readonly challenge: string; readonly challengeIdentifier: string }
type Login = { readonly token: string; readonly expiresAt: string; readonly user: { readonly email: string } }
type Wallets = { readonly wallets: readonly { readonly address: string; readonly linkedAt: string }[] }

/** Where a demo plays: how it calls the service, and how it tells what happens. */
export type Stage = {
  readonly call: <T>(method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<T>
  readonly say: (text: string) => void
}

/** Registers a user with a key of its own, logs in, links this wallet, and logs out again. */
export async function playAccount({ call, say }: Stage, account: LocalAccount): Promise<void> {
  const headers = await openSession({ call, say }, account)
  const { wallets } = await call<Wallets>('GET', '/auth/wallets', undefined, headers)
  say(`GET wallets: ${wallets.map(({ address, linkedAt }) => `${address} since ${linkedAt}`).join(', ')}`)
  await call('POST', '/auth/logout', undefined, headers)
  say('POST logout: the session is over')
}

/** Registers a user with a key of its own, logs in and links this wallet; the headers of the session. */
export async function openSession({ call, say }: Stage, { privateKey }: LocalAccount): Promise<Record<string, string>> {
  const key = someKey()
  const email = `demo.${randomBytes(4).toString('hex')}@example.com`
  const { publicKeyCredentialCreationOptions: options } = await call<{ publicKeyCredentialCreationOptions: Options }>(
    'POST',
    '/auth/register/init',
    { email },
    { platform: 'web' },
  )
  say(`POST register/init for ${email}: a challenge`)

  const { challenge, temporaryAuthenticationToken } = options
  await call('POST', '/auth/register', { temporaryAuthenticationToken, firstFactorCredential: key.create(challenge) })
  say('POST register with a P-256 key: registered')

  const start = await call<LoginStart>('POST', '/auth/login/init', { email })
  say('POST login/init: a challenge')
  const { challengeIdentifier } = start
  const login = await call<Login>('POST', '/auth/login', { challengeIdentifier, firstFactor: key.get(start.challenge) })
  say(`POST login: a session of ${login.user.email} until ${login.expiresAt}`)

  const headers = { authorization: `Bearer ${login.token}` }
  const wallet = privateKeyToAccount(privateKey)
  const message = await beginLink({ call, say }, headers, { address: wallet.address, chain: 'evm' })
  say(`POST wallets/init: a text to sign\n\n${message.replaceAll(/^/gm, '           ')}\n`)
  await call('POST', '/auth/wallets', { message, signature: await wallet.signMessage({ message }) }, headers)
  say('POST wallets with its signature: linked')
  return headers
}

/** Links the local Solana wallet to the user of this session. */
export async function linkSolana({ call, say }: Stage, headers: Record<string, string>): Promise<void> {
  const message = await beginLink({ call, say }, headers, { address: SOLANA_WALLET.address, chain: 'solana' })
  await call('POST', '/auth/wallets', { message, signature: signOnSolana(message) }, headers)
  say(`POST wallets for ${SOLANA_WALLET.address} on Solana: linked`)
}

async function beginLink({ call }: Stage, headers: Record<string, string>, wallet: object): Promise<string> {
  return (await call<{ message: string }>('POST', '/auth/wallets/init', wallet, headers)).message
}

/** A key that signs as the provider's signers do. */
function someKey() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const credId = randomBytes(32).toString('base64url')
  const clientDataOf = (type: string, challenge: string) => Buffer.from(JSON.stringify({ type, challenge }))
  return {
    create(challenge: string) {
      const clientData = clientDataOf('key.create', challenge)
      const clientDataHash = createHash('sha256').update(clientData).digest('hex')
      const pem = publicKey.export({ type: 'spki', format: 'pem' })
      const signed = Buffer.from(JSON.stringify({ clientDataHash, publicKey: pem }))
      const attestation = { publicKey: pem, signature: sign('sha256', signed, privateKey).toString('hex') }
      const attestationData = Buffer.from(JSON.stringify(attestation)).toString('base64url')
      const credentialInfo = { credId, clientData: clientData.toString('base64url'), attestationData }
      return { credentialKind: 'Key', credentialInfo }
    },
    get(challenge: string) {
      const clientData = clientDataOf('key.get', challenge)
      const signature = sign('sha256', clientData, privateKey).toString('base64url')
      return { kind: 'Key', credentialAssertion: { credId, clientData: clientData.toString('base64url'), signature } }
    },
  }
}
