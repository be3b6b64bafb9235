import { listShards } from '../../lib/follow/shards.ts'
import {
  billIdle,
  billIdleNodes,
  billRunMonth,
  billUsers,
  busiestSecond,
  EVENTS_ENTRY,
  MONTH_MINUTES,
  sumIdle,
  sumOf,
  totalOf,
} from './bill.ts'
import type { Counts, CountsFile } from './counts.ts'
import {
  type Curve,
  drawCurve,
  formatDollars,
  formatRoundedNumber,
  formatWholeNumber,
  MAX_COUNT,
  MAX_MEASURED_COUNT,
} from './draw.ts'
import { EVENTS_PER_OPEN, OPENS_PER_MONTH } from './model.ts'
import { LIMITS } from './prices.ts'

/** Number of users in the picture of growth by clients. Every client gets the webhook events of all these users. */
const USERS = 100_000
/**
 * Counts of one job run for a batch of vaults (shard) without new events, as `npm run bench:shards` prints them. The
 * read and write units are per vault.
 */
const SHARD = { requests: 20, rounds: 5, calls: 12, readUnits: 2.07, writeUnits: 0.2 }
/**
 * Sizes of two lists in the tables. `readUnits` are the read units per vault to read the list of a chain's vaults.
 * `idBytes` are the bytes per client in the list of a vault's clients (decision 0047).
 */
const LISTED = { readUnits: 555 / 10_000, idBytes: 16 }

/**
 * Returns four curves of a stage's monthly cost: by users, vaults, events and clients. The stage has paid nodes, and
 * the alarms that its setting `observe` creates for the value `slo`.
 */
export function growthOf(counted: CountsFile): readonly Curve[] {
  const fixed = sumIdle(billIdle(counted), 'slo') + billIdleNodes(counted)
  const { bill, calls } = billUsers(counted, 1).find(({ name }) => name === EVENTS_ENTRY) ?? {
    bill: sumOf([]),
    calls: 1,
  }
  const eventUsd = totalOf(bill) / calls
  const eventsOfUsers = USERS * OPENS_PER_MONTH * EVENTS_PER_OPEN
  return [
    {
      name: 'users',
      axis: 'registered users',
      // Adds the cost of the users to the cost of a stage without users.
      usd: (users) => fixed + totalOf(sumOf(billUsers(counted, users).map((one) => one.bill))),
      limit: { name: 'free plans of nodes', at: LIMITS.freeNodes.most / busiestSecond(counted, 1).computeUnits },
      says: 'Users cost nodes and sources; the free plans of two hosts end first, in the busiest second.',
    },
    {
      name: 'vaults',
      axis: 'vaults of one more chain',
      // Adds the cost of a stage without users and the cost of job runs. One run per minute reads each batch of vaults
      // (shard).
      usd: (vaults) => fixed + billShards(counted, vaults),
      limit: { name: "reads of the chain's list", at: LIMITS.keyReadUnits.most / LISTED.readUnits },
      says: 'Vaults without users or events cost a run for each shard, so the line has steps; one key’s read units, if a list is read within a second, end first.',
    },
    {
      name: 'events',
      axis: 'events a minute, of one client',
      // Adds the cost of the events to the cost of a stage without users. Assumes that the service records the
      // events one by one, which costs most.
      usd: (events) => fixed + events * MONTH_MINUTES * eventUsd,
      limit: {
        name: "writes of a client's log",
        at: (LIMITS.keyWriteUnits.most * 60) / counted.event.table.writeUnits,
      },
      says: 'Events are recorded one by one here, the dearest way; the write units of one client’s log end first, and then events wait.',
    },
    {
      name: 'clients',
      axis: 'clients of one vault',
      // Adds the cost of the events to the cost of a stage without users. Every client gets a copy of each event.
      usd: (clients) => fixed + clients * eventsOfUsers * eventUsd,
      limit: { name: 'ids in one item of 400 KB', at: LIMITS.itemBytes.most / LISTED.idBytes },
      says: `Clients multiply events: each client here gets those of ${formatWholeNumber(USERS)} users, about ${formatWholeNumber(eventsOfUsers / MONTH_MINUTES)} a minute; the item with a vault’s clients ends first.`,
    },
  ]
}

/** Builds the SVG pictures, by path, and the section of docs/scale.md that shows the pictures. */
export function buildGrowth(counted: CountsFile) {
  const curves = growthOf(counted)
  const pictures = Object.fromEntries(curves.map((curve) => [`docs/images/growth-${curve.name}.svg`, drawCurve(curve)]))
  const shown = curves.map((curve) => `![${describe(curve)}](images/growth-${curve.name}.svg)\n\n${curve.says}`)
  const intro = `Dollars a month of a stage with \`slo\` and paid nodes, on logarithmic axes. \`npm run cost\` draws them from [what it costs](cost.md) and the limits of this page. All dollars are computed from counts of single requests and runs. Lines are dashed beyond ${formatWholeNumber(MAX_MEASURED_COUNT)}, the most that \`npm run bench:shards\` counts.`
  return { pictures, section: `${['## Growth', intro, ...shown].join('\n\n')}\n` }
}

/**
 * Returns the cost, in dollars a month, of reading this many vaults of one chain every minute, without new events. One
 * job run reads one batch of vaults (shard).
 */
function billShards({ stage }: CountsFile, vaults: number): number {
  const shards = listShards(vaults).length
  const run: Counts = {
    table: {
      requests: SHARD.requests,
      readUnits: (SHARD.readUnits * vaults) / shards,
      writeUnits: (SHARD.writeUnits * vaults) / shards,
    },
    secrets: 0,
    queue: 1,
    // Each call is sent to two node hosts, because the service compares their responses.
    rpc: { eth_call: 2 * SHARD.calls },
    sources: {},
    inSeries: { aws: SHARD.requests, rpc: SHARD.rounds, sources: 0 },
  }
  return shards * totalOf(billRunMonth(run, stage.memoryMiB.others))
}

function describe({ axis, usd, limit }: Curve): string {
  const at = [1, MAX_MEASURED_COUNT, MAX_COUNT].map(
    (count) => `${formatDollars(usd(count))} at ${formatWholeNumber(count)}`,
  )
  return `Dollars a month against ${axis}: ${at.join(', ')}. A red mark: ${limit.name} end at ${formatRoundedNumber(limit.at)}.`
}
