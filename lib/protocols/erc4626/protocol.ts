import { buildCall } from '../../chain/call.ts'
import { buildReadPlan, mapReadPlan, type ReadPlan } from '../../chain/reader.ts'
import { vaultAbi } from '../abi.ts'
import type { Overview, Protocol } from '../protocol.ts'
import type { TokenizedVault } from '../tokenized-vault.ts'
import { buildVaultState } from '../vault-state.ts'
import { readErc4626Account } from './account.ts'
import { buildDepositLimitCalls, buildErc4626Terms, parseLimits, readErc4626DepositTerms } from './deposit.ts'
import { erc4626Books } from './ledger.ts'
import { sharePrice, shareValue } from './price.ts'
import type { Erc4626Vault } from './vault.ts'
import { readErc4626WithdrawalTerms } from './withdrawal.ts'

/** Reads the data of an ERC-4626 vault that the API's list of vaults shows. */
export function readErc4626Overview(vault: Pick<TokenizedVault, 'address' | 'shareDecimals'>): ReadPlan<Overview> {
  const { address } = vault
  const calls = {
    sharePrice: sharePrice(vault),
    totalAssets: buildCall(address, vaultAbi, 'totalAssets', []),
    ...buildDepositLimitCalls(address),
  }
  return buildReadPlan({ address, slots: {}, calls }, ({ answers: { sharePrice, totalAssets, ...answers } }) => {
    const limits = parseLimits(answers)
    const state = buildVaultState({ sharePrice, totalAssets })
    return { sharePrice, hasCap: limits.hasCap, terms: buildErc4626Terms(limits), state }
  })
}

/** Protocol of vaults that give shares and pay immediately (https://eips.ethereum.org/EIPS/eip-4626). */
export const erc4626: Protocol<Erc4626Vault> = {
  abi: vaultAbi,
  describe: (vault) =>
    mapReadPlan(readErc4626Overview(vault), ({ hasCap = false }) => ({ protocol: 'erc4626', hasCap, version: null })),
  overview: readErc4626Overview,
  shareValue,
  account: readErc4626Account,
  depositTerms: readErc4626DepositTerms,
  withdrawalTerms: readErc4626WithdrawalTerms,
  books: erc4626Books,
}
