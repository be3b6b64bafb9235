import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainReader } from '../chain/reader.ts'
import { logger } from '../logger.ts'
import { annualYield, type PricePoint } from './apy.ts'
import { readOverviews, readPastSharePrices } from './overview.ts'
import type { StateTable } from './state-table.ts'
import type { Vault } from './vault.ts'
import type { StateAsOf, VaultState } from './vault-state.ts'

/** A vault as the list shows it. What is undefined is not known at the moment. */
export type ListedVault = {
  readonly vault: Vault
  /** Percent with two decimals. */
  readonly apy: string
  readonly hasCap: boolean | undefined
  readonly state: VaultState | undefined
  readonly asOf: StateAsOf | undefined
}

type Dependencies = {
  readonly readerOf: (chainId: number) => ChainReader
  readonly states: Pick<StateTable, 'get'>
  /** Milliseconds since 1970. */
  readonly now: () => number
}

const YIELD_SECONDS = 7 * 86_400
/** The price of a week ago moves slowly, and asking for it costs a round trip. */
const PAST_PRICES_MS = 15 * 60_000
const PATIENCE_MS = 800

/**
 * Returns the function that lists vaults with their live state, chains side by side, one round trip each, plus one
 * every quarter of an hour for the prices of a week ago. A chain that cannot be read gives its vaults' last recorded
 * states and never holds up the others.
 */
export function listVaults({ readerOf, states, now }: Dependencies) {
  const pastPrices = new Map<string, { readonly at: number; readonly price: PricePoint | undefined }>()

  async function readChain(chainId: number, vaults: readonly Vault[]): Promise<ListedVault[]> {
    const reader = readerOf(chainId)
    const { block, overviews } = await readOverviews(reader, vaults)
    const asOf = {
      blockNumber: Number(block.number),
      timestamp: new Date(Number(block.timestamp) * 1000),
      stale: false,
    }
    const past = await weekAgo(reader, vaults, block.number)
    return vaults.map((vault, index) => {
      const { sharePrice, hasCap, state } = overviews[index] ?? {}
      const apy = annualYield(past[index], pricePoint(sharePrice, asOf.timestamp))
      return { vault, apy, hasCap, state, asOf }
    })
  }

  async function weekAgo(reader: ChainReader, vaults: readonly Vault[], before: bigint) {
    const unknown = vaults.filter((vault) => now() - (pastPrices.get(keyOf(vault))?.at ?? 0) > PAST_PRICES_MS)
    if (unknown.length > 0) {
      const remember = (prices: readonly (PricePoint | undefined)[]) => {
        for (const [index, vault] of unknown.entries()) {
          pastPrices.set(keyOf(vault), { at: now(), price: prices[index] })
        }
      }
      // A node without old state, or a slow one, is no reason to fail or to wait: there is no yield to show then.
      const asked = readPastSharePrices(reader, unknown, { before, seconds: YIELD_SECONDS }).then(remember, () =>
        remember([]),
      )
      await Promise.race([asked, sleep(PATIENCE_MS, undefined, { ref: false })])
    }
    return vaults.map((vault) => pastPrices.get(keyOf(vault))?.price)
  }

  async function lastRecorded(vaults: readonly Vault[]): Promise<ListedVault[]> {
    const recorded = await states.get(vaults)
    return vaults.map((vault, index) => {
      const { state, asOf } = recorded[index] ?? {}
      const latest = pricePoint(state?.sharePrice, asOf?.timestamp)
      const apy = annualYield(pastPrices.get(keyOf(vault))?.price, latest)
      return { vault, apy, hasCap: undefined, state, asOf: asOf && { ...asOf, stale: true } }
    })
  }

  return async (vaults: readonly Vault[]): Promise<ListedVault[]> => {
    const byChain = Map.groupBy(vaults, ({ chainId }) => chainId)
    const listed = await Promise.all(
      [...byChain].map(([chainId, ofChain]) =>
        readChain(chainId, ofChain).catch((error: unknown) => {
          logger.warn('chain not read, serving its last recorded states', { chainId, reason: String(error) })
          return lastRecorded(ofChain)
        }),
      ),
    )
    const byVault = new Map(listed.flat().map((entry) => [entry.vault, entry]))
    return vaults.flatMap((vault) => byVault.get(vault) ?? [])
  }
}

function keyOf({ chainId, address }: Vault): string {
  return `${chainId}#${address}`
}

function pricePoint(price: bigint | undefined, at: Date | undefined): PricePoint | undefined {
  return price === undefined || !at ? undefined : { price, timestamp: BigInt(Math.floor(at.getTime() / 1000)) }
}
