import type { Address } from 'viem'
import type { ChainReader } from '../chain/reader.ts'
import type { FindClients } from '../clients/find-clients.ts'
import { logger } from '../core/logger.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'
import type { VaultKey } from '../vaults/vault.ts'
import { publishNotices } from '../webhooks/append.ts'
import type { Notice } from '../webhooks/event.ts'
import { refreshVaults } from './refresh-vaults.ts'
import type { RunReport } from './report.ts'
import type { RunServices } from './run.ts'
import { watchPins } from './watch-pins.ts'

type ShardServices = Pick<RunServices, 'records' | 'prices' | 'openRequests' | 'states' | 'getYield' | 'now'> &
  Pick<Parameters<typeof watchPins>[0], 'pinStore'> &
  Parameters<typeof publishNotices>[0] & {
    readonly webhooks: { readonly listLatestClients: () => Promise<ReadonlySet<string>> }
    readonly getReader: (chainId: number) => ChainReader
    readonly findClients: FindClients
    readonly sleep: (milliseconds: number) => Promise<unknown>
  }

type OfRun = { readonly chainId: number; readonly vaults: readonly VaultOnChain[] }

/** Milliseconds of a Lambda's time limit reserved for a run's last writes. */
export const LAST_WRITES_MS = 8_000

/** Milliseconds between two reads of the chain within a run, if a client wants non-final events: four reads a minute. */
const READ_EVERY_MS = 13_000
/** Minimum duration of a run, in milliseconds, for which the run can read the chain repeatedly. */
const MIN_LOOKS_MS = 35_000

/**
 * Records the events, states and prices of vaults of one chain. Compares each vault with its pinned code and price,
 * which an operator has confirmed. Publishes webhook events to clients. Ends at `until` (epoch milliseconds). If a
 * client wants non-final events, repeats all of this four times a minute. Two runs over the same vaults are harmless,
 * because neither overwrites what the other has recorded. Throws the errors of `refreshVaults` and `watchPins`.
 */
export async function recordShard(dependencies: ShardServices, of: OfRun, until: number): Promise<RunReport> {
  const { now, sleep } = dependencies
  const begun = now()
  let { report, wantsLatest } = await recordOnce(dependencies, of, until)
  if (until - begun < MIN_LOOKS_MS) return report
  for (let next = begun + READ_EVERY_MS; wantsLatest && next < until; next += READ_EVERY_MS) {
    await sleep(Math.max(0, next - now()))
    try {
      const { entries, prices, states } = report
      ;({ report, wantsLatest } = await recordOnce(dependencies, of, until))
      const { entries: newEntries, prices: newPrices, states: newStates } = report
      report = { ...report, entries: entries + newEntries, prices: prices + newPrices, states: states + newStates }
    } catch (error) {
      // The repeated read has failed, but an earlier read succeeded. The failure is only logged, and the earlier report
      // is returned.
      logger.warn('repeated read of the chain failed', { chainId: of.chainId, reason: String(error) })
      break
    }
  }
  return report
}

async function recordOnce(
  dependencies: ShardServices,
  { chainId, vaults }: OfRun,
  until: number,
): Promise<{ report: RunReport; wantsLatest: boolean }> {
  const { records, prices, openRequests, states, getYield, pinStore, getReader, findClients, now } = dependencies
  const reader = getReader(chainId)
  const publishOfVaults = async (notices: readonly Notice[]) => {
    const clientsOf = await findClients(notices.map(vaultOf))
    await publishNotices(dependencies, notices, (notice) => clientsOf(vaultOf(notice)))
  }
  let wantsLatest = false
  const getWantsLatest = async () => {
    const read = await findVaultsWithLatest(dependencies, vaults)
    wantsLatest = read.size > 0
    return (vault: Address) => read.has(vault)
  }
  // An error of `watchPins` is thrown only after the events are recorded, so that it does not prevent their recording.
  const watching = watchPins({ reader, pinStore, publish: publishOfVaults, now }, vaults)
  watching.catch(() => {})
  const report = await refreshVaults(
    { reader, records, prices, openRequests, states, getYield, publish: publishOfVaults, getWantsLatest, now },
    vaults,
    until,
  )
  const { changedVaults, unreportedVaults } = await watching
  const whole = { ...report, changedVaults, unreportedVaults: report.unreportedVaults + unreportedVaults }
  return { report: whole, wantsLatest }
}

function vaultOf({ data: { chainId, vaultAddress } }: Notice): VaultKey {
  return { chainId, address: vaultAddress }
}

/** Finds the vaults of clients that want non-final events. Only these vaults are read up to the chain's latest block. */
async function findVaultsWithLatest(
  { findClients, webhooks }: Pick<ShardServices, 'findClients' | 'webhooks'>,
  vaults: readonly VaultOnChain[],
): Promise<ReadonlySet<Address>> {
  const candidates = await webhooks.listLatestClients()
  if (candidates.size === 0) return new Set()
  const clientsOf = await findClients(vaults)
  const registered = await webhooks.listOf([...new Set(vaults.flatMap(clientsOf)).intersection(candidates)])
  const wantsLatest = (id: string) => registered.get(id)?.some(({ finality }) => finality === 'latest') === true
  return new Set(vaults.filter((vault) => clientsOf(vault).some(wantsLatest)).map(({ address }) => address))
}
