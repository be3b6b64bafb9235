import type { Address } from 'viem'
import { call, required } from '../../chain/call.ts'
import { erc20Abi } from '../../chain/erc20.ts'
import { type ReadPlan, readPlan } from '../../chain/reader.ts'
import { type AccountReading, NO_REQUESTS } from '../protocol.ts'
import type { TokenizedVault } from '../tokenized-vault.ts'
import { precisePrice, sharePrice } from './price.ts'

/** Reads an account in a vault without requests. */
export function erc4626Account(vault: TokenizedVault, user: Address): ReadPlan<AccountReading> {
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
