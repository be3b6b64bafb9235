import type { Address } from 'viem'
import { erc20Abi } from '../chain/erc20.ts'
import { type ChainReader, joinQueries, mapQuery, type Query, query, type Reads } from '../chain/reader.ts'
import { known, view } from '../chain/view.ts'
import { erc4626Abi, lagoonAbi } from '../vaults/abi.ts'
import { lagoonAccount, lastRedeemRequestSlot, readSettled, tellsAmount, virtualShares } from '../vaults/lagoon.ts'
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

/** What was read of an account, and how to read what its vault does not tell: a request more, of the same block. */
export type AccountReading = {
  readonly account: LiveAccount
  readonly complete?: (reader: ChainReader, at: bigint) => Promise<LiveAccount>
}

/** How many digits more of the price are asked for than one unit of the asset has, and those of the largest amount. */
const MORE_DIGITS = 18
const MOST_DIGITS = 77

/** What a user has in a vault. Its parsing throws `upstream_bad_answer` when the vault does not tell an amount. */
export function liveAccount(vault: Vault, user: Address): Query<AccountReading> {
  return vault.kind === 'lagoon' ? inLagoon(vault, user) : mapQuery(inErc4626(vault, user), (account) => ({ account }))
}

function inErc4626({ address, shareToken, shareDecimals }: Vault, user: Address): Query<LiveAccount> {
  const unit = 10n ** BigInt(shareDecimals)
  const many = 10n ** BigInt(Math.min(shareDecimals + MORE_DIGITS, MOST_DIGITS))
  const views = {
    shares: view(shareToken, erc20Abi, 'balanceOf', [user]),
    sharePrice: view(address, erc4626Abi, 'convertToAssets', [unit]),
    precisePrice: view(address, erc4626Abi, 'convertToAssets', [many]),
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
      worth: (shares) => (shares * precise) / many,
    }
  })
}

function inLagoon(vault: Vault, user: Address): Query<AccountReading> {
  const { address } = vault
  const views = {
    pendingRedeemShares: view(address, lagoonAbi, 'pendingRedeemRequest', [0n, user]),
    redeemableShares: view(address, lagoonAbi, 'claimableRedeemRequest', [0n, user]),
    maxWithdraw: view(address, lagoonAbi, 'maxWithdraw', [user]),
  }
  const slots = { lastRedeemRequestId: lastRedeemRequestSlot(user) }
  const more = query({ address, slots, views } satisfies Reads, (reading) => reading)
  return mapQuery(joinQueries(lagoonAccount(vault, user), more), ([{ account, vault: lagoon }, { words, answers }]) => {
    const { state, version, generation } = lagoon
    const redeemableShares = known(answers.redeemableShares)
    const assets = known(state.totalAssets) + 1n
    const supply = known(state.totalSupply) + virtualShares(vault)
    // Version 0.1, which has no version(), means the worth of the wallet by it.
    const maxWithdraw = version === undefined ? undefined : answers.maxWithdraw
    const live: LiveAccount = {
      pendingAssets: account.pendingAssets,
      claimableAssets: account.claimableAssets,
      claimableShares: account.claimableAssets === 0n ? 0n : (account.claimableShares ?? 0n),
      shares: account.shares,
      pendingRedeemShares: known(answers.pendingRedeemShares),
      // A closed vault counts the shares in the wallet, which need no request any more.
      claimableRedeemAssets: redeemableShares > 0n && tellsAmount(maxWithdraw, redeemableShares) ? maxWithdraw : 0n,
      depositEpochId: state.depositEpochId ?? null,
      isTotalAssetsValid: state.isTotalAssetsValid ?? null,
      sharePrice: known(state.sharePrice),
      worth: (shares) => (shares * assets) / supply,
    }
    const tellsAll =
      (account.claimableAssets === 0n || account.claimableShares !== undefined) &&
      (redeemableShares === 0n || tellsAmount(maxWithdraw, redeemableShares))
    if (tellsAll) return { account: live }

    const { claimableAssets, lastDepositRequestId: depositRequestId } = account
    const redeemRequestId = Number(words.lastRedeemRequestId & (2n ** 40n - 1n))
    const settled = { generation, claimableAssets, depositRequestId, redeemableShares, redeemRequestId }
    const complete = async (reader: ChainReader, at: bigint): Promise<LiveAccount> => {
      const { claimableShares, redeemableAssets } = await readSettled(reader, vault, settled, at)
      return { ...live, claimableShares, claimableRedeemAssets: redeemableAssets }
    }
    return { account: live, complete }
  })
}
