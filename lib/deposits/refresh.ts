import { type Log, readTimestamps } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import { logger } from '../logger.ts'
import { readOverviews } from '../vaults/overview.ts'
import type { StateTable } from '../vaults/state-table.ts'
import type { Vault } from '../vaults/vault.ts'
import { parseVaultEvents, VAULT_EVENT_TOPICS } from './events.ts'
import { EMPTY_LEDGER, postEvents } from './ledger.ts'
import type { Checkpoint, RecordsTable, VaultProgress } from './table.ts'
import { YIELD_SECONDS } from './yields.ts'

/** What one run over a chain did. */
export type RefreshReport = {
  readonly chainId: number
  readonly vaults: number
  /** The last final block that is recorded for every vault that has caught up; null before the first. */
  readonly through: number | null
  /** Vaults whose past is still being read. */
  readonly behind: number
  /** How far the records are behind the last final block, by the chain's usual pace. */
  readonly lagSeconds: number
  readonly movements: number
  readonly prices: number
  readonly states: number
}

type Dependencies = {
  readonly reader: ChainReader
  readonly records: Pick<RecordsTable, 'getCheckpoint' | 'moveCheckpoint' | 'record' | 'recordPrices' | 'getPriceAt'>
  readonly states: Pick<StateTable, 'record'>
}

/** How many blocks one run reads at most: of the vaults that have caught up, and of each that has not. */
const LONGEST_RANGE = 50_000
/** How many vaults that are behind one run helps. */
const BEHIND_PER_RUN = 5
const HOUR_SECONDS = 3600n

/**
 * Records what happened in a chain's vaults up to its last final block: movements, prices, states; then moves the
 * checkpoint. Whatever is killed in between leaves nothing wrong: the next run starts from the same checkpoint and
 * writes the same. The caller holds the chain's lease as `owner`. Throws `upstream_*`, or when the lease was lost.
 */
export async function refreshChain(
  { reader, records, states }: Dependencies,
  vaults: readonly Vault[],
  owner: string,
): Promise<RefreshReport> {
  const { chain } = reader
  const [checkpoint, { block, overviews }] = await Promise.all([
    records.getCheckpoint(chain.id),
    readOverviews(reader, vaults),
  ])
  const final = Number(block.number) - chain.finalityBlocks
  const read = await Promise.all(planSteps(checkpoint, vaults, final).map((step) => readStep(reader, step)))
  const steps = read.filter((step) => step !== undefined)
  const logs = steps.flatMap((step) => step.logs)
  const timestampOf = await readTimestamps(reader.request, logs)
  const events = Map.groupBy(parseVaultEvents(chain.id, logs, timestampOf), ({ vault }) => vault)

  const progress: Record<string, VaultProgress> = { ...checkpoint.vaults }
  let movements = 0
  let prices = 0
  for (const { vaults, to } of steps) {
    for (const vault of vaults) {
      const before = progressOf(checkpoint, vault)
      const posted = postEvents(vault, before.ledger, events.get(vault.address) ?? [])
      movements += await records.record(posted.movements)
      prices += await records.recordPrices(vault, posted.prices)
      progress[vault.address] = { ...before, through: to, ledger: posted.ledger }
    }
  }

  const asOf = { blockNumber: Number(block.number), timestamp: new Date(Number(block.timestamp) * 1000) }
  let recordedStates = 0
  for (const [index, vault] of vaults.entries()) {
    const { state, sharePrice } = overviews[index] ?? {}
    // A broken vault's state must not take the place of what was known of it.
    const isWhole = state !== undefined && state.totalAssets !== null
    if (isWhole && (await states.record(vault, { state, asOf }))) recordedStates += 1
    // A price that is read live may be of a block that goes away: the hour's first one is recorded, for a chart.
    if (vault.kind === 'erc4626' && sharePrice !== undefined) {
      prices += await records.recordPrices(vault, [{ price: sharePrice, timestamp: hourOf(block.timestamp) }])
    }
  }

  for (const vault of vaults) {
    const known = progress[vault.address]
    if (!known || (known.weekAgo && block.timestamp - known.weekAgo.foundAt < HOUR_SECONDS)) continue
    const past = await records.getPriceAt(vault, block.timestamp - YIELD_SECONDS)
    if (past) progress[vault.address] = { ...known, weekAgo: { ...past, foundAt: block.timestamp } }
  }

  const through = Math.max(checkpoint.through ?? 0, ...steps.filter(({ isCurrent }) => isCurrent).map(({ to }) => to))
  const moved: Checkpoint = { ...(through > 0 && { through }), vaults: progress }
  if (!(await records.moveCheckpoint(chain.id, owner, moved))) throw new Error(`Chain ${chain.id}: the lease was lost.`)
  return {
    chainId: chain.id,
    vaults: vaults.length,
    through: through > 0 ? through : null,
    behind: vaults.filter((vault) => (progress[vault.address]?.through ?? 0) < through).length,
    lagSeconds: through > 0 ? Math.max(0, final - through) * chain.blockSeconds : 0,
    movements,
    prices,
    states: recordedStates,
  }
}

