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
import {
  buildTransaction,
  COIN,
  decodeBridgeDeposit,
  HANDLER,
  MESSAGE_PARAMETERS,
  POOLS,
  TOKEN_ABI,
  WETH,
} from './oracles.ts'
import {
  test as base,
  createTransactionSender,
  type HttpReply,
  type Service,
  startNewContainers,
  type UnsignedTransaction,
} from './service.ts'
import type { TestVault } from './vaults.ts'

const EXCLUSIVITY_SECONDS = 3

/** Quote in the format of the bridge's API, with the fields that tests read or change. */
export type BridgeApiQuote = {
  readonly outputAmount: string
  readonly timestamp: string
  readonly fillDeadline: string
  readonly estimatedFillTimeSec: number
  readonly [field: string]: unknown
}

type Quoted = { readonly request: ProviderRequest; readonly offer: BridgeApiQuote }

/** Controls and records the simulated bridge API from which the service requests quotes. */
export type SimulatedBridgeApi = {
  /** Returns the recorded quotes for deposits into this vault. Quotes of a previous test that arrive late are excluded. */
  quotesFor(vault: Pick<TestVault, 'address'>): Quoted[]
  /** Returns the quote from which the service built the bridge transfer in `reply`. Throws if no recorded quote fits. */
  quoteBehind(reply: HttpReply): Quoted
  /** Replaces the bridge API's responses to quote requests. */
  answer: FakeService['rewrite']
  changeQuote(change: (offer: BridgeApiQuote) => unknown): void
}

function listenTo(api: FakeService): SimulatedBridgeApi {
  const quotes: Quoted[] = []
  const messageOf = ({ request }: Quoted) => request.url.searchParams.get('message') ?? ''
  const bridge: SimulatedBridgeApi = {
    answer: undefined,
    quotesFor({ address }) {
      const named = address.slice(2).toLowerCase()
      return quotes.filter((quoted) => messageOf(quoted).includes(named))
    },
    quoteBehind({ body }) {
      const { message, recipient, inputAmount } = decodeBridgeDeposit(body.operations.at(-1).data)
      const expected = { message: message === '0x' ? null : message, recipient, amount: `${inputAmount}` }
      const isSame = ({ request: { url } }: Quoted) =>
        Object.entries(expected).every(([name, value]) => url.searchParams.get(name) === value)
      const quoted = quotes.findLast(isSame)
      if (!quoted) throw new Error('The bridge was not asked for this transfer')
      return quoted
    },
    changeQuote(change) {
      bridge.answer = (reply) => ({ ...reply, body: change(reply.body as BridgeApiQuote) })
    },
  }
  api.rewrite = (reply: ProviderReply, request: ProviderRequest) => {
    if (request.url.pathname !== '/api/suggested-fees') return reply
    quotes.push({ request, offer: reply.body as BridgeApiQuote })
    return bridge.answer ? bridge.answer(reply, request) : reply
  }
  return bridge
}

/** Test fixtures of cross-chain deposits: the running service, and `bridge`, which records the quote requests. */
export const test = base.extend('bridge', ({ service }, { onCleanup }): SimulatedBridgeApi => {
  const { acrossApi } = service.backends.providers
  onCleanup(() => {
    acrossApi.rewrite = undefined
  })
  return listenTo(acrossApi)
})

/**
 * Moves the clock past the expiry of cached quotes. Otherwise a repeated request would not see a test's change of the bridge or
 * chains.
 */
function forgetQuotes(service: Service): void {
  service.pass(5)
}

/** Steps of a cross-chain deposit: by the user, by the bridge's relayer, and reads from the source chain. */
export type Journey = ReturnType<typeof createDepositJourney>

