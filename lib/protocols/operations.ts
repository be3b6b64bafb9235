import type { DepositOperation, Operation, Operations } from './calldata.ts'
import { erc4626Operations } from './erc4626/calldata.ts'
import { lagoonOperations } from './lagoon/calldata.ts'
import type { ProtocolName, VaultOnChain } from './vault-on-chain.ts'

/** The operations of all protocols, apart from these: most functions that read vaults build no calldata. */
export const OPERATIONS: Readonly<Record<ProtocolName, Operations>> = {
  lagoon: lagoonOperations,
  erc4626: erc4626Operations,
}

/** The operation with this name that takes deposits into a vault. */
export function depositNamed({ protocol }: Pick<VaultOnChain, 'protocol'>, name: string): DepositOperation {
  const operation = OPERATIONS[protocol].deposits.find((candidate) => candidate.name === name)
  if (!operation) throw new Error(`No ${protocol} vault takes deposits by ${name}.`)
  return operation
}

/** The operation with this name by which shares leave a vault, or which claims what they come from. */
export function withdrawalNamed({ protocol }: Pick<VaultOnChain, 'protocol'>, name: string): Operation {
  const { withdrawals, claim } = OPERATIONS[protocol]
  const operation = [...withdrawals, ...(claim ? [claim] : [])].find((candidate) => candidate.name === name)
  if (!operation) throw new Error(`No ${protocol} vault pays by ${name}.`)
  return operation
}