/** A range of blocks to read of some vaults; `from` and `to` are both included. */
type Step = {
  readonly vaults: readonly Vault[]
  readonly from: number
  readonly to: number
  /** Whether these are the vaults that have caught up with the chain. */
  readonly isCurrent: boolean
}

function planSteps(checkpoint: Checkpoint, vaults: readonly Vault[], final: number): Step[] {
  const through = startOf(checkpoint, vaults)
  const readThrough = (vault: Vault) => progressOf(checkpoint, vault).through
  const step = (ofVaults: readonly Vault[], after: number, last: number, isCurrent: boolean): Step[] => {
    const to = Math.min(last, after + LONGEST_RANGE)
    return ofVaults.length > 0 && to > after ? [{ vaults: ofVaults, from: after + 1, to, isCurrent }] : []
  }
  const current = step(
    vaults.filter((vault) => readThrough(vault) >= through),
    through,
    final,
    true,
  )
  // To where the others are after this run, or they would be one step behind for ever; a node that lags knows less.
  const target = current[0]?.to ?? Math.min(through, final)
  const behind = vaults.filter((vault) => readThrough(vault) < through)
  // Others in each run, so that some whose past cannot be read do not hold up the rest.
  const first = behind.length > 0 ? Math.abs(final) % behind.length : 0
  const helped = [...behind.slice(first), ...behind.slice(0, first)].slice(0, BEHIND_PER_RUN)
  return [...current, ...helped.flatMap((vault) => step([vault], readThrough(vault), target, false))]
}

/** The block through which the vaults that have caught up are read; before the first run the one before the oldest vault. */
function startOf({ through }: Checkpoint, vaults: readonly Vault[]): number {
  return through ?? Math.min(...vaults.map(({ firstBlock }) => firstBlock - 1))
}

function progressOf({ vaults, through }: Checkpoint, { address, firstBlock }: Vault): VaultProgress {
  const unread = { through: Math.min(firstBlock - 1, through ?? firstBlock - 1), ledger: EMPTY_LEDGER }
  return vaults[address] ?? unread
}

/** The step with its events, in order; undefined where a vault's past cannot be read now, which must not hold up the others. */
async function readStep(reader: ChainReader, step: Step): Promise<(Step & { logs: Log[] }) | undefined> {
  const address = step.vaults.map((vault) => vault.address)
  try {
    const logs = await reader.logs({ address, topics: [VAULT_EVENT_TOPICS] }, BigInt(step.from), BigInt(step.to))
    return { ...step, logs: logs.toSorted(byPosition) }
  } catch (error) {
    if (step.isCurrent) throw error
    logger.warn('the past of a vault cannot be read now', {
      chainId: reader.chain.id,
      vaults: address,
      from: step.from,
    })
    return undefined
  }
}

function byPosition(left: Log, right: Log): number {
  return Number(left.blockNumber - right.blockNumber) || left.logIndex - right.logIndex
}

function hourOf(seconds: bigint): bigint {
  return seconds - (seconds % HOUR_SECONDS)
}
