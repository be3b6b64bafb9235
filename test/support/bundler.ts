import entryPoint from '@account-abstraction/contracts/artifacts/EntryPoint.json' with { type: 'json' }
import factory from '@account-abstraction/contracts/artifacts/SimpleAccountFactory.json' with { type: 'json' }
import {
  type Address,
  concat,
  encodeDeployData,
  encodeFunctionData,
  getCreate2Address,
  type Hash,
  type Hex,
  numberToHex,
  pad,
  parseAbi,
  parseEther,
  parseEventLogs,
  parseGwei,
} from 'viem'
import { entryPoint08Address as ENTRY_POINT, entryPoint08Abi } from 'viem/account-abstraction'
import { privateKeyToAccount } from 'viem/accounts'
import { getCode, getTransactionReceipt, readContract } from 'viem/actions'
import { ACCOUNTS, type LocalAccount } from '../../sandbox/accounts.ts'
import type { LocalChain } from '../../sandbox/chains.ts'
import { callRpc } from '../../sandbox/rpc.ts'
import { transact } from '../../sandbox/transactions.ts'
import { createChainClient } from './chain-client.ts'
import type { ContractCall } from './transfers.ts'

/**
 * CREATE2 factory contract, at the address where Anvil preinstalls it. The addresses of its deployments depend only on code and
 * salt.
 */
const DEPLOYER: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C'
/** CREATE2 salt that deploys EntryPoint 0.8 at its canonical address. */
const ENTRY_POINT_SALT: Hex = '0x0a59dbff790c23c976a548690c27297883cc66b4c67024f9117b0238995e35e9'
const FACTORY_SALT = pad('0x00')
const FACTORY_ABI = parseAbi([
  'constructor(address entryPoint)',
  'function createAccount(address owner, uint256 salt) returns (address account)',
  'function getAddress(address owner, uint256 salt) view returns (address account)',
])
const ACCOUNT_ABI = parseAbi([
  'struct Call { address target; uint256 value; bytes data; }',
  'function executeBatch(Call[] calls)',
])
/**
 * Gas limit of a user operation's verification, which deploys the account. The operation's calls have a separate gas
 * limit of the same size, which suffices for a bridge deposit.
 */
const GAS = 1_000_000n
const FEE = parseGwei('2')

/** Address of an ERC-4337 smart account, and the private key of its owner, who signs the account's user operations. */
export type SmartAccount = LocalAccount

/** Signed ERC-4337 user operation in the EntryPoint's packed format, and its hash. */
export type Operation = {
  readonly userOpHash: Hash
  readonly packed: {
    readonly sender: Address
    readonly nonce: bigint
    readonly initCode: Hex
    readonly callData: Hex
    readonly accountGasLimits: Hex
    readonly preVerificationGas: bigint
    readonly gasFees: Hex
    readonly paymasterAndData: Hex
    readonly signature: Hex
  }
}

/**
 * Deploys the real EntryPoint 0.8 at its canonical address on a local chain. Prepares a smart account for each of the first two
 * test users. The accounts have ether for gas and no tokens. Their first user operation deploys them.
 */
export async function createBundler(chain: LocalChain) {
  const client = createChainClient(chain)
  const factoryCode = encodeDeployData({ abi: FACTORY_ABI, bytecode: factory.bytecode as Hex, args: [ENTRY_POINT] })
  const factoryAddress = getCreate2Address({ from: DEPLOYER, salt: FACTORY_SALT, bytecode: factoryCode })
  const deploy = async (address: Address, salt: Hex, code: Hex) => {
    if (await getCode(client, { address })) return
    const from = ACCOUNTS.anchor.address
    await transact(chain, [{ label: 'deploy', from, to: DEPLOYER, data: concat([salt, code]) }])
    if (!(await getCode(client, { address }))) throw new Error(`The code does not belong at ${address}`)
  }
  await deploy(ENTRY_POINT, ENTRY_POINT_SALT, entryPoint.bytecode as Hex)
  await deploy(factoryAddress, FACTORY_SALT, factoryCode)

  const open = async ({ address: owner, privateKey }: LocalAccount): Promise<SmartAccount> => {
    const args = [owner, 0n] as const
    const address = await readContract(client, {
      ...{ address: factoryAddress, abi: FACTORY_ABI, functionName: 'getAddress', args },
    })
    await callRpc(chain, [{ method: 'anvil_setBalance', params: [address, numberToHex(parseEther('10'))] }])
    return { address, privateKey }
  }
  const [alice, bob] = ACCOUNTS.users
  const accounts = [await open(alice), await open(bob)] as const

  const ask = <name extends 'getNonce' | 'getUserOpHash'>(functionName: name, args: readonly unknown[]) =>
    // The cast is needed because viem infers argument types only from a literal function name.
    readContract(client, { address: ENTRY_POINT, abi: entryPoint08Abi, functionName, args } as never)

  const includeCall = (operations: readonly Operation[], beneficiary: Address): ContractCall => {
    const args = [operations.map(({ packed }) => packed), beneficiary] as const
    return {
      target: ENTRY_POINT,
      callData: encodeFunctionData({ abi: entryPoint08Abi, functionName: 'handleOps', args }),
    }
  }

  return {
    accounts,
    includeCall,
    /** Signs a user operation that makes these calls in order. If one call fails, all are undone. */
    async sign({ address: sender, privateKey }: SmartAccount, calls: readonly ContractCall[]): Promise<Operation> {
      const owner = privateKeyToAccount(privateKey)
      const isDeployed = (await getCode(client, { address: sender })) !== undefined
      const create = encodeFunctionData({
        ...{ abi: FACTORY_ABI, functionName: 'createAccount', args: [owner.address, 0n] },
      })
      const batch = calls.map(({ target, callData: data }) => ({ target, value: 0n, data }))
      const unsigned = {
        sender,
        nonce: (await ask('getNonce', [sender, 0n])) as bigint,
        initCode: isDeployed ? '0x' : concat([factoryAddress, create]),
        callData: encodeFunctionData({ abi: ACCOUNT_ABI, functionName: 'executeBatch', args: [batch] }),
        accountGasLimits: twoNumbers(GAS, GAS),
        preVerificationGas: 50_000n,
        gasFees: twoNumbers(FEE, FEE),
        paymasterAndData: '0x',
        signature: '0x',
      } as const
      const userOpHash = (await ask('getUserOpHash', [unsigned])) as Hash
      return { userOpHash, packed: { ...unsigned, signature: await owner.sign({ hash: userOpHash }) } }
    },
    async include(operations: readonly Operation[], bundler = ACCOUNTS.anchor.address): Promise<Hash> {
      const { target: to, callData: data } = includeCall(operations, bundler)
      const [hash] = await transact(chain, [{ label: 'handleOps', from: bundler, to, data }])
      if (!hash) throw new Error('Nothing was sent')
      return hash
    },
    async outcomesOf(hash: Hash) {
      const { logs } = await getTransactionReceipt(client, { hash })
      return parseEventLogs({ abi: entryPoint08Abi, eventName: 'UserOperationEvent', logs }).map(({ args }) => ({
        ...{ userOpHash: args.userOpHash, sender: args.sender, success: args.success },
      }))
    },
  }
}

function twoNumbers(high: bigint, low: bigint): Hex {
  return concat([numberToHex(high, { size: 16 }), numberToHex(low, { size: 16 })])
}
