import { lagOf } from '../../../lib/activity/lag.ts'
import type { RunReport } from '../../../lib/activity/recording/report.ts'
import type { GroupRun } from '../../../lib/activity/recording/runs-store.ts'
import { overlap, type VaultGroup } from '../../../lib/activity/recording/vault-groups.ts'
import type { EvmChain } from '../../../lib/chain/registry.ts'

type Of = {
  readonly chain: EvmChain | undefined
  readonly groups: readonly VaultGroup[]
  /** Epoch milliseconds. */
  readonly now: number
  /** Epoch milliseconds: entries, prices and states count of runs that ended later, each so once. */
  readonly since: number
}

/**
 * The sum of the last runs over the groups of a chain; the lag is that of the group that is furthest behind. For a group of a new
 * division the last run of those that overlap it counts; without any, the group counts for nothing.
 */
export function sumUp(runs: readonly GroupRun[], { chain, groups, now, since }: Of): RunReport {
  const last = new Set(
    groups.flatMap((group) => {
      const ofGroup = runs.filter((run) => overlap(run.group, group))
      return ofGroup.toSorted((one, other) => other.endedAt - one.endedAt)[0] ?? []
    }),
  )
  const sum = (of: (run: GroupRun) => number) => [...last].reduce((total, run) => total + of(run), 0)
  const recorded = (of: (report: RunReport) => number) =>
    sum(({ report, endedAt }) => (endedAt > since ? of(report) : 0))
  const lags = [...last].flatMap(({ report, recordedAt }) => [
    report.lagSeconds,
    ...(chain && recordedAt !== null ? [lagOf(chain, { recorded: BigInt(recordedAt), head: undefined, now })] : []),
  ])
  const through = [...last].flatMap(({ report }) => report.through ?? [])
  return {
    vaults: sum(({ report }) => report.vaults),
    through: through.length > 0 ? Math.max(...through) : null,
    behind: sum(({ report }) => report.behind),
    lagSeconds: Math.max(0, ...lags),
    entries: recorded(({ entries }) => entries),
    prices: recorded(({ prices }) => prices),
    states: recorded(({ states }) => states),
    changedVaults: sum(({ report }) => report.changedVaults),
    untoldVaults: sum(({ report }) => report.untoldVaults),
  }
}
