import {
  type Abi,
  type Address,
  BaseError,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  ContractFunctionRevertedError,
  encodeFunctionData,
  isAddressEqual,
  parseEventLogs,
  parseUnits,
} from 'viem'
import { getTransactionReceipt, readContract, simulateContract } from 'viem/actions'
import { ACCOUNTS } from '../../sandbox/accounts.ts'
import { startChain } from '../../sandbox/chains.ts'
import {
  type AsyncVaultKind,
  deployAsyncVault,
  deployLagoonVault,
  deployToken,
  deployYieldVault,
  type LagoonGeneration,
  type LagoonRates,
  type YieldVaultKind,
} from '../../sandbox/deploy.ts'
import { callRpc } from '../../sandbox/rpc.ts'
import { transact } from '../../sandbox/transactions.ts'
import { createChainClient } from '../support/chain-client.ts'
import { LAGOON_ABI } from '../support/lagoon-abi.ts'
import { TOKEN_ABI } from '../support/oracles.ts'
import { createChainSnapshotTaker, createStateRestorer } from '../support/restore.ts'
import { YIELD_VAULT_ABI } from '../support/yield-vault-abi.ts'
import { ASYNC_VAULT_ABI } from './async-vault-abi.ts'

/** Test users who own vault shares and tokens. */
export const [ALICE, BOB, CAROL] = ACCOUNTS.users.map(({ address }) => address) as [Address, Address, Address]
export const SAFE = ACCOUNTS.safe.address
export const VALUER = ACCOUNTS.valuationManager.address
export const ADMIN = ACCOUNTS.admin.address
export const FEE_RECEIVER = ACCOUNTS.feeReceiver.address

/** Converts an amount of USDC to its smallest unit. */
export const usdc = (amount: string) => parseUnits(amount, 6)

type Writes<abi extends Abi> = ContractFunctionName<abi, 'payable' | 'nonpayable'>
type Reads<abi extends Abi> = ContractFunctionName<abi, 'view' | 'pure'>

