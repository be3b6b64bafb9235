import type { Address } from 'viem'
import type { Evidence } from '../chain/evidence.ts'
import type { BlockHeader } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { EvmChain } from '../chain/registry.ts'
import type { Overview } from '../protocols/protocol.ts'
import { VaultOnChain } from '../protocols/vault-on-chain.ts'
import { readOverviews } from './overview.ts'

/** What was read of vaults of one chain: each by its address, undefined where it cannot be read, with the block that it is of. */
type Read = {
  readonly of: (vault: Address) => { readonly overview: Overview | undefined; readonly block: BlockHeader }
  readonly evidence: Evidence
}

type Reading = {
  readonly chainId: number
  /** By what they are read with (`textOf`). */
  readonly vaults: ReadonlySet<string>
  /** Epoch milliseconds. */
  readonly begun: number
  readonly read: Promise<Read>
}

/** A reading is shared for as long as a block takes, within these bounds, in milliseconds. */
const SHORTEST_SHARED_MS = 500
const LONGEST_SHARED_MS = 2_000

/**
 * Returns the function that reads the overviews of vaults of one chain for what is shown, never for what is signed. Requests
 * share a read that has all of their vaults, started within a block's time (0.5 to 2 s), also while it is under way; a read
 * that fails concerns those alone who wait for it. `now` in epoch milliseconds. The function throws as `readOverviews` does.
 */
export function sharedOverviews({
  getReader,
  now,
}: {
  readonly getReader: (chainId: number) => ChainReader
  readonly now: () => number
}) {
  let readings: readonly Reading[] = []

  const begin = (reader: ChainReader, vaults: readonly VaultOnChain[], begun: number): Reading => {
    const reading = {
      chainId: reader.chain.id,
      vaults: new Set(vaults.map(textOf)),
      begun,
      read: read(reader, vaults),
    }
    reading.read.catch(() => {
      readings = readings.filter((one) => one !== reading)
    })
    return reading
  }

  return (chainId: number, vaults: readonly VaultOnChain[]): Promise<Read> => {
    const reader = getReader(chainId)
    const asked = now()
    const isShared = (reading: Reading) =>
      reading.chainId === chainId &&
      // A clock that was set back makes nothing younger.
      Math.abs(asked - reading.begun) < sharedMs(reader.chain) &&
      vaults.every((vault) => reading.vaults.has(textOf(vault)))
    const shared = readings.find(isShared)
    if (shared) return shared.read
    const reading = begin(reader, vaults, asked)
    // Few are young enough at a time: a container of Lambda has one request at a time, of 1,000 vaults at most, some 2 KB each.
    readings = [reading, ...readings.filter(({ begun }) => asked - begun < LONGEST_SHARED_MS)]
    return reading.read
  }
}

const texts = new WeakMap<VaultOnChain, string>()

/** What a vault is read with, as text: clients' copies differ where the chain told another version of it when it was added. */
function textOf(vault: VaultOnChain): string {
  const before = texts.get(vault)
  if (before !== undefined) return before
  const text = JSON.stringify(VaultOnChain.encode(vault))
  texts.set(vault, text)
  return text
}

function sharedMs({ blockSeconds }: EvmChain): number {
  return Math.min(Math.max(blockSeconds * 1000, SHORTEST_SHARED_MS), LONGEST_SHARED_MS)
}

async function read(reader: ChainReader, vaults: readonly VaultOnChain[]): Promise<Read> {
  const { block, blocks, overviews, evidence } = await readOverviews(reader, vaults)
  const indexOf = new Map(vaults.map(({ address }, index) => [address, index]))
  return {
    of: (vault) => {
      const index = indexOf.get(vault) ?? -1
      return { overview: overviews[index], block: blocks[index] ?? block }
    },
    evidence: await evidence(),
  }
}
