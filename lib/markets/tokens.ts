import type { Aged } from '../cache/cache.ts'
import type { Chain } from '../chain/registry.ts'
import type { ListedToken } from './coin.ts'
import { WELL_KNOWN_TOKENS } from './well-known-tokens.ts'

/** Returns the supported tokens of a chain: the cached list, or WELL_KNOWN_TOKENS if no list is cached. */
export function listSupportedTokens(
  { key }: Pick<Chain, 'key'>,
  cached: Aged<ListedToken[]> | undefined,
): readonly ListedToken[] {
  return cached?.value ?? WELL_KNOWN_TOKENS.filter(({ chain }) => chain === key)
}
