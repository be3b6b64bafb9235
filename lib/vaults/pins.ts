import { toResult, unwrap } from '../core/result.ts'
import { Pin } from './pin.ts'
import type { PinStore } from './pin-store.ts'
import type { VaultKey } from './vault.ts'
import { createVaultCache } from './vault-memory.ts'

const CACHED_MS = 60_000

/** Cache of vaults' pins (the code and price that an operator approved) in a Lambda container. */
export type PinCache = ReturnType<typeof createPinCache>

type Found = Pin | undefined

/**
 * Returns the cache of pins, the approved code and price of each vault. A pin is cached for 60 s, or until `withPin`
 * finds a changed vault.
 */
export function createPinCache({
  pinStore,
  now,
}: {
  readonly pinStore: Pick<PinStore, 'get'>
  readonly now: () => number
}) {
  const memory = createVaultCache((vaults) => pinStore.get(vaults), CACHED_MS, now)

  return {
    /** Returns the pins (approved code and price) of these vaults, in the same order; undefined for a vault without a pin. */
    list: memory.list,

    /**
     * Calls `work` with the vault's cached pin, its approved code and price. If `work` throws `vault_has_changed`,
     * reads the stored pin, and calls `work` again if the two pins differ. They differ if an operator confirmed the
     * vault, or if the job refresh-chain updated the price.
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
