import type { DepositOperation, Operation, Operations } from './calldata.ts'
import { cooldownOperations } from './cooldown/calldata.ts'
import { erc4626Operations } from './erc4626/calldata.ts'
import { erc7540Operations } from './erc7540/calldata.ts'
import { lagoonOperations } from './lagoon/calldata.ts'
import type { ProtocolName, VaultOnChain } from './vault-on-chain.ts'

/** Operations of each protocol. They are separate from PROTOCOLS, because most Lambda functions read vaults but build no calldata. */
export const OPERATIONS: Readonly<Record<ProtocolName, Operations>> = {
  lagoon: lagoonOperations,
  erc7540: erc7540Operations,
  cooldown: cooldownOperations,
  erc4626: erc4626Operations,
}

/** Returns the operation with this name. Throws an Error if there is none. */
export function findOperation<O extends { readonly name: string }>(operations: readonly O[], name: string): O {
  const operation = operations.find((candidate) => candidate.name === name)
  if (!operation) throw new Error(`No such vault has the operation ${name}.`)
  return operation
}

/** Returns a vault's deposit operation with this name. Throws an Error if there is none. */
export function findDepositOperation({ protocol }: Pick<VaultOnChain, 'protocol'>, name: string): DepositOperation {
  return findOperation(OPERATIONS[protocol].deposits, name)
}

/** Returns a vault's withdrawal or claim operation with this name. Throws an Error if there is none. */
export function findWithdrawalOperation({ protocol }: Pick<VaultOnChain, 'protocol'>, name: string): Operation {
  const { withdrawals, claims } = OPERATIONS[protocol]
  return findOperation<Operation>([...withdrawals, ...claims], name)
}
