import { buildCall } from '../../chain/call.ts'
import { buildReadPlan, mapReadPlan, type ReadPlan } from '../../chain/reader.ts'
import { vaultAbi } from '../abi.ts'
import type { Overview, Protocol } from '../protocol.ts'
import type { TokenizedVault } from '../tokenized-vault.ts'
import { buildVaultState } from '../vault-state.ts'
import { erc4626Account } from './account.ts'
import { erc4626DepositTerms, erc4626Terms, limitCalls, parseLimits } from './deposit.ts'
import { erc4626Books } from './ledger.ts'
import { sharePrice, shareValue } from './price.ts'
import type { Erc4626Vault } from './vault.ts'
import { erc4626WithdrawalTerms } from './withdrawal.ts'

/** Reads the data of an ERC-4626 vault that the API's list of vaults shows. */
export function erc4626Overview(vault: Pick<TokenizedVault, 'address' | 'shareDecimals'>): ReadPlan<Overview> {
  const { address } = vault
  const calls = {
    sharePrice: sharePrice(vault),
    totalAssets: buildCall(address, vaultAbi, 'totalAssets', []),
    ...limitCalls(address),
  }
  return buildReadPlan({ address, slots: {}, calls }, ({ answers: { sharePrice, totalAssets, ...answers } }) => {
    const limits = parseLimits(answers)
    const state = buildVaultState({ sharePrice, totalAssets })
    return { sharePrice, hasCap: limits.hasCap, terms: erc4626Terms(limits), state }
  })
}

/** Protocol of vaults that give shares and pay immediately (https://eips.ethereum.org/EIPS/eip-4626). */
export const erc4626: Protocol<Erc4626Vault> = {
  abi: vaultAbi,
  describe: (vault) =>
    mapReadPlan(erc4626Overview(vault), ({ hasCap = false }) => ({ protocol: 'erc4626', hasCap, version: null })),
  overview: erc4626Overview,
  shareValue,
  account: erc4626Account,
  depositTerms: erc4626DepositTerms,
  withdrawalTerms: erc4626WithdrawalTerms,
  books: erc4626Books,
}
