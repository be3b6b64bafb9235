import { type Address, isAddress } from 'viem'
import { readFinalBlock } from '../chain/finality.ts'
import type { ChainReader } from '../chain/reader.ts'
import { AppError } from '../errors.ts'
import { getProtocol } from '../protocols/protocols.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'
import { isPossible, postEvents } from './ledger.ts'
import { readSlice, type Slice } from './slice.ts'
import { initialProgress, type RecordsStore, startOfHour, type VaultProgress } from './store.ts'
import { YIELD_SECONDS } from './yields.ts'

type Dependencies = {
  readonly reader: ChainReader
  readonly records: RecordsStore
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly sleep: (milliseconds: number) => Promise<unknown>
  /** Tells the operator how far it is. */
  readonly say: (line: string) => void
}

/** Longer than any request takes: one that has read the old progress still finds the old records. */
const GRACE_MS = 60_000
/** How long the lease is held, and how long and how often it is asked for while the job has it. */
const LEASE_MS = 90_000
const PATIENCE_MS = 5 * 60_000
const RETRY_MS = 1_000
/** After a reading that took no longer, little is left to read with the lease. */
const SHORT_MS = 20_000
/** How often a slice that could not be read is asked for again, and after how long. */
const MOST_RETRIES = 5
const PAUSE_MS = 10_000

/** The vault whose past is read, with the number of this reading. */
type RebuiltVault = VaultOnChain & { readonly generation: number }

/** What of the vault's past is recorded anew. */
type Past = {
  progress: VaultProgress
  entries: number
  /** All addresses in its events, whose older records are deleted: 100 bytes each. */
  readonly accounts: Set<Address>
  /** The hours in which there was a trade: as many as a synchronous vault has prices. */
  readonly hoursOfTrades: Set<bigint>
}

/**
 * Reads a vault's whole past again and replaces what is recorded of it, at once: ledger entries and prices are written as
 * a generation of their own, which the vault's progress then names. Until it does, the old ones are shown and continued
 * by the job; afterwards they are deleted. Killed anywhere it leaves the one or the other in force, and can be repeated:
 * each rebuild is a generation of its own, and deletes all earlier ones. Returns the lines to print. Throws `upstream_*`,
 * or an Error where the vault is not recorded, the job never leaves the chain, or a later rebuild has ended.
 */
export async function rebuildVault(dependencies: Dependencies, vault: VaultOnChain): Promise<readonly string[]> {
  const { records, now, sleep, say } = dependencies
  const [recorded] = await records.getProgress([vault])
  if (!recorded) throw new Error('Nothing is recorded of the vault yet: the job reads its past.')
  const rebuilt = { ...vault, generation: Math.max(now(), (recorded.generation ?? 0) + 1) }
  const past: Past = {
    progress: initialProgress(vault),
    entries: 0,
    accounts: new Set(),
    hoursOfTrades: new Set(),
  }
  // Ends once a reading leaves no more than the chain makes in that time: the rest is read while the job waits.
  let begun: number
  do {
    begun = now()
    await recordPast(dependencies, rebuilt, past)
  } while (now() - begun > SHORT_MS)

  const owner = `rebuild ${rebuilt.generation}`
  await takeLease(dependencies, vault.chainId, owner)
  try {
    await putInForce(dependencies, rebuilt, past, owner)
  } finally {
    await records.releaseLease(vault.chainId, owner)
  }
  say(
    `The new records are in force: ${past.entries} entries through block ${past.progress.through}. Deleting the old ones.`,
  )

  await sleep(GRACE_MS)
  const deleted = await records.deleteEarlier(rebuilt, past.accounts)
  return [`Rebuilt the records of ${vault.address} on chain ${vault.chainId}; deleted ${deleted} old ones.`]
}

