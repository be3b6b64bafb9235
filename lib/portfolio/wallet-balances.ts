import * as z from 'zod'
import { ChainKey } from '../chain/registry.ts'
import { Amount, Timestamp } from '../core/codecs.ts'
import { DAY_MS, MINUTE_MS } from '../core/time.ts'
import { IndexedToken, type IndexedTokens } from './token-index.ts'

/** Time of a balance from an older report; else the report's time applies. */
const Older = { asOf: Timestamp.optional() }

/** Balances of one wallet as its chain reports them. */
export const ChainBalances = z.object({
  asOf: Timestamp,
  native: Amount,
  /** Balances by contract or mint: zero if missing and not in `unread`. Solana's have the chain's decimals. */
  tokens: z.record(z.string(), z.object({ balance: Amount, decimals: z.int().optional(), ...Older })),
  /**
   * Shares of the vaults that were read, by the shares' contract; missing ones are unknown. The price is of one whole share in the asset's
   * smallest unit, null if the vault reports none.
   */
  shares: z.record(z.string(), z.object({ balance: Amount, price: Amount.nullable(), symbol: z.string(), ...Older })),
  /** Unread tokens, shares, token programs and accounts: unknown is not zero. */
  unread: z.array(z.string()),
})
export type ChainBalances = z.output<typeof ChainBalances>
/** Balances before they have a time. */
export type ReadBalances = Omit<ChainBalances, 'asOf'>

const KnownOnChain = z.object({
  read: ChainBalances.optional(),
  indexed: z.object({ asOf: Timestamp, tokens: z.array(IndexedToken), isWhole: z.boolean() }).optional(),
})
/** Balances of one wallet on one chain: the last reports of the chain and of an index. */
export type KnownOnChain = z.output<typeof KnownOnChain>

/**
 * Public balances of one wallet on all chains, shared by all users. Chains of a newer version stay unchanged: during a deploy both versions
 * write the item.
 */
export const WalletBalances = z.partialRecord(ChainKey, KnownOnChain, { mode: 'loose' })
export type WalletBalances = z.output<typeof WalletBalances>

/** A balance, with its time if that is older than the report. */
type Dated = { readonly asOf?: Date | undefined }

/** Programs that own Solana tokens: Token and Token-2022. */
export const TOKEN_PROGRAMS = [
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
] as const

const READ_FRESH_MS = 30_000
const INDEX_FRESH_MS = 10 * MINUTE_MS
/** Retention of the last balances of a chain that cannot be read. */
const KEPT_MS = 7 * DAY_MS
/** Maximum JSON bytes of a wallet's unlisted tokens per chain. Eight chains fit into DynamoDB's 400 KB, even uncompressed. */
const MAX_BYTES = 40_000
const MAX_TOKENS = 500

/** True if the chain need not be read again for these share contracts. */
export function isReadFresh({ read }: KnownOnChain, shares: readonly string[], now: number): boolean {
  if (!read) return false
  const isFresh = (asOf: Date) => now - asOf.getTime() < READ_FRESH_MS
  const isShareFresh = (address: string) => {
    const share = read.shares[address]
    return read.unread.includes(address) || (share !== undefined && isFresh(share.asOf ?? read.asOf))
  }
  return isFresh(read.asOf) && shares.every(isShareFresh)
}

/** Returns the time of the oldest of these balances, with the shares of these contracts only. */
export function oldestOf({ asOf, tokens, shares }: ChainBalances, contracts: readonly string[]): Date {
  const parts = [...Object.values(tokens), ...contracts.flatMap((address) => shares[address] ?? [])]
  return new Date(Math.min(...parts.map((part) => (part.asOf ?? asOf).getTime()), asOf.getTime()))
}

/** True if the index need not be queried again: for ten minutes, or a day if the wallet is empty. */
export function isIndexFresh(known: KnownOnChain, now: number): boolean {
  const { indexed } = known
  if (!indexed) return false
  return now - indexed.asOf.getTime() < (isEmpty(known) ? DAY_MS : INDEX_FRESH_MS)
}

