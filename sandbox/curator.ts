import { type Address, isAddressEqual } from 'viem'
import type { LocalChain } from './chains.ts'
import { asyncVaultHasPending, isAsyncVault, settleAsyncVault } from './curator/async-vault.ts'
import { lagoonHasPending, settleLagoon } from './curator/lagoon.ts'
import type { Settlement } from './curator/settlement.ts'
import { createSerialRunner } from './serial.ts'

/** Local chain, and its asynchronous vaults that a curator settles. */
export type CuratedChain = { readonly chain: LocalChain; readonly vaults: readonly Address[] }

/** Running curator: a timer that settles the pending requests of asynchronous vaults. */
export type Curator = {
  /** Settles the pending requests of all matching vaults immediately. Throws if no vault matches, or if a vault's contract reverts. */
  settle(which: VaultQuery): Promise<readonly Settlement[]>
  /** Stops the curator; resolves when running settlements have ended. */
  stop(): Promise<void>
}

type VaultQuery = { readonly chainId?: number | undefined; readonly vaultAddress?: Address | undefined }

/**
 * Mints `gain` (in the asset's smallest unit) for an asynchronous vault, raises the vault's valuation by it, and settles pending requests.
 * Sends transactions from the accounts with the vault's roles, which must be local accounts. Throws if the vault's contract reverts.
 */
export async function settleRequests(chain: LocalChain, vault: Address, { gain = 0n } = {}): Promise<Settlement> {
  const settleVault = (await isAsyncVault(chain, vault)) ? settleAsyncVault : settleLagoon
  return settleVault(chain, vault, gain)
}

/** Returns true if an asynchronous vault has requests to settle. A closed Lagoon vault never has. */
export async function hasPending(chain: LocalChain, vault: Address): Promise<boolean> {
  const isPending = (await isAsyncVault(chain, vault)) ? asyncVaultHasPending : lagoonHasPending
  return isPending(chain, vault)
}

/**
 * Starts a curator, which settles all vaults with pending requests every `everySeconds` seconds, without a gain. The curator reports a
 * failed settlement to `onError` and retries it at the next interval.
 */
export function startCurator(options: {
  readonly chains: readonly CuratedChain[]
  readonly everySeconds: number
  readonly onError?: (error: unknown) => void
}): Curator {
  const { chains, everySeconds, onError } = options
  let stopped = false
  // Settlements run one after another: all use the safe's account, whose transactions need consecutive nonces.
  const runInOrder = createSerialRunner()

  const settlePending = async (chain: LocalChain, vault: Address) =>
    !stopped && (await hasPending(chain, vault)) ? [await settleRequests(chain, vault)] : []
  const settleChain = async ({ chain, vaults }: CuratedChain) => {
    for (const vault of vaults) {
      await settlePending(chain, vault).catch(onError)
    }
  }
  let isWaiting = false
  const timer = setInterval(() => {
    if (isWaiting) return
    isWaiting = true
    void runInOrder(() => Promise.all(chains.map(settleChain))).finally(() => {
      isWaiting = false
    })
  }, everySeconds * 1000)
  return {
    settle: ({ chainId, vaultAddress }) =>
      runInOrder(async () => {
        const chosen = chains.flatMap(({ chain, vaults }) =>
          vaults
            .filter(
              (vault) => (chainId ?? chain.chainId) === chain.chainId && isAddressEqual(vaultAddress ?? vault, vault),
            )
            .map((vault) => ({ chain, vault })),
        )
        if (chosen.length === 0) throw new Error('The curator has no vault like this')
        const settled: Settlement[] = []
        for (const { chain, vault } of chosen) settled.push(...(await settlePending(chain, vault)))
        return settled
      }),
    async stop() {
      stopped = true
      clearInterval(timer)
      await runInOrder(async () => {})
    },
  }
}
