import { toResult, unwrap } from '../result.ts'
import { Pin } from './pin.ts'
import type { PinStore } from './pin-store.ts'
import { type VaultKey, vaultPartition } from './vault.ts'

const CACHED_MS = 60_000

/** What of vaults is pinned, as a container knows it. */
export type Pins = ReturnType<typeof cachedPins>

type Found = Pin | undefined

/** The pins of vaults, each read once in 60 s; a vault that seems to have changed is looked up afresh. */
export function cachedPins({
  pinStore,
  now,
}: {
  readonly pinStore: Pick<PinStore, 'get'>
  readonly now: () => number
}) {
  // Bounded by the vaults of all clients.
  const cached = new Map<string, { readonly pin: Promise<Found>; readonly until: number }>()

  /** Begins to read these pins; until they are there, all who ask wait for the same answer. */
  function read(vaults: readonly VaultKey[]): void {
    if (vaults.length === 0) return
    const reading = pinStore.get(vaults)
    const until = now() + CACHED_MS
    for (const [index, vault] of vaults.entries()) {
      const pin = reading.then((found) => found[index])
      pin.catch(() => cached.delete(vaultPartition(vault)))
      cached.set(vaultPartition(vault), { pin, until })
    }
  }

  function list(vaults: readonly VaultKey[]): Promise<Found[]> {
    read(vaults.filter((vault) => now() >= (cached.get(vaultPartition(vault))?.until ?? 0)))
    return Promise.all(vaults.map((vault) => cached.get(vaultPartition(vault))?.pin))
  }

  return {
    /** The pins of these vaults, in order; undefined for a vault of which nothing is pinned. */
    list,

    /**
     * What comes of preparing something with a vault's pin. Where that throws `vault_has_changed`, once more with the pin
     * as the table has it, if that is another: an operator may have confirmed the vault, or the job moved its price along.
     */
    async prepare<T>(vault: VaultKey, prepare: (pin: Found) => Promise<T>): Promise<T> {
      const [before] = await list([vault])
      const prepared = await toResult(prepare(before))
      if ('value' in prepared || prepared.error.code !== 'vault_has_changed') return unwrap(prepared)
      read([vault])
      const [pin] = await list([vault])
      return textOf(pin) === textOf(before) ? unwrap(prepared) : prepare(pin)
    },
  }
}

function textOf(pin: Found): string | undefined {
  return pin && JSON.stringify(Pin.encode(pin))
}
