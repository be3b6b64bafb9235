import type { Chain, ChainKey } from '../../../lib/chain/registry.ts'
import { Address } from '../../../lib/core/codecs.ts'
import type { AppError } from '../../../lib/core/errors.ts'
import { logger } from '../../../lib/core/logger.ts'
import { toResult } from '../../../lib/core/result.ts'
import type { ListedToken } from '../../../lib/markets/coin.ts'
import type { PayFor } from '../../../lib/meter/meter.ts'
import { fetchPaid } from '../../../lib/portfolio/ask-each.ts'
import { balancesKey } from '../../../lib/portfolio/cache-keys.ts'
import {
  fitBalances,
  fitTokens,
  isIndexFresh,
  isReadFresh,
  joinKnownBalances,
  type KnownBalances,
  type WalletBalances,
  withoutOldBalances,
} from '../../../lib/portfolio/wallet-balances.ts'
import type { Services } from '../../../lib/services.ts'
import type { Vault } from '../../../lib/vaults/vault.ts'
import { readEvmBalances } from './evm.ts'
import { readSolanaBalances, type SolanaBalances } from './solana.ts'

/** A chain with the user's wallets on it, and the tokens and vaults whose balances are read for each wallet. */
export type ChainInput = {
  readonly chain: Chain
  readonly wallets: readonly string[]
  readonly listed: readonly ListedToken[]
  readonly vaults: readonly Vault[]
}

type Wallets = ReadonlyMap<string, WalletBalances>

type Change = { readonly chain: Chain; readonly wallet: string; readonly part: KnownBalances }

/** Balances after a refresh, the errors of chains that could not be read, and the rent of a Solana account in lamports. */
type Refreshed = {
  readonly known: (chain: Chain, wallet: string) => KnownBalances
  readonly failures: ReadonlyMap<ChainKey, AppError>
  readonly rent: bigint | undefined
}

/**
 * Returns a function that refreshes cached balances, with one cache entry per wallet. The function reads the entries of
 * all wallets in one request. Balances older than 30 seconds are read again, in one round trip per chain. Changed
 * balances need one more read and one write of the cache. Two containers may read the same wallet at once, because a
 * lock would cost more than it saves. Older balances never replace newer ones.
 */
export function createBalancesRefresh({
  cache,
  getReader,
  solana,
  tokenIndex,
  now,
}: Services<'cache' | 'getReader' | 'solana' | 'tokenIndex' | 'now'>) {
  const knownIn = (wallets: Wallets) => (chain: Chain, wallet: string) =>
    withoutOldBalances(wallets.get(wallet)?.[chain.key] ?? {}, now())

  async function getWallets(addresses: readonly string[]): Promise<Wallets> {
    const cached = await cache.get(Object.fromEntries(addresses.map((address) => [address, balancesKey(address)])))
    return new Map(addresses.map((address) => [address, cached[address]?.value ?? {}]))
  }

  async function readChain({ chain, listed, vaults }: ChainInput, wallets: readonly string[]): Promise<SolanaBalances> {
    if (chain.kind === 'solana') return readSolanaBalances(solana, wallets)
    const addresses = wallets.map((wallet) => Address.decode(wallet))
    return { wallets: await readEvmBalances(getReader(chain.id), addresses, listed, vaults), rent: undefined }
  }

  async function readStale(input: ChainInput, wallets: Wallets) {
    const { chain, listed, vaults } = input
    const known = knownIn(wallets)
    const shares = vaults.map(({ shareToken }) => shareToken)
    const stale = input.wallets.filter((wallet) => !isReadFresh(known(chain, wallet), shares, now()))
    if (stale.length === 0) return { changes: [] }
    const asOf = new Date(now())
    const result = await toResult(readChain(input, stale))
    if ('error' in result) {
      logger.warn('chain not read', { chain: chain.key, cause: String(result.error.cause) })
      return { changes: [], failure: [chain.key, result.error] as const }
    }
    const isListed = new Set(listed.map(({ address }) => address))
    const changes = result.value.wallets.map((balances, index): Change => {
      const read = { ...fitBalances(balances, isListed), asOf }
      return { chain, wallet: stale[index] ?? '', part: { read } }
    })
    return { changes, rent: result.value.rent }
  }

  /**
   * Fetches tokens from the token index for wallets whose cached tokens are too old, as far as the caller's request
   * budget allows.
   */
  async function askIndex(inputs: readonly ChainInput[], wallets: Wallets, payFor: PayFor): Promise<Change[]> {
    if (!tokenIndex) return []
    const known = knownIn(wallets)
    const asOf = new Date(now())
    const questions = inputs
      .filter(({ chain }) => tokenIndex.tokenChains.includes(chain.key))
      .flatMap(({ chain, wallets, listed }) => {
        const isListed = new Set(listed.map(({ address }) => address))
        return wallets.map((wallet) => ({ chain, wallet, isListed, known: known(chain, wallet) }))
      })
      .filter((question) => !isIndexFresh(question.known, now()))
      .map((question) => ({ ...question, asOf: question.known.indexed?.asOf }))
    const price = { unitsOf: () => tokenIndex.units.tokens, payFor }
    const outcomes = await fetchPaid(questions, price, ({ chain, wallet, known, isListed }) =>
      tokenIndex.fetchTokens(chain.key, wallet, known.indexed?.tokens ?? [], isListed),
    )
    const failures = outcomes.flatMap(({ chain, result }) =>
      'error' in result ? ([[chain.key, result.error]] as const) : [],
    )
    for (const [chain, { cause }] of new Map(failures))
      logger.warn('unlisted tokens not known', { chain, cause: String(cause) })
    return outcomes.flatMap(({ chain, wallet, result }): Change[] =>
      'value' in result ? [{ chain, wallet, part: { indexed: { asOf, ...fitTokens(result.value) } } }] : [],
    )
  }

  function withChanges(wallets: Wallets, changes: readonly Change[]): Wallets {
    const changed = new Map(wallets)
    for (const { chain, wallet, part } of changes) {
      const before = knownIn(changed)(chain, wallet)
      changed.set(wallet, { ...changed.get(wallet), [chain.key]: joinKnownBalances(before, part) })
    }
    return changed
  }

  /** Merges changes into the newest cache entries, because other containers may have written there meanwhile. */
  async function store(changes: readonly Change[]): Promise<void> {
    const latest = await getWallets([...new Set(changes.map(({ wallet }) => wallet))])
    await cache.putMany([...withChanges(latest, changes)].map(([wallet, all]) => [balancesKey(wallet), all] as const))
  }

  return async (inputs: readonly ChainInput[], payFor: PayFor): Promise<Refreshed> => {
    const wallets = await getWallets([...new Set(inputs.flatMap((input) => input.wallets))])
    const [reads, indexed] = await Promise.all([
      Promise.all(inputs.map((input) => readStale(input, wallets))),
      askIndex(inputs, wallets, payFor),
    ])
    const changes = [...reads.flatMap((read) => read.changes), ...indexed]
    await store(changes).catch((error: unknown) => logger.error('balances not cached', { error }))
    return {
      known: knownIn(withChanges(wallets, changes)),
      failures: new Map(reads.flatMap(({ failure }) => (failure ? [failure] : []))),
      rent: reads.flatMap(({ rent }) => rent ?? [])[0],
    }
  }
}
