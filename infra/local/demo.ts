import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, formatUnits, type Hex, http, parseUnits } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { getTransactionReceipt, sendTransaction } from 'viem/actions'
import { type LocalState, readState } from './state.ts'

/** What the demo reads of the service's answers. */
type Transaction = { to: Hex; data: Hex; value: string }
type Deposit = { approval: Transaction[]; operations: Transaction[]; estimatedGas: string; isAsync: boolean }
type Claim = Deposit & { claimable: { assets: string; shares: string } }
type Status = { status: string; statusDescription: string; amounts: Record<string, string> }
type Vault = { poolAddress: Hex; chainId: number; name: string; type: string; depositTokenAddress: Hex; APY: string }

const PATIENCE_MS = 60_000
const startedAt = Date.now()

try {
  await play(await readState())
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}

async function play(state: LocalState): Promise<void> {
  const { data: vaults } = await call<{ data: Vault[] }>(state, 'GET', '/defi-vaults/v1/vaults')
  say(`GET vaults: ${vaults.length} vaults on ${new Set(vaults.map(({ chainId }) => chainId)).size} chains`)

  const onBase = vaults.filter(({ chainId }) => chainId === 8453)
  const sync = onBase.find(({ type }) => type === 'sync')
  const async = onBase.find(({ name }) => name.startsWith('Harbor'))
  if (!sync || !async) throw new Error('The demo vaults are not there.')

  heading(`A deposit into ${sync.name}: shares at once`)
  await deposit(state, sync, '250')

  heading(`A deposit into ${async.name}: shares after the curator's settlement`)
  await deposit(state, async, '1000')
  await waitForSettlement(state, async)
  await claim(state, async)
  say('Done.')
}

async function deposit(state: LocalState, vault: Vault, wholeTokens: string): Promise<void> {
  const { decimals, symbol } = tokenOf(state, vault)
  const prepared = await call<Deposit>(state, 'POST', '/defi-vaults/v1/defi/vault/deposit', {
    vaultAddress: vault.poolAddress,
    amount: parseUnits(wholeTokens, decimals).toString(),
    userAddress: userOf(state).address,
  })
  const counts = `${prepared.approval.length} approval, ${prepared.operations.length} operation`
  say(`POST deposit of ${wholeTokens} ${symbol}: ${counts}, about ${prepared.estimatedGas} gas`)
  for (const transaction of prepared.approval) await send(state, vault.chainId, 'approval', transaction)
  for (const transaction of prepared.operations) await send(state, vault.chainId, 'operation', transaction)
}

async function waitForSettlement(state: LocalState, vault: Vault): Promise<void> {
  say(`The curator settles every ${state.curator.settlesEverySeconds} s …`)
  const giveUpAt = Date.now() + PATIENCE_MS
  let last = ''
  while (last !== 'claimable') {
    if (Date.now() > giveUpAt) throw new Error('The deposit was not settled in time.')
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
async function send(state: LocalState, chainId: number, what: string, { to, data, value }: Transaction): Promise<void> {
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
}

async function call<T>({ baseUrl, apiKey }: LocalState, method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { 'x-join-key': apiKey, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return JSON.parse(text)
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
