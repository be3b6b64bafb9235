import type { Address } from 'viem'
import type { ChainReader } from '../chain/reader.ts'
import type { FindClients } from '../clients/find-clients.ts'
import { logger } from '../logger.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'
import type { VaultKey } from '../vaults/vault.ts'
import { publish } from '../webhooks/append.ts'
import type { Notice } from '../webhooks/event.ts'
import { findLatestClients } from '../webhooks/latest.ts'
import { refreshVaults } from './refresh-vaults.ts'
import type { RunReport } from './report.ts'
import type { Dependencies as RunDependencies } from './run.ts'
import { watchPins } from './watch-pins.ts'

type Dependencies = Pick<RunDependencies, 'records' | 'prices' | 'openRequests' | 'states' | 'getYield' | 'now'> &
  Pick<Parameters<typeof watchPins>[0], 'pinStore'> &
  Parameters<typeof publish>[0] &
  Parameters<typeof findLatestClients>[0] & {
    readonly getReader: (chainId: number) => ChainReader
    readonly findClients: FindClients
    /** Resolves after so many milliseconds. */
    readonly sleep: (milliseconds: number) => Promise<unknown>
  }

/** The vaults that a run records. */
type OfRun = { readonly chainId: number; readonly vaults: readonly VaultOnChain[] }

/** The part of a function's time that is reserved for a run's last writes. */
export const LAST_WRITES_MS = 8_000

/** Time between two reads of the chain if a client wants non-final events: four reads a minute. */
const LOOK_EVERY_MS = 13_000
/** A run with less time than this reads the chain once. */
const MIN_LOOKS_MS = 35_000

/**
 * Records a chain's vaults or a shard of them, compares them with their pins, and reports to clients, until `until` (epoch
 * milliseconds). If a client wants non-final events, it does so four times a minute. Two runs over the same vaults are harmless:
 * the second leaves what the first has written. Throws what `refreshVaults` throws.
 */
export async function recordShard(dependencies: Dependencies, of: OfRun, until: number): Promise<RunReport> {
  const { now, sleep } = dependencies
  const begun = now()
  let { report, wantsLatest } = await recordOnce(dependencies, of, until)
  if (until - begun < MIN_LOOKS_MS) return report
  for (let next = begun + LOOK_EVERY_MS; wantsLatest && next < until; next += LOOK_EVERY_MS) {
    await sleep(Math.max(0, next - now()))
    try {
      const { entries, prices, states } = report
      ;({ report, wantsLatest } = await recordOnce(dependencies, of, until))
      const { entries: newEntries, prices: newPrices, states: newStates } = report
      report = { ...report, entries: entries + newEntries, prices: prices + newPrices, states: states + newStates }
    } catch (error) {
      // The first look was a whole run.
      logger.warn('a later look failed', { chainId: of.chainId, reason: String(error) })
      break
    }
  }
  return report
}

async function recordOnce(
  dependencies: Dependencies,
  { chainId, vaults }: OfRun,
  until: number,
): Promise<{ report: RunReport; wantsLatest: boolean }> {
  const { records, prices, openRequests, states, getYield, pinStore, getReader, findClients, now } = dependencies
  const reader = getReader(chainId)
  const publishOfVaults = async (notices: readonly Notice[]) => {
    const clientsOf = await findClients(notices.map(vaultOf))
    await publish(dependencies, notices, (notice) => clientsOf(vaultOf(notice)))
  }
  let wantsLatest = false
  const getWantsLatest = async () => {
    const read = await findRead(dependencies, vaults)
    wantsLatest = read.size > 0
    return (vault: Address) => read.has(vault)
  }
  // A failure is thrown after what happened is recorded.
  const watching = watchPins({ reader, pinStore, publish: publishOfVaults, now }, vaults)
  watching.catch(() => {})
  const report = await refreshVaults(
    { reader, records, prices, openRequests, states, getYield, publish: publishOfVaults, getWantsLatest, now },
    vaults,
    until,
  )
  const { changedVaults, untoldVaults } = await watching
  const whole = { ...report, changedVaults, untoldVaults: report.untoldVaults + untoldVaults }
  return { report: whole, wantsLatest }
}

function vaultOf({ data: { chainId, vaultAddress } }: Notice): VaultKey {
  return { chainId, address: vaultAddress }
}

/** Vaults of clients that want non-final events: these are read up to the head. */
async function findRead(
  { findClients, webhooks }: Pick<Dependencies, 'findClients' | 'webhooks'>,
  vaults: readonly VaultOnChain[],
): Promise<ReadonlySet<Address>> {
  const wanting = await findLatestClients({ webhooks }, async () => vaults.flatMap(await findClients(vaults)))
  if (wanting.size === 0) return new Set()
  const clientsOf = await findClients(vaults)
  const wanted = vaults.filter((vault) => clientsOf(vault).some((id) => wanting.has(id)))
  return new Set(wanted.map(({ address }) => address))
}
