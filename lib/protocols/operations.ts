import type { DepositOperation, Operation, Operations } from './calldata.ts'
import { cooldownOperations } from './cooldown/calldata.ts'
import { erc4626Operations } from './erc4626/calldata.ts'
import { erc7540Operations } from './erc7540/calldata.ts'
import { lagoonOperations } from './lagoon/calldata.ts'
import type { ProtocolName, VaultOnChain } from './vault-on-chain.ts'

/** The operations of all protocols, apart from these: most functions that read vaults build no calldata. */
export const OPERATIONS: Readonly<Record<ProtocolName, Operations>> = {
  lagoon: lagoonOperations,
  erc7540: erc7540Operations,
  cooldown: cooldownOperations,
  erc4626: erc4626Operations,
}

/** The one of these operations with this name. */
export function operationNamed<O extends { readonly name: string }>(operations: readonly O[], name: string): O {
  const operation = operations.find((candidate) => candidate.name === name)
  if (!operation) throw new Error(`No such vault has the operation ${name}.`)
  return operation
}

/** The operation with this name that takes deposits into a vault. */
export function depositNamed({ protocol }: Pick<VaultOnChain, 'protocol'>, name: string): DepositOperation {
  return operationNamed(OPERATIONS[protocol].deposits, name)
}

/** The operation with this name by which shares leave a vault, or which claims what they come from. */
export function withdrawalNamed({ protocol }: Pick<VaultOnChain, 'protocol'>, name: string): Operation {
  const { withdrawals, claims } = OPERATIONS[protocol]
  return operationNamed<Operation>([...withdrawals, ...claims], name)
}
