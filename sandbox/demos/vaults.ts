import { setTimeout as sleep } from 'node:timers/promises'
import { formatUnits, type Hex, parseUnits } from 'viem'
import {
  type Call,
  getDepositStatus,
  getTransferStatus,
  getWithdrawalStatus,
  listVaults,
  orThrow,
  type PrepareDepositResponse,
  type PrepareWithdrawalRequest,
  prepareClaim,
  prepareDeposit,
  prepareWithdrawal,
  type Result,
  toViem,
  type Vault,
} from '../../client/src/index.ts'
import type { LocalAccount } from '../accounts.ts'
import type { LocalState } from '../state.ts'
import type { DemoContext } from './account.ts'

/** Context of a vault demo, which also sends transactions. */
export type VaultDemoContext = DemoContext & {
  readonly state: LocalState
  readonly user: Hex
  readonly heading: (text: string) => void
  /**
   * Sends a transaction exactly as the API returned it, by default from the first local account. Returns the transaction's hash once it is
   * mined. Throws if the transaction reverts.
   */
  readonly send: (chainId: number, what: string, call: Call, account?: LocalAccount) => Promise<Hex>
}

type Prepared = Pick<PrepareDepositResponse, 'approval' | 'operations' | 'estimatedGas'>

const PATIENCE_MS = 60_000
const ARBITRUM = 42161

/** Deposits into a synchronous vault and into an asynchronous one. Claims the asynchronous vault's shares after its settlement. */
export async function playSameChain(stage: VaultDemoContext): Promise<void> {
  const vaults = await list(stage)
  const sync = find(vaults, 'Cove')
  stage.heading(`A deposit into ${sync.name}: instant shares`)
  await deposit(stage, sync, '250')

  const async = find(vaults, 'Harbor')
  stage.heading(`A deposit into ${async.name}: shares after the curator's settlement`)
  await deposit(stage, async, '1000')
  await claimSettled(stage, async, 'deposit')
}

/** Deposits into a vault with tokens of another chain, which the bridge transfers. */
export async function playCrossChain(stage: VaultDemoContext): Promise<void> {
  const vault = find(await list(stage), 'Harbor')
  const { address, symbol } = tokenOn(stage, ARBITRUM, vault)
  stage.heading(`A deposit of ${symbol} on Arbitrum into ${vault.name} on Base`)
  const hash = await deposit(stage, vault, '500', { srcChainId: ARBITRUM, srcToken: address })
  await followTransfer(stage, ARBITRUM, hash)
  await claimSettled(stage, vault, 'deposit')
}

/** Withdraws from a synchronous vault, to the vault's own chain and to another chain. Then withdraws from an asynchronous vault. */
export async function playWithdrawals(stage: VaultDemoContext): Promise<void> {
  const vaults = await list(stage)
  const sync = find(vaults, 'Cove')
  stage.heading(`A withdrawal from ${sync.name}: paid instantly`)
  await deposit(stage, sync, '250')
  await withdraw(stage, sync, { amount: unitsOf(stage, sync, '100') })

  const { address, symbol } = tokenOn(stage, ARBITRUM, sync)
  stage.heading(`A withdrawal of ${symbol} from ${sync.name} on Base to Arbitrum`)
  const hash = await withdraw(stage, sync, {
    amount: unitsOf(stage, sync, '50'),
    dstChainId: ARBITRUM,
    dstToken: address,
  })
  await followTransfer(stage, sync.chainId, hash)

  const async = find(vaults, 'Harbor')
  stage.heading(`A withdrawal of everything from ${async.name}: paid after the curator's settlement`)
  await deposit(stage, async, '1000')
  await claimSettled(stage, async, 'deposit')
  await withdraw(stage, async, { max: true })
  await claimSettled(stage, async, 'withdrawal')
}

async function list({ client, say }: VaultDemoContext): Promise<readonly Vault[]> {
  const { data: vaults } = orThrow(await listVaults(client))
  say(`GET vaults: ${vaults.length} vaults on ${new Set(vaults.map(({ chainId }) => chainId)).size} chains`)
  return vaults
}

function find(vaults: readonly Vault[], name: string): Vault {
  const vault = vaults.find((candidate) => candidate.name.startsWith(name))
  if (!vault) throw new Error(`The demo vault ${name} is not there.`)
  return vault
}

async function deposit(
  stage: VaultDemoContext,
  vault: Vault,
  wholeTokens: string,
  source?: { readonly srcChainId: number; readonly srcToken: Hex },
): Promise<Hex> {
  const amount = unitsOf(stage, vault, wholeTokens)
  const prepared = orThrow(await prepareDeposit(stage.client, { ...placeOf(stage, vault), amount, ...source }))
  stage.say(`POST deposit of ${wholeTokens} ${tokenOf(stage, vault).symbol}: ${describe(prepared)}`)
  return await sendAll(stage, source?.srcChainId ?? vault.chainId, prepared)
}

