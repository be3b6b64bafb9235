import type { ChainReader } from '../../../lib/chain/reader.ts'
import type { Rpc } from '../../../lib/chain/rpc.ts'
import { Address, MAX_UINT256 } from '../../../lib/codecs.ts'
import type { ListedToken } from '../../../lib/markets/coin.ts'
import type { Holding } from '../../../lib/portfolio/balance.ts'
import type { IndexedToken } from '../../../lib/portfolio/goldrush.ts'
import { spamFilter } from '../../../lib/portfolio/spam.ts'
import type { Vault } from '../../../lib/vaults/vault.ts'
import { readEvmBalances } from './evm.ts'
import { readSolanaBalances, TOKEN_PROGRAMS } from './solana.ts'

/** What wallets hold on a chain, by what the chain itself says. */
export type HoldingsOnChain = {
  /** The chain's own coin, and of tokens and shares those of which there is something. */
  readonly holdings: readonly Holding[]
  /** Whether the chain did not tell what is held of this token, so that nothing is known of it. */
  readonly isUnread: (address: string) => boolean
  /** What it did not tell: tokens, token programs, accounts. */
  readonly unread: readonly string[]
  /** A token that an index knows, with the balance that the chain tells; undefined where it tells that there is none. */
  readonly confirm: (token: IndexedToken) => IndexedToken | undefined
  /** Solana alone: what must stay in an account, in lamports, where the node tells it. */
  readonly rent?: bigint | undefined
}

/** What these wallets hold on an EVM chain. Throws AppError `upstream_*`. */
export async function evmHoldings(
  reader: ChainReader,
  wallets: readonly string[],
  listed: readonly ListedToken[],
  vaults: readonly Vault[],
): Promise<HoldingsOnChain> {
  const addresses = wallets.map((wallet) => Address.decode(wallet))
  const { native, tokens, sharePrices, shareSymbols, unread } = await readEvmBalances(reader, addresses, listed, vaults)
  const vaultOf = new Map<string, Vault>(vaults.map((vault) => [vault.shareToken, vault]))
  const ofTokens = listed.flatMap((token) => {
    if (token.address === 'native') return [holdingOf(token, native)]
    const balance = tokens.get(token.address) ?? 0n
    return balance > 0n && !vaultOf.has(token.address) ? [holdingOf(token, balance)] : []
  })
  const ofVaults = [...vaultOf.values()].flatMap((vault) => {
    const { shareToken: address, shareDecimals: decimals, name, logoUrl, asset, assetDecimals } = vault
    const balance = tokens.get(address) ?? 0n
    if (balance === 0n) return []
    const share = { asset, assetDecimals, price: sharePrices.get(address) ?? null }
    const token = { address, symbol: shareSymbols.get(address) ?? '', name, decimals, logoUrl }
    return [{ ...holdingOf(token, balance), share }]
  })
  const missing = new Set<string>(unread)
  return {
    holdings: [...ofTokens, ...ofVaults],
    isUnread: (address) => missing.has(address),
    unread,
    confirm: (token) => (vaultOf.has(token.address) ? undefined : token),
  }
}

/** What these wallets hold on Solana. Throws AppError `upstream_*`. */
export async function solanaHoldings(
  rpc: Rpc,
  wallets: readonly string[],
  listed: readonly ListedToken[],
): Promise<HoldingsOnChain> {
  const { native, tokens, rent, unread } = await readSolanaBalances(rpc, wallets)
  // Which program a mint is of is not known where there is none of it.
  const isUnread = (mint: string) =>
    unread.includes(mint) || (!tokens.has(mint) && TOKEN_PROGRAMS.some((program) => unread.includes(program)))
  const heldOf = (mint: string) => {
    const held = tokens.get(mint)
    return held && held.amount > 0n ? held : undefined
  }
  return {
    holdings: listed.flatMap((token) => {
      if (token.address === 'native') return [holdingOf(token, native)]
      const held = heldOf(token.address)
      return held ? [holdingOf({ ...token, decimals: held.decimals }, held.amount)] : []
    }),
    isUnread,
    unread,
    confirm: (token) => {
      if (isUnread(token.address)) return token
      const held = heldOf(token.address)
      return held && { ...token, balance: held.amount, decimals: held.decimals }
    },
    rent,
  }
}

/** More of them would not fit into a reply. */
const MOST_UNLISTED = 500

/**
 * What an index knows of wallets beyond the listed tokens: the same token of several wallets as one, without a price; at
 * most 500, those that do not look like spam first.
 */
export function unlistedHoldings(
  indexed: readonly (readonly IndexedToken[])[],
  listed: readonly ListedToken[],
  confirm: HoldingsOnChain['confirm'],
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
      // Some tell every wallet that it has all there can be.
      if (!token || token.balance > MAX_UINT256) return []
      const { isFlagged, ...held } = token
      return [{ ...held, isListed: false, isSpam: isFlagged || isSpam(held), share: null }]
    })
    .sort((left, right) => Number(left.isSpam) - Number(right.isSpam))
    .slice(0, MOST_UNLISTED)
}

function holdingOf(
  { address, symbol, name, decimals, logoUrl }: Omit<ListedToken, 'chain' | 'coinKey' | 'coinGeckoId'>,
  balance: bigint,
): Holding {
  return { address, symbol, name, decimals, logoUrl, balance, isListed: true, isSpam: false, share: null }
}
