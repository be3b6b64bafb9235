import type { Address } from 'viem'
import type { VaultEvent } from '../activity/events.ts'
import { call, required } from '../chain/call.ts'
import { erc20Abi } from '../chain/erc20.ts'
import { mapReadPlan, type ReadPlan, type Reads, readPlan } from '../chain/reader.ts'
import { AppError } from '../errors.ts'
import type { DepositOperation } from '../vaults/calldata.ts'
import type { Erc4626Vault, FollowedVault, VaultOnChain } from '../vaults/vault.ts'
import { buildVaultState } from '../vaults/vault-state.ts'
import { erc4626Abi } from './abi.ts'
import type { Books, Ledger } from './books.ts'
import type { DepositTerms, LiveAccount, Overview, Protocol } from './protocol.ts'

const NO_LIMIT = 2n ** 256n - 1n
// Caps are asked for on behalf of an account that nobody has.
const ANYBODY: Address = '0x000000000000000000000000000000000000dEaD'
/** How many digits more of the price are asked for than one unit of the asset has, and those of the largest amount. */
const MORE_DIGITS = 18
const MOST_DIGITS = 77

function overview({ address, shareDecimals }: VaultOnChain): ReadPlan<Overview> {
  const calls = {
    sharePrice: call(address, erc4626Abi, 'convertToAssets', [10n ** BigInt(shareDecimals)]),
    totalAssets: call(address, erc4626Abi, 'totalAssets', []),
    maxDeposit: call(address, erc4626Abi, 'maxDeposit', [ANYBODY]),
  }
  return readPlan({ address, slots: {}, calls }, ({ answers: { sharePrice, totalAssets, maxDeposit } }) => ({
    sharePrice,
    hasCap: maxDeposit === undefined ? undefined : maxDeposit !== NO_LIMIT,
    state: buildVaultState({ sharePrice, totalAssets }),
  }))
}

function liveAccount({ address, shareToken, shareDecimals }: Erc4626Vault, account: Address): ReadPlan<LiveAccount> {
  const unit = 10n ** BigInt(shareDecimals)
  const many = 10n ** BigInt(Math.min(shareDecimals + MORE_DIGITS, MOST_DIGITS))
  const calls = {
    shares: call(shareToken, erc20Abi, 'balanceOf', [account]),
    sharePrice: call(address, erc4626Abi, 'convertToAssets', [unit]),
    precisePrice: call(address, erc4626Abi, 'convertToAssets', [many]),
  }
  return readPlan({ address, slots: {}, calls } satisfies Reads, ({ answers }) => {
    const precise = required(answers.precisePrice)
    return {
      pendingAssets: 0n,
      claimableAssets: 0n,
      claimableShares: 0n,
      shares: required(answers.shares),
      pendingRedeemShares: 0n,
      claimableRedeemAssets: 0n,
      depositEpochId: null,
      isTotalAssetsValid: null,
      sharePrice: required(answers.sharePrice),
      worth: (shares) => (shares * precise) / many,
    }
  })
}

function terms({ address, asset }: Erc4626Vault, account: Address): ReadPlan<DepositTerms> {
  const calls = {
    paused: call(address, erc4626Abi, 'paused', []),
    maxDeposit: call(address, erc4626Abi, 'maxDeposit', [account]),
    allowance: call(asset, erc20Abi, 'allowance', [account, address]),
  }
  return readPlan({ address, slots: {}, calls }, ({ answers }) => {
    const maxDeposit = required(answers.maxDeposit)
    return {
      allowance: required(answers.allowance),
      choose(amount): DepositOperation {
        // Most ERC-4626 vaults cannot be paused and have no such function.
        if (answers.paused) throw new AppError('vault_is_paused')
        if (maxDeposit === 0n) throw new AppError('deposits_are_not_open')
        if (amount > maxDeposit) throw new AppError('vault_cap_reached')
        return 'deposit'
      },
    }
  })
}

/** The smallest trade that tells a price: to a millionth. */
const PRECISE = 1_000_000n

/** The ledger of a vault is its last trade: a deposit or withdrawal. */
const books: Books<Extract<FollowedVault, { kind: 'erc4626' }>> = {
  pricedBy: 'trades',
  minting: new Set(['Deposit']),
  shareValue: (_, trade, shares) => valueAt(trade, shares),

  ledgers(_, before, events) {
    let ledger = before
    return events.map((event) => {
      const trade = tradeOf(event)
      // Anybody may trade a few units, whose ratio is far from the price.
      if (trade && (isPrecise(trade) || (!isPrecise(ledger) && trade.supply > 0n))) ledger = trade
      return ledger
    })
  },

  priceAfter({ assetDecimals, shareDecimals }, _, events) {
    // Trades of less than a whole token do not tell the price to the asset's unit.
    const whole = 10n ** BigInt(assetDecimals)
    const trade = events.map(tradeOf).findLast((traded) => traded && traded.assets >= whole)
    return trade ? valueAt(trade, 10n ** BigInt(shareDecimals)) : null
  },

  entries({ eventName, args }) {
    if (eventName === 'Deposit') {
      const { owner, assets, shares } = args
      return [{ user: owner, kind: 'deposit', requestId: 0n, assets, shares }]
    }
    return eventName === 'Withdraw'
      ? [{ user: args.owner, kind: 'withdraw', assets: args.assets, shares: args.shares }]
      : []
  },

  isOwner: ({ address }, account) => account !== address,
  handedOver: () => undefined,
}

function valueAt({ assets, supply }: Ledger, shares: bigint): bigint | null {
  return supply > 0n ? (shares * assets) / supply : null
}

function tradeOf({ eventName, args }: VaultEvent): Ledger | undefined {
  return eventName === 'Deposit' || eventName === 'Withdraw' ? { assets: args.assets, supply: args.shares } : undefined
}

function isPrecise({ assets, supply }: Ledger): boolean {
  return assets >= PRECISE && supply >= PRECISE
}

/** Synchronous vaults by the standard (https://eips.ethereum.org/EIPS/eip-4626). */
export const erc4626: Protocol<Erc4626Vault> = {
  type: 'sync',
  describe: (vault) =>
    mapReadPlan(overview(vault), ({ hasCap = false }) => ({ kind: 'erc4626', hasCap, version: null })),
  overview,
  account: (vault, account) => mapReadPlan(liveAccount(vault, account), (live) => ({ account: live })),
  deposits: { operations: ['deposit'], terms },
  books,
}
