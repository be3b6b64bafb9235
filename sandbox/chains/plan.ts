import { type Abi, type Address, encodeDeployData, encodeFunctionData, getContractAddress, type Hex } from 'viem'
import * as z from 'zod'
import { ACCOUNTS } from '../accounts.ts'
import type { LocalChain } from '../chains.ts'
import { compiledContracts } from '../contracts.ts'
import { callRpc } from '../rpc.ts'
import { confirmTransactions, type LocalTransaction, readNonces, sendTransactions } from '../transactions.ts'

/**
 * List of transactions that are sent and mined together. Contract addresses are known before the deployment, so later transactions can use
 * them.
 */
export type Plan = {
  /** Plans a deployment by the admin account and returns the future address of the contract. */
  deploy(name: string, args: readonly unknown[]): Address
  encode(name: string, functionName: string, args: readonly unknown[]): Hex
  /** Plans a call by one of `ACCOUNTS`; `name` is the contract whose ABI declares the function. */
  call(from: Address, to: Address, name: string, functionName: string, args: readonly unknown[]): void
  /** Sends and mines the planned transactions. Throws an Error with the label of the transaction that reverted. */
  execute(): Promise<void>
}

const PoolStatus = z.object({ pending: z.string() })

const ADMIN = ACCOUNTS.admin.address

/** Returns an empty plan. Its methods throw for a contract that is not in `sandbox/contracts`. */
export async function createPlan(chain: LocalChain): Promise<Plan> {
  const [contracts, [nonce = 0]] = await Promise.all([compiledContracts(), readNonces(chain, [ADMIN])])
  const steps: LocalTransaction[] = []

  const compiled = (name: string): { abi: Abi; bytecode: Hex } => {
    const contract = contracts[name]
    if (!contract) throw new Error(`No contract ${name} in sandbox/contracts`)
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
      // Automatic mining is off while the plan's transactions are sent. Otherwise each transaction would get its own block, and the chain's
      // clock would overtake the real time.
      const holds = chain.blockSeconds === undefined
      if (holds) await callRpc(chain, [{ method: 'evm_setAutomine', params: [false] }])
      let hashes: Awaited<ReturnType<typeof sendTransactions>>
      try {
        hashes = await sendTransactions(chain, steps)
        await mineAll(chain)
      } finally {
        if (holds) await callRpc(chain, [{ method: 'evm_setAutomine', params: [true] }])
      }
      await confirmTransactions(chain, steps, hashes)
    },
  }
}

async function mineAll(chain: LocalChain): Promise<void> {
  do {
    await callRpc(chain, [{ method: 'evm_mine', params: [] }])
  } while ((await readPendingCount(chain)) > 0)
}

async function readPendingCount(chain: LocalChain): Promise<number> {
  const [status] = await callRpc(chain, [{ method: 'txpool_status', params: [] }])
  return Number(PoolStatus.parse(status).pending)
}
