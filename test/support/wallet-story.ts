import type { Address } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { LocalAccount } from '../../sandbox/accounts.ts'
import { settleRequests } from '../../sandbox/curator.ts'
import { addCredential, beginRecovery, completeRecovery, openSession, registerUser, signRecovery } from './accounts.ts'
import { someKeyPair, somePasskey } from './credentials.ts'
import { startTestServer } from './serve.ts'
import { type HttpReply, type Service, USERS } from './service.ts'

const [ALICE] = USERS
const AMOUNT = '1000000000'

/** Data of the simulated user story: the vault of the deposit, USDC on the other chain, and a function that publishes webhook events. */
export type WalletStory = {
  readonly asyncVault: Address
  readonly otherUsdc: Address
  readonly publishEvents: () => Promise<void>
  readonly alice?: Alice
}
type Alice = { readonly account: LocalAccount; readonly email: string }

const HERSELF: Alice = { account: ALICE, email: 'alice@example.com' }

/**
 * Sends the requests of a wallet's user in a realistic order. The user registers, links a wallet, deposits, withdraws, loses
 * the passkey and deletes the account. The requests cover every operation of the service, and all succeed.
 */
export async function playWalletStory(service: Service, stage: WalletStory): Promise<void> {
  for (const path of ['/health', '/openapi.json', '/.well-known/apple-app-site-association']) {
    await service.call('GET', path, { key: null })
  }
  for (const path of ['assetlinks', 'jwks']) await service.call('GET', `/.well-known/${path}.json`, { key: null })
  const { alice = HERSELF } = stage
  // The reward comes first, because each later Merkle root of rewards changes the proof of this reward.
  await payReward(service, stage, alice)
  const { recoveryKey, headers } = await join(service, alice)
  await lookAround(service, headers, stage)
  await invest(service, stage, alice)
  await receiveWebhooks(service, stage)
  await leave(service, recoveryKey, alice)
}

async function payReward({ backends }: Service, { asyncVault }: WalletStory, { account }: Alice): Promise<void> {
  const { chainId, rewardToken } = backends.chains[0] ?? {}
  if (!chainId || !rewardToken) throw new Error('The story needs a chain with rewards')
  const reward = { account: account.address, token: rewardToken.address, vault: asyncVault, amount: 25n * 10n ** 17n }
  await backends.rewards.grant(chainId, [reward])
}

async function join(service: Service, { account, email }: Alice) {
  const passkey = somePasskey()
  const recoveryKey = someKeyPair()
  await registerUser(service, (begun) => ({ firstFactorCredential: passkey.create(begun) }), { email })
  const logIn = () => openSession(service, undefined, (begun) => ({ firstFactor: passkey.get(begun) }))
  const headers = await logIn()
  const addRecoveryKey = (key: typeof recoveryKey) =>
    addCredential(
      service,
      headers,
      (begun) => ({ recoveryCredential: key.create(begun, {}, { kind: 'RecoveryKey' }) }),
      (begun) => ({ firstFactor: passkey.get(begun) }),
    )
  const added = await addRecoveryKey(someKeyPair())
  await service.call('GET', '/auth/credentials', { headers })
  await service.call('DELETE', `/auth/credentials/${added.body.id}`, { headers })
  await addRecoveryKey(recoveryKey)

  await logIn()
  const { sessions } = (await service.call('GET', '/auth/sessions', { headers })).body
  const other: { id: string } = sessions.find(({ isCurrent }: { isCurrent: boolean }) => !isCurrent)
  await service.call('DELETE', `/auth/sessions/${other.id}`, { headers })
  await service.call('DELETE', '/auth/sessions', { headers })

  const wallet = privateKeyToAccount(account.privateKey)
  const request = { headers, body: { address: wallet.address, chain: 'evm' } }
  const { message } = (await service.call('POST', '/auth/wallets/init', request)).body
  const signature = await wallet.signMessage({ message })
  await service.call('POST', '/auth/wallets', { headers, body: { message, signature } })
  await service.call('GET', '/auth/wallets', { headers })
  return { recoveryKey, headers }
}

