import { toBlockFields } from '../../chain/logs.ts'
import { getProtocol } from '../../protocols/protocols.ts'
import { toResult } from '../../result.ts'
import { HOUR_SECONDS } from '../../time.ts'
import type { PricePoint } from '../../vaults/apy.ts'
import type { readOverviews } from '../../vaults/overview.ts'
import { type RecordedState, stateDigest } from '../../vaults/recorded-state.ts'
import type { VaultKey } from '../../vaults/vault.ts'
import type { RecordsStore, VaultRecords } from '../store.ts'
import { YIELD_SECONDS } from '../yields.ts'
import type { Run, VaultRun } from './run.ts'

/** A vault's refresh is due once an hour, later where there are many: a run does a part of them, new ones first. */
const REFRESH_PARTS = 60
const MOST_REFRESHED = 25

/** Records the states that have changed, and the states and prices of the vaults whose refresh is due. */
export async function recordOverviews(
  { vaultRuns, records, states, inTurn, done }: Run,
  { block, blocks, overviews, evidence }: Awaited<ReturnType<typeof readOverviews>>,
): Promise<void> {
  const earliest = await toResult(evidence())
  const due = new Set(dueForRefresh(vaultRuns, block.timestamp))
  const newStates: [VaultKey, RecordedState][] = []
  const newPrices: VaultRecords[] = []
  await Promise.all(
    vaultRuns.map(async (vaultRun, index) => {
      const { vault, progress } = vaultRun
      const { state, sharePrice } = overviews[index] ?? {}
      const digest = state && stateDigest(state)
      const isChanged = digest !== progress.state && (inTurn.has(vaultRun) || progress.state === undefined)
      // A broken vault's state must not replace what is recorded of it.
      if (state && state.totalAssets !== null && digest && (due.has(vaultRun) || isChanged)) {
        const asOf = toBlockFields(blocks[index] ?? block)
        const told = 'value' in earliest && earliest.value.blockNumber === asOf.blockNumber ? earliest.value : undefined
        newStates.push([vault, { state, asOf, told }])
        vaultRun.progress = { ...vaultRun.progress, state: digest }
      }
      if (!due.has(vaultRun)) return
      // No event sets the price of a vault in which nobody trades.
      const isRead = getProtocol(vault).books.pricedBy === 'trades' && sharePrice !== undefined
      const price = isRead ? { price: sharePrice, timestamp: block.timestamp, blockNumber: block.number } : undefined
      if (price) newPrices.push({ vault, events: [], prices: [price] })
      const weekAgo = (await findWeekAgo(records, vaultRun, block.timestamp)) ?? price
      vaultRun.progress = { ...vaultRun.progress, refreshedAt: block.timestamp, ...(weekAgo && { weekAgo }) }
    }),
  )
  await Promise.all([states.record(newStates), records.record(newPrices)])
  done.states = newStates.length
  done.prices += newPrices.length
}

/** The vaults whose refresh is due: new ones first, then those for which it is longest ago. */
function dueForRefresh(vaultRuns: readonly VaultRun[], at: bigint): VaultRun[] {
  const refreshedAt = ({ progress }: VaultRun) => progress.refreshedAt ?? 0n
  const earlier = vaultRuns
    .filter((vaultRun) => refreshedAt(vaultRun) > 0n && at - refreshedAt(vaultRun) >= HOUR_SECONDS)
    .toSorted((left, right) => Number(refreshedAt(left) - refreshedAt(right)))
  const never = vaultRuns.filter((vaultRun) => refreshedAt(vaultRun) === 0n)
  return [...never, ...earlier.slice(0, Math.ceil(vaultRuns.length / REFRESH_PARTS))].slice(0, MOST_REFRESHED)
}

/** The price of a week ago, else the first one; not looked for again in a vault that never had a price. */
async function findWeekAgo(
  records: Pick<RecordsStore, 'getPriceAt' | 'getFirstPrice'>,
  { vault, progress: { weekAgo, refreshedAt } }: VaultRun,
  at: bigint,
): Promise<PricePoint | undefined> {
  if (!weekAgo && refreshedAt !== undefined) return undefined
  const first = weekAgo ?? (await records.getFirstPrice(vault))
  // Where there is no price at all, there is none of a week ago.
  return first && ((await records.getPriceAt(vault, at - YIELD_SECONDS)) ?? first)
}
