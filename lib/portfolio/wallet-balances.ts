import * as z from 'zod'
import { ChainKey } from '../chain/registry.ts'
import { Amount, Timestamp } from '../codecs.ts'
import { DAY_MS, MINUTE_MS } from '../time.ts'
import { IndexedToken, type IndexedTokens } from './token-index.ts'

/** The time of a balance that an older report had; without it, the balance is of the report's time. */
const Older = { asOf: Timestamp.optional() }

/** Balances of one wallet as its chain reports them. */
export const ChainBalances = z.object({
  asOf: Timestamp,
  native: Amount,
  /** By contract or mint; a token that is not here and not unread has a balance of zero. On Solana with the chain's decimals. */
  tokens: z.record(z.string(), z.object({ balance: Amount, decimals: z.int().optional(), ...Older })),
  /**
   * Shares of every vault that was read, by the contract of the shares; one that is not here is unknown. The price is that
   * of one whole share in the asset's smallest unit, null where the vault does not report it.
   */
  shares: z.record(z.string(), z.object({ balance: Amount, price: Amount.nullable(), symbol: z.string(), ...Older })),
  /** Tokens, shares, token programs and accounts that could not be read: unknown is not zero. */
  unread: z.array(z.string()),
})
export type ChainBalances = z.output<typeof ChainBalances>
/** The same before it has a time. */
export type ReadBalances = Omit<ChainBalances, 'asOf'>

const KnownOnChain = z.object({
  read: ChainBalances.optional(),
  indexed: z.object({ asOf: Timestamp, tokens: z.array(IndexedToken), isWhole: z.boolean() }).optional(),
})
/** Balances of one wallet on one chain: the last that the chain reported, and the last that an index reported. */
export type KnownOnChain = z.output<typeof KnownOnChain>

/**
 * Public balances of one wallet on all chains, shared by all who ask for it. A chain that only a newer version knows stays
 * as it is: during a deploy both versions write the item.
 */
export const WalletBalances = z.partialRecord(ChainKey, KnownOnChain, { mode: 'loose' })
export type WalletBalances = z.output<typeof WalletBalances>

/** A balance with its time where that is older than the report. */
type Dated = { readonly asOf?: Date | undefined }

/** The programs that tokens of Solana belong to: Token and Token-2022. */
export const TOKEN_PROGRAMS = [
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
] as const

const READ_FRESH_MS = 30_000
const INDEX_FRESH_MS = 10 * MINUTE_MS
/** After this the last balances of a chain that cannot be read are no longer shown. */
const KEPT_MS = 7 * DAY_MS
/** JSON bytes of a wallet's unlisted tokens on one chain: eight chains fit into DynamoDB's 400 KB, even uncompressed. */
const MAX_BYTES = 40_000
const MAX_TOKENS = 500

/** True if the chain need not be read again for these contracts of shares. */
export function isReadFresh({ read }: KnownOnChain, shares: readonly string[], now: number): boolean {
  if (!read) return false
  const isFresh = (asOf: Date) => now - asOf.getTime() < READ_FRESH_MS
  const isShareFresh = (address: string) => {
    const share = read.shares[address]
    return read.unread.includes(address) || (share !== undefined && isFresh(share.asOf ?? read.asOf))
  }
  return isFresh(read.asOf) && shares.every(isShareFresh)
}

/** The time of the oldest of these balances, of shares only those of these contracts. */
export function oldestOf({ asOf, tokens, shares }: ChainBalances, contracts: readonly string[]): Date {
  const parts = [...Object.values(tokens), ...contracts.flatMap((address) => shares[address] ?? [])]
  return new Date(Math.min(...parts.map((part) => (part.asOf ?? asOf).getTime()), asOf.getTime()))
}

/** True if the index need not be asked again: for ten minutes, and for a day where the wallet is empty. */
export function isIndexFresh(known: KnownOnChain, now: number): boolean {
  const { indexed } = known
  if (!indexed) return false
  return now - indexed.asOf.getTime() < (isEmpty(known) ? DAY_MS : INDEX_FRESH_MS)
}

/** True if the index's response may be shown without a word about its age. */
export function isIndexRecent({ indexed }: KnownOnChain, now: number): boolean {
  return indexed !== undefined && now - indexed.asOf.getTime() < DAY_MS
}

/** True if a wallet was empty on a chain within the last day. */
export function isUnused(known: KnownOnChain, now: number): boolean {
  return isIndexRecent(known, now) && isEmpty(known)
}

/** True if both the chain and the index report nothing of a wallet. */
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
  // The program of a mint is unknown where the wallet holds none of it.
  return !(address in tokens) && TOKEN_PROGRAMS.some((program) => unread.includes(program))
}

/** Adds the last known balances of what a chain did not report now, or was not asked for, with their times. */
export function withLastKnown(read: ChainBalances, last: ChainBalances | undefined): ChainBalances {
  if (!last) return read
  const unread = Object.entries(last.tokens).filter(([address]) => isUnread(read, address))
  return {
    ...read,
    tokens: withOlder(read.tokens, Object.fromEntries(unread), last.asOf),
    shares: withOlder(read.shares, last.shares, last.asOf),
  }
}

/** Two reports as one: the newer of each part, and parts that only the older has. */
export function joined(one: KnownOnChain, other: KnownOnChain): KnownOnChain {
  const [read, last] = newestFirst(one.read, other.read)
  const [indexed] = newestFirst(one.indexed, other.indexed)
  return { ...(read && { read: withLastKnown(read, last) }), ...(indexed && { indexed }) }
}

function newestFirst<Part extends { readonly asOf: Date }>(...parts: readonly (Part | undefined)[]): Part[] {
  return parts.flatMap((part) => part ?? []).toSorted((one, other) => other.asOf.getTime() - one.asOf.getTime())
}

/** Adds what an older report had: in all, at most 500 balances that are older than the report, the newest first. */
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

/** The balances that are kept: of at most 500 tokens, the listed ones first. A Solana account of spam can have thousands. */
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

/** The tokens of an index's response that are kept, those that are no spam first. */
export function fittingTokens({ tokens, isWhole }: IndexedTokens): { tokens: IndexedToken[]; isWhole: boolean } {
  let left = MAX_BYTES
  const fits = (token: IndexedToken) => {
    left -= Buffer.byteLength(JSON.stringify(IndexedToken.encode(token)))
    return left >= 0
  }
  const kept = tokens.toSorted((one, other) => Number(one.isFlagged) - Number(other.isFlagged)).filter(fits)
  return { tokens: kept, isWhole: isWhole && tokens.every((token) => token.isFlagged || kept.includes(token)) }
}
