import type { Address } from 'viem'
import { movesNothing } from '../activity/ledger-entry.ts'
import type { RecordsStore, VaultProgress } from '../activity/store.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'

/**
 * Maximum number of an account's deposits, withdrawals, claims and cancellations in a vault that are searched for its
 * requests. A search of more takes too long.
 */
const MAX_SEARCHED = 1_000

type EntriesOfSlice = {
  readonly vault: VaultOnChain
  readonly progress: Pick<VaultProgress, 'through'>
  readonly entries: readonly LedgerEntry[]
}

/** Finds an account's ledger entries up to the end of the processed block range; undefined if there are too many entries. */
type FindEntries = (account: Address) => Promise<readonly LedgerEntry[] | undefined>

/**
 * Cached reads of accounts' ledger entries. `all` returns deposits, withdrawals and transfers. `ofRequests` leaves out
 * transfers and entries that move nothing. `isRead` is true once an account has been read.
 */
export type AccountEntries = {
  readonly all: FindEntries
  readonly ofRequests: FindEntries
  readonly isRead: (account: Address) => boolean
}

/** Creates cached reads of accounts' ledger entries in a vault, up to the end of a block range. */
export function createAccountEntries(
  records: Pick<RecordsStore, 'listEntries'>,
  { vault, progress: { through }, entries }: EntriesOfSlice,
): AccountEntries {
  const ofSlice = Map.groupBy(entries, ({ account }) => account)
  const read = new Set<Address>()
  const all = once(async (account) => {
    read.add(account)
    const [recorded] = await records.listEntries(account, [vault])
    const before = recorded?.filter(({ blockNumber }) => blockNumber <= through)
    return before && [...before, ...(ofSlice.get(account) ?? [])]
  })
  const ofRequests = once(async (account) => {
    const found = (await all(account))?.filter((entry) => isOfRequests(entry) && !movesNothing(entry))
    return found && found.length <= MAX_SEARCHED ? found : undefined
  })
  return { all, ofRequests, isRead: (account) => read.has(account) }
}

function isOfRequests({ kind }: LedgerEntry): boolean {
  return kind !== 'receive' && kind !== 'send'
}

function once(find: FindEntries): FindEntries {
  const found = new Map<Address, ReturnType<FindEntries>>()
  return (account) => {
    const known = found.get(account) ?? find(account)
    found.set(account, known)
    return known
  }
}
