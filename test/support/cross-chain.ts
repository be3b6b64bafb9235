import { type Address, encodeAbiParameters, type Hex, parseUnits, type TransactionReceipt, zeroAddress } from 'viem'
import { getBalance, getTransactionReceipt, readContract } from 'viem/actions'
import type * as z from 'zod'
import { localAdmin } from '../../admin/connect.ts'
import { seedClient } from '../../admin/operations/seed-client.ts'
import type { BridgeApi } from '../../lib/bridge/apis.ts'
import { createSigningKey, publicKeyOf, SigningKeys } from '../../lib/signing/keys.ts'
import { vaultPartition } from '../../lib/vaults/vault.ts'
import { ACCOUNTS, type LocalAccount } from '../../sandbox/accounts.ts'
import type { LocalChain } from '../../sandbox/chains.ts'
import type { FakeService, ProviderReply, ProviderRequest } from '../../sandbox/fake.ts'
import { startProviders } from '../../sandbox/providers.ts'
import type { Relayer, TrackedDeposit } from '../../sandbox/relayer.ts'
import { transact } from '../../sandbox/transactions.ts'
import { createChainClient } from './chain-client.ts'
import { COIN, decodeBridgeDeposit, HANDLER, MESSAGE, POOLS, TOKEN_ABI, transaction, WETH } from './oracles.ts'
import { test as base, type HandedOut, type HttpReply, type Service, senderOn, startAnew } from './service.ts'
import type { TestVault } from './vaults.ts'

/** Seconds for which only the quoted relayer may fill a deposit. */
const EXCLUSIVITY_SECONDS = 3

/** A quote in the format of the bridge's API. */
export type Offer = {
  readonly outputAmount: string
  readonly timestamp: string
  readonly fillDeadline: string
  readonly estimatedFillTimeSec: number
  readonly [field: string]: unknown
}

/** A request for a quote and the API's original response. */
type Quoted = { readonly request: ProviderRequest; readonly offer: Offer }

/** Controls the bridge's API that the service uses. */
export type Bridge = {
  /** Returns the recorded quotes for deposits into this vault. Late requests of another test are left out. */
  quotesFor(vault: Pick<TestVault, 'address'>): Quoted[]
  /** Returns the quote from which the service built the transfer in a reply. Throws if there is none. */
  quoteBehind(reply: HttpReply): Quoted
  /** Replaces the API's response. */
  answer: FakeService['rewrite']
  /** Changes a quote before it is sent. */
  changeQuote(change: (offer: Offer) => unknown): void
}

/** Records the quote requests to the bridge's API. */
function listenTo(api: FakeService): Bridge {
  const quotes: Quoted[] = []
  const messageOf = ({ request }: Quoted) => request.url.searchParams.get('message') ?? ''
  const bridge: Bridge = {
    answer: undefined,
    quotesFor({ address }) {
      const named = address.slice(2).toLowerCase()
      return quotes.filter((quoted) => messageOf(quoted).includes(named))
    },
    quoteBehind({ body }) {
      const { message, recipient, inputAmount } = decodeBridgeDeposit(body.operations.at(-1).data)
      const asked = { message: message === '0x' ? null : message, recipient, amount: `${inputAmount}` }
      const isSame = ({ request: { url } }: Quoted) =>
        Object.entries(asked).every(([name, value]) => url.searchParams.get(name) === value)
      const quoted = quotes.findLast(isSame)
      if (!quoted) throw new Error('The bridge was not asked for this transfer')
      return quoted
    },
    changeQuote(change) {
      bridge.answer = (reply) => ({ ...reply, body: change(reply.body as Offer) })
    },
  }
  api.rewrite = (reply: ProviderReply, request: ProviderRequest) => {
    if (request.url.pathname !== '/api/suggested-fees') return reply
    quotes.push({ request, offer: reply.body as Offer })
    return bridge.answer ? bridge.answer(reply, request) : reply
  }
  return bridge
}

/** Tests of deposits from another chain: the running service, with the requests to the bridge's API recorded. */
export const test = base.extend('bridge', ({ service }, { onCleanup }): Bridge => {
  const { acrossApi } = service.backends.providers
  onCleanup(() => {
    acrossApi.rewrite = undefined
  })
  return listenTo(acrossApi)
})

/** Makes the quotes that a container caches expire, because tests repeat a request after they change the bridge or the chains. */
function forgetQuotes(service: Service): void {
  service.pass(5)
}

/** Steps of a deposit from another chain: by the user, the relayer and the source chain. */
export type Journey = ReturnType<typeof createDepositJourney>

