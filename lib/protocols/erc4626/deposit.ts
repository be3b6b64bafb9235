import type { Address } from 'viem'
import { type Answers, call, required } from '../../chain/call.ts'
import { erc20Abi } from '../../chain/erc20.ts'
import { type ReadPlan, readPlan } from '../../chain/reader.ts'
import { MAX_UINT256 } from '../../codecs.ts'
import { AppError } from '../../errors.ts'
import { vaultAbi } from '../abi.ts'
import type { DepositTerms } from '../protocol.ts'
import { capReached } from '../refusals.ts'
import type { TokenizedVault } from '../tokenized-vault.ts'
import { precisePrice } from './price.ts'

/** What `maxDeposit` tells where there is no limit (EIP-4626). */
export const NO_LIMIT = MAX_UINT256
/** On whose behalf caps are asked for: an account that nobody has. */
export const ANYBODY: Address = '0x000000000000000000000000000000000000dEaD'

/** The calls that tell how much of the asset a vault still takes, of whomever. */
export function roomCalls(address: Address) {
  return {
    maxDeposit: call(address, vaultAbi, 'maxDeposit', [ANYBODY]),
    liquidityAdapter: call(address, vaultAbi, 'liquidityAdapter', []),
  }
}

/** What those calls tell: null without a limit, undefined where it is not known. */
export function roomFor({
  maxDeposit,
  liquidityAdapter,
}: Answers<ReturnType<typeof roomCalls>>): bigint | null | undefined {
  // Vaults that have an adapter (Morpho Vault V2) return 0 for every limit.
  if (liquidityAdapter !== undefined) return undefined
  return maxDeposit === NO_LIMIT ? null : maxDeposit
}

/** The detail of a vault that takes deposits of no account. None is known to report when it takes them again. */
const NO_ROOM = { details: [{ field: 'vaultAddress', issue: 'takes no deposits now: its limit leaves no room' }] }

/** How a vault takes deposits that give shares at once: up to its limit for the account. */
export function erc4626DepositTerms(vault: TokenizedVault, account: Address, amount: bigint): ReadPlan<DepositTerms> {
  const { address, asset } = vault
  const price = precisePrice(vault)
  const calls = {
    // A preview has the vault's fees in it, and none of its limits (EIP-4626).
    shares: call(address, vaultAbi, 'previewDeposit', [amount]),
    price: price.call,
    paused: call(address, vaultAbi, 'paused', []),
    maxDeposit: call(address, vaultAbi, 'maxDeposit', [account]),
    maxOfAnybody: call(address, vaultAbi, 'maxDeposit', [ANYBODY]),
    liquidityAdapter: call(address, vaultAbi, 'liquidityAdapter', []),
    allowance: call(asset, erc20Abi, 'allowance', [account, address]),
  }
  return readPlan({ address, slots: {}, calls }, ({ answers }) => {
    // Vaults that have one (Morpho Vault V2) tell 0 for every limit: their dry run decides.
    const maxDeposit = answers.liquidityAdapter === undefined ? required(answers.maxDeposit) : NO_LIMIT
    return {
      allowance: required(answers.allowance),
      room: () => (maxDeposit === NO_LIMIT ? undefined : maxDeposit),
      ...expectedOf(amount, answers.shares, answers.price, price),
      choose(amount) {
        // Most ERC-4626 vaults cannot be paused and have no such function.
        if (answers.paused) throw new AppError('vault_is_paused')
        if (maxDeposit === 0n) throw new AppError('deposits_are_not_open', answers.maxOfAnybody === 0n ? NO_ROOM : {})
        if (amount > maxDeposit) throw capReached(maxDeposit)
        return 'deposit'
      },
    }
  })
}

/** What a deposit gives at the vault's present price, by the shares that it tells for about this amount, and its price. */
export function expectedOf(
  amount: bigint,
  shares: bigint | undefined,
  price: bigint | undefined,
  { worth }: Pick<ReturnType<typeof precisePrice>, 'worth'>,
): Pick<DepositTerms, 'sharesFor' | 'worth'> {
  return {
    sharesFor: (assets) => (shares === undefined ? null : (shares * assets) / amount),
    worth: (shares) => (price === undefined ? null : worth(price)(shares)),
  }
}
