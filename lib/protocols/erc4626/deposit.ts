import type { Address } from 'viem'
import { call, required } from '../../chain/call.ts'
import { erc20Abi } from '../../chain/erc20.ts'
import { type ReadPlan, readPlan } from '../../chain/reader.ts'
import { MAX_UINT256 } from '../../codecs.ts'
import { AppError } from '../../errors.ts'
import { vaultAbi } from '../abi.ts'
import type { DepositTerms } from '../protocol.ts'
import { capReached } from '../refusals.ts'
import type { TokenizedVault } from '../tokenized-vault.ts'

/** What `maxDeposit` tells where there is no limit (EIP-4626). */
export const NO_LIMIT = MAX_UINT256
/** On whose behalf caps are asked for: an account that nobody has. */
export const ANYBODY: Address = '0x000000000000000000000000000000000000dEaD'

/** How a vault takes deposits that give shares at once: up to its limit for the account. */
export function erc4626DepositTerms(
  { address, asset }: Pick<TokenizedVault, 'address' | 'asset'>,
  account: Address,
): ReadPlan<DepositTerms> {
  const calls = {
    paused: call(address, vaultAbi, 'paused', []),
    maxDeposit: call(address, vaultAbi, 'maxDeposit', [account]),
    liquidityAdapter: call(address, vaultAbi, 'liquidityAdapter', []),
    allowance: call(asset, erc20Abi, 'allowance', [account, address]),
  }
  return readPlan({ address, slots: {}, calls }, ({ answers }) => {
    // Vaults that have one (Morpho Vault V2) tell 0 for every limit: their dry run decides.
    const maxDeposit = answers.liquidityAdapter === undefined ? required(answers.maxDeposit) : NO_LIMIT
    return {
      allowance: required(answers.allowance),
      room: () => (maxDeposit === NO_LIMIT ? undefined : maxDeposit),
      choose(amount) {
        // Most ERC-4626 vaults cannot be paused and have no such function.
        if (answers.paused) throw new AppError('vault_is_paused')
        if (maxDeposit === 0n) throw new AppError('deposits_are_not_open')
        if (amount > maxDeposit) throw capReached(maxDeposit)
        return 'deposit'
      },
    }
  })
}