/** Creates the steps of a deposit into a vault from another chain, by default the first. It is paid in the vault's asset there. */
export function createDepositJourney(vault: TestVault, service: Service, from?: number) {
  const { chains, relayer } = service.backends
  const source = chains.find(({ chainId }) => (from === undefined ? chainId !== vault.chain.chainId : chainId === from))
  const wrapped = source && vault.asset === 'WETH' ? WETH[source.chainId] : undefined
  const token = wrapped
    ? { address: wrapped, decimals: 18 }
    : source?.tokens.find(({ symbol }) => symbol === vault.asset)
  const pool = source && POOLS[source.chainId]
  if (!source || !token || !pool) throw new Error(`There is no ${vault.asset} on another chain`)

  const client = createChainClient(source)
  const destination = createChainClient(vault.chain)
  const onToken = (account: Address, functionName: 'mint' | 'approve', to: Address, amount: bigint) =>
    transact(source, [transaction(account, token.address, functionName, [to, amount])])
  const relayOf = async (receipts: readonly TransactionReceipt[]): Promise<TrackedDeposit> => {
    const transactionHash = receipts.at(-1)?.transactionHash
    const [relay] = transactionHash ? await relayer.look({ transactionHash }) : []
    if (!relay) throw new Error('No pool took a deposit in the last of these transactions')
    return relay
  }
  const receiptOf = (hash: Hex) => getTransactionReceipt(destination, { hash })

  return {
    vault,
    source,
    token,
    pool,
    units: (whole: string) => parseUnits(whole, token.decimals),

    // Steps of the user
    ask: (user: Pick<LocalAccount, 'address'>, amount: bigint, more: object = {}) => {
      forgetQuotes(service)
      return vault.deposit(user, amount, { srcChainId: source.chainId, srcToken: token.address, ...more })
    },
    askInCoin: (user: Pick<LocalAccount, 'address'>, amount: bigint) => {
      forgetQuotes(service)
      return vault.deposit(user, amount, { srcChainId: source.chainId, srcToken: COIN })
    },
    /** Signs and sends a reply's transactions on the source chain, in order. Returns the receipts, reverted or not. */
    send(user: LocalAccount, { body }: HttpReply): Promise<TransactionReceipt[]> {
      const transactions: HandedOut[] = [...body.approval, ...body.operations]
      return service.send(source.chainId, user, transactions)
    },
    approving: (amount: bigint) => ({
      chainId: source.chainId,
      to: token.address,
      // approve(address,uint256)
      data: `0x095ea7b3${pool.slice(2).toLowerCase().padStart(64, '0')}${amount.toString(16).padStart(64, '0')}`,
      value: '0',
    }),
    approve: (owner: Address, amount: bigint) => onToken(owner, 'approve', pool, amount),
    mint: (to: Address, amount: bigint) => onToken(ACCOUNTS.admin.address, 'mint', to, amount),

    // Steps of the relayer
    /** Fills the bridge deposit of the last of these transactions. Throws if the relayer refuses. */
    fill: async (receipts: readonly TransactionReceipt[]) =>
      receiptOf(await relayer.fill((await relayOf(receipts)).deposit)),
    async fillSlowly(receipts: readonly TransactionReceipt[], outputAmount: bigint) {
      const { deposit } = await relayOf(receipts)
      // The pool accepts a request for a slow fill only after the relayer's exclusive period.
      await relayer.advance(EXCLUSIVITY_SECONDS + 1)
      await relayer.requestSlowFill(deposit)
      return receiptOf(await relayer.executeSlowFill(deposit, outputAmount))
    },

    // Reads from the source chain
    coinOf: (account: Address) => getBalance(client, { address: account }),
    balanceOf: (account: Address) =>
      readContract(client, { address: token.address, abi: TOKEN_ABI, functionName: 'balanceOf', args: [account] }),
    allowance: (owner: Address) =>
      readContract(client, {
        address: token.address,
        abi: TOKEN_ABI,
        functionName: 'allowance',
        args: [owner, pool],
      }),
    /** Returns the destination handler's remaining balance of the vault's asset, and its allowance for the vault. */
    async leftAtHandler() {
      const view = { address: vault.token, abi: TOKEN_ABI } as const
      const [balance, allowance] = await Promise.all([
        readContract(destination, { ...view, functionName: 'balanceOf', args: [HANDLER] }),
        readContract(destination, { ...view, functionName: 'allowance', args: [HANDLER, vault.address] }),
      ])
      return { balance, allowance }
    },
  }
}

type PayingVault = Pick<TestVault, 'chain' | 'asset' | 'token' | 'withdraw' | 'claimWithdrawal'>

