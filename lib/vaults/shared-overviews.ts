import type { Address } from 'viem'
import type { Evidence } from '../chain/evidence.ts'
import type { BlockHeader } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { EvmChain } from '../chain/registry.ts'
import type { Overview } from '../protocols/protocol.ts'
import { VaultOnChain } from '../protocols/vault-on-chain.ts'
import { readOverviews } from './overview.ts'

/** Overviews by vault, each with its block. An overview is undefined if the vault cannot be read. */
type Read = {
  readonly of: (vault: Address) => { readonly overview: Overview | undefined; readonly block: BlockHeader }
  readonly evidence: Evidence
}

type SharedRead = {
  readonly chainId: number
  /** Vaults that the read covers, as texts of `textOf`. */
  readonly vaults: ReadonlySet<string>
  /** Time at which the read began, in epoch milliseconds. */
  readonly begun: number
  readonly read: Promise<Read>
}

/** Bounds of the time for which requests share a read: the chain's block time, if it lies between them. */
const MIN_SHARED_MS = 500
const MAX_SHARED_MS = 2_000

/**
 * Returns the function that reads one chain's vault overviews, only for display, never for signing. Requests share a read, even an
 * unfinished one, for the chain's block time (0.5 to 2 s). A failed read fails only the requests that wait for it. `now` returns epoch
 * milliseconds. The function throws as `readOverviews` does.
 */
export function sharedOverviews({
  getReader,
  now,
}: {
  readonly getReader: (chainId: number) => ChainReader
  readonly now: () => number
}) {
  let sharedReads: readonly SharedRead[] = []

  const begin = (reader: ChainReader, vaults: readonly VaultOnChain[], begun: number): SharedRead => {
    const sharedRead = {
      chainId: reader.chain.id,
      vaults: new Set(vaults.map(textOf)),
      begun,
      read: read(reader, vaults),
    }
    sharedRead.read.catch(() => {
      sharedReads = sharedReads.filter((one) => one !== sharedRead)
    })
    return sharedRead
  }

  return (chainId: number, vaults: readonly VaultOnChain[]): Promise<Read> => {
    const reader = getReader(chainId)
    const requestedAt = now()
    const isShared = (sharedRead: SharedRead) =>
      sharedRead.chainId === chainId &&
      // The absolute value also ends sharing if the clock was set back.
      Math.abs(requestedAt - sharedRead.begun) < sharedMs(reader.chain) &&
      vaults.every((vault) => sharedRead.vaults.has(textOf(vault)))
    const shared = sharedReads.find(isShared)
    if (shared) return shared.read
    const sharedRead = begin(reader, vaults, requestedAt)
    // These reads need little memory. A Lambda container handles one request at a time, of at most 1,000 vaults with 2 KB each.
    sharedReads = [sharedRead, ...sharedReads.filter(({ begun }) => requestedAt - begun < MAX_SHARED_MS)]
    return sharedRead.read
  }
}

const texts = new WeakMap<VaultOnChain, string>()

/**
 * Returns a vault's on-chain properties as text, by which reads of different clients' vaults can be shared. It differs if a client's record
 * is of another version of the vault.
 */
function textOf(vault: VaultOnChain): string {
  const before = texts.get(vault)
  if (before !== undefined) return before
  const text = JSON.stringify(VaultOnChain.encode(vault))
  texts.set(vault, text)
  return text
}

function sharedMs({ blockSeconds }: EvmChain): number {
  return Math.min(Math.max(blockSeconds * 1000, MIN_SHARED_MS), MAX_SHARED_MS)
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
