import { toResult, unwrap } from '../core/result.ts'
import { Pin } from './pin.ts'
import type { PinStore } from './pin-store.ts'
import type { VaultKey } from './vault.ts'
import { vaultMemory } from './vault-memory.ts'

const CACHED_MS = 60_000

/** Cache of vaults' pins in a Lambda container. */
export type Pins = ReturnType<typeof cachedPins>

type Found = Pin | undefined

/** Returns the cache of pins. It keeps a pin for 60 s, but reads it again if the vault seems to have changed. */
export function cachedPins({
  pinStore,
  now,
}: {
  readonly pinStore: Pick<PinStore, 'get'>
  readonly now: () => number
}) {
  const memory = vaultMemory((vaults) => pinStore.get(vaults), CACHED_MS, now)

  return {
    /** Returns the cached pins of these vaults, in their order; undefined for a vault without a pin. */
    list: memory.list,

    /**
     * Prepares a response with a vault's pin. After `vault_has_changed` it reads the stored pin and tries again if that differs. An
     * operator may have confirmed the vault, or refresh-chain may have updated the pinned price.
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
