import { type Abi, type Address, encodeDeployData, encodeFunctionData, getContractAddress, type Hex } from 'viem'
import { ACCOUNTS } from './accounts.ts'
import type { LocalChain } from './chains.ts'
import { compileContracts } from './compile.ts'
import { callRpc } from './rpc.ts'
import { confirmTransactions, type LocalTransaction, readNonces, sendTransactions } from './transactions.ts'

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

const ADMIN = ACCOUNTS.admin.address

/** A plan that starts from the chain's present state; throws for a contract that `infra/local/contracts` lacks. */
export async function openPlan(chain: LocalChain): Promise<Plan> {
  const [contracts, [nonce = 0]] = await Promise.all([compileContracts(), readNonces(chain, [ADMIN])])
  const steps: LocalTransaction[] = []

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
      const earlier = steps.filter(({ from }) => from === ADMIN).length
      steps.push({ label: `deploy ${name}`, from: ADMIN, data: encodeDeployData({ abi, bytecode, args }) })
      return getContractAddress({ from: ADMIN, nonce: BigInt(nonce + earlier) })
    },
    call(from, to, name, functionName, args) {
      steps.push({ label: `${name}.${functionName}`, from, to, data: encode(name, functionName, args) })
    },
    async execute() {
      const [hold, release] = mining(chain)
      await callRpc(chain, [hold])
      let hashes: Awaited<ReturnType<typeof sendTransactions>>
      try {
        hashes = await sendTransactions(chain, steps)
        // One block for everything: a block each would carry the chain's clock ahead of the real one.
        await callRpc(chain, [{ method: 'evm_mine', params: [] }])
      } finally {
        await callRpc(chain, [release])
      }
      await confirmTransactions(chain, steps, hashes)
    },
  }
}

function mining({ blockSeconds }: LocalChain) {
  return blockSeconds === undefined
    ? ([
        { method: 'evm_setAutomine', params: [false] },
        { method: 'evm_setAutomine', params: [true] },
      ] as const)
    : ([
        { method: 'evm_setIntervalMining', params: [0] },
        { method: 'evm_setIntervalMining', params: [blockSeconds] },
      ] as const)
}
