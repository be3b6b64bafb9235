import type { Address } from 'viem'
import { erc20Abi } from '../chain/erc20.ts'
import { joinQueries, mapQuery, type Query, query, type Reads } from '../chain/reader.ts'
import { known, view } from '../chain/view.ts'
import { erc4626Abi, lagoonAbi } from '../vaults/abi.ts'
import { lagoonAccount } from '../vaults/lagoon.ts'
import type { Vault } from '../vaults/vault.ts'

/** What one user has in a vault at one block, in the smallest units of asset and share. */
export type LiveAccount = {
  readonly pendingAssets: bigint
  readonly claimableAssets: bigint
  readonly claimableShares: bigint
  /** In the wallet. */
  readonly shares: bigint
  readonly pendingRedeemShares: bigint
  readonly claimableRedeemAssets: bigint
  /** Of the vault; null for synchronous vaults, and where its version does not tell. */
  readonly depositEpochId: number | null
  readonly isTotalAssetsValid: boolean | null
  /** What one whole share is worth, in the asset's smallest unit. */
  readonly sharePrice: bigint
  /** What these shares are worth, in the asset's smallest unit. */
  readonly worth: (shares: bigint) => bigint
}

/** What the recorded movements say of the user's open request: for when the vault does not tell its shares. */
export type OpenRequest = { readonly requestId: bigint; readonly assets: bigint }

/** More digits of the price than one unit of the asset has. */
const PRECISION = 10n ** 18n

/** What a user has in a vault. Its parsing throws `upstream_bad_answer` when the vault does not tell an amount. */
export function liveAccount(vault: Vault, user: Address, open: OpenRequest | undefined): Query<LiveAccount> {
  return vault.kind === 'lagoon' ? inLagoon(vault, user, open) : inErc4626(vault, user)
}

function inErc4626({ address, shareToken, shareDecimals }: Vault, user: Address): Query<LiveAccount> {
  const unit = 10n ** BigInt(shareDecimals)
  const views = {
    shares: view(shareToken, erc20Abi, 'balanceOf', [user]),
    sharePrice: view(address, erc4626Abi, 'convertToAssets', [unit]),
    precisePrice: view(address, erc4626Abi, 'convertToAssets', [unit * PRECISION]),
  }
  return query({ address, slots: {}, views } satisfies Reads, ({ answers }) => {
    const precise = known(answers.precisePrice)
    return {
      pendingAssets: 0n,
      claimableAssets: 0n,
      claimableShares: 0n,
      shares: known(answers.shares),
      pendingRedeemShares: 0n,
      claimableRedeemAssets: 0n,
      depositEpochId: null,
      isTotalAssetsValid: null,
      sharePrice: known(answers.sharePrice),
      worth: (shares) => (shares * precise) / (unit * PRECISION),
    }
  })
}

function inLagoon(vault: Vault, user: Address, open: OpenRequest | undefined): Query<LiveAccount> {
  const { address, shareDecimals, assetDecimals } = vault
  const views = {
    settledShares: view(address, lagoonAbi, 'convertToShares', [open?.assets ?? 0n, open?.requestId ?? 0n]),
    pendingRedeemShares: view(address, lagoonAbi, 'pendingRedeemRequest', [0n, user]),
    claimableRedeemShares: view(address, lagoonAbi, 'claimableRedeemRequest', [0n, user]),
    maxWithdraw: view(address, lagoonAbi, 'maxWithdraw', [user]),
  }
  const more = query({ address, slots: {}, views } satisfies Reads, ({ answers }) => answers)
  return mapQuery(joinQueries(lagoonAccount(vault, user), more), ([{ account, vault: lagoon }, answers]) => {
    const { state } = lagoon
    const redeemable = known(answers.claimableRedeemShares)
    const assets = known(state.totalAssets) + 1n
    const supply = known(state.totalSupply) + 10n ** BigInt(Math.max(0, shareDecimals - assetDecimals))
    const worth = (shares: bigint) => (shares * assets) / supply
    return {
      pendingAssets: account.pendingAssets,
      claimableAssets: account.claimableAssets,
      // Where the vault does not tell, the rate of the request itself does.
      claimableShares: account.claimableShares ?? known(answers.settledShares),
      shares: account.shares,
      pendingRedeemShares: known(answers.pendingRedeemShares),
      claimableRedeemAssets: tellsAssets(answers.maxWithdraw, redeemable) ? answers.maxWithdraw : worth(redeemable),
      depositEpochId: state.depositEpochId ?? null,
      isTotalAssetsValid: state.isTotalAssetsValid ?? null,
      sharePrice: known(state.sharePrice),
      worth,
    }
  })
}

/** A paused vault answers 0, version 0.1 the largest integer. */
function tellsAssets(maxWithdraw: bigint | undefined, redeemableShares: bigint): maxWithdraw is bigint {
  return maxWithdraw !== undefined && maxWithdraw < 2n ** 255n && (maxWithdraw > 0n || redeemableShares === 0n)
}
