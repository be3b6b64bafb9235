import { type Abi, type Address, encodeDeployData, encodeFunctionData, getContractAddress, type Hex } from 'viem'
import * as z from 'zod'
import { ACCOUNTS } from './accounts.ts'
import type { LocalChain } from './chains.ts'
import { compileContracts } from './compile.ts'
import { callRpc } from './rpc.ts'

type Step = { readonly label: string; readonly from: Address; readonly to?: Address; readonly data: Hex }

/**
 * Transactions to be made in one go. Addresses of contracts are known as they are planned, so that later steps can
 * use them, and the whole plan is mined as one block.
 */
export type Plan = {
  /** Plans a contract by the admin and returns its address to be. */
  deploy(name: string, args: readonly unknown[]): Address
  /** Calldata of a contract's function. */
  encode(name: string, functionName: string, args: readonly unknown[]): Hex
  /** Plans a call by one of `ACCOUNTS`; `name` is the contract that has the function. */
  call(from: Address, to: Address, name: string, functionName: string, args: readonly unknown[]): void
  /** Mines everything planned; throws with the step that reverted. */
  execute(): Promise<void>
}

// More than any step needs; nobody pays for it.
const GAS_PER_STEP = '0x989680'

const Quantity = z.string().transform(Number)
const Hash = z.string()
const Receipt = z.object({ status: z.enum(['0x0', '0x1']) })

/** A plan that starts from the chain's present state. */
export async function openPlan(chain: LocalChain): Promise<Plan> {
  const [contracts, [firstNonce]] = await Promise.all([compileContracts(), readNonces(chain, [ACCOUNTS.admin.address])])
  const steps: Step[] = []
  let adminNonce = firstNonce ?? 0

  const add = (step: Step) => {
    if (step.from === ACCOUNTS.admin.address) adminNonce += 1
    steps.push(step)
  }

  const compiled = (name: string): { abi: Abi; bytecode: Hex } => {
    const contract = contracts[name]
    if (!contract) throw new Error(`No contract ${name} in infra/local/contracts`)
    return contract
  }

  const encode: Plan['encode'] = (name, functionName, args) =>
    encodeFunctionData({ abi: compiled(name).abi, functionName, args })

  return {
    encode,
    deploy(name, args) {
      const { abi, bytecode } = compiled(name)
      const address = getContractAddress({ from: ACCOUNTS.admin.address, nonce: BigInt(adminNonce) })
      add({ label: `deploy ${name}`, from: ACCOUNTS.admin.address, data: encodeDeployData({ abi, bytecode, args }) })
      return address
    },
    call(from, to, name, functionName, args) {
      add({ label: `${name}.${functionName}`, from, to, data: encode(name, functionName, args) })
    },
    execute: () => execute(chain, steps),
  }
}

async function execute(chain: LocalChain, steps: readonly Step[]): Promise<void> {
  const senders = [...new Set(steps.map(({ from }) => from))]
  const nonces = new Map<Address, number>()
  for (const [i, nonce] of (await readNonces(chain, senders)).entries()) nonces.set(senders[i] ?? '0x', nonce)

  const sends = steps.map(({ from, to, data }) => {
    const nonce = nonces.get(from) ?? 0
    nonces.set(from, nonce + 1)
    const transaction = { from, to, data, gas: GAS_PER_STEP, nonce: `0x${nonce.toString(16)}` }
    return { method: 'eth_sendTransaction', params: [transaction] }
  })
  const hold =
    chain.blockSeconds === undefined
      ? { method: 'evm_setAutomine', params: [false] }
      : { method: 'evm_setIntervalMining', params: [0] }
  const release =
    chain.blockSeconds === undefined
      ? { method: 'evm_setAutomine', params: [true] }
      : { method: 'evm_setIntervalMining', params: [chain.blockSeconds] }

  // One block for everything: a block each would carry the chain's clock ahead of the real one.
  const results = await callRpc(chain, [hold, ...sends, { method: 'evm_mine', params: [] }, release])
  const hashes = results.slice(1, 1 + sends.length).map((hash) => Hash.parse(hash))
  const receipts = await callRpc(
    chain,
    hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
  )
  for (const [i, receipt] of receipts.entries()) {
    if (Receipt.parse(receipt).status === '0x0') throw new Error(`Reverted: step ${i}, ${steps[i]?.label}`)
  }
}

async function readNonces(chain: LocalChain, addresses: readonly Address[]): Promise<number[]> {
  const calls = addresses.map((address) => ({ method: 'eth_getTransactionCount', params: [address, 'pending'] }))
  return (await callRpc(chain, calls)).map((nonce) => Quantity.parse(nonce))
}