/**
 * Creates the steps of a cross-chain deposit into a vault, by default from the first other chain. The user pays in the vault's
 * asset on the source chain.
 */
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
    transact(source, [buildTransaction(account, token.address, functionName, [to, amount])])
  const relayOf = async (receipts: readonly TransactionReceipt[]): Promise<TrackedDeposit> => {
    const transactionHash = receipts.at(-1)?.transactionHash
    const [relay] = transactionHash ? await relayer.listDeposits({ transactionHash }) : []
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

    ask: (user: Pick<LocalAccount, 'address'>, amount: bigint, more: object = {}) => {
      forgetQuotes(service)
      return vault.deposit(user, amount, { srcChainId: source.chainId, srcToken: token.address, ...more })
    },
    askInCoin: (user: Pick<LocalAccount, 'address'>, amount: bigint) => {
      forgetQuotes(service)
      return vault.deposit(user, amount, { srcChainId: source.chainId, srcToken: COIN })
    },
    /**
     * Signs and sends the transactions in the service's reply, in order, on the source chain. Returns all receipts, also of
     * reverted transactions.
     */
    send(user: LocalAccount, { body }: HttpReply): Promise<TransactionReceipt[]> {
      const transactions: UnsignedTransaction[] = [...body.approval, ...body.operations]
      return service.send(source.chainId, user, transactions)
    },
    approving: (amount: bigint) => ({
      chainId: source.chainId,
      to: token.address,
      // The calldata begins with the selector of approve(address,uint256).
      data: `0x095ea7b3${pool.slice(2).toLowerCase().padStart(64, '0')}${amount.toString(16).padStart(64, '0')}`,
      value: '0',
    }),
    approve: (owner: Address, amount: bigint) => onToken(owner, 'approve', pool, amount),
    mint: (to: Address, amount: bigint) => onToken(ACCOUNTS.admin.address, 'mint', to, amount),

    /** Fills the bridge deposit in the last of these receipts. Throws if the relayer refuses to fill. */
    fill: async (receipts: readonly TransactionReceipt[]) =>
      receiptOf(await relayer.fill((await relayOf(receipts)).deposit)),
    async fillSlowly(receipts: readonly TransactionReceipt[], outputAmount: bigint) {
      const { deposit } = await relayOf(receipts)
      // The pool rejects requests for a slow fill while only the quoted relayer may fill the deposit.
      await relayer.advance(EXCLUSIVITY_SECONDS + 1)
      await relayer.requestSlowFill(deposit)
      return receiptOf(await relayer.executeSlowFill(deposit, outputAmount))
    },

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
    /** Returns the balance of the vault's asset that remains at the bridge's handler, and the handler's allowance for the vault. */
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

/**
 * Creates the steps of a withdrawal from a vault to another chain, by default the first. The user receives the vault's asset
 * there.
 */
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
      transact(vault.chain, [buildTransaction(owner, vault.token, 'approve', [pool, amount])]),
    allowance: (owner: Address) =>
      readContract(source, { address: vault.token, abi: TOKEN_ABI, functionName: 'allowance', args: [owner, pool] }),
    /** Fills the bridge deposit in the last of these receipts. Throws if the relayer refuses to fill. */
    async fill(receipts: readonly TransactionReceipt[]) {
      const transactionHash = receipts.at(-1)?.transactionHash
      const [relay] = transactionHash ? await relayer.listDeposits({ transactionHash }) : []
      if (!relay) throw new Error('No pool took a deposit in the last of these transactions')
      return relayer.fill(relay.deposit)
    },
    arrivedFor: (account: Address) =>
      readContract(client, { address: token.address, abi: TOKEN_ABI, functionName: 'balanceOf', args: [account] }),
  }
}

/** Starts the service in new containers with these chains, a bridge API of its own and its own configuration. */
export async function startConfiguredService(
  service: Service,
  options: {
    readonly chains?: Service['backends']['chains']
    readonly relayer?: Relayer
    readonly bridge?: z.input<typeof BridgeApi>
  } = {},
): Promise<{ service: Service; bridge: SimulatedBridgeApi; stop: () => Promise<void> }> {
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
  const anew = await startNewContainers({ ...service, backends: { ...service.backends, signingKey: publicKeyOf(key) } })
  // The new containers read their configuration from this test's Secrets Manager at this first request, and keep it.
  // Afterwards the environment variable can get its old value back.
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
        // A pin stores a vault's approved code and price. The service rejects a price far above the approved one. Tests
        // make vaults gain much at once, so their pins are deleted.
        const pins = vaults.map((vault) => ({ pk: vaultPartition(vault), sk: 'PIN' }))
        await service.tables.deposits.deleteMany(pins)
        return apiKey
      },
      send: createTransactionSender(chains),
    },
    bridge: listenTo(providers.acrossApi),
    async stop() {
      await anew.stop()
      await providers.stop()
    },
  }
}

/** Calls the bridge's handler contract with one contract call, as anybody can do without a bridge deposit. */
export async function callHandler(chain: LocalChain, from: Address, target: Address, callData: Hex): Promise<void> {
  const message = encodeAbiParameters(MESSAGE_PARAMETERS, [
    { calls: [{ target, callData, value: 0n }], fallbackRecipient: zeroAddress },
  ])
  await transact(chain, [buildTransaction(from, HANDLER, 'handleV3AcrossMessage', [target, 0n, from, message])])
}
