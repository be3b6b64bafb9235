import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client as Host, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { JsonRpcProvider, Wallet } from 'ethers'
import { type Address, createClient, custom, erc20Abi, type Hash, type Hex, http, numberToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { readContract, waitForCallsStatus } from 'viem/actions'
import { arbitrum, base } from 'viem/chains'
import { describe, expect, onTestFinished } from 'vitest'
import { createConfig } from 'wagmi'
import { connect } from 'wagmi/actions'
import { mock } from 'wagmi/connectors'
import { createFlow, type Sender } from '../client/src/flow.ts'
import { type GetTransferStatusResponse, orThrow, prepareDeposit } from '../client/src/index.ts'
import { parseApiKey } from '../lib/clients/api-key.ts'
import type { LocalChain } from '../sandbox/chains.ts'
import { settleRequests } from '../sandbox/curator.ts'
import { callRpc } from '../sandbox/rpc.ts'
import { type BatchWalletBehaviour, createBatchWallet } from './support/batch-wallet.ts'
import { createChainClient } from './support/chain-client.ts'
import { checkSnippets, extractGuide, listUncalledFunctions } from './support/guides.ts'
import { startReceiver } from './support/receiver.ts'
import { freePort } from './support/sandbox.ts'
import { type Service, test as serviceTest, USERS } from './support/service.ts'
import { signedHeaders } from './support/webhook-signatures.ts'
import { publishAndDeliver, someWebhookEvent } from './support/webhooks.ts'

const [ALICE] = USERS
const userAddress = ALICE.address
const run = promisify(execFile)

const test = serviceTest
  .extend('guides', { scope: 'file' }, ({ sharedService: { baseUrl, apiKey, backends } }, { onCleanup }) => {
    // A reader's program gets these environment variables from `node --env-file`.
    const env = { VAULTLINE_URL: baseUrl, VAULTLINE_KEY: apiKey }
    Object.assign(process.env, env)
    onCleanup(() => {
      for (const name of Object.keys(env)) Reflect.deleteProperty(process.env, name)
    })
    return extractGuide('docs/guides', { KEY: backends.signingKey.x, KEY_ID: backends.signingKey.kid })
  })
  .extend(
    'load',
    ({ guides }) =>
      (file: string) =>
        import(join(guides.folder, file)),
  )

// Exports of a code block have type `any`, because another test compiles the code blocks with their types.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Snippet = any
type Load = (file: string) => Promise<Snippet>

function placeOf({ backends }: Service, type: 'sync' | 'async') {
  const chain = backends.chains.find(({ chainId }) => chainId === base.id)
  const vault = chain?.vaults.find((candidate) => candidate.type === type)
  if (!chain || !vault) throw new Error(`There is no ${type} vault on Base`)
  return { chain, vault, vaultAddress: vault.address }
}

function walletsOn({ backends }: Service) {
  const account = privateKeyToAccount(ALICE.privateKey)
  const walletOf = (chain: typeof base | typeof arbitrum) => {
    const rpcUrl = backends.chains.find(({ chainId }) => chainId === chain.id)?.rpcUrl
    return createClient({ account, chain, transport: http(rpcUrl), pollingInterval: 20 })
  }
  const wallets = { [base.id]: walletOf(base), [arbitrum.id]: walletOf(arbitrum) }
  return (chainId: number) => wallets[chainId as keyof typeof wallets]
}

const balanceOf = (chain: LocalChain, address: Address) =>
  readContract(createChainClient(chain), { address, abi: erc20Abi, functionName: 'balanceOf', args: [userAddress] })

async function mineAfter(chain: LocalChain, send: () => Promise<Hash>, happen: (hash: Hash) => Promise<unknown>) {
  await callRpc(chain, [{ method: 'evm_setAutomine', params: [false] }])
  try {
    const hash = await send()
    await happen(hash)
    await callRpc(chain, [{ method: 'evm_mine', params: [] }])
    return hash
  } finally {
    await callRpc(chain, [{ method: 'evm_setAutomine', params: [true] }])
  }
}

/** Settles a vault as soon as the API reports a pending status. So the client's next poll finds the settled deposit. */
function settleAtOnce(chain: LocalChain, vault: Address) {
  const { fetch } = globalThis
  onTestFinished(() => {
    globalThis.fetch = fetch
  })
  globalThis.fetch = async (...request) => {
    const response = await fetch(...request)
    const text = await response.text()
    if (text.includes('"status":"pending"') && text.includes('nextPollAfterMs')) await settleRequests(chain, vault)
    return new Response(text.replace(/("nextPollAfterMs":)\d+/, '$11'), response)
  }
}

test('The snippets of docs/guides are formatted and compile with the strictest settings', ({ guides }) => {
  expect(() => checkSnippets(guides, 'strictest.json')).not.toThrow()
})

test('A test or another snippet calls each function of docs/guides', async ({ guides: { snippets } }) => {
  expect(listUncalledFunctions(snippets, await readFile(import.meta.filename, 'utf8'))).toEqual([])
})

test('A client accepts the service’s signed responses for the vaults that it knows', async ({ service, load }) => {
  const { vault, vaultAddress } = placeOf(service, 'sync')
  const { createVerifiedClient }: Snippet = await load('verified-client.ts')
  const pin = { chainId: base.id, address: vaultAddress, protocol: 'erc4626', asset: vault.asset }
  const input = { vaultAddress, userAddress, amount: '1000' }
  expect(await prepareDeposit(createVerifiedClient([pin]), input)).toMatchObject({ ok: true })
  const other = { ...pin, asset: userAddress }
  expect(await prepareDeposit(createVerifiedClient([other]), input)).toMatchObject({ error: { code: 'unverified' } })

  const { createWalletClient }: Snippet = await load('lazy-client.ts')
  const { signingKey } = service.backends
  const prepare = (keys: readonly unknown[]) => prepareDeposit(createWalletClient(keys), input)
  expect(await prepare([signingKey])).toMatchObject({ ok: true })
  expect(await prepare([])).toMatchObject({ error: { code: 'unverified' } })

  const { createBoundedClient }: Snippet = await load('bounded-client.ts')
  expect(await prepareDeposit(createBoundedClient({ keys: [signingKey] }, 1n), input)).toMatchObject({ ok: true })

  const { createWitnessedClient }: Snippet = await load('witnessed-client.ts')
  const [here, elsewhere] = service.backends.chains.map(({ rpcUrl }) => rpcUrl)
  const confirm = (rpcUrl: string | undefined) =>
    prepareDeposit(createWitnessedClient({ keys: [signingKey] }, { [base.id]: rpcUrl }), input)
  expect(await confirm(here)).toMatchObject({ ok: true })
  expect(await confirm(elsewhere)).toMatchObject({ error: { code: 'unverified' } })
})

test('An assistant reaches the tools by each configuration of the guide, and over HTTP', async ({
  service,
  load,
  guides: { folder, snippets },
}) => {
  const { signingKey } = service.backends
  const connect = async (transport: ConstructorParameters<typeof StdioClientTransport>[0] | URL, fetch?: unknown) => {
    const host = new Host({ name: 'an-assistant', version: '1.0.0' })
    onTestFinished(() => host.close())
    const isRemote = transport instanceof URL
    // The cast is needed because the code block's function `fetch` has type `any` here.
    const served = { fetch: fetch as typeof globalThis.fetch }
    await host.connect(
      isRemote ? new StreamableHTTPClientTransport(transport, served) : new StdioClientTransport(transport),
    )
    return await host.callTool({ name: 'listVaults', arguments: { limit: 1 } })
  }
  await writeFile(join(folder, 'keys.json'), JSON.stringify([signingKey]))
  for (const name of ['claude_desktop_config.json', 'mcp.json']) {
    const text = (snippets.get(name) ?? '')
      .replaceAll('<folder>', folder)
      .replaceAll('http://localhost:4000', service.baseUrl)
      .replaceAll(/jk_local_…|\$\{input:vaultline-key\}/g, service.apiKey)
    const { mcpServers, servers = mcpServers } = JSON.parse(text)
    const { command, args, env } = servers.vaultline
    expect(command).toBe('node')
    expect(await connect({ command: process.execPath, args, env })).toMatchObject({
      structuredContent: { success: true },
    })
  }

  const { serveTools }: Snippet = await load('mcp-http.ts')
  const serve = serveTools({ keys: [signingKey] })
  const fetch = (url: string, init: RequestInit) => serve(new Request(url, init))
  const answer = await connect(new URL('http://tools.example/mcp'), fetch)
  expect(answer).toMatchObject({ structuredContent: { success: true } })
})

test('A price is shown with its age', async ({ load }) => {
  const { fetchPrice }: Snippet = await load('price.ts')
  const price = await fetchPrice('bitcoin', 'eur')
  expect(price).toEqual({ price: expect.any(Number), asOf: expect.any(Date), isStale: false })
})

test('Rewards are listed and claimed, but only those that the chain pays now', async ({ service, load }) => {
  const { chain, vaultAddress } = placeOf(service, 'sync')
  const { rewardToken } = chain
  if (!rewardToken) throw new Error('Campaigns pay in no token here')
  const { listClaimable, claimRewards }: Snippet = await load('rewards.ts')
  const { viemSender }: Snippet = await load('viem-sender.ts')
  const reward = { account: userAddress, token: rewardToken.address, vault: vaultAddress, amount: 7n * 10n ** 18n }
  await service.backends.rewards.grant(base.id, [reward])
  const { claimable, missing } = await listClaimable(userAddress.toLowerCase())
  expect(missing).toEqual([])
  expect(claimable).toMatchObject([{ token: reward.token, amount: `${reward.amount}` }])

  const before = await balanceOf(chain, reward.token)
  const { hash, paid, leftOut } = await claimRewards(viemSender(walletsOn(service)), {
    ...{ userAddress, chainId: base.id },
  })
  expect(hash).toMatch(/^0x.{64}$/)
  expect({ paid, leftOut }).toEqual({ paid: [{ token: reward.token, amount: `${reward.amount}` }], leftOut: [] })
  expect(await balanceOf(chain, reward.token)).toBe(before + reward.amount)
  expect((await listClaimable(userAddress)).claimable).toEqual([])
})

test('The quick start leads to a deposit, by curl and by a program', async ({ service, guides }) => {
  const { chain, vaultAddress } = placeOf(service, 'sync')
  const page = await readFile('docs/guides/quick-start.md', 'utf8')
  const commands = [...page.matchAll(/^```sh curl\n(.*?)^```$/gms)].map(([, block]) => block).join('\necho\n')
  const env = {
    VAULTLINE_URL: service.baseUrl,
    VAULTLINE_KEY: service.apiKey,
    RPC_URL_8453: chain.rpcUrl,
    VAULT: vaultAddress,
    ACCOUNT: ALICE.address,
    PRIVATE_KEY: ALICE.privateKey,
  }
  await mkdir(join(guides.folder, '.local'), { recursive: true })
  const lines = Object.entries(env).map(([name, value]) => `${name}=${value}\n`)
  await writeFile(join(guides.folder, '.local/.env'), lines.join(''))
  const { stdout } = await run('bash', ['-ec', commands], { cwd: guides.folder })
  const [vaults = '', prepared = ''] = stdout.split('\n')
  expect(JSON.parse(vaults).data).toContainEqual(expect.objectContaining({ poolAddress: vaultAddress }))
  expect(JSON.parse(prepared)).toMatchObject({ simulation: { status: 'success' }, operations: [{ to: vaultAddress }] })

  const [, set = ''] = /^ *(npm init .*?) && npm i /m.exec(page) ?? []
  await run('bash', ['-ec', set], { cwd: guides.folder })
  const before = await balanceOf(chain, vaultAddress)
  const [, command = ''] = /^ *(<here>.*\/node --env-file=.*)$/m.exec(page) ?? []
  // Node comes from the repository, the environment from the guide's folder.
  const typed = command.replace('<here>', process.cwd()).replace('<here>', '.')
  const program = await run('bash', ['-ec', typed], { cwd: guides.folder })
  expect(program.stdout).toMatch(/^success 0x.{64}\nsuccess 0x.{64}\n$/)
  expect(await balanceOf(chain, vaultAddress)).toBeGreaterThan(before)
})

describe('A sender of a deposit', () => {
  const senders = {
    async viem(service: Service, load: Load): Promise<Sender> {
      const { viemSender } = await load('viem-sender.ts')
      return viemSender(walletsOn(service))
    },
    async wagmi(service: Service, load: Load): Promise<Sender> {
      const { wagmiSender } = await load('wagmi-sender.ts')
      const [here = base, ...others] = [base, arbitrum].map((chain) => {
        const local = service.backends.chains.find(({ chainId }) => chainId === chain.id)
        return { ...chain, rpcUrls: { default: { http: [local?.rpcUrl ?? ''] } } }
      })
      const config = createConfig({
        chains: [here, ...others],
        transports: { [base.id]: http(), [arbitrum.id]: http() },
        connectors: [mock({ accounts: [userAddress] })],
        pollingInterval: 20,
        storage: null,
      })
      const [connector] = config.connectors
      if (!connector) throw new Error('There is no connector')
      await connect(config, { connector })
      return wagmiSender(config)
    },
    async ethers(service: Service, load: Load): Promise<Sender> {
      const { ethersSender } = await load('ethers-sender.ts')
      const { chain } = placeOf(service, 'sync')
      const provider = new JsonRpcProvider(chain.rpcUrl, base.id, { staticNetwork: true, cacheTimeout: -1 })
      provider.pollingInterval = 20
      onTestFinished(() => provider.destroy())
      const wallet = new Wallet(ALICE.privateKey, provider)
      return ethersSender(() => wallet)
    },
    async sendCalls(service: Service, load: Load): Promise<Sender> {
      const { batchSender } = await load('batch-sender.ts')
      const { chain } = placeOf(service, 'sync')
      const { provider } = createBatchWallet(chain, userAddress)
      return batchSender(
        createClient({ account: userAddress, chain: base, transport: custom(provider), pollingInterval: 5 }),
      )
    },
  }
  test.for(Object.entries(senders))(
    'with %s sends the calls one after the other and waits for each',
    async ([, open], { service, load }) => {
      const { chain, vaultAddress } = placeOf(service, 'sync')
      const { deposit } = await load('deposit.ts')
      const sender = await open(service, load)
      const before = await balanceOf(chain, vaultAddress)
      expect(await deposit(sender, vaultAddress, userAddress, '7000000')).toBe(false)
      expect(await balanceOf(chain, vaultAddress)).toBeGreaterThan(before)
    },
  )

  const oneByOne = Object.entries(senders).filter(([name]) => name !== 'sendCalls')
  const to = '0x00000000000000000000000000000000000000aa'
  const call = { to, data: '0x', value: 0n } as const

  test.for(oneByOne)('with %s reports a reverted transaction', async ([, open], { service, load }) => {
    const sender = await open(service, load)
    const { chain } = placeOf(service, 'sync')
    // This bytecode makes every call to the recipient revert.
    const refuse = () => callRpc(chain, [{ method: 'anvil_setCode', params: [to, '0x5f5ffd'] }])
    const hash = await mineAfter(chain, async () => (await sender.send?.(call, base.id, userAddress)) ?? '0x', refuse)
    await callRpc(chain, [{ method: 'anvil_setCode', params: [to, '0x'] }])
    expect(await sender.wait(hash, base.id)).toMatchObject({ status: 'reverted', transactionHash: hash })
  })

  test.for(oneByOne)('with %s sends only from the account of the request', async ([, open], { service, load }) => {
    const sender = await open(service, load)
    await expect(sender.send?.(call, base.id, to)).rejects.toThrow()
  })

  test.for(oneByOne)('with %s reports that its user cancelled the transaction', async ([, open], { service, load }) => {
    const sender = await open(service, load)
    const { chain } = placeOf(service, 'sync')
    let waiting: Promise<unknown> | undefined
    await mineAfter(
      chain,
      async () => (await sender.send?.(call, base.id, userAddress)) ?? '0x',
      async (hash) => {
        waiting = sender.wait(hash, base.id)
        const [sent] = await callRpc(chain, [{ method: 'eth_getTransactionByHash', params: [hash] }])
        const { nonce, maxFeePerGas } = sent as { nonce: Hex; maxFeePerGas: Hex }
        const fee = numberToHex(BigInt(maxFeePerGas) * 2n)
        const replacement = { from: userAddress, to: userAddress, nonce, maxFeePerGas: fee, maxPriorityFeePerGas: fee }
        await setTimeout(200)
        await callRpc(chain, [{ method: 'eth_sendTransaction', params: [replacement] }])
      },
    )
    expect(await waiting).toMatchObject({ status: 'cancelled' })
  })
})

describe('A wallet that takes several calls in one request', () => {
  const open = async (service: Service, load: Load, habits: BatchWalletBehaviour) => {
    const { chain, vaultAddress } = placeOf(service, 'sync')
    const wallet = createBatchWallet(chain, userAddress, habits)
    const transport = custom(wallet.provider, { retryCount: 0 })
    const { batchSender } = await load('batch-sender.ts')
    const { deposit } = await load('deposit.ts')
    const sender: Sender = await batchSender(
      createClient({ account: userAddress, chain: base, transport, pollingInterval: 5 }),
    )
    return { ...wallet, sender, vaultAddress, deposit: () => deposit(sender, vaultAddress, userAddress, '3000000') }
  }
  const sendings = (requestedMethods: readonly string[]) => requestedMethods.filter((method) => /send/i.test(method))

  test('signs once if it is atomic, also after an upgrade of the account', async ({ service, load }) => {
    for (const atomic of ['supported', 'ready'] as const) {
      const { requestedMethods, deposit } = await open(service, load, { atomic })
      expect(await deposit()).toBe(false)
      expect(sendings(requestedMethods)).toEqual(['wallet_sendCalls'])
    }
  })

  test('gets call by call if it is not atomic or predates EIP-5792', async ({ service, load }) => {
    for (const habits of [{ atomic: 'unsupported' }, { isOld: true }] as const) {
      const { requestedMethods, deposit } = await open(service, load, habits)
      expect(await deposit()).toBe(false)
      expect(sendings(requestedMethods)).toEqual(['eth_sendTransaction', 'eth_sendTransaction'])
    }
  })

  test('takes the response’s list of calls unchanged', async ({ service, load }) => {
    const { chain, vaultAddress } = placeOf(service, 'sync')
    const { sendCalls } = await load('send-calls.ts')
    const { client } = await load('client.ts')
    const { provider } = createBatchWallet(chain, userAddress)
    const prepared = orThrow(await prepareDeposit(client, { vaultAddress, userAddress, amount: '3000000' }))
    expect(prepared.calls).toMatchObject({ atomicRequired: true, calls: [{}, {}] })
    const before = await balanceOf(chain, vaultAddress)
    const id = await sendCalls(provider, prepared)
    const wallet = createClient({ account: userAddress, chain: base, transport: custom(provider), pollingInterval: 5 })
    expect(await waitForCallsStatus(wallet, { id })).toMatchObject({ statusCode: 200, atomic: true })
    expect(await balanceOf(chain, vaultAddress)).toBeGreaterThan(before)
  })

  test('reports a batch that was not executed or only in part', async ({ service, load }) => {
    for (const code of [400, 500] as const) {
      const { deposit } = await open(service, load, { code })
      await expect(deposit()).rejects.toThrow('is reverted')
    }
    const { deposit } = await open(service, load, { code: 600 })
    await expect(deposit()).rejects.toThrow('has executed a part')
  })

  test('leaves the steps unchanged if its user rejects them', async ({ service, load }) => {
    for (const rejects of [4001, 5750]) {
      const { sender, vaultAddress } = await open(service, load, { rejects })
      const { client } = await load('client.ts')
      const flow = createFlow(client, 'deposit', { vaultAddress, userAddress, amount: '3000000' })
      onTestFinished(flow.subscribe(() => {}))
      await expect.poll(() => flow.getState().status).toBe('ready')
      await flow.next(sender)
      expect(flow.getState()).toMatchObject({ status: 'ready', error: undefined, current: { status: 'todo' } })
    }
  })
})

describe('In an asynchronous vault', () => {
  test('a deposit is followed to its settlement, and claimed', async ({ service, load }) => {
    const { chain, vaultAddress } = placeOf(service, 'async')
    const place = { vaultAddress, userAddress }
    const { viemSender } = await load('viem-sender.ts')
    const { deposit } = await load('deposit.ts')
    const { followDeposit } = await load('follow-deposit.ts')
    const { listPending } = await load('pending-deposits.ts')
    const { claim } = await load('claim.ts')
    const sender = viemSender(walletsOn(service))
    expect(await deposit(sender, vaultAddress, userAddress, '9000000')).toBe(true)
    expect(await listPending(userAddress)).toEqual([
      { vaultName: expect.any(String), assets: 9_000_000n, since: expect.any(Date) },
    ])
    settleAtOnce(chain, vaultAddress)
    const shown: string[] = []
    expect(await followDeposit(place, (text: string) => shown.push(text))).toBe('claimable')
    expect(shown.length).toBeGreaterThan(1)
    const before = await balanceOf(chain, vaultAddress)
    await claim(sender, place)
    expect(await balanceOf(chain, vaultAddress)).toBeGreaterThan(before)
  })

  test('a request is cancelled, and a withdrawal is claimed after its settlement', async ({ service, load }) => {
    const { chain, vault, vaultAddress } = placeOf(service, 'async')
    const place = { vaultAddress, userAddress }
    const { viemSender } = await load('viem-sender.ts')
    const { deposit } = await load('deposit.ts')
    const { claim, cancel } = await load('claim.ts')
    const { withdraw } = await load('withdraw.ts')
    const { finishWithdrawal } = await load('follow-withdrawal.ts')
    const sender = viemSender(walletsOn(service))
    const balanceBefore = await balanceOf(chain, vault.asset)
    await deposit(sender, vaultAddress, userAddress, '4000000')
    expect(await cancel(sender, place)).toBe(false)
    expect(await balanceOf(chain, vault.asset)).toBe(balanceBefore)

    await deposit(sender, vaultAddress, userAddress, '4000000')
    await settleRequests(chain, vaultAddress)
    await claim(sender, place)
    const between = await balanceOf(chain, vault.asset)
    expect(await withdraw(sender, place, { max: true })).toMatchObject({ isAsync: true, isEstimate: true })
    settleAtOnce(chain, vaultAddress)
    expect(await finishWithdrawal(sender, place)).toBe('withdrawn')
    expect(await balanceOf(chain, vault.asset)).toBeGreaterThan(between)
  })
})

describe('Between chains', () => {
  /** Makes the bridge's relayer fill a transfer as soon as the client requests its status. */
  function fillAtOnce({ backends: { relayer } }: Service) {
    const { fetch } = globalThis
    onTestFinished(() => {
      globalThis.fetch = fetch
    })
    globalThis.fetch = async (url, init) => {
      const response = await fetch(url, init)
      const text = await response.text()
      const transactionHash = /cross-chain\/(0x\w+)/.exec(String(url))?.[1] as Hash | undefined
      if (transactionHash && text.includes('"bridging"')) {
        for (const { deposit } of await relayer.listDeposits({ transactionHash })) await relayer.fill(deposit)
      }
      return new Response(text.replace(/("nextPollAfterMs":)\d+/, '$11'), response)
    }
  }

  test('a deposit is paid on the other chain if the user agrees to the quote', async ({ service, load }) => {
    const { chain, vaultAddress } = placeOf(service, 'sync')
    const { viemSender } = await load('viem-sender.ts')
    const { depositFrom } = await load('deposit-from.ts')
    const { followTransfer } = await load('follow-transfer.ts')
    const sender = viemSender(walletsOn(service))
    const there = service.backends.chains.find(({ chainId }) => chainId === arbitrum.id)
    const srcToken = there?.tokens.find(({ symbol }) => symbol === 'USDC')?.address
    const srcChainId = arbitrum.id
    const request = { vaultAddress, userAddress, amount: '20000000', srcChainId, srcToken }
    expect(await depositFrom(sender, request, async () => false)).toBeUndefined()
    const { now } = Date
    const wait = async () => {
      Date.now = () => now() + 86_400_000
      return true
    }
    await expect(depositFrom(sender, request, wait)).rejects.toThrow('has expired')
    Date.now = now

    const txHash = await depositFrom(sender, request, async () => true)
    const before = await balanceOf(chain, vaultAddress)
    fillAtOnce(service)
    expect(await followTransfer({ txHash, srcChainId, userAddress }, () => {})).toBe('in the vault')
    expect(await balanceOf(chain, vaultAddress)).toBeGreaterThan(before)
  })

  test('a withdrawal is paid out on the other chain', async ({ service, load }) => {
    const { vaultAddress } = placeOf(service, 'sync')
    const { viemSender } = await load('viem-sender.ts')
    const { deposit } = await load('deposit.ts')
    const { withdraw, withdrawTo } = await load('withdraw.ts')
    const { followTransfer } = await load('follow-transfer.ts')
    const sender = viemSender(walletsOn(service))
    const place = { vaultAddress, userAddress }
    await deposit(sender, vaultAddress, userAddress, '30000000')
    expect(await withdraw(sender, place, { amount: '1000000' })).toMatchObject({ assets: '1000000', isAsync: false })
    const there = service.backends.chains.find(({ chainId }) => chainId === arbitrum.id)
    const dstToken = there?.tokens.find(({ symbol }) => symbol === 'USDC')?.address
    const txHash = await withdrawTo(sender, place, { amount: '20000000' }, { dstChainId: arbitrum.id, dstToken })
    fillAtOnce(service)
    const arrived = await followTransfer({ txHash, srcChainId: base.id, userAddress }, () => {})
    expect(arrived).toBe('in the wallet, on the destination')
  })

  test('the guide reports where the money is, and admits what is unknown', async ({ load }) => {
    const { whereTheMoneyIs } = await load('follow-transfer.ts')
    const of = (reason: GetTransferStatusResponse['reason'], status = 'failed') => whereTheMoneyIs({ status, reason })
    expect(of('refunded')).toBe('in the wallet, on the source chain')
    expect(of('source_reverted')).toBe('in the wallet, on the source chain')
    expect(of('no_deposit_in_transaction')).toContain('another deposit of the same transaction')
    expect(of('destination_action_failed')).toBe('in the wallet, on the destination')
    expect(of('destination_not_followed', 'bridging')).toContain('not followed here')
    expect(of(null, 'bridging')).toBe('on its way')
    expect(of('undelivered')).toContain('anyone can take it')
    expect(whereTheMoneyIs({ status: 'failed', reason: 'expired', refund: { claim: {} } })).toContain('until the user')
    expect(of('expired')).toBe('with the bridge, which pays it back')
    expect(whereTheMoneyIs({ status: 'failed', reason: 'expired', terminal: true })).toContain('not known')
    expect(of('refund_not_found')).toContain('not known')
  })
})

describe('A wallet’s server', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const event = {
    id: 'evt_1',
    type: 'deposit.claimable',
    final: false,
    sequence: 1,
    data: { userAddress, entry: null },
  }
  const deliver = (url: string, signer = secret, delivered: { readonly id: string } = event) => {
    const body = JSON.stringify(delivered)
    return new Request(url, { method: 'POST', headers: signedHeaders(signer, delivered.id, body), body })
  }
  const trial = { id: 'evt_2', type: 'webhook.test', data: { webhookId: 'wh_1' } }
  const another = `whsec_${Buffer.alloc(32, 8).toString('base64')}`

  test('gets the service’s deliveries and lists missed events', async ({ service, load, guides }) => {
    const { register }: Snippet = await load('register-webhook.ts')
    const { apiKey, baseUrl } = service
    const port = await freePort()
    const { id, secret } = await register(apiKey, `http://127.0.0.1:${port}/webhooks`)
    const env = { API_URL: baseUrl, API_KEY: apiKey, WEBHOOK_SECRET: secret }
    const { database, restart } = await startReceiver({ folder: guides.folder, env, port })
    await publishAndDeliver(service, parseApiKey(apiKey)?.clientId ?? '', [someWebhookEvent('a')])
    expect((await service.call('POST', `/webhooks/${id}/test`)).body).toMatchObject({ delivered: true })
    expect((await service.call('GET', '/webhooks')).body.webhooks).toMatchObject([{ delivery: { lastFailure: null } }])
    await restart()
    await expect.poll(() => database.prepare('select sequence from progress').get()).toEqual({ sequence: 1 })
  })

  test('with web-standard requests accepts signed deliveries and refuses others', async ({ load }) => {
    const { handleDelivery }: Snippet = await load('webhook-handler.ts')
    const storedEvents: unknown[] = []
    const send = async (signer = secret, delivered: { readonly id: string } = event) => {
      const request = deliver('https://wallet.example', signer, delivered)
      return (await handleDelivery(request, secret, async (one: unknown) => storedEvents.push(one))).status
    }
    expect([await send(), await send(another), await send(secret, trial)]).toEqual([204, 401, 204])
    expect(storedEvents).toEqual([event])
  })

  test('notifies a user once of a claimable amount and ignores unknown types', async ({ load }) => {
    const { messageOf }: Snippet = await load('tell-user.ts')
    const ids = new Set<string>()
    const table = { insertIfNew: async (id: string) => !ids.has(id) && ids.add(id) !== undefined }
    const tell = (overrides: object) => messageOf({ ...event, final: true, ...overrides }, table)
    expect(await tell({ final: false })).toBeUndefined()
    expect(await tell({})).toEqual({ to: userAddress, text: 'Your shares can be claimed.' })
    expect(await tell({})).toBeUndefined()
    expect(await tell({ id: 'evt_3', type: 'withdrawal.claimable' })).toMatchObject({ to: userAddress })
    expect(await tell({ id: 'evt_4', type: 'withdrawal.completed' })).toMatchObject({ to: userAddress })
    expect(await tell({ id: 'evt_5', type: 'deposit.blessed' })).toBeUndefined()
  })
})

test('An error is logged without the user’s data and explained in words', async ({ load }) => {
  const { report } = await load('report.ts')
  const lines: string[] = []
  const error = { code: 'vault_is_paused', status: 409, requestId: 'r-1', message: 'For you.', details: [] }
  expect(report(error, (line: string) => lines.push(line))).toContain('paused')
  expect(lines).toEqual(['{"code":"vault_is_paused","status":409,"requestId":"r-1"}'])
})
