import { toBlockFields } from '../chain/logs.ts'
import { toResult } from '../core/result.ts'
import { HOUR_SECONDS } from '../core/time.ts'
import type { readOverviews } from '../vaults/overview.ts'
import { addPrices, type NewPrices } from '../vaults/prices.ts'
import { type RecordedState, stateDigest } from '../vaults/recorded-state.ts'
import type { VaultKey } from '../vaults/vault.ts'
import type { Run, VaultRun } from './run.ts'

/**
 * Each vault's stored price and state is refreshed once an hour, and a run starts every minute. A run therefore
 * refreshes at most a sixtieth of the known vaults.
 */
const REFRESH_PARTS = 60
/** Maximum number of vaults whose stored price and state a run refreshes, new vaults included. */
const MAX_REFRESHED = 25

/** Records the vault states that have changed. Also records the states and prices of vaults whose hourly refresh is due. */
export async function recordOverviews(
  { vaultRuns, prices, states, inTurn, done }: Run,
  { block, blocks, overviews, evidence }: Awaited<ReturnType<typeof readOverviews>>,
): Promise<void> {
  const earliest = await toResult(evidence())
  const due = new Set(dueForRefresh(vaultRuns, block.timestamp))
  const newStates: [VaultKey, RecordedState][] = []
  const newPrices: NewPrices[] = []
  for (const [index, vaultRun] of vaultRuns.entries()) {
    const { vault, progress } = vaultRun
    const { state, sharePrice } = overviews[index] ?? {}
    const { number: blockNumber, timestamp } = blocks[index] ?? block
    const digest = state && stateDigest(state)
    const isChanged = digest !== progress.state && (inTurn.has(vaultRun) || progress.state === undefined)
    // A vault whose contract calls fail keeps its recorded state.
    if (state && state.totalAssets !== null && digest && (due.has(vaultRun) || isChanged)) {
      const asOf = toBlockFields({ number: blockNumber, timestamp })
      const told = 'value' in earliest && earliest.value.blockNumber === asOf.blockNumber ? earliest.value : undefined
      newStates.push([vault, { state, asOf, told }])
      vaultRun.progress = { ...vaultRun.progress, state: digest }
    }
    if (!due.has(vaultRun)) continue
    const totalAssets = state?.totalAssets ?? undefined
    const read = sharePrice === undefined ? [] : [{ price: sharePrice, timestamp, blockNumber, totalAssets }]
    newPrices.push({ vault, prices: read, known: progress.lastPrices ?? [] })
    vaultRun.progress = {
      ...vaultRun.progress,
      ...addPrices(progress, read, BigInt(progress.through)),
      refreshedAt: block.timestamp,
    }
  }
  await Promise.all([states.record(newStates), prices.record(newPrices)])
  done.states = newStates.length
  done.prices += newPrices.filter(({ prices }) => prices.length > 0).length
}

function dueForRefresh(vaultRuns: readonly VaultRun[], at: bigint): VaultRun[] {
  const refreshedAt = ({ progress }: VaultRun) => progress.refreshedAt ?? 0n
  const earlier = vaultRuns
    .filter((vaultRun) => refreshedAt(vaultRun) > 0n && at - refreshedAt(vaultRun) >= HOUR_SECONDS)
    .toSorted((left, right) => Number(refreshedAt(left) - refreshedAt(right)))
  const never = vaultRuns.filter((vaultRun) => refreshedAt(vaultRun) === 0n)
  return [...never, ...earlier.slice(0, Math.ceil(vaultRuns.length / REFRESH_PARTS))].slice(0, MAX_REFRESHED)
}
