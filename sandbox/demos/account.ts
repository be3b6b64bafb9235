import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { privateKeyToAccount } from 'viem/accounts'
import {
  type Client,
  completeLogin,
  completeRegistration,
  type FirstFactor,
  linkWallet,
  listWallets,
  logOut,
  type NewFirstFactor,
  orThrow,
  startLinkingWallet,
  startLogin,
  startRegistration,
} from '../../client/src/index.ts'
import { type LocalAccount, SOLANA_WALLET } from '../accounts.ts'
import { signOnSolana } from '../solana-wallet.ts'

/** API client of a demo, and the function that prints its output. */
export type DemoContext = {
  readonly client: Client
  readonly say: (text: string) => void
}

/** Registers a user, logs in, links this EVM wallet to the user, and logs out. */
export async function runAccountDemo({ client, say }: DemoContext, account: LocalAccount): Promise<void> {
  const user = await openSession({ client, say }, account)
  const { wallets } = orThrow(await listWallets(user))
  say(`GET wallets: ${wallets.map(({ address, linkedAt }) => `${address} since ${linkedAt}`).join(', ')}`)
  orThrow(await logOut(user))
  say('POST logout: the session is over')
}

/** Registers a user, logs in and links this EVM wallet; returns an API client with the user's session. */
export async function openSession({ client, say }: DemoContext, { privateKey }: LocalAccount): Promise<Client> {
  const key = someKey()
  const email = `demo.${randomBytes(4).toString('hex')}@example.com`
  const { publicKeyCredentialCreationOptions: options } = orThrow(
    await startRegistration(client, { platform: 'web', email }),
  )
  say(`POST register/init for ${email}: a challenge`)

  const { challenge, temporaryAuthenticationToken } = options
  const firstFactorCredential = key.create(challenge)
  orThrow(await completeRegistration(client, { temporaryAuthenticationToken, firstFactorCredential }))
  say('POST register with a P-256 key: registered')

  const start = orThrow(await startLogin(client, { email }))
  say('POST login/init: a challenge')
  const { challengeIdentifier } = start
  const firstFactor = key.get(start.challenge)
  const login = orThrow(await completeLogin(client, { challengeIdentifier, firstFactor }))
  say(`POST login: a session of ${login.user.email} until ${login.expiresAt}`)

  const user = { ...client, session: login.token }
  const wallet = privateKeyToAccount(privateKey)
  const { message } = orThrow(await startLinkingWallet(user, { address: wallet.address, chain: 'evm' }))
  say(`POST wallets/init: a text to sign\n\n${message.replaceAll(/^/gm, '           ')}\n`)
  orThrow(await linkWallet(user, { message, signature: await wallet.signMessage({ message }) }))
  say('POST wallets with its signature: linked')
  return user
}

/** Links the local Solana wallet to the user of this session. */
export async function linkSolana({ client, say }: DemoContext): Promise<void> {
  const { message } = orThrow(await startLinkingWallet(client, { address: SOLANA_WALLET.address, chain: 'solana' }))
  orThrow(await linkWallet(client, { message, signature: signOnSolana(message) }))
  say(`POST wallets for ${SOLANA_WALLET.address} on Solana: linked`)
}

/** Creates a P-256 key and returns functions that sign challenges with it: `create` for a registration, `get` for a login. */
function someKey() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const credId = randomBytes(32).toString('base64url')
  const clientDataOf = (type: string, challenge: string) => Buffer.from(JSON.stringify({ type, challenge }))
  return {
    create(challenge: string): NewFirstFactor {
      const clientData = clientDataOf('key.create', challenge)
      const clientDataHash = createHash('sha256').update(clientData).digest('hex')
      const pem = publicKey.export({ type: 'spki', format: 'pem' })
      const signed = Buffer.from(JSON.stringify({ clientDataHash, publicKey: pem }))
      const attestation = { publicKey: pem, signature: sign('sha256', signed, privateKey).toString('hex') }
      const attestationData = Buffer.from(JSON.stringify(attestation)).toString('base64url')
      const credentialInfo = { credId, clientData: clientData.toString('base64url'), attestationData }
      return { credentialKind: 'Key', credentialInfo }
    },
    get(challenge: string): FirstFactor {
      const clientData = clientDataOf('key.get', challenge)
      const signature = sign('sha256', clientData, privateKey).toString('base64url')
      return { kind: 'Key', credentialAssertion: { credId, clientData: clientData.toString('base64url'), signature } }
    },
  }
}
