import { toResult, unwrap } from '../core/result.ts'
import { Pin } from './pin.ts'
import type { PinStore } from './pin-store.ts'
import type { VaultKey } from './vault.ts'
import { vaultMemory } from './vault-memory.ts'

const CACHED_MS = 60_000

/** Pins of vaults, as cached in a container. */
export type Pins = ReturnType<typeof cachedPins>

type Found = Pin | undefined

/** Returns the cache of pins: 60 s, shorter for a vault that seems to have changed. */
export function cachedPins({
  pinStore,
  now,
}: {
  readonly pinStore: Pick<PinStore, 'get'>
  readonly now: () => number
}) {
  const memory = vaultMemory((vaults) => pinStore.get(vaults), CACHED_MS, now)

  return {
    /** Returns the pins of these vaults, in order; undefined for a vault without a pin. */
    list: memory.list,

    /**
     * Runs `work` with a vault's pin. On `vault_has_changed` it retries if the stored pin differs: an operator
     * may have confirmed the vault, or the job updated its price.
     */
    async withPin<T>(vault: VaultKey, work: (pin: Found) => Promise<T>): Promise<T> {
      const [before] = await memory.list([vault])
      const prepared = await toResult(work(before))
      if ('value' in prepared || prepared.error.code !== 'vault_has_changed') return unwrap(prepared)
      memory.forget(vault)
      const [pin] = await memory.list([vault])
      return textOf(pin) === textOf(before) ? unwrap(prepared) : work(pin)
    },
  }
}

function textOf(pin: Found): string | undefined {
  return pin && JSON.stringify(Pin.encode(pin))
}
