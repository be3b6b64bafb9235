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
import type { GroupKey, RunsStore } from './runs-store.ts'
import { watchPins } from './watch-pins.ts'

/** Has groups recorded, each by a run of its own; throws when that is not certain. `askedAt` is in epoch milliseconds. */
export type WakeGroups = (messages: readonly (GroupKey & { readonly askedAt: number })[]) => Promise<void>

type Dependencies = Pick<RunDependencies, 'records' | 'openRequests' | 'states' | 'now'> &
  Pick<Parameters<typeof watchPins>[0], 'pinStore'> &
  Parameters<typeof publish>[0] &
  Parameters<typeof findLatestClients>[0] & {
    readonly runs: Pick<RunsStore, 'takeLease' | 'keepLease' | 'releaseLease'>
    readonly getReader: (chainId: number) => ChainReader
    readonly findClients: FindClients
  }

/** What a run is to record. */
type Asked = GroupKey & {
  readonly vaults: readonly VaultOnChain[]
  /** The tokens of transfers of which it is to be known which vault paid them. */
  readonly sentTokens?: ReadonlySet<Address | undefined>
  /** Since when nobody has begun it; epoch milliseconds. */
  readonly askedAt?: number
  /** Is given what is known of each vault by its address, also where the run fails after that. */
  readonly onKnown?: (known: ReadonlyMap<Address, KnownVault>) => Promise<void>
}

/** Longer than any step of a run between two renewals of its lease, and short, so that a killed run does not hold up the next ones. */
const LEASE_MS = 90_000

/**
 * Records a group of a chain's vaults, looks whether they still are as they are pinned, and tells clients, until `until` (epoch
 * milliseconds). What was done; undefined where another run is at work, or was begun since it was asked for. Throws what `refreshVaults` throws.
 */
export async function recordGroup(
  dependencies: Dependencies,
  { chainId, group, vaults, sentTokens = new Set(), askedAt, onKnown }: Asked,
  until: number,
): Promise<RunReport | undefined> {
  const { runs, records, openRequests, states, pinStore, getReader, findClients, now } = dependencies
  const of = { chainId, group }
  const owner = randomUUID()
  const turn = await runs.takeLease(of, owner, { now: now(), until: now() + LEASE_MS, askedAt })
  if (turn === undefined) return undefined
  let lastRun: Parameters<RunsStore['releaseLease']>[2]
  try {
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
      { reader, records, openRequests, states, publish: publishOfVaults, getWantsLatest, now },
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

/**
 * Finds the vaults that are read to the head: those of which a client wants to be told what is not final, and all of a token that
 * one of them may have paid.
 */
async function findRead(
  { findClients, webhooks }: Pick<Dependencies, 'findClients' | 'webhooks'>,
  vaults: readonly VaultOnChain[],
  sentTokens: ReadonlySet<Address | undefined>,
): Promise<(vault: Address) => boolean> {
  const wanting = await findLatestClients({ webhooks }, async () => vaults.flatMap(await findClients(vaults)))
  if (wanting.size === 0) return () => false
  const clientsOf = await findClients(vaults)
  const wanted = vaults.filter((vault) => clientsOf(vault).some((id) => wanting.has(id)))
  // Which of them paid a transfer is known once all of its token are read as far.
  const tokens = new Set(wanted.map(({ asset }) => asset).filter((asset) => sentTokens.has(asset)))
  const read = new Set([...wanted, ...vaults.filter(({ asset }) => tokens.has(asset))].map(({ address }) => address))
  return (address) => read.has(address)
}
