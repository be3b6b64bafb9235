import type { Address } from 'viem'
import { buildCall, requireValue } from '../../chain/call.ts'
import { erc20Abi } from '../../chain/erc20.ts'
import { buildReadPlan, type ReadPlan } from '../../chain/reader.ts'
import { type AccountSnapshot, NO_REQUESTS } from '../protocol.ts'
import type { TokenizedVault } from '../tokenized-vault.ts'
import { precisePrice, sharePrice } from './price.ts'

/** Reads an account in a vault that has no deposit or withdrawal requests. */
export function readErc4626Account(vault: TokenizedVault, user: Address): ReadPlan<AccountSnapshot> {
  const { address, shareToken } = vault
  const price = precisePrice(vault)
  const calls = {
    shares: buildCall(shareToken, erc20Abi, 'balanceOf', [user]),
    sharePrice: sharePrice(vault),
    precisePrice: price.call,
  }
  return buildReadPlan({ address, slots: {}, calls }, ({ answers }) => ({
    shares: () => requireValue(answers.shares),
    ...NO_REQUESTS,
    price: () => ({
      sharePrice: requireValue(answers.sharePrice),
      worth: price.worth(requireValue(answers.precisePrice)),
    }),
  }))
}
