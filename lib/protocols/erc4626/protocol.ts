import type { Address } from 'viem'
import { call, required } from '../../chain/call.ts'
import { erc20Abi } from '../../chain/erc20.ts'
import { mapReadPlan, type ReadPlan, readPlan } from '../../chain/reader.ts'
import { MAX_UINT256 } from '../../codecs.ts'
import { AppError } from '../../errors.ts'
import { buildVaultState } from '../../vaults/vault-state.ts'
import { vaultAbi } from '../abi.ts'
import { type AccountReading, type DepositTerms, NO_REQUESTS, type Overview, type Protocol } from '../protocol.ts'
import type { TokenizedVault } from '../tokenized-vault.ts'
import { erc4626Books } from './ledger.ts'
import { precisePrice } from './price.ts'
import type { Erc4626Vault } from './vault.ts'
import { erc4626Withdrawal } from './withdrawal.ts'

const NO_LIMIT = MAX_UINT256
// Caps are asked for on behalf of an account that nobody has.
const ANYBODY: Address = '0x000000000000000000000000000000000000dEaD'

function overview({ address, shareDecimals }: Pick<TokenizedVault, 'address' | 'shareDecimals'>): ReadPlan<Overview> {
  const calls = {
    sharePrice: call(address, vaultAbi, 'convertToAssets', [10n ** BigInt(shareDecimals)]),
    totalAssets: call(address, vaultAbi, 'totalAssets', []),
    maxDeposit: call(address, vaultAbi, 'maxDeposit', [ANYBODY]),
  }
  return readPlan({ address, slots: {}, calls }, ({ answers: { sharePrice, totalAssets, maxDeposit } }) => ({
    sharePrice,
    hasCap: maxDeposit === undefined ? undefined : maxDeposit !== NO_LIMIT,
    state: buildVaultState({ sharePrice, totalAssets }),
  }))
}

function account(vault: Erc4626Vault, user: Address): ReadPlan<AccountReading> {
  const { address, shareToken, shareDecimals } = vault
  const price = precisePrice(vault)
  const calls = {
    shares: call(shareToken, erc20Abi, 'balanceOf', [user]),
    sharePrice: call(address, vaultAbi, 'convertToAssets', [10n ** BigInt(shareDecimals)]),
    precisePrice: price.call,
  }
  return readPlan({ address, slots: {}, calls }, ({ answers }) => ({
    shares: () => required(answers.shares),
    ...NO_REQUESTS,
    price: () => ({
      sharePrice: required(answers.sharePrice),
      worth: price.worth(required(answers.precisePrice)),
    }),
  }))
}

function depositTerms({ address, asset }: Erc4626Vault, account: Address): ReadPlan<DepositTerms> {
  const calls = {
    paused: call(address, vaultAbi, 'paused', []),
    maxDeposit: call(address, vaultAbi, 'maxDeposit', [account]),
    allowance: call(asset, erc20Abi, 'allowance', [account, address]),
  }
  return readPlan({ address, slots: {}, calls }, ({ answers }) => {
    const maxDeposit = required(answers.maxDeposit)
    return {
      allowance: required(answers.allowance),
      choose(amount) {
        // Most ERC-4626 vaults cannot be paused and have no such function.
        if (answers.paused) throw new AppError('vault_is_paused')
        if (maxDeposit === 0n) throw new AppError('deposits_are_not_open')
        if (amount > maxDeposit) throw new AppError('vault_cap_reached')
        return 'deposit'
      },
    }
  })
}

/** Synchronous vaults by the standard (https://eips.ethereum.org/EIPS/eip-4626). */
export const erc4626: Protocol<Erc4626Vault> = {
  abi: vaultAbi,
  describe: (vault) =>
    mapReadPlan(overview(vault), ({ hasCap = false }) =>
      vault.isAsync
        ? 'no ERC-4626 vault: it takes asynchronous deposits'
        : { protocol: 'erc4626', hasCap, version: null },
    ),
  overview,
  account,
  depositTerms,
  withdrawal: erc4626Withdrawal,
  books: erc4626Books,
}