async function withdraw(stage: VaultDemoContext, vault: Vault, what: Partial<PrepareWithdrawalRequest>): Promise<Hex> {
  const prepared = orThrow(await prepareWithdrawal(stage.client, { ...placeOf(stage, vault), ...what }))
  const { decimals, symbol } = tokenOf(stage, vault)
  const assets = formatUnits(BigInt(prepared.withdrawal.assets ?? 0), decimals)
  const shares = formatUnits(BigInt(prepared.withdrawal.shares), vault.shareDecimals)
  const about = prepared.isAsync ? `about ${assets}` : assets
  stage.say(`POST withdraw: ${about} ${symbol} for ${shares} shares; ${describe(prepared)}`)
  return await sendAll(stage, vault.chainId, prepared)
}

async function claimSettled(stage: VaultDemoContext, vault: Vault, kind: 'deposit' | 'withdrawal'): Promise<void> {
  const place = placeOf(stage, vault)
  const follow = (isDone: (status: string) => boolean) =>
    kind === 'deposit'
      ? waitFor(
          stage,
          'deposit-status',
          () => getDepositStatus(stage.client, place),
          ({ status }) => isDone(status),
        )
      : waitFor(
          stage,
          'withdraw-status',
          () => getWithdrawalStatus(stage.client, place),
          ({ status }) => isDone(status),
        )
  stage.say(`The curator settles every ${stage.state.curator.settlesEverySeconds} s …`)
  await follow((status) => status === 'claimable')

  const prepared = orThrow(await prepareClaim(stage.client, { ...place, kind }))
  const { decimals, symbol } = tokenOf(stage, vault)
  const outcome =
    kind === 'deposit'
      ? `${formatUnits(BigInt(prepared.claimable.shares ?? 0), vault.shareDecimals)} shares`
      : `${formatUnits(BigInt(prepared.claimable.assets), decimals)} ${symbol}`
  stage.say(`POST claim: ${outcome}`)
  await sendAll(stage, vault.chainId, prepared)
  await follow((status) => status !== 'claimable')
}

async function followTransfer(stage: VaultDemoContext, srcChainId: number, txHash: Hex): Promise<void> {
  const fetchStatus = () => getTransferStatus(stage.client, { txHash, srcChainId })
  await waitFor(stage, 'cross-chain status', fetchStatus, ({ terminal }) => terminal)
}

async function waitFor<StatusResponse extends { status: string; statusDescription: string }>(
  { say }: VaultDemoContext,
  what: string,
  ask: () => Promise<Result<StatusResponse>>,
  isDone: (response: StatusResponse) => boolean,
): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  for (let last = ''; Date.now() < deadline; await sleep(500)) {
    const response = orThrow(await ask())
    if (response.status !== last) say(`GET ${what}: ${response.status}. ${response.statusDescription}`)
    last = response.status
    if (isDone(response)) return
  }
  throw new Error(`The ${what} did not change in time.`)
}

async function sendAll(stage: VaultDemoContext, chainId: number, prepared: Prepared): Promise<Hex> {
  let hash: Hex | undefined
  for (const approval of prepared.approval) await stage.send(chainId, 'approval', toViem(approval))
  for (const operation of prepared.operations) hash = await stage.send(chainId, 'operation', toViem(operation))
  if (!hash) throw new Error('There is no operation.')
  return hash
}

function placeOf({ user }: VaultDemoContext, { poolAddress }: Vault) {
  return { vaultAddress: poolAddress, userAddress: user }
}

function describe({ approval, operations, estimatedGas }: Prepared): string {
  return `${approval.length} approval, ${operations.length} operation, about ${estimatedGas} gas`
}

function unitsOf(stage: VaultDemoContext, vault: Vault, wholeTokens: string): string {
  return parseUnits(wholeTokens, tokenOf(stage, vault).decimals).toString()
}

function tokenOf({ state }: VaultDemoContext, { depositTokenAddress, chainId }: Vault) {
  const token = state.tokens.find((one) => one.address === depositTokenAddress && one.chainId === chainId)
  if (!token) throw new Error('The deposit token is not there.')
  return token
}

function tokenOn(stage: VaultDemoContext, chainId: number, vault: Vault) {
  const { symbol } = tokenOf(stage, vault)
  const token = stage.state.tokens.find((one) => one.chainId === chainId && one.symbol === symbol)
  if (!token) throw new Error(`There is no ${symbol} on chain ${chainId}.`)
  return token
}
