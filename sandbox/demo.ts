import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, formatUnits, type Hex, http, parseUnits } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { getTransactionReceipt, sendTransaction } from 'viem/actions'
import { playAccount, type Stage } from './demos/account.ts'
import { playPortfolio } from './demos/portfolio.ts'
import { type LocalState, readState } from './start/state.ts'

/** What the demo reads of the service's answers. */
type Transaction = { to: Hex; data: Hex; value: string }
type Deposit = { approval: Transaction[]; operations: Transaction[]; estimatedGas: string; isAsync: boolean }
type Claim = Deposit & { claimable: { assets: string; shares: string } }
type TransferStatus = { status: string; statusDescription: string; terminal: boolean; nextPollAfterMs: number | null }
type Status = { status: string; statusDescription: string; amounts: Record<string, string> }
type Vault = { poolAddress: Hex; chainId: number; name: string; type: string; depositTokenAddress: Hex; APY: string }

/** The demos by name. */
const DEMOS: Record<string, (state: LocalState) => Promise<void>> = {
  'same-chain': async (state) => await playSameChain(state, await listVaults(state)),
  'cross-chain': async (state) => await playCrossChain(state, await listVaults(state)),
  account: (state) => playAccount(stageOf(state), userOf(state)),
  portfolio: (state) => playPortfolio(stageOf(state), userOf(state)),
}
const PATIENCE_MS = 60_000
const startedAt = Date.now()

try {
  await play(await readState())
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}

async function play(state: LocalState): Promise<void> {
  const name = process.argv[2] ?? 'same-chain'
  const demo = DEMOS[name]
  if (!demo) throw new Error(`There is no demo ${name}; there is ${Object.keys(DEMOS).join(', ')}.`)

  await demo(state)
  say('Done.')
}

function stageOf(state: LocalState): Stage {
  return { call: (...request) => call(state, ...request), say }
}

async function listVaults(state: LocalState): Promise<readonly Vault[]> {
  const { data: vaults } = await call<{ data: Vault[] }>(state, 'GET', '/defi-vaults/v1/vaults')
  say(`GET vaults: ${vaults.length} vaults on ${new Set(vaults.map(({ chainId }) => chainId)).size} chains`)
  return vaults
}

async function playSameChain(state: LocalState, vaults: readonly Vault[]): Promise<void> {
  const sync = find(vaults, 'Cove')
  heading(`A deposit into ${sync.name}: shares at once`)
  await deposit(state, sync, '250')

  const async = find(vaults, 'Harbor')
  heading(`A deposit into ${async.name}: shares after the curator's settlement`)
  await deposit(state, async, '1000')
  await waitForSettlement(state, async)
  await claim(state, async)
}

async function playCrossChain(state: LocalState, vaults: readonly Vault[]): Promise<void> {
  const vault = find(vaults, 'Harbor')
  const { symbol } = tokenOf(state, vault)
  const token = state.tokens.find((candidate) => candidate.chainId === 42161 && candidate.symbol === symbol)
  if (!token) throw new Error(`There is no ${symbol} on Arbitrum.`)

  heading(`A deposit of ${symbol} on Arbitrum into ${vault.name} on Base`)
  const hash = await deposit(state, vault, '500', { srcChainId: token.chainId, srcToken: token.address })
  await waitForTransfer(state, token.chainId, hash)
  await waitForSettlement(state, vault)
  await claim(state, vault)
}

async function waitForTransfer(state: LocalState, chainId: number, hash: Hex): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  for (let last = ''; ; ) {
    if (Date.now() > deadline) throw new Error('The transfer did not arrive in time.')
    const path = `/defi-vaults/v1/defi/cross-chain/${hash}/status?srcChainId=${chainId}`
    const { status, statusDescription, terminal } = await call<TransferStatus>(state, 'GET', path)
    if (status !== last) say(`GET cross-chain status: ${status}. ${statusDescription}`)
    if (terminal) return
    last = status
    await sleep(500)
  }
}

function find(vaults: readonly Vault[], name: string): Vault {
  const vault = vaults.find((candidate) => candidate.name.startsWith(name))
  if (!vault) throw new Error(`The demo vault ${name} is not there.`)
  return vault
}

