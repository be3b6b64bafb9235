import type { Address } from 'viem'
import { call, required } from '../../chain/call.ts'
import { erc20Abi } from '../../chain/erc20.ts'
import { mapReadPlan, type ReadPlan, readPlan } from '../../chain/reader.ts'
import { vaultAbi } from '../abi.ts'
import { type AccountReading, NO_REQUESTS, type Overview, type Protocol } from '../protocol.ts'
import type { TokenizedVault } from '../tokenized-vault.ts'
import { buildVaultState } from '../vault-state.ts'
import { erc4626DepositTerms, NO_LIMIT, roomCalls, roomFor } from './deposit.ts'
import { erc4626Books } from './ledger.ts'
import { precisePrice, sharePrice, shareValue } from './price.ts'
import type { Erc4626Vault } from './vault.ts'
import { erc4626WithdrawalTerms } from './withdrawal.ts'

function overview(vault: Pick<TokenizedVault, 'address' | 'shareDecimals'>): ReadPlan<Overview> {
  const { address } = vault
  const calls = {
    sharePrice: sharePrice(vault),
    totalAssets: call(address, vaultAbi, 'totalAssets', []),
    ...roomCalls(address),
  }
  return readPlan({ address, slots: {}, calls }, ({ answers: { sharePrice, totalAssets, ...limits } }) => ({
    sharePrice,
    hasCap: limits.maxDeposit === undefined ? undefined : limits.maxDeposit !== NO_LIMIT,
    // A vault tells its limits for one owner only, and none for all.
    terms: { entry: 'instant', exit: 'instant', fees: {}, room: roomFor(limits), liquidity: undefined },
    state: buildVaultState({ sharePrice, totalAssets }),
  }))
}

function account(vault: Erc4626Vault, user: Address): ReadPlan<AccountReading> {
  const { address, shareToken } = vault
  const price = precisePrice(vault)
  const calls = {
    shares: call(shareToken, erc20Abi, 'balanceOf', [user]),
    sharePrice: sharePrice(vault),
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

/** Synchronous vaults by the standard (https://eips.ethereum.org/EIPS/eip-4626). */
export const erc4626: Protocol<Erc4626Vault> = {
  abi: vaultAbi,
  describe: (vault) =>
    mapReadPlan(overview(vault), ({ hasCap = false }) => ({ protocol: 'erc4626', hasCap, version: null })),
  overview,
  shareValue,
  account,
  depositTerms: erc4626DepositTerms,
  withdrawalTerms: erc4626WithdrawalTerms,
  books: erc4626Books,
}
