import type { Transaction } from '../chain/transaction.ts'
import { logger } from '../core/logger.ts'
import type { VaultKey } from '../vaults/vault.ts'
import { parseTerms } from './events.ts'
import type { QuotesStore } from './quote-store.ts'

type Reply = {
  readonly operations: readonly (Transaction & { readonly chainId: number })[]
  readonly quote?: { readonly expectedFillSeconds: number } | undefined
}

/**
 * Stores the bridge quote of an API response. The scheduled job refresh-chain thus finds the transfer even if no client
 * requests its status. Returns the response even if storing fails: a status request then still finds the transfer.
 */
export async function rememberQuote<T extends Reply>(
  quotes: Pick<QuotesStore, 'add'>,
  { chainId, address }: VaultKey,
  reply: T,
): Promise<T> {
  const transfer = reply.operations.at(-1)
  const terms = transfer && parseTerms(transfer.data)
  if (!reply.quote || !terms) return reply
  const { expectedFillSeconds } = reply.quote
  try {
    await quotes.add(transfer.chainId, { terms, vault: { chainId, address }, expectedFillSeconds })
  } catch (error) {
    logger.error('quote not recorded', { chainId: transfer.chainId, reason: String(error) })
  }
  return reply
}