/** True if the index's response needs no mention of its age. */
export function isIndexRecent({ indexed }: KnownOnChain, now: number): boolean {
  return indexed !== undefined && now - indexed.asOf.getTime() < DAY_MS
}

/** True if a wallet was empty on a chain within the last day. */
export function isUnused(known: KnownOnChain, now: number): boolean {
  return isIndexRecent(known, now) && isEmpty(known)
}

/** True if both the chain and the index report an empty wallet. */
function isEmpty({ read, indexed }: KnownOnChain): boolean {
  if (!read || !indexed || read.unread.length > 0 || !indexed.isWhole) return false
  const amounts = [...Object.values(read.tokens), ...Object.values(read.shares)].map(({ balance }) => balance)
  return indexed.tokens.length === 0 && [read.native, ...amounts].every((amount) => amount === 0n)
}

/** Drops the parts that are too old to show. */
export function withoutOld({ read, indexed }: KnownOnChain, now: number): KnownOnChain {
  const isKept = ({ asOf }: Dated) => !asOf || now - asOf.getTime() < KEPT_MS
  const keptOf = <Part extends Dated>(parts: Readonly<Record<string, Part>>) =>
    Object.fromEntries(Object.entries(parts).filter(([, part]) => isKept(part)))
  return {
    ...(read && isKept(read) && { read: { ...read, tokens: keptOf(read.tokens), shares: keptOf(read.shares) } }),
    ...(indexed && isKept(indexed) && { indexed }),
  }
}

/** True if the chain did not report the balance of this token. */
export function isUnread({ tokens, unread }: ChainBalances, address: string): boolean {
  if (unread.includes(address)) return true
  // A mint that the wallet does not hold could be of either program.
  return !(address in tokens) && TOKEN_PROGRAMS.some((program) => unread.includes(program))
}

/** Adds the last known balances that the chain did not report or was not queried for, with their times. */
export function withLastKnown(read: ChainBalances, last: ChainBalances | undefined): ChainBalances {
  if (!last) return read
  const unread = Object.entries(last.tokens).filter(([address]) => isUnread(read, address))
  return {
    ...read,
    tokens: withOlder(read.tokens, Object.fromEntries(unread), last.asOf),
    shares: withOlder(read.shares, last.shares, last.asOf),
  }
}

/** Joins two reports: the newer of each part, and parts of only one. */
export function joinReports(one: KnownOnChain, other: KnownOnChain): KnownOnChain {
  const [read, last] = newestFirst(one.read, other.read)
  const [indexed] = newestFirst(one.indexed, other.indexed)
  return { ...(read && { read: withLastKnown(read, last) }), ...(indexed && { indexed }) }
}

function newestFirst<Part extends { readonly asOf: Date }>(...parts: readonly (Part | undefined)[]): Part[] {
  return parts.flatMap((part) => part ?? []).toSorted((one, other) => other.asOf.getTime() - one.asOf.getTime())
}

/** Adds an older report's balances; keeps the newest 500 of those older than the report. */
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

/** Keeps at most 500 tokens, the listed ones first: a Solana wallet of spam can have thousands. */
export function fittingBalances(read: ReadBalances, listed: ReadonlySet<string>): ReadBalances {
  const ordered = Object.entries(read.tokens).toSorted(
    ([one], [other]) => Number(listed.has(other)) - Number(listed.has(one)),
  )
  return {
    ...read,
    tokens: Object.fromEntries(ordered.slice(0, MAX_TOKENS)),
    unread: read.unread.slice(0, MAX_TOKENS),
  }
}

/** Keeps the tokens of an index's response that fit, spam last. */
export function fittingTokens({ tokens, isWhole }: IndexedTokens): { tokens: IndexedToken[]; isWhole: boolean } {
  let left = MAX_BYTES
  const fits = (token: IndexedToken) => {
    left -= Buffer.byteLength(JSON.stringify(IndexedToken.encode(token)))
    return left >= 0
  }
  const kept = tokens.toSorted((one, other) => Number(one.isFlagged) - Number(other.isFlagged)).filter(fits)
  return { tokens: kept, isWhole: isWhole && tokens.every((token) => token.isFlagged || kept.includes(token)) }
}
