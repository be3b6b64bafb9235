import {
  type Address,
  BaseError,
  type ContractFunctionName,
  ContractFunctionRevertedError,
  encodeFunctionData,
  type Hash,
  parseUnits,
  type TransactionReceipt,
} from 'viem'
import { readContract, simulateContract } from 'viem/actions'
import { expect } from 'vitest'
import { ACCOUNTS, type LocalAccount } from '../../sandbox/accounts.ts'
import { settleRequests } from '../../sandbox/curator.ts'
import {
  type AsyncVaultOptions,
  deployAsyncVault,
  deployLagoonVault,
  deployYieldVault,
  type LagoonGeneration,
  type LagoonRates,
  type LagoonVaultOptions,
  upgradeLagoonVault,
  type YieldVaultKind,
} from '../../sandbox/deploy.ts'
import { callRpc } from '../../sandbox/rpc.ts'
import { transact } from '../../sandbox/transactions.ts'
import { ASYNC_VAULT_ABI } from '../sandbox/async-vault-abi.ts'
import { createChainClient } from './chain-client.ts'
import { buildTransaction, TOKEN_ABI, VAULT_ABI, WETH } from './oracles.ts'
import type { HttpReply, Service, UnsignedTransaction } from './service.ts'

/** Tokens of the local chains. USDT is the variant whose functions return nothing; WETH is wrapped ether. */
export type Asset = 'USDC' | 'DAI' | 'USDT' | 'WETH'

const DECIMALS = { USDC: 6, DAI: 18, USDT: 6, WETH: 18 } as const

type Write = ContractFunctionName<typeof VAULT_ABI, 'payable' | 'nonpayable'>
type View = ContractFunctionName<typeof VAULT_ABI, 'view' | 'pure'>

/** Accounts with special permissions in every test vault. */
export const ROLES = {
  admin: ACCOUNTS.admin.address,
  safe: ACCOUNTS.safe.address,
  valuationManager: ACCOUNTS.valuationManager.address,
  feeReceiver: ACCOUNTS.feeReceiver.address,
}

/**
 * New vault with an API client that has only this vault. `TestVault` has functions for the client's requests and for contract
 * calls.
 */
export type TestVault = ReturnType<typeof testVault>

type Place = { readonly chainId?: number; readonly asset?: Asset }
type LagoonOptions = Place & Pick<LagoonVaultOptions, 'generation' | 'whitelisted' | 'hasBeacon'> & Partial<LagoonRates>

/** Deploys a Lagoon vault, by default on Base with USDC. Creates an API client that has only this vault. */
export async function openLagoonVault(service: Service, options: LagoonOptions): Promise<TestVault> {
  const { chainId = 8453, asset = 'USDC', ...rest } = options
  const { chain, token } = placeOf(service, chainId, asset)
  const name = `Lagoon ${options.generation} ${asset}`
  const address = await deployLagoonVault(chain, { ...rest, asset: token, name, symbol: 'LV' })
  return testVault(service, { chain, token, asset, address, key: await service.createClient([{ chainId, address }]) })
}

/**
 * Deploys a synchronous vault, by default a plain ERC-4626 vault on Base with USDC. Creates an API client that has only this
 * vault.
 */
export async function openYieldVault(
  service: Service,
  { chainId = 8453, asset = 'USDC', make = 'plain' }: Place & { readonly make?: YieldVaultKind } = {},
) {
  const { chain, token } = placeOf(service, chainId, asset)
  const address = await deployYieldVault(chain, { make, asset: token, name: `Savings ${asset}`, symbol: 'YV' })
  return testVault(service, { chain, token, asset, address, key: await service.createClient([{ chainId, address }]) })
}

/**
 * Deploys an ERC-7540 vault that is not Lagoon's, by default on Base with USDC. Creates an API client that has only this vault.
 */
