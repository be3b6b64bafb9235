import { randomUUID } from 'node:crypto'
import type { RecordedTransfer } from '../../../lib/bridge/transfer.ts'
import { clientsFinder, type FindClients } from '../../../lib/clients/find-clients.ts'
import type { VaultOnChain } from '../../../lib/protocols/vault-on-chain.ts'
import type { Services } from '../../../lib/services.ts'
import type { VaultKey } from '../../../lib/vaults/vault.ts'
import type { Notice } from '../../../lib/webhooks/event.ts'
import { publish } from '../../../lib/webhooks/publish.ts'
import { followTransfers } from './follow-transfers.ts'
import { getPaidToken, publishTransfers } from './publish-transfers.ts'
import { refreshVaults } from './refresh-vaults.ts'
import { watchPins } from './watch-pins.ts'

type Dependencies = Services<
  | 'listedVaults'
  | 'records'
  | 'openRequests'
  | 'states'
  | 'pinStore'
  | 'transfers'
  | 'sources'
  | 'getReader'
  | 'eventLog'
  | 'webhooks'
  | 'wakeRelays'
  | 'now'
>

/** Longer than any step of a run between two renewals of its lease, and short, so that a killed run does not hold up the next ones. */
const LEASE_MS = 90_000
/** The part of a run's time that is reserved for its last writes, and the share of the rest that transfers may use. */
const LAST_WRITES_MS = 8_000
const TRANSFERS_SHARE = 1 / 3

export function refreshChain(dependencies: Dependencies) {
  const { listedVaults, records, openRequests, states, pinStore, transfers, sources, getReader, now } = dependencies
  return async ({ chainId }: { chainId: number }, { remainingMs }: { remainingMs: () => number }) => {
    const begun = now()
    const usable = Math.max(0, remainingMs() - LAST_WRITES_MS)
    const until = begun + usable
    const { ended, ...followed } = await followTransfers(
      { getReader, transfers, sources, now },
      chainId,
      begun + usable * TRANSFERS_SHARE,
    )
    const vaults = await listedVaults.list(chainId)
    const findClients = clientsFinder(listedVaults)
    const publishTo = async (notices: readonly Notice[], of: (notice: Notice) => readonly string[]) => {
      await publish(dependencies, notices, of)
    }
    const publishEnded = (of: Pick<Parameters<typeof publishTransfers>[1], 'ended' | 'known'>) =>
      publishTransfers({ findClients, records, transfers, publish: publishTo, now }, { chainId, vaults, ...of })
    const { unpublished, waiting } = await publishEnded({ ended, known: undefined })
    if (vaults.length === 0) return { chainId, outcome: 'no vaults' as const, ...followed, untoldVaults: unpublished }

    const owner = randomUUID()
    const taken = await records.takeLease(chainId, owner, { now: now(), until: now() + LEASE_MS })
    if (!taken) return { chainId, outcome: 'another run is at work' as const, ...followed, untoldVaults: unpublished }
    try {
      const reader = getReader(chainId)
      const publishOfVaults = async (notices: readonly Notice[]) => {
        const clientsOf = await findClients(notices.map(vaultOf))
        await publishTo(notices, (notice) => clientsOf(vaultOf(notice)))
      }
      const getWantsLatest = () => findLatest({ findClients, webhooks: dependencies.webhooks }, vaults, waiting)
      // A failure is told after what happened is recorded.
      const watching = watchPins({ reader, pinStore, publish: publishOfVaults, now }, vaults)
      watching.catch(() => {})
      const holdsLease = () => records.keepLease(chainId, owner, now() + LEASE_MS)
      const { report, known } = await refreshVaults(
        { reader, records, openRequests, states, publish: publishOfVaults, getWantsLatest, now },
        vaults,
        { until, holdsLease },
      )
      const later = await publishEnded({ ended: waiting, known })
      // Behind all others that are due, so that they keep none of them from being polled.
      await Promise.all(later.waiting.map(({ key }) => transfers.postpone(key, new Date(now()))))
      const { changedVaults, ...watched } = await watching
      return {
        ...report,
        outcome: 'refreshed' as const,
        changedVaults,
        untoldVaults: unpublished + later.unpublished + report.untoldVaults + watched.untoldVaults,
        ...followed,
      }
    } finally {
      await records.releaseLease(chainId, owner)
    }
  }
}

function vaultOf({ data: { chainId, vaultAddress } }: Notice): VaultKey {
  return { chainId, address: vaultAddress }
}

/**
 * Finds the vaults that are read to the head: those of which a client wants to be told what is not final, and all of a token that
 * one of them may have paid. Which vaults' clients these are is asked only where some client of the stage may want it.
 */
async function findLatest(
  { findClients, webhooks }: { readonly findClients: FindClients; readonly webhooks: Services<'webhooks'>['webhooks'] },
  vaults: readonly VaultOnChain[],
  waiting: readonly RecordedTransfer[],
): Promise<(vault: VaultOnChain['address']) => boolean> {
  const candidates = await webhooks.listLatestClients()
  if (candidates.size === 0) return () => false
  const clientsOf = await findClients(vaults)
  const asked = new Set(vaults.flatMap(clientsOf).filter((id) => candidates.has(id)))
  const registered = await webhooks.listOf([...asked])
  const wantsLatest = (id: string) => registered.get(id)?.some(({ finality }) => finality === 'latest') === true
  const wanted = vaults.filter((vault) => clientsOf(vault).some(wantsLatest))
  // Which of them paid a transfer is known once all of its token are read as far.
  const sent = new Set(waiting.map(getPaidToken))
  const tokens = new Set(wanted.map(({ asset }) => asset).filter((asset) => sent.has(asset)))
  const read = new Set([...wanted, ...vaults.filter(({ asset }) => tokens.has(asset))].map(({ address }) => address))
  return (address) => read.has(address)
}
