import * as z from 'zod'
import { ChainKey } from '../chain/registry.ts'
import { Amount, Timestamp } from '../core/codecs.ts'
import { DAY_MS, MINUTE_MS } from '../core/time.ts'
import { IndexedToken, type IndexedTokens } from './token-index.ts'

/** Time at which a balance was read, if that was before the other balances. Otherwise `ChainBalances.asOf` is that time. */
const Older = { asOf: Timestamp.optional() }

/** Balances of one wallet on one chain, as read from the chain. */
export const ChainBalances = z.object({
  asOf: Timestamp,
  native: Amount,
  /**
   * Balances by token contract or mint. A token that is missing here and in `unread` has a balance of zero. Tokens on
   * Solana have the decimals that the chain reports.
   */
  tokens: z.record(z.string(), z.object({ balance: Amount, decimals: z.int().optional(), ...Older })),
  /**
   * Balances of vault shares by share token, for the vaults that were read. Shares of other vaults are unknown. `price`
   * is the value of one whole share in the asset's smallest unit. It is null if the vault reports none.
   */
  shares: z.record(z.string(), z.object({ balance: Amount, price: Amount.nullable(), symbol: z.string(), ...Older })),
  /** Tokens, share tokens, token programs and token accounts that could not be read. Their balances are unknown, not zero. */
  unread: z.array(z.string()),
})
export type ChainBalances = z.output<typeof ChainBalances>
/** Balances just read from a chain. The caller adds the time of the read. */
export type UndatedBalances = Omit<ChainBalances, 'asOf'>

const KnownBalances = z.object({
  read: ChainBalances.optional(),
  indexed: z.object({ asOf: Timestamp, tokens: z.array(IndexedToken), isWhole: z.boolean() }).optional(),
})
/** Known balances of one wallet on one chain: those last read from the chain, and those in the last response of a token index. */
export type KnownBalances = z.output<typeof KnownBalances>

/**
 * Known balances of one wallet by chain, cached for all users together. Entries of chains that this version of the
 * service does not know stay unchanged. During a deployment an older and a newer version write the same entry.
 */
export const WalletBalances = z.partialRecord(ChainKey, KnownBalances, { mode: 'loose' })
export type WalletBalances = z.output<typeof WalletBalances>

type Dated = { readonly asOf?: Date | undefined }

/** Programs on Solana that hold token accounts: Token and Token-2022. */
export const TOKEN_PROGRAMS = [
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
] as const

const READ_FRESH_MS = 30_000
const INDEX_FRESH_MS = 10 * MINUTE_MS
/** Milliseconds for which old balances are shown while their chain cannot be read. */
const KEPT_MS = 7 * DAY_MS
/**
 * Maximum bytes of a wallet's unlisted tokens on one chain, as JSON. Eight chains then fit into DynamoDB's 400 KB even
 * without compression.
 */
const MAX_BYTES = 40_000
const MAX_TOKENS = 500

/**
 * Returns true if the balances are so recent that they need not be read from the chain again. The balances of these
 * share tokens must be recent too.
 */
export function isReadFresh({ read }: KnownBalances, shares: readonly string[], now: number): boolean {
  if (!read) return false
  const isFresh = (asOf: Date) => now - asOf.getTime() < READ_FRESH_MS
  const isShareFresh = (address: string) => {
    const share = read.shares[address]
    return read.unread.includes(address) || (share !== undefined && isFresh(share.asOf ?? read.asOf))
  }
  return isFresh(read.asOf) && shares.every(isShareFresh)
}

/** Returns the time of the oldest known balance. It ignores balances of vault shares whose share token is not in `contracts`. */
export function oldestReadTime({ asOf, tokens, shares }: ChainBalances, contracts: readonly string[]): Date {
  const parts = [...Object.values(tokens), ...contracts.flatMap((address) => shares[address] ?? [])]
  return new Date(Math.min(...parts.map((part) => (part.asOf ?? asOf).getTime()), asOf.getTime()))
}

/**
 * Returns true if the token index need not be queried again. Its response is fresh for ten minutes, or for a day if the
 * wallet is empty.
 */
export function isIndexFresh(known: KnownBalances, now: number): boolean {
  const { indexed } = known
  if (!indexed) return false
  return now - indexed.asOf.getTime() < (isEmpty(known) ? DAY_MS : INDEX_FRESH_MS)
}

/** Returns true if the token index's response is less than a day old. Tokens of an older response are shown, but reported as old. */
export function isIndexRecent({ indexed }: KnownBalances, now: number): boolean {
  return indexed !== undefined && now - indexed.asOf.getTime() < DAY_MS
}

/**
 * Returns true if both the chain and the token index report that the wallet is empty on this chain. The response of the
 * index must be less than a day old.
 */
export function isKnownEmpty(known: KnownBalances, now: number): boolean {
  return isIndexRecent(known, now) && isEmpty(known)
}

