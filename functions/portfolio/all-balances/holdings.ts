import type { Chain } from '../../../lib/chain/registry.ts'
import { MAX_UINT256 } from '../../../lib/core/codecs.ts'
import type { ListedToken } from '../../../lib/markets/coin.ts'
import type { Holding } from '../../../lib/portfolio/balance.ts'
import { spamFilter } from '../../../lib/portfolio/spam.ts'
import type { IndexedToken } from '../../../lib/portfolio/token-index.ts'
import { type ChainBalances, isBalanceUnread } from '../../../lib/portfolio/wallet-balances.ts'
import type { Vault } from '../../../lib/vaults/vault.ts'

type WalletsOnChain = {
  readonly chain: Chain
  readonly read: readonly ChainBalances[]
  readonly indexed: readonly (readonly IndexedToken[])[]
  readonly listed: readonly ListedToken[]
  readonly vaults: readonly Vault[]
}

/** Sum of a token's balances over all wallets. It is undefined if a balance is unknown or the sum exceeds uint256. */
type Sum = { readonly balance: bigint; readonly decimals?: number | undefined } | undefined

/**
 * Sums the balances of several wallets on one chain: the native coin, listed tokens, these vaults' shares, and unlisted
 * tokens of the token index. A token with an unknown balance is left out.
 */
export function buildHoldings({ chain, read, indexed, listed, vaults }: WalletsOnChain): Holding[] {
  // Two vaults can have the same share token. Its balance must count only once.
  const vaultOf = new Map<string, Vault>(vaults.map((vault) => [vault.shareToken, vault]))
  const heldOf = (address: string) => {
    const sum = sumOf(
      read.map((one) => one.tokens[address] ?? (isBalanceUnread(one, address) ? undefined : { balance: 0n })),
    )
    return sum && sum.balance > 0n ? sum : undefined
  }
  const ofTokens = listed.flatMap((token) => {
    if (token.address === 'native')
      return [
        holdingOf(
          token,
          read.reduce((sum, { native }) => sum + native, 0n),
        ),
      ]
    const held = vaultOf.has(token.address) ? undefined : heldOf(token.address)
    return held ? [holdingOf({ ...token, decimals: held.decimals ?? token.decimals }, held.balance)] : []
  })
  const ofVaults = [...vaultOf.values()].flatMap((vault) => {
    const { shareToken: address, shareDecimals: decimals, name, logoUrl, asset, assetDecimals } = vault
    const { balance = 0n } = sumOf(read.map(({ shares }) => shares[address])) ?? {}
    if (balance === 0n) return []
    const { price = null, symbol = '' } = newestShare(read, address) ?? {}
    return [
      { ...holdingOf({ address, symbol, name, decimals, logoUrl }, balance), share: { asset, assetDecimals, price } },
    ]
  })
  // A Solana node reports every token that a wallet holds, so its balance replaces the balance of the token index. An
  // EVM node reports only requested tokens, so the balance of the token index stays.
  const confirm = (token: IndexedToken) => {
    if (chain.kind === 'evm') return vaultOf.has(token.address) ? undefined : token
    if (read.some((one) => isBalanceUnread(one, token.address))) return token
    const held = heldOf(token.address)
    return held && { ...token, balance: held.balance, decimals: held.decimals ?? token.decimals }
  }
  return [...ofTokens, ...ofVaults, ...unlistedHoldings(indexed, listed, confirm)]
}

/** Maximum number of unlisted tokens in a response, which has a limited size. */
const MAX_UNLISTED = 500

/** Returns at most 500 unlisted tokens that the token index found, without prices. Spam comes last, so the limit cuts spam first. */
function unlistedHoldings(
  indexed: readonly (readonly IndexedToken[])[],
  listed: readonly ListedToken[],
  confirm: (
    token: IndexedToken,
  ) => (Omit<Holding, 'isListed' | 'isSpam' | 'share'> & { isFlagged: boolean }) | undefined,
): Holding[] {
  const isListed = new Set(listed.map(({ address }) => address))
  const sums = new Map<string, IndexedToken>()
  for (const token of indexed.flat()) {
    if (isListed.has(token.address)) continue
    const before = sums.get(token.address)
    sums.set(token.address, before ? { ...token, balance: before.balance + token.balance } : token)
  }
  const isSpam = spamFilter(listed)
  return [...sums.values()]
    .flatMap((sum): Holding[] => {
      const token = confirm(sum)
      // Spam contracts report impossible balances. Tokens with such a balance are left out.
      if (!token || token.balance > MAX_UINT256) return []
      const { isFlagged, ...held } = token
      return [{ ...held, isListed: false, isSpam: isFlagged || isSpam(held), share: null }]
    })
    .sort((left, right) => Number(left.isSpam) - Number(right.isSpam))
    .slice(0, MAX_UNLISTED)
}

function sumOf(balances: readonly Sum[]): Sum {
  const sum = balances.reduce(
    (total, one) => total && one && { balance: total.balance + one.balance, decimals: total.decimals ?? one.decimals },
  )
  return sum && sum.balance <= MAX_UINT256 ? sum : undefined
}

function newestShare(read: readonly ChainBalances[], address: string): ChainBalances['shares'][string] | undefined {
  const timeOf = ({ asOf, shares }: ChainBalances) => (shares[address]?.asOf ?? asOf).getTime()
  return read.toSorted((one, other) => timeOf(other) - timeOf(one))[0]?.shares[address]
}

function holdingOf(
  { address, symbol, name, decimals, logoUrl }: Omit<ListedToken, 'chain' | 'coinKey' | 'coinGeckoId'>,
  balance: bigint,
): Holding {
  return { address, symbol, name, decimals, logoUrl, balance, isListed: true, isSpam: false, share: null }
}