/** Starts a local chain with a token of six decimals. `stop` ends the chain. */
export async function startTokenChain() {
  const chain = await startChain({ chainId: 31337 })
  const client = createChainClient(chain)
  const token = await deployToken(chain, { name: 'USD Coin', symbol: 'USDC', decimals: 6 })

  const contractAt = <const abi extends Abi>(abi: abi, address: Address) => ({
    address,
    /** Sends a transaction and returns the events that the contract itself emitted. Throws if the transaction reverts. */
    async act<const name extends Writes<abi>>(
      from: Address,
      functionName: name,
      args: ContractFunctionArgs<abi, 'payable' | 'nonpayable', name>,
    ) {
      // The simulation reveals the name of an error. The cast is needed because viem cannot infer the arguments of an unknown
      // ABI.
      await simulateContract(client, { address, abi, functionName, args, account: from } as never)
      const data = encodeFunctionData({ abi, functionName, args } as never)
      const [hash = '0x'] = await transact(chain, [{ label: functionName, from, to: address, data }])
      const { logs } = await getTransactionReceipt(client, { hash })
      return parseEventLogs({ abi, logs, strict: false }).filter((log) => isAddressEqual(log.address, address))
    },
    /** Returns `ok` if the call would succeed now, otherwise the name of its error. */
    async outcome<const name extends Writes<abi>>(
      from: Address,
      functionName: name,
      args: ContractFunctionArgs<abi, 'payable' | 'nonpayable', name>,
    ): Promise<string> {
      const call = { address, abi, functionName, args, account: from }
      // The cast is needed because viem cannot infer the arguments of an unknown ABI.
      return refusalOf(simulateContract(client, call as never)).then((refusal) => refusal ?? 'ok')
    },
    read<const name extends Reads<abi>, const args extends ContractFunctionArgs<abi, 'view' | 'pure', name>>(
      functionName: name,
      ...args: args extends readonly unknown[] ? args : never
    ) {
      return readContract(client, { address, abi, functionName, args } as never) as Promise<
        ContractFunctionReturnType<abi, 'view' | 'pure', name, args>
      >
    },
  })
  const vaultAt = (address: Address) => contractAt(LAGOON_ABI, address)
  type Vault = ReturnType<typeof vaultAt>
  type Generated = Vault & { readonly generation?: LagoonGeneration }

  const tokenCall = (functionName: 'mint' | 'approve' | 'transfer', account: Address, amount: bigint) =>
    encodeFunctionData({ abi: TOKEN_ABI, functionName, args: [account, amount] })
  const pay = async (from: Address, to: Address, amount: bigint) => {
    await transact(chain, [
      { label: 'mint', from, to: token, data: tokenCall('mint', from, amount) },
      { label: 'approve', from, to: token, data: tokenCall('approve', to, amount) },
    ])
  }

  return {
    chain,
    client,
    token,
    stop: () => chain.stop(),
    vaultAt,
    restore: createStateRestorer([createChainSnapshotTaker(chain)]),
    async openVault(generation: LagoonGeneration, options: Partial<LagoonRates> & { whitelisted?: boolean } = {}) {
      const name = `Vault ${generation}`
      const vault = vaultAt(await deployLagoonVault(chain, { generation, asset: token, name, symbol: 'V', ...options }))
      return { ...vault, generation }
    },
    async openAsyncVault(make: AsyncVaultKind, { shareDecimals = 6 } = {}) {
      const options = { make, asset: token, name: 'Async', symbol: 'AV', shareDecimals }
      const vault = contractAt(ASYNC_VAULT_ABI, await deployAsyncVault(chain, options))
      return { ...vault, share: contractAt(ASYNC_VAULT_ABI, await vault.read('share')) }
    },
    /** Opens a synchronous vault in which Alice has deposited 100 USDC. Afterwards the vault gains 0.000007 USDC. */
    async openYieldVault(make: YieldVaultKind) {
      const vault = contractAt(
        YIELD_VAULT_ABI,
        await deployYieldVault(chain, { make, asset: token, name: make, symbol: 'YV' }),
      )
      await pay(ALICE, vault.address, usdc('100'))
      await vault.act(ALICE, 'deposit', [usdc('100'), ALICE])
      await transact(chain, [{ label: 'gain', from: ADMIN, to: token, data: tokenCall('mint', vault.address, 7n) }])
      return vault
    },
    deployVaultOn: (asset: Address) =>
      deployLagoonVault(chain, { generation: '0.6', asset, name: 'Vault', symbol: 'V' }),
    pay: (from: Address, vault: Pick<Vault, 'address'>, amount: bigint) => pay(from, vault.address, amount),
    async request(vault: Vault, user: Address, amount: bigint) {
      await pay(user, vault.address, amount)
      return vault.act(user, 'requestDeposit', [amount, user, user])
    },
    /** Proposes a valuation of the vault and settles. Since Lagoon v0.2, the settlement must repeat the valuation. */
    async settle(vault: Generated, totalAssets: bigint) {
      await vault.act(VALUER, 'updateNewTotalAssets', [totalAssets])
      return vault.act(SAFE, 'settleDeposit', vault.generation === '0.1' ? [] : [totalAssets])
    },
    /** Closes the vault at this valuation, in smallest units of the asset. */
    async close(vault: Generated, totalAssets: bigint) {
      await vault.act(ADMIN, 'initiateClosing', [])
      await vault.act(VALUER, 'updateNewTotalAssets', [totalAssets])
      return vault.act(SAFE, 'close', vault.generation === '0.1' ? [] : [totalAssets])
    },
    async pass(seconds: number) {
      await callRpc(chain, [{ method: 'evm_increaseTime', params: [seconds] }])
      await callRpc(chain, [{ method: 'evm_mine', params: [] }])
    },
    transfer: (from: Address, to: Address, amount: bigint) =>
      transact(chain, [{ label: 'transfer', from, to: token, data: tokenCall('transfer', to, amount) }]),
    approve: (from: Address, spender: Address, amount: bigint) =>
      transact(chain, [{ label: 'approve', from, to: token, data: tokenCall('approve', spender, amount) }]),
    tokensOf: (account: Address) =>
      readContract(client, { address: token, abi: TOKEN_ABI, functionName: 'balanceOf', args: [account] }),
  }
}

/** Returns the name of the custom error or panic with which a call fails. Throws if the call succeeds. */
export async function catchErrorName(call: Promise<unknown>): Promise<string> {
  const refusal = await refusalOf(call)
  if (refusal === undefined) throw new Error('The call went through')
  return refusal
}

async function refusalOf(call: Promise<unknown>): Promise<string | undefined> {
  try {
    await call
    return undefined
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    const reverted = error.walk((cause) => cause instanceof ContractFunctionRevertedError)
    if (!(reverted instanceof ContractFunctionRevertedError)) throw error
    const { data, signature, reason } = reverted
    return data ? [data.errorName, ...(data.args ?? [])].join(' ') : (signature ?? reason ?? 'no reason')
  }
}
