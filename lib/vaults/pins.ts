import { toResult, unwrap } from '../result.ts'
import { Pin } from './pin.ts'
import type { PinStore } from './pin-store.ts'
import type { VaultKey } from './vault.ts'
import { vaultMemory } from './vault-memory.ts'

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
  const memory = vaultMemory((vaults) => pinStore.get(vaults), CACHED_MS, now)

  return {
    /** The pins of these vaults, in order; undefined for a vault of which nothing is pinned. */
    list: memory.list,

    /**
     * What comes of preparing something with a vault's pin. Where that throws `vault_has_changed`, once more with the pin
     * as the table has it, if that is another: an operator may have confirmed the vault, or the job moved its price along.
     */
    async prepare<T>(vault: VaultKey, prepare: (pin: Found) => Promise<T>): Promise<T> {
      const [before] = await memory.list([vault])
      const prepared = await toResult(prepare(before))
      if ('value' in prepared || prepared.error.code !== 'vault_has_changed') return unwrap(prepared)
      memory.forget(vault)
      const [pin] = await memory.list([vault])
      return textOf(pin) === textOf(before) ? unwrap(prepared) : prepare(pin)
    },
  }
}

function textOf(pin: Found): string | undefined {
  return pin && JSON.stringify(Pin.encode(pin))
}