/** Names the new records as those in force, having read the rest, so that they go as far as the old ones do. */
async function putInForce(dependencies: Dependencies, vault: RebuiltVault, past: Past, owner: string): Promise<void> {
  const { records, now } = dependencies
  const [old] = await records.getProgress([vault])
  if (!old) throw new Error('The vault was forgotten meanwhile.')
  if ((old.generation ?? 0) >= vault.generation) throw new Error('Another rebuild, begun later, has ended before.')
  await recordPast(dependencies, vault, past, old.through)
  if (getProtocol(vault).books.pricedBy === 'trades') await copyReadPrices(records, vault, past)
  const { through, timestamp, ledger } = past.progress
  const weekAgo =
    timestamp === undefined
      ? undefined
      : ((await records.getPriceAt(vault, timestamp - YIELD_SECONDS)) ?? (await records.getFirstPrice(vault)))
  const progress = { ...old, generation: vault.generation, through, timestamp, ledger, weekAgo }
  // The job writes progress with the lease alone, so nothing of the old records is put in force again.
  if (!(await records.keepLease(vault.chainId, owner, now() + LEASE_MS))) {
    throw new Error('It took too long to put the new records in force. Try again.')
  }
  await records.putProgress([[vault, progress]])
}

/** Reads and records what happened up to the last final block, or to a later one, slice by slice. */
async function recordPast(dependencies: Dependencies, vault: RebuiltVault, past: Past, atLeast = 0): Promise<void> {
  const { reader, records, say } = dependencies
  const { final } = await readFinalBlock(reader)
  const to = Math.max(Number(final.number), atLeast)
  while (past.progress.through < to) {
    const range = { from: BigInt(past.progress.through + 1), to: BigInt(to), final, until: Number.POSITIVE_INFINITY }
    const slice = await retried(dependencies, () => readSlice(dependencies, { vaults: [vault.address], ...range }))
    const posted = postEvents(vault, past.progress.ledger, slice.events)
    if (!isPossible(posted)) throw new Error("The vault's events contradict each other: it has no books.")
    await records.record([{ vault, ...posted }])
    const { timestamp } = slice
    past.progress = { through: Number(slice.through), timestamp, ledger: posted.ledger }
    past.entries += posted.entries.length
    noteEvents(vault, past, slice)
    const day = new Date(Number(timestamp) * 1000).toISOString().slice(0, 10)
    say(`Read to block ${slice.through} of ${to} (${day}): ${past.entries} entries.`)
  }
}

function noteEvents(vault: RebuiltVault, { accounts, hoursOfTrades }: Past, { events }: Slice): void {
  const { repricing } = getProtocol(vault).books
  for (const { args, eventName, location } of events) {
    for (const value of Object.values(args)) if (typeof value === 'string' && isAddress(value)) accounts.add(value)
    if (repricing.has(eventName)) hoursOfTrades.add(startOfHour(location.timestamp))
  }
}

/** Records the prices of hours without a trade again, which the job read from the vault: no event sets them. */
async function copyReadPrices(records: RecordsStore, vault: RebuiltVault, { hoursOfTrades }: Past): Promise<void> {
  const prices = await records.listPrices(vault, 0n)
  const read = prices.filter(({ timestamp }) => !hoursOfTrades.has(startOfHour(timestamp)))
  await records.record([{ vault, entries: [], prices: read.map((price) => ({ ...price, blockNumber: 0n })) }])
}

async function takeLease({ records, now, sleep }: Dependencies, chainId: number, owner: string): Promise<void> {
  const until = now() + PATIENCE_MS
  while (!(await records.takeLease(chainId, owner, { now: now(), until: now() + LEASE_MS }))) {
    if (now() > until) throw new Error('The job does not leave the chain. Try again later.')
    await sleep(RETRY_MS)
  }
}

/** Runs an action, again where the chain cannot be read: a passing failure must not cost a long past. Throws the last failure. */
async function retried<T>({ sleep, say }: Pick<Dependencies, 'sleep' | 'say'>, action: () => Promise<T>): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await action()
    } catch (error) {
      if (!(error instanceof AppError) || retries === MOST_RETRIES) throw error
      say(`The chain cannot be read now (${error.code}); trying again in ${PAUSE_MS / 1000} s.`)
      await sleep(PAUSE_MS)
    }
  }
}