/** Deposits whole tokens, and gives the hash of the last transaction. */
async function deposit(
  state: LocalState,
  vault: Vault,
  wholeTokens: string,
  source?: { srcChainId: number; srcToken: Hex },
): Promise<Hex> {
  const { decimals, symbol } = tokenOf(state, vault)
  const prepared = await call<Deposit>(state, 'POST', '/defi-vaults/v1/defi/vault/deposit', {
    vaultAddress: vault.poolAddress,
    amount: parseUnits(wholeTokens, decimals).toString(),
    userAddress: userOf(state).address,
    ...source,
  })
  const counts = `${prepared.approval.length} approval, ${prepared.operations.length} operation`
  say(`POST deposit of ${wholeTokens} ${symbol}: ${counts}, about ${prepared.estimatedGas} gas`)
  const chainId = source?.srcChainId ?? vault.chainId
  for (const transaction of prepared.approval) await send(state, chainId, 'approval', transaction)
  const [operation] = prepared.operations
  if (!operation) throw new Error('There is no operation.')
  return await send(state, chainId, 'operation', operation)
}

async function waitForSettlement(state: LocalState, vault: Vault): Promise<void> {
  say(`The curator settles every ${state.curator.settlesEverySeconds} s …`)
  const deadline = Date.now() + PATIENCE_MS
  let last = ''
  while (last !== 'claimable') {
    if (Date.now() > deadline) throw new Error('The deposit was not settled in time.')
    const { status, statusDescription } = await statusOf(state, vault)
    if (status !== last) say(`GET deposit-status: ${status}. ${statusDescription}`)
    last = status
    await sleep(1000)
  }
}

async function claim(state: LocalState, vault: Vault): Promise<void> {
  const prepared = await call<Claim>(state, 'POST', '/defi-vaults/v1/defi/vault/claim', {
    vaultAddress: vault.poolAddress,
    userAddress: userOf(state).address,
  })
  say(`POST claim: ${formatUnits(BigInt(prepared.claimable.shares), 18)} shares`)
  for (const transaction of prepared.operations) await send(state, vault.chainId, 'claim', transaction)
  const { status, statusDescription } = await statusOf(state, vault)
  say(`GET deposit-status: ${status}. ${statusDescription}`)
}

function statusOf(state: LocalState, { poolAddress }: Vault): Promise<Status> {
  const { address } = userOf(state)
  return call(state, 'GET', `/defi-vaults/v1/defi/vault/${poolAddress}/deposit-status?userAddress=${address}`)
}

/** Signs and sends a transaction just as the service returned it, and waits until it is mined. */
async function send(state: LocalState, chainId: number, what: string, { to, data, value }: Transaction): Promise<Hex> {
  const rpcUrl = state.chains.find((chain) => chain.chainId === chainId)?.rpcUrl
  const wallet = createClient({ account: privateKeyToAccount(userOf(state).privateKey), transport: http(rpcUrl) })
  const hash = await sendTransaction(wallet, { to, data, value: BigInt(value), chain: null })
  let receipt = await getTransactionReceipt(wallet, { hash }).catch(() => undefined)
  while (!receipt) {
    await sleep(100)
    receipt = await getTransactionReceipt(wallet, { hash }).catch(() => undefined)
  }
  if (receipt.status === 'reverted') throw new Error(`The ${what} ${hash} reverted.`)
  say(`Sent the ${what}: mined in block ${receipt.blockNumber}, ${receipt.gasUsed} gas`)
  return hash
}

async function call<T>(
  { baseUrl, apiKey }: LocalState,
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
): Promise<T> {
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { 'x-join-key': apiKey, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  // Some answers have no body.
  return JSON.parse(text || 'null')
}

function userOf({ accounts }: LocalState) {
  const [user] = accounts
  if (!user) throw new Error('There is no funded account.')
  return user
}

function tokenOf({ tokens }: LocalState, { depositTokenAddress, chainId }: Vault) {
  const token = tokens.find((candidate) => candidate.address === depositTokenAddress && candidate.chainId === chainId)
  if (!token) throw new Error('The deposit token is not there.')
  return token
}

function heading(text: string): void {
  process.stdout.write(`\n${text}\n`)
}

function say(text: string): void {
  process.stdout.write(`${((Date.now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${text}\n`)
}