/** Returns true if both the chain and the token index report that the wallet is empty. */
function isEmpty({ read, indexed }: KnownBalances): boolean {
  if (!read || !indexed || read.unread.length > 0 || !indexed.isWhole) return false
  const amounts = [...Object.values(read.tokens), ...Object.values(read.shares)].map(({ balance }) => balance)
  return indexed.tokens.length === 0 && [read.native, ...amounts].every((amount) => amount === 0n)
}

/** Returns the balances without those that are too old to be shown. */
export function withoutOldBalances({ read, indexed }: KnownBalances, now: number): KnownBalances {
  const isKept = ({ asOf }: Dated) => !asOf || now - asOf.getTime() < KEPT_MS
  const keptOf = <Part extends Dated>(parts: Readonly<Record<string, Part>>) =>
    Object.fromEntries(Object.entries(parts).filter(([, part]) => isKept(part)))
  return {
    ...(read && isKept(read) && { read: { ...read, tokens: keptOf(read.tokens), shares: keptOf(read.shares) } }),
    ...(indexed && isKept(indexed) && { indexed }),
  }
}

/** Returns true if the token's balance could not be read from the chain. */
export function isBalanceUnread({ tokens, unread }: ChainBalances, address: string): boolean {
  if (unread.includes(address)) return true
  // A Solana token that is missing here could belong to either token program. So its balance is unknown if one of the
  // two programs could not be read.
  return !(address in tokens) && TOKEN_PROGRAMS.some((program) => unread.includes(program))
}

/**
 * Completes a new read of a chain's balances. Tokens that could not be read, and shares that are missing, get their
 * last known balance with its time.
 */
export function withLastKnownBalances(read: ChainBalances, last: ChainBalances | undefined): ChainBalances {
  if (!last) return read
  const unread = Object.entries(last.tokens).filter(([address]) => isBalanceUnread(read, address))
  return {
    ...read,
    tokens: withOlder(read.tokens, Object.fromEntries(unread), last.asOf),
    shares: withOlder(read.shares, last.shares, last.asOf),
  }
}

/** Combines two sets of known balances of one wallet on one chain. The newer read and the newer index response win. */
export function joinKnownBalances(one: KnownBalances, other: KnownBalances): KnownBalances {
  const [read, last] = newestFirst(one.read, other.read)
  const [indexed] = newestFirst(one.indexed, other.indexed)
  return { ...(read && { read: withLastKnownBalances(read, last) }), ...(indexed && { indexed }) }
}

function newestFirst<Part extends { readonly asOf: Date }>(...parts: readonly (Part | undefined)[]): Part[] {
  return parts.flatMap((part) => part ?? []).toSorted((one, other) => other.asOf.getTime() - one.asOf.getTime())
}

/** Adds balances of an older read that the newer read lacks. Keeps at most 500 such balances, the newest ones. */
function withOlder<Part extends Dated>(
  parts: Readonly<Record<string, Part>>,
  last: Readonly<Record<string, Part>>,
  lastAsOf: Date,
): Record<string, Part> {
  const older = Object.entries(last).map(
    ([address, part]) => [address, { ...part, asOf: part.asOf ?? lastAsOf }] as const,
  )
  const added = older.filter(([address, { asOf }]) => {
    const known = parts[address]
    return !known || (known.asOf && known.asOf < asOf)
  })
  const all = Object.entries<Part>({ ...parts, ...Object.fromEntries(added) })
  const timeOf = ({ asOf }: Part) => asOf?.getTime() ?? 0
  const dated = all.filter(([, { asOf }]) => asOf).toSorted(([, one], [, other]) => timeOf(other) - timeOf(one))
  return Object.fromEntries([...all.filter(([, { asOf }]) => !asOf), ...dated.slice(0, MAX_TOKENS)])
}

/** Returns at most 500 tokens, supported tokens first, because a Solana wallet can have thousands of spam tokens. */
export function fitBalances(read: UndatedBalances, listed: ReadonlySet<string>): UndatedBalances {
  const ordered = Object.entries(read.tokens).toSorted(
    ([one], [other]) => Number(listed.has(other)) - Number(listed.has(one)),
  )
  return {
    ...read,
    tokens: Object.fromEntries(ordered.slice(0, MAX_TOKENS)),
    unread: read.unread.slice(0, MAX_TOKENS),
  }
}

/** Returns as many tokens of a token index's response as fit into a table item. Spam comes last, so it is omitted first. */
export function fitTokens({ tokens, isWhole }: IndexedTokens): { tokens: IndexedToken[]; isWhole: boolean } {
  let left = MAX_BYTES
  const fits = (token: IndexedToken) => {
    left -= Buffer.byteLength(JSON.stringify(IndexedToken.encode(token)))
    return left >= 0
  }
  const kept = tokens.toSorted((one, other) => Number(one.isFlagged) - Number(other.isFlagged)).filter(fits)
  return { tokens: kept, isWhole: isWhole && tokens.every((token) => token.isFlagged || kept.includes(token)) }
}