async function lookAround(
  service: Service,
  headers: Record<string, string>,
  { otherUsdc }: WalletStory,
): Promise<void> {
  const portfolio = '/portfolio-indexor'
  await service.call('GET', `${portfolio}/allBalances?currency=eur`, { headers })
  await service.call('GET', `${portfolio}/nft`, { headers })
  await service.call('GET', `${portfolio}/markets?currency=eur`)
  await service.call('GET', `${portfolio}/markets/top_gainers_losers?currency=eur`)
  await service.call('GET', `${portfolio}/markets/coins/ethereum?currency=eur`)
  await service.call('POST', `${portfolio}/markets/coins/search`, { body: { search: 'usd' } })
  await service.call('GET', `${portfolio}/token/id/ethereum?days=7&currency=eur`)
  await service.call('GET', `${portfolio}/token/address/arbitrum-mainnet/${otherUsdc}?days=1`)
}

async function invest(service: Service, { asyncVault, otherUsdc }: WalletStory, { account }: Alice): Promise<void> {
  const { chains, relayer } = service.backends
  const [chain, source] = chains
  if (!chain || !source) throw new Error('The story needs two chains')
  const vaults = '/defi-vaults/v1/defi/vault'
  const user = `/defi-vaults/v1/defi/user/${account.address}`
  const alices = { vaultAddress: asyncVault, userAddress: account.address }
  const prepare = (what: string, body: object) =>
    service.call('POST', `${vaults}/${what}`, { body: { ...alices, ...body } })
  const send = ({ body }: HttpReply, chainId = chain.chainId) =>
    service.send(chainId, account, [...body.approval, ...body.operations])
  const statusOf = (what: string) =>
    service.call('GET', `${vaults}/${asyncVault}/${what}-status?userAddress=${account.address}`)

  await service.call('GET', '/defi-vaults/v1/vaults')
  await service.call('GET', `/defi-vaults/v1/vault/${asyncVault}`)
  await service.call('GET', `${vaults}/${asyncVault}/history?range=30d`)
  await send(await prepare('deposit', { amount: AMOUNT }))
  await statusOf('deposit')
  await prepare('cancel', {})
  await settleRequests(chain, asyncVault)
  await send(await prepare('claim', {}))
  await send(await prepare('withdraw', { amount: '250000000' }))
  await statusOf('withdraw')

  const prepared = await prepare('deposit', { amount: AMOUNT, srcChainId: source.chainId, srcToken: otherUsdc })
  const receipts = await send(prepared, source.chainId)
  const transactionHash = receipts.at(-1)?.transactionHash
  const [relay] = transactionHash ? await relayer.listDeposits({ transactionHash }) : []
  if (!relay) throw new Error('No pool took the deposit')
  await relayer.fill(relay.deposit)
  const question = `srcChainId=${source.chainId}&userAddress=${account.address}`
  await service.call('GET', `/defi-vaults/v1/defi/cross-chain/${transactionHash}/status?${question}`)

  await service.call('GET', `${user}/rewards`)
  const body = { userAddress: account.address, chainId: chain.chainId }
  await send(await service.call('POST', '/defi-vaults/v1/defi/rewards/claim', { body }))

  await service.call('GET', `${user}/positions`)
  await service.call('GET', `${user}/positions/${asyncVault}`)
  await service.call('GET', `${user}/deposits?limit=2`)
  await service.call('GET', `${user}/withdrawals?limit=2`)
}

async function receiveWebhooks(service: Service, { publishEvents }: WalletStory): Promise<void> {
  const url = await startTestServer((_, response) => response.writeHead(204).end())
  const { body } = await service.call('POST', '/webhooks', { body: { url: `${url}/vaultline` } })
  await publishEvents()
  await service.consume()
  await service.call('GET', '/webhooks/events')
  await service.call('GET', '/webhooks')
  await service.call('POST', `/webhooks/${body.id}/secret`)
  await service.call('POST', `/webhooks/${body.id}/test`)
  await service.call('DELETE', `/webhooks/${body.id}`)
}

async function leave(
  service: Service,
  recoveryKey: ReturnType<typeof someKeyPair>,
  { account, email }: Alice,
): Promise<void> {
  const passkey = somePasskey()
  const begun = await beginRecovery(service, email, { credentialId: recoveryKey.id })
  const credentials = {
    firstFactorCredential: passkey.create(begun),
    recoveryCredential: someKeyPair().create(begun, {}, { kind: 'RecoveryKey' }),
  }
  await completeRecovery(service, begun, signRecovery(recoveryKey, credentials), credentials)
  const logIn = () => openSession(service, undefined, (begun) => ({ firstFactor: passkey.get(begun) }))
  const headers = await logIn()
  await service.call('DELETE', `/auth/wallets/${account.address}`, { headers })
  await service.call('POST', '/auth/logout', { headers })
  await service.call('DELETE', '/auth/user', { headers: await logIn() })
}
