import * as z from 'zod'
import { all, any, is, missing, remove, set } from '../../aws/conditions.ts'
import type { Table, Update } from '../../aws/table.ts'
import { HOUR_MS } from '../../time.ts'
import { RunReport } from './report.ts'
import { overlap, type VaultGroup } from './vault-groups.ts'

/** A group of a chain's vaults. */
export type GroupKey = { readonly chainId: number; readonly group: VaultGroup }

/** What the last completed run over a group said, and when it ended. */
export const GroupRun = z.object({
  group: z.string(),
  report: RunReport,
  /** The time of the block `through`, in seconds since 1970; null where nothing is recorded. */
  recordedAt: z.number().nullable(),
  /** Epoch milliseconds. */
  endedAt: z.number(),
})
export type GroupRun = z.output<typeof GroupRun>

const Lease = z.object({ group: z.string(), leaseOwner: z.string(), leaseUntil: z.number() })
const Item = z.object({ ...Lease.partial().shape, group: z.string(), lastRun: GroupRun.optional() })
/** How often a run over the group has begun: the turn of the last one. */
const Turn = z.object({ turn: z.number().int().nonnegative().default(0) })

/**
 * No lease lasts as long: what is later than this from now was written by a clock that is wrong, and counts for nothing. So much
 * longer than a lease, that a clock that is behind takes none of those that are fair.
 */
const LATEST_MS = HOUR_MS

/** Groups' items begin so; beside them is the chain's lease of an earlier version. */
const PREFIX = 'GROUP#'

const NO_LEASE = [remove('leaseOwner'), remove('leaseUntil')]

/** Moments in epoch milliseconds. */
type Asked = {
  readonly now: number
  readonly until: number
  readonly askedAt?: number | undefined
}

/**
 * The runs over groups of a chain's vaults: who may record a group now, and what its last run said. Of groups that overlap, which
 * happens when the division changes, one at a time is recorded.
 */
export function runsStore(table: Table) {
  const keyOf = ({ chainId, group }: GroupKey) => ({ pk: partitionOf(chainId), sk: `${PREFIX}${group}` })
  const update = (of: GroupKey, change: Update): Promise<boolean> => table.update(keyOf(of), change)

  /** The items of a chain's groups: one page of 1 MB holds more than a chain has. */
  const list = async (chainId: number): Promise<z.output<typeof Item>[]> =>
    (await table.getPage(Item, { partition: partitionOf(chainId), prefix: PREFIX })).items

  const release = (of: GroupKey, owner: string, lastRun?: GroupRun): Promise<boolean> =>
    update(of, {
      changes: [...(lastRun ? [set('lastRun', GroupRun.encode(lastRun))] : []), ...NO_LEASE],
      when: is('leaseOwner', '=', owner),
    })

  /** Deletes a lease that does not count; false where it was renewed, or taken, meanwhile. */
  const drop = (chainId: number, { group, leaseOwner, leaseUntil }: z.output<typeof Lease>): Promise<boolean> =>
    update(
      { chainId, group },
      { changes: NO_LEASE, when: all(is('leaseOwner', '=', leaseOwner), is('leaseUntil', '=', leaseUntil)) },
    )

  /** Whether nobody has a lease of another group that overlaps this one; deletes those that do not count. */
  async function isAlone({ chainId, group }: GroupKey, now: number, latest: number): Promise<boolean> {
    for (;;) {
      const others = (await list(chainId)).flatMap((item) => {
        const { data: other } = Lease.safeParse(item)
        return other && other.group !== group && overlap(other.group, group) ? [other] : []
      })
      if (others.length === 0) return true
      if (others.some(({ leaseUntil }) => leaseUntil >= now && leaseUntil <= latest)) return false
      // One that could not be deleted was renewed, or ended by somebody else: the next look tells.
      for (const other of others) await drop(chainId, other)
    }
  }

  /** Spends a turn; false when somebody else has the lease by now. */
  const begin = (of: GroupKey, owner: string, turn: number): Promise<boolean> =>
    update(of, { changes: [set('turn', turn)], when: is('leaseOwner', '=', owner) })

  return {
    /**
     * Takes the right to record a group until a moment, in epoch milliseconds, and gives the turn of this run: one more than that of
     * the last one that began. Undefined while somebody else has it, or that of a group that overlaps it, and where a run began after
     * `askedAt`.
     */
    async takeLease(of: GroupKey, owner: string, { now, until, askedAt }: Asked): Promise<number | undefined> {
      const latest = now + LATEST_MS
      const isFree = any(missing('leaseUntil'), is('leaseUntil', '<', now), is('leaseUntil', '>', latest))
      const isAsked =
        askedAt === undefined ? [] : [any(missing('begunAt'), is('begunAt', '<', askedAt), is('begunAt', '>', latest))]
      const taken = await table.change(Turn, keyOf(of), {
        changes: [set('group', of.group), set('leaseOwner', owner), set('leaseUntil', until), set('begunAt', now)],
        when: all(isFree, ...isAsked),
      })
      if (!taken) return undefined
      // Write, then read: at least one of two overlapping takers sees the other.
      let hasBegun = false
      const turn = taken.turn + 1
      try {
        hasBegun = (await isAlone(of, now, latest)) && (await begin(of, owner, turn))
      } finally {
        if (!hasBegun) await release(of, owner)
      }
      return hasBegun ? turn : undefined
    },

    /** Whether the lease is still the owner's; it then lasts until this moment, in epoch milliseconds. */
    keepLease: (of: GroupKey, owner: string, until: number): Promise<boolean> =>
      update(of, { changes: [set('leaseUntil', until)], when: is('leaseOwner', '=', owner) }),

    /** Releases the lease, with the report of a completed run; false when somebody else has it by now. */
    releaseLease: release,

    /** What the last completed run over each group of a chain said, also over groups of an earlier division. */
    async listLast(chainId: number): Promise<GroupRun[]> {
      return (await list(chainId)).flatMap(({ lastRun }) => lastRun ?? [])
    },
  }
}
export type RunsStore = ReturnType<typeof runsStore>

function partitionOf(chainId: number): string {
  return `LEASE#${chainId}`
}