export async function openAsyncVault(service: Service, options: AsyncOptions) {
  const { chainId = 8453, asset = 'USDC', ...rest } = options
  const { chain, token } = placeOf(service, chainId, asset)
  const named = { name: `Async ${asset}`, symbol: 'AV' }
  const address = await deployAsyncVault(chain, { ...rest, asset: token, ...named })
  const vault = testVault(service, {
    chain,
    token,
    asset,
    address,
    key: await service.createClient([{ chainId, address }]),
  })
  const client = createChainClient(chain)
  const share = await readContract(client, { address, abi: ASYNC_VAULT_ABI, functionName: 'share' })
  const encode = (functionName: AsyncWrite, args: readonly unknown[]) =>
    // The cast is needed because viem infers arguments only from a literal function name.
    encodeFunctionData({ abi: ASYNC_VAULT_ABI, functionName, args } as never)
  const transactOn = (from: Address, to: Address, functionName: AsyncWrite, args: readonly unknown[]) =>
    transact(chain, [{ label: functionName, from, to, data: encode(functionName, args) }])
  const readOn = (at: Address, functionName: AsyncView, args: readonly unknown[]) =>
    // The cast is needed because viem infers arguments only from a literal function name.
    readContract(client, { address: at, abi: ASYNC_VAULT_ABI, functionName, args } as never) as Promise<bigint>
  return {
    ...vault,
    /** Token contract of the vault's shares. A vault of the kind `redemptions` is its own share token. */
    share,
    encode,
    act: (from: Address, functionName: AsyncWrite, ...args: readonly unknown[]) =>
      transactOn(from, address, functionName, args),
    actOnShare: (from: Address, functionName: AsyncWrite, ...args: readonly unknown[]) =>
      transactOn(from, share, functionName, args),
    read: (functionName: AsyncView, ...args: readonly unknown[]) => readOn(address, functionName, args),
    sharesOf: (account: Address) => readOn(share, 'balanceOf', [account]),
  }
}
type AsyncOptions = Place & Pick<AsyncVaultOptions, 'make' | 'shareDecimals'>
type AsyncWrite = ContractFunctionName<typeof ASYNC_VAULT_ABI, 'payable' | 'nonpayable'>
type AsyncView = ContractFunctionName<typeof ASYNC_VAULT_ABI, 'view' | 'pure'>
/** ERC-7540 vault that is not Lagoon's, with an API client of its own. */
export type TestAsyncVault = Awaited<ReturnType<typeof openAsyncVault>>

function placeOf(service: Service, chainId: number, asset: Asset) {
  const chain = service.backends.chains.find((candidate) => candidate.chainId === chainId)
  const token = asset === 'WETH' ? WETH[chainId] : chain?.tokens.find(({ symbol }) => symbol === asset)?.address
  if (!chain || !token) throw new Error(`There is no ${asset} on a chain ${chainId}`)
  return { chain, token }
}

type Setting = ReturnType<typeof placeOf> & { readonly asset: Asset; readonly address: Address; readonly key: string }

function testVault(service: Service, { chain, token, asset, address, key }: Setting) {
  const { chainId } = chain
  const client = createChainClient(chain)
  const call = (method: string, path: string, body?: unknown) =>
    service.call(method, `/defi-vaults/v1${path}`, { key, ...(body !== undefined && { body }) })
  const onVault = (from: Address, functionName: Write, args: readonly unknown[]) =>
    buildTransaction(from, address, functionName, args)
  const onToken = (from: Address, functionName: 'mint' | 'approve', to: Address, amount: bigint) =>
    buildTransaction(from, token, functionName, [to, amount])
  const tokenView = (functionName: 'balanceOf' | 'allowance', args: readonly Address[]) =>
    // The cast is needed because viem infers arguments only from a literal function name.
    readContract(client, { address: token, abi: TOKEN_ABI, functionName, args } as never) as Promise<bigint>

  return {
    chain,
    address,
    key,
    asset,
    token,

    /** Lists the client's vaults. Cached chain reads expire first, so the vaults are up to date. */
    list: () => {
      service.pass(0.5)
      return call('GET', '/vaults')
    },
    deposit: ({ address: userAddress }: Pick<LocalAccount, 'address'>, amount: bigint, more: object = {}) =>
      call('POST', '/defi/vault/deposit', { vaultAddress: address, amount: `${amount}`, userAddress, ...more }),
    claim: ({ address: userAddress }: Pick<LocalAccount, 'address'>, vaultAddress: string = address) =>
      call('POST', '/defi/vault/claim', { vaultAddress, userAddress }),
    claimWithdrawal: ({ address: userAddress }: Pick<LocalAccount, 'address'>, more: object = {}) =>
      call('POST', '/defi/vault/claim', { vaultAddress: address, userAddress, kind: 'withdrawal', ...more }),
    cancel: ({ address: userAddress }: Pick<LocalAccount, 'address'>, kind?: 'deposit' | 'withdrawal') =>
      call('POST', '/defi/vault/cancel', { vaultAddress: address, userAddress, kind }),
    withdraw: ({ address: userAddress }: Pick<LocalAccount, 'address'>, amount: object) =>
      call('POST', '/defi/vault/withdraw', { vaultAddress: address, userAddress, ...amount }),
    status: ({ address: userAddress }: Pick<LocalAccount, 'address'>, vaultAddress: string = address) =>
      call('GET', `/defi/vault/${vaultAddress}/deposit-status?userAddress=${userAddress}`),
    withdrawStatus: ({ address: userAddress }: Pick<LocalAccount, 'address'>) =>
      call('GET', `/defi/vault/${address}/withdraw-status?userAddress=${userAddress}`),

    /**
     * Signs and sends the transactions in the service's reply, in order. Returns all receipts, also of reverted transactions.
     */
    send(user: LocalAccount, { body }: HttpReply): Promise<TransactionReceipt[]> {
      const transactions: UnsignedTransaction[] = [...body.approval, ...body.operations]
      return service.send(chainId, user, transactions)
    },

    units: (whole: string) => parseUnits(whole, DECIMALS[asset]),
    /** Sends a vault call from a local account and mines it. Throws if the transaction reverts. */
    act: (from: Address, functionName: Write, ...args: readonly unknown[]) =>
      transact(chain, [onVault(from, functionName, args)]),
    approve: (from: Address, amount: bigint) => transact(chain, [onToken(from, 'approve', address, amount)]),
    mint: (to: Address, amount: bigint) => transact(chain, [onToken(ROLES.admin, 'mint', to, amount)]),
    /** Mints tokens to the owner, who then requests a vault deposit directly on the chain. */
    request: (owner: Address, amount: bigint, controller = owner) =>
      transact(chain, [
        onToken(owner, 'mint', owner, amount),
        onToken(owner, 'approve', address, amount),
        onVault(owner, 'requestDeposit', [amount, controller, owner]),
      ]),
    /** Sets the vault's valuation to its assets plus `gain` and settles the pending requests. */
    settle: (gain = 0n) => settleRequests(chain, address, { gain }),
    /** Settles like `settleRequests`. Afterwards the valuation stays valid for a day, so that deposits are instant. */
    async settleForADay(gain = 0n) {
      await transact(chain, [onVault(ROLES.safe, 'updateTotalAssetsLifespan', [86_400n])])
      return settleRequests(chain, address, { gain })
    },
    upgrade: (generation: LagoonGeneration) => upgradeLagoonVault(chain, address, generation),
    destroy: () => callRpc(chain, [{ method: 'anvil_setCode', params: [address, '0x'] }]),

    read: (functionName: View, ...args: readonly unknown[]) =>
      // The cast is needed because viem infers arguments only from a literal function name.
      readContract(client, { address, abi: VAULT_ABI, functionName, args } as never) as Promise<bigint>,
    balanceOf: (account: Address) => tokenView('balanceOf', [account]),
    allowance: (owner: Address) => tokenView('allowance', [owner, address]),
    /**
     * Returns the name of the contract error with which this vault call would revert. Undefined means that the call would
     * succeed.
     */
    async refusal(from: Address, functionName: Write, ...args: readonly unknown[]): Promise<string | undefined> {
      try {
        // The cast is needed because viem infers arguments only from a literal function name.
        await simulateContract(client, { address, abi: VAULT_ABI, functionName, args, account: from } as never)
        return undefined
      } catch (error) {
        const reverted = error instanceof BaseError && error.walk((e) => e instanceof ContractFunctionRevertedError)
        if (!(reverted instanceof ContractFunctionRevertedError)) throw error
        return reverted.data?.errorName ?? reverted.signature ?? 'no reason'
      }
    },
  }
}

