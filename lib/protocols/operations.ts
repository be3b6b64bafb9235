import type { DepositOperation, Operation, Operations } from './calldata.ts'
import { cooldownOperations } from './cooldown/calldata.ts'
import { erc4626Operations } from './erc4626/calldata.ts'
import { erc7540Operations } from './erc7540/calldata.ts'
import { lagoonOperations } from './lagoon/calldata.ts'
import type { ProtocolName, VaultOnChain } from './vault-on-chain.ts'

/** Operations by protocol, in a file of their own: most functions that read vaults build no calldata. */
export const OPERATIONS: Readonly<Record<ProtocolName, Operations>> = {
  lagoon: lagoonOperations,
  erc7540: erc7540Operations,
  cooldown: cooldownOperations,
  erc4626: erc4626Operations,
}

/** Returns the operation with this name. Throws an Error without one. */
export function findOperation<O extends { readonly name: string }>(operations: readonly O[], name: string): O {
  const operation = operations.find((candidate) => candidate.name === name)
  if (!operation) throw new Error(`No such vault has the operation ${name}.`)
  return operation
}

/** Returns a vault's deposit operation by name. Throws an Error without one. */
export function findDepositOperation({ protocol }: Pick<VaultOnChain, 'protocol'>, name: string): DepositOperation {
  return findOperation(OPERATIONS[protocol].deposits, name)
}

/** Returns a vault's withdrawal or claim operation by name. Throws an Error without one. */
export function findWithdrawalOperation({ protocol }: Pick<VaultOnChain, 'protocol'>, name: string): Operation {
  const { withdrawals, claims } = OPERATIONS[protocol]
  return findOperation<Operation>([...withdrawals, ...claims], name)
}
