import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { updateItem } from '../../aws/dynamo.ts'
import { RunReport } from './report.ts'
import { overlap, type VaultGroup } from './vault-groups.ts'

/** A group of a chain's vaults. */
export type GroupKey = { readonly chainId: number; readonly group: VaultGroup }

/** What the last run over a group that came to its end said, and when that was. */
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
const Taken = z.object({ turn: z.number().int().positive() })

/**
 * The runs over groups of a chain's vaults: who has the right to record one at the moment, and what the last one said. Groups can
 * overlap, one being of the vaults of several others: of those that do, one alone is recorded at a time.
 */
export function runsStore(client: DynamoDBDocumentClient, tableName: string) {
  type Change = Omit<Parameters<typeof updateItem>[2], 'key'>
  const change = ({ chainId, group }: GroupKey, of: Change) =>
    updateItem(client, tableName, { key: { pk: partitionOf(chainId), sk: `GROUP#${group}` }, ...of })

  /** Changes a group's item; false where the condition does not hold. */
  const update = async (key: GroupKey, of: Change): Promise<boolean> => (await change(key, of)) !== null

  async function list(chainId: number): Promise<z.output<typeof Item>[]> {
    // One page of 1 MB holds more groups than a chain has.
    const { Items: items = [] } = await client.send(
      new QueryCommand({
        TableName: tableName,
        KeyConditionExpression: 'pk = :chain',
        ExpressionAttributeValues: { ':chain': partitionOf(chainId) },
        ConsistentRead: true,
      }),
    )
    return z.array(Item).parse(items)
  }

  const release = (of: GroupKey, owner: string, lastRun?: GroupRun): Promise<boolean> =>
    update(of, {
      set: lastRun ? ['lastRun = :run'] : [],
      remove: ['leaseOwner', 'leaseUntil'],
      condition: 'leaseOwner = :owner',
      ExpressionAttributeValues: { ':owner': owner, ...(lastRun && { ':run': GroupRun.encode(lastRun) }) },
    })

  /** Ends a lease that has run out; false where it is kept on, or taken, meanwhile. */
  const drop = (chainId: number, { group, leaseOwner, leaseUntil }: z.output<typeof Lease>): Promise<boolean> =>
    update(
      { chainId, group },
      {
        remove: ['leaseOwner', 'leaseUntil'],
        condition: 'leaseOwner = :owner AND leaseUntil = :until',
        ExpressionAttributeValues: { ':owner': leaseOwner, ':until': leaseUntil },
      },
    )

  return {
    /**
     * Takes the right to record a group until a moment, in epoch milliseconds, and gives how often it was taken: the turn of this
     * run. Undefined while somebody else has it, or that of a group that overlaps it, and where a run was begun after `askedAt`.
     */
    async takeLease(
      { chainId, group }: GroupKey,
      owner: string,
      { now, until, askedAt }: { readonly now: number; readonly until: number; readonly askedAt?: number | undefined },
    ): Promise<number | undefined> {
      const isFree = 'attribute_not_exists(leaseUntil) OR leaseUntil < :now'
      const isAsked = 'attribute_not_exists(begunAt) OR begunAt < :askedAt'
      const taken = await change(
        { chainId, group },
        {
          set: [
            ...['#group = :group', 'leaseOwner = :owner', 'leaseUntil = :until', 'begunAt = :now'],
            'turn = if_not_exists(turn, :none) + :one',
          ],
          condition: askedAt === undefined ? isFree : `(${isFree}) AND (${isAsked})`,
          ExpressionAttributeNames: { '#group': 'group' },
          ExpressionAttributeValues: {
            ...{ ':group': group, ':owner': owner, ':until': until, ':now': now, ':none': 0, ':one': 1 },
            ...(askedAt !== undefined && { ':askedAt': askedAt }),
          },
          ReturnValues: 'UPDATED_NEW',
        },
      )
      if (!taken) return undefined
      const { turn } = Taken.parse(taken)
      // Whoever takes one of two that overlap writes before looking: so one of them sees the other at least.
      for (;;) {
        const others = (await list(chainId)).flatMap((item) => {
          const { data: other } = Lease.safeParse(item)
          return other && other.group !== group && overlap(other.group, group) ? [other] : []
        })
        if (others.length === 0) return turn
        if (others.some(({ leaseUntil }) => leaseUntil >= now)) {
          await release({ chainId, group }, owner)
          return undefined
        }
        // One that could not be ended was kept on, or ended by somebody else.
        for (const other of others) await drop(chainId, other)
      }
    },

    /** Whether the lease is still the owner's; it then lasts until this moment, in epoch milliseconds. */
    keepLease: (of: GroupKey, owner: string, until: number): Promise<boolean> =>
      update(of, {
        set: ['leaseUntil = :until'],
        condition: 'leaseOwner = :owner',
        ExpressionAttributeValues: { ':owner': owner, ':until': until },
      }),

    /** Releases the lease, with what the run said where it came to its end; false when somebody else has it by now. */
    releaseLease: release,

    /** What the last runs over the groups of a chain said, also over groups that are divided otherwise by now. */
    async listLast(chainId: number): Promise<GroupRun[]> {
      return (await list(chainId)).flatMap(({ lastRun }) => lastRun ?? [])
    },
  }
}
export type RunsStore = ReturnType<typeof runsStore>

function partitionOf(chainId: number): string {
  return `LEASE#${chainId}`
}
