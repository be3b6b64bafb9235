import { randomUUID } from 'node:crypto'
import { refreshChain } from '../../../lib/activity/refresh.ts'
import { type DepositSources, depositSources } from '../../../lib/activity/source.ts'
import { type RecordsStore, recordsStore } from '../../../lib/activity/store.ts'
import { dynamo } from '../../../lib/aws/dynamo.ts'
import { followTransfers } from '../../../lib/bridge/follow.ts'
import { type TransfersStore, transfersStore } from '../../../lib/bridge/store.ts'
import type { ChainReader } from '../../../lib/chain/reader.ts'
import { type ClientsStore, clientsStore } from '../../../lib/clients/store.ts'
import { readConfig, readersOf } from '../../../lib/frame/config.ts'
import { job } from '../../../lib/frame/job.ts'
import { type StateStore, stateStore } from '../../../lib/vaults/state-store.ts'
import { contract } from './contract.ts'

type Dependencies = {
  clients: Pick<ClientsStore, 'listVaultsOnChain'>
  records: RecordsStore
  states: StateStore
  transfers: TransfersStore
  sources: DepositSources
  readerOf: (chainId: number) => ChainReader
  /** Epoch milliseconds. */
  now: () => number
}

/** Longer than what a run does between two looks at its lease, so that a run that was killed does not stop the next ones for long. */
const LEASE_MS = 90_000
/** What of a run's time is left for its last writes, and the part of the rest that transfers may use. */
const LAST_WRITES_MS = 8_000
const TRANSFERS_SHARE = 1 / 3

const refresh =
  ({ clients, records, states, transfers, sources, readerOf, now }: Dependencies) =>
  async ({ chainId }: { chainId: number }, { remainingMs }: { remainingMs: () => number }) => {
    const begun = now()
    const usable = Math.max(0, remainingMs() - LAST_WRITES_MS)
    const until = begun + usable
    const followed = await followTransfers(
      { readerOf, transfers, sources, now },
      chainId,
      begun + usable * TRANSFERS_SHARE,
    )
    const vaults = await clients.listVaultsOnChain(chainId)
    if (vaults.length === 0) return { chainId, outcome: 'no vaults' as const, ...followed }

    const owner = randomUUID()
    const taken = await records.takeLease(chainId, owner, { now: now(), until: now() + LEASE_MS })
    if (!taken) return { chainId, outcome: 'another run is at work' as const, ...followed }
    try {
      const holdsLease = () => records.keepLease(chainId, owner, now() + LEASE_MS)
      const report = await refreshChain({ reader: readerOf(chainId), records, states, now }, vaults, {
        until,
        holdsLease,
      })
      return { ...report, outcome: 'refreshed' as const, ...followed }
    } finally {
      await records.releaseLease(chainId, owner)
    }
  }

export const handler = job(contract, async (env) =>
  refresh({
    clients: clientsStore(dynamo(), env.CLIENTS_TABLE),
    records: recordsStore(dynamo(), env.DEPOSITS_TABLE),
    states: stateStore(dynamo(), env.DEPOSITS_TABLE),
    transfers: transfersStore(dynamo(), env.DEPOSITS_TABLE),
    sources: depositSources(dynamo(), env.DEPOSITS_TABLE),
    readerOf: readersOf(await readConfig(env)),
    now: Date.now,
  }),
)
