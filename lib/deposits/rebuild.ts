import { readFinalBlock } from '../chain/finality.ts'
import { BlockHeader, blockRequest, parseResult, readTimestamps } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { FollowedVault } from '../vaults/vault.ts'
import { parseVaultEvents, VAULT_EVENT_TOPICS } from './events.ts'
import { EMPTY_LEDGER, type Ledger, postEvents } from './ledger.ts'
import type { RecordsTable } from './table.ts'
import { YIELD_SECONDS } from './yields.ts'

type Dependencies = {
  readonly reader: ChainReader
  readonly records: RecordsTable
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly sleep: (milliseconds: number) => Promise<unknown>
  /** Tells somebody who waits how far it is. */
  readonly say: (line: string) => void
}

/** A slice ends with the first block after so many events, which bounds what is in memory. */
const SLICE_EVENTS = 5_000
/** Longer than any answer takes: who read how far the old records go still finds them. */
const GRACE_MS = 60_000
/** How long the lease is held, and how long and how often it is asked for while the job has it. */
const LEASE_MS = 90_000
const PATIENCE_MS = 5 * 60_000
const RETRY_MS = 1_000
/** A rest that took no longer than this is short. */
const SHORT_MS = 20_000

/** Where a rebuild stands: recorded through this block, with the ledger after it. */
type Rebuilt = { readonly through: bigint; readonly ledger: Ledger; readonly movements: number }

/**
 * Reads a vault's whole past again and puts what it tells in the place of what is recorded, at once: movements and prices
 * are written as a generation of their own, which the vault's progress then names; until it does, the old ones are shown
 * and continued by the job, and afterwards they are deleted. Killed anywhere it leaves the one or the other in force, and
 * can be repeated: each rebuild is a generation of its own, and the last one deletes all others. Throws `upstream_*`, or
 * an Error where the vault is not recorded or the job never leaves the chain.
 */
export async function rebuildVault(dependencies: Dependencies, vault: FollowedVault): Promise<readonly string[]> {
  const { reader, records, now, sleep, say } = dependencies
  const [recorded] = await records.getProgress([vault])
  if (!recorded) throw new Error('Nothing is recorded of the vault yet: the job reads its past.')
  const generation = Math.max(now(), (recorded.generation ?? 0) + 1)
  let past: Rebuilt = { through: BigInt(vault.firstBlock) - 1n, ledger: EMPTY_LEDGER, movements: 0 }
  // Until so little is left that the rest is read while the job waits.
  for (let begun = 0; now() - begun > SHORT_MS; ) {
    begun = now()
    const { final } = await readFinalBlock(reader)
    past = await recordUpTo(dependencies, { ...vault, generation }, past, final.number)
  }

  const owner = `rebuild ${generation}`
  await takeLease(dependencies, vault.chainId, owner)
  try {
    const [current] = await records.getProgress([vault])
    if (!current) throw new Error('The vault was forgotten meanwhile.')
    // As far as the old records go, so that nobody has more to read live than before.
    const to = past.through > BigInt(current.through) ? past.through : BigInt(current.through)
    const { through, ledger, movements } = await recordUpTo(dependencies, { ...vault, generation }, past, to)
    const timestamp = await readTime(reader, through)
    const books = { ...vault, generation }
    const weekAgo = (await records.getPriceAt(books, timestamp - YIELD_SECONDS)) ?? (await records.getFirstPrice(books))
    const { weekAgo: _, ...kept } = current
    if (!(await records.keepLease(vault.chainId, owner, now() + LEASE_MS))) throw new Error('The lease was lost.')
    await records.putProgress([
      [vault, { ...kept, generation, through: Number(through), timestamp, ledger, ...(weekAgo && { weekAgo }) }],
    ])
    say(`The new records are in force: ${movements} movements through block ${through}.`)
  } finally {
    await records.giveLeaseBack(vault.chainId, owner)
  }

  await sleep(GRACE_MS)
  const deleted = await records.deleteOthers({ ...vault, generation })
  return [`Rebuilt the records of ${vault.address} on chain ${vault.chainId}; deleted ${deleted} old ones.`]
}

/** Reads and records a vault's events from where a rebuild stands, up to a block, slice by slice. */
async function recordUpTo(
  { reader, records, say }: Dependencies,
  vault: FollowedVault & { readonly generation: number },
  from: Rebuilt,
  to: bigint,
): Promise<Rebuilt> {
  let rebuilt = from
  while (rebuilt.through < to) {
    const filter = { address: [vault.address], topics: [VAULT_EVENT_TOPICS] }
    const { logs, through } = await reader.logsUntil(filter, rebuilt.through + 1n, to, (count) => count >= SLICE_EVENTS)
    const inOrder = logs.toSorted(
      (left, right) => Number(left.blockNumber - right.blockNumber) || left.logIndex - right.logIndex,
    )
    const events = parseVaultEvents(vault.chainId, inOrder, await readTimestamps(reader.request, inOrder))
    const { ledger, movements, prices } = postEvents(vault, rebuilt.ledger, events)
    const { generation } = vault
    await records.record(
      movements.map((movement) => ({ ...movement, generation })),
      prices.map((price) => ({ ...price, vault })),
    )
    rebuilt = { through, ledger, movements: rebuilt.movements + movements.length }
    say(`Block ${through} of ${to}: ${rebuilt.movements} movements.`)
  }
  return rebuilt
}

async function takeLease({ records, now, sleep }: Dependencies, chainId: number, owner: string): Promise<void> {
  const until = now() + PATIENCE_MS
  while (!(await records.takeLease(chainId, owner, { now: now(), until: now() + LEASE_MS }))) {
    if (now() > until) throw new Error('The job does not leave the chain. Try again later.')
    await sleep(RETRY_MS)
  }
}

async function readTime({ request }: ChainReader, block: bigint): Promise<bigint> {
  const [outcome] = await request([blockRequest(block)])
  return parseResult(BlockHeader, outcome).timestamp
}
