import type { Address } from 'viem'
import type { LocalChain } from './chains.ts'
import { asyncVaultHasPending, isAsyncVault, settleAsyncVault } from './curator/async-vault.ts'
import { lagoonHasPending, settleLagoon } from './curator/lagoon.ts'
import type { Settlement } from './curator/settlement.ts'

/** The async vaults of a chain that a curator looks after. */
export type CuratedChain = { readonly chain: LocalChain; readonly vaults: readonly Address[] }

/** A running curator; `stop` resolves when its last round is over. */
export type Curator = { stop(): Promise<void> }

/**
 * Values an async vault at its total assets plus `gain` (minted to who holds them) and settles what is pending, deposits
 * and redemptions, as those who may, which must be accounts of the local chain. Throws when the vault refuses.
 */
export async function settle(chain: LocalChain, vault: Address, { gain = 0n } = {}): Promise<Settlement> {
  const settleVault = (await isAsyncVault(chain, vault)) ? settleAsyncVault : settleLagoon
  return settleVault(chain, vault, gain)
}

/** Whether an open vault holds something that a settlement would settle. */
export async function hasPending(chain: LocalChain, vault: Address): Promise<boolean> {
  const isPending = (await isAsyncVault(chain, vault)) ? asyncVaultHasPending : lagoonHasPending
  return isPending(chain, vault)
}

/**
 * Settles every vault that has something pending, every `everySeconds`, without a gain; a vault or a chain that fails is
 * tried again the next time.
 */
export function startCurator(options: {
  readonly chains: readonly CuratedChain[]
  readonly everySeconds: number
  readonly onError?: (error: unknown) => void
}): Curator {
  const { chains, everySeconds, onError } = options
  let stopped = false
  let round: Promise<unknown> | undefined

  const settleChain = async ({ chain, vaults }: CuratedChain) => {
    // One after the other, because all have the same safe and its transactions are numbered.
    for (const vault of vaults) {
      try {
        if (!stopped && (await hasPending(chain, vault))) await settle(chain, vault)
      } catch (error) {
        onError?.(error)
      }
    }
  }
  const timer = setInterval(() => {
    round ??= Promise.all(chains.map(settleChain)).finally(() => {
      round = undefined
    })
  }, everySeconds * 1000)
  return {
    async stop() {
      stopped = true
      clearInterval(timer)
      await round
    },
  }
}
