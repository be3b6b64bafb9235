import { randomUUID } from 'node:crypto'
import type { Address } from 'viem'
import type { ChainReader } from '../../chain/reader.ts'
import type { FindClients } from '../../clients/find-clients.ts'
import type { VaultOnChain } from '../../protocols/vault-on-chain.ts'
import type { VaultKey } from '../../vaults/vault.ts'
import type { Notice } from '../../webhooks/event.ts'
import { findLatestClients } from '../../webhooks/latest.ts'
import { publish } from '../../webhooks/publish.ts'
import type { KnownVault } from './known-vault.ts'
import { refreshVaults } from './refresh-vaults.ts'
import type { RunReport } from './report.ts'
import type { Dependencies as RunDependencies } from './run.ts'
import type { GroupKey, GroupRun, RunsStore } from './runs-store.ts'
import { watchPins } from './watch-pins.ts'

/** Has groups recorded, each by a run of its own; throws when that is not certain. `askedAt` is in epoch milliseconds. */
export type WakeGroups = (messages: readonly (GroupKey & { readonly askedAt: number })[]) => Promise<void>

type Dependencies = Pick<RunDependencies, 'records' | 'prices' | 'openRequests' | 'states' | 'now'> &
  Pick<Parameters<typeof watchPins>[0], 'pinStore'> &
  Parameters<typeof publish>[0] &
  Parameters<typeof findLatestClients>[0] & {
    readonly runs: Pick<RunsStore, 'takeLease' | 'keepLease' | 'releaseLease'>
    readonly getReader: (chainId: number) => ChainReader
    readonly findClients: FindClients
  }

/** What a run is to record. */
type Asked = GroupKey & {
  /** The vaults of the group. */
  readonly listVaults: () => Promise<readonly VaultOnChain[]>
  /** The tokens of transfers of which the paying vault is to be found. */
  readonly sentTokens?: ReadonlySet<Address | undefined>
  /** Only where no run began later; epoch milliseconds. */
  readonly askedAt?: number
  /** Receives what is known of each vault, by its address, before a failure to compare pins is thrown. */
  readonly onKnown?: (known: ReadonlyMap<Address, KnownVault>) => Promise<void>
}

/** The part of a function's time that is reserved for a run's last writes. */
export const LAST_WRITES_MS = 8_000
/** Longer than any step of a run between two renewals of its lease; short, as a killed run holds up the next ones so long. */
const LEASE_MS = 90_000

/**
 * Records a group of a chain's vaults, compares them with their pins, and tells clients, until `until` (epoch milliseconds).
 * Returns undefined if the lease is held, a run began after `askedAt`, or there are no vaults. Throws what `refreshVaults` throws.
 */
export async function recordGroup(
  dependencies: Dependencies,
  { chainId, group, listVaults, sentTokens = new Set(), askedAt, onKnown }: Asked,
  until: number,
): Promise<RunReport | undefined> {
  const { runs, records, prices, openRequests, states, pinStore, getReader, findClients, now } = dependencies
  const of = { chainId, group }
  const owner = randomUUID()
  const turn = await runs.takeLease(of, owner, { now: now(), until: now() + LEASE_MS, askedAt })
  if (turn === undefined) return undefined
  let lastRun: GroupRun | undefined
  try {
    const vaults = await listVaults()
    if (vaults.length === 0) return undefined
    const reader = getReader(chainId)
    const publishOfVaults = async (notices: readonly Notice[]) => {
      const clientsOf = await findClients(notices.map(vaultOf))
      await publish(dependencies, notices, (notice) => clientsOf(vaultOf(notice)))
    }
    const getWantsLatest = () => findRead(dependencies, vaults, sentTokens)
    // A failure is told after what happened is recorded.
    const watching = watchPins({ reader, pinStore, publish: publishOfVaults, now }, vaults)
    watching.catch(() => {})
    const holdsLease = () => runs.keepLease(of, owner, now() + LEASE_MS)
    const { report, recordedAt, known } = await refreshVaults(
      { reader, records, prices, openRequests, states, publish: publishOfVaults, getWantsLatest, now },
      vaults,
      { until, turn, holdsLease },
    )
    await onKnown?.(known)
    const { changedVaults, untoldVaults } = await watching
    const whole = { ...report, changedVaults, untoldVaults: report.untoldVaults + untoldVaults }
    lastRun = { group, report: whole, recordedAt, endedAt: now() }
    return whole
  } finally {
    await runs.releaseLease(of, owner, lastRun)
  }
}

function vaultOf({ data: { chainId, vaultAddress } }: Notice): VaultKey {
  return { chainId, address: vaultAddress }
}

/** Vaults to read up to the head: clients want non-final events, or they may have paid a pending transfer. */
async function findRead(
  { findClients, webhooks }: Pick<Dependencies, 'findClients' | 'webhooks'>,
  vaults: readonly VaultOnChain[],
  sentTokens: ReadonlySet<Address | undefined>,
): Promise<(vault: Address) => boolean> {
  const wanting = await findLatestClients({ webhooks }, async () => vaults.flatMap(await findClients(vaults)))
  if (wanting.size === 0) return () => false
  const clientsOf = await findClients(vaults)
  const wanted = vaults.filter((vault) => clientsOf(vault).some((id) => wanting.has(id)))
  // Which vault paid a transfer is known once all vaults of its token are read as far.
  const tokens = new Set(wanted.map(({ asset }) => asset).filter((asset) => sentTokens.has(asset)))
  const read = new Set([...wanted, ...vaults.filter(({ asset }) => tokens.has(asset))].map(({ address }) => address))
  return (address) => read.has(address)
}