/** Asserts that there are transactions and that none of them reverted. */
export function expectSuccess(receipts: readonly { readonly status: string; readonly transactionHash: Hash }[]): void {
  expect(receipts.length).toBeGreaterThan(0)
  expect(receipts.map(({ status }) => status)).toEqual(receipts.map(() => 'success'))
}

/** Asserts that `estimatedGas` in a reply is between 100 % and 130 % of the gas that the transactions used. */
export function expectFairGas({ body }: HttpReply, receipts: readonly TransactionReceipt[]): void {
  const used = receipts.reduce((sum, { gasUsed }) => sum + gasUsed, 0n)
  expect(body.simulation).toEqual({ status: 'success' })
  expect(BigInt(body.estimatedGas)).toBeGreaterThanOrEqual(used)
  expect(BigInt(body.estimatedGas) * 10n).toBeLessThanOrEqual(used * 13n)
}

/** Returns the shares that a deposit of `assets` issues: ERC-4626's formula with Lagoon's virtual shares, minus the entry fee. */
export function sharesFor(
  assets: bigint,
  rate: { readonly totalAssets: bigint; readonly totalSupply: bigint; readonly virtualShares: bigint },
  feeBasisPoints = 0,
): bigint {
  const shares = (assets * (rate.totalSupply + rate.virtualShares)) / (rate.totalAssets + 1n)
  // The entry fee in shares is rounded up.
  return shares - (shares * BigInt(feeBasisPoints) + 9_999n) / 10_000n
}

/**
 * Replaces a vault's bytecode so that the function with this selector runs the bytecode `answer`. All other calls still reach
 * the vault's code.
 */
export async function overrideFunction(vault: Pick<TestVault, 'address' | 'chain'>, selector: string, answer: string) {
  const elsewhere = '9'.repeat(40)
  const [code] = await callRpc(vault.chain, [{ method: 'eth_getCode', params: [vault.address, 'latest'] }])
  const delegate = `365f5f375f5f365f73${elsewhere}5af43d5f5f3e6037573d5ffd5b3d5ff3`
  const program = `0x5f3560e01c63${selector}14603b57${delegate}5b${answer}`
  await callRpc(vault.chain, [
    { method: 'anvil_setCode', params: [`0x${elsewhere}`, code] },
    { method: 'anvil_setCode', params: [vault.address, program] },
  ])
}