/** Creates the steps of a withdrawal from a vault to another chain, by default the first, paid there in the vault's asset. */
export function createWithdrawalJourney<Vault extends PayingVault>(vault: Vault, service: Service, to?: number) {
  const { chains, relayer } = service.backends
  const destination = chains.find(({ chainId }) =>
    to === undefined ? chainId !== vault.chain.chainId : chainId === to,
  )
  const token = destination?.tokens.find(({ symbol }) => symbol === vault.asset)
  const pool = POOLS[vault.chain.chainId]
  if (!destination || !token || !pool) throw new Error(`There is no ${vault.asset} on another chain`)
  const source = createChainClient(vault.chain)
  const client = createChainClient(destination)

  return {
    vault,
    destination,
    token,
    pool,
    ask: (user: Pick<LocalAccount, 'address'>, amount: object, more: object = {}) => {
      forgetQuotes(service)
      return vault.withdraw(user, { ...amount, dstChainId: destination.chainId, dstToken: token.address, ...more })
    },
    askForClaim: (user: Pick<LocalAccount, 'address'>, more: object = {}) => {
      forgetQuotes(service)
      return vault.claimWithdrawal(user, { dstChainId: destination.chainId, dstToken: token.address, ...more })
    },
    approve: (owner: Address, amount: bigint) =>
      transact(vault.chain, [transaction(owner, vault.token, 'approve', [pool, amount])]),
    allowance: (owner: Address) =>
      readContract(source, { address: vault.token, abi: TOKEN_ABI, functionName: 'allowance', args: [owner, pool] }),
    /** Fills the bridge deposit of the last of these transactions. Throws if the relayer refuses. */
    async fill(receipts: readonly TransactionReceipt[]) {
      const transactionHash = receipts.at(-1)?.transactionHash
      const [relay] = transactionHash ? await relayer.look({ transactionHash }) : []
      if (!relay) throw new Error('No pool took a deposit in the last of these transactions')
      return relayer.fill(relay.deposit)
    },
    arrivedFor: (account: Address) =>
      readContract(client, { address: token.address, abi: TOKEN_ABI, functionName: 'balanceOf', args: [account] }),
  }
}

/** Starts the service in new containers for these chains, with its own configuration and its own bridge API. */
export async function startConfigured(
  service: Service,
  options: {
    readonly chains?: Service['backends']['chains']
    readonly relayer?: Relayer
    readonly bridge?: z.input<typeof BridgeApi>
  } = {},
): Promise<{ service: Service; bridge: Bridge; stop: () => Promise<void> }> {
  const { chains = service.backends.chains, relayer = service.backends.relayer } = options
  const config = { rpcUrls: {}, bridge: {} }
  const key = createSigningKey(new Date())
  const { CONFIG_SECRET = '', SIGNING_SECRET = '' } = service.backends.environment
  const secrets = { [CONFIG_SECRET]: config, [SIGNING_SECRET]: SigningKeys.encode({ keys: [key] }) }
  const providers = await startProviders({ secrets, chains, relayer })
  config.rpcUrls = Object.fromEntries(
    chains.map(({ chainId, rpcUrl }) => [chainId, [service.rpc[chainId]?.url ?? rpcUrl]]),
  )
  config.bridge = { url: `${providers.url}/api`, ...options.bridge }

  process.env['AWS_ENDPOINT_URL_SECRETS_MANAGER'] = providers.url
  const anew = await startAnew({ ...service, backends: { ...service.backends, signingKey: publicKeyOf(key) } })
  // The container reads its configuration at its first request, before the variable below is reset.
  await anew.service.call('POST', '/defi-vaults/v1/defi/vault/deposit', {
    body: { vaultAddress: HANDLER, userAddress: HANDLER, amount: '1' },
  })
  process.env['AWS_ENDPOINT_URL_SECRETS_MANAGER'] = service.backends.environment['AWS_ENDPOINT_URL_SECRETS_MANAGER']

  const { dynamo } = service.backends
  const admin = localAdmin({
    dynamo: dynamo.connection,
    sharedNow: Date.now,
    providersUrl: providers.url,
    deliveryQueueUrl: service.backends.queues.urls.deliveryQueue,
    tables: dynamo.tableNames,
    chains: [...chains],
  })
  return {
    service: {
      ...anew.service,
      backends: { ...anew.service.backends, chains, relayer, providers },
      createClient: async (vaults) => {
        const { apiKey } = await seedClient(admin, { name: 'Some wallet', vaults })
        // Pinned prices are deleted, so that tests can settle any gain. Tests of pinned vaults pin them again.
        const pins = vaults.map((vault) => ({ pk: vaultPartition(vault), sk: 'PIN' }))
        await service.tables.deposits.deleteMany(pins)
        return apiKey
      },
      send: senderOn(chains),
    },
    bridge: listenTo(providers.acrossApi),
    async stop() {
      await anew.stop()
      await providers.stop()
    },
  }
}

/** Calls the bridge's handler directly with this one call, as anyone may do. */
export async function callHandler(chain: LocalChain, from: Address, target: Address, callData: Hex): Promise<void> {
  const message = encodeAbiParameters(MESSAGE, [
    { calls: [{ target, callData, value: 0n }], fallbackRecipient: zeroAddress },
  ])
  await transact(chain, [transaction(from, HANDLER, 'handleV3AcrossMessage', [target, 0n, from, message])])
}
