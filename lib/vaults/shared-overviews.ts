import type { Address } from 'viem'
import type { Evidence } from '../chain/evidence.ts'
import type { BlockHeader } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { EvmChain } from '../chain/registry.ts'
import type { Overview } from '../protocols/protocol.ts'
import { VaultOnChain } from '../protocols/vault-on-chain.ts'
import { readOverviews } from './overview.ts'

/** Overviews (price, terms and state) by vault, each with its block. An overview is undefined if the vault cannot be read. */
type Read = {
  readonly of: (vault: Address) => { readonly overview: Overview | undefined; readonly block: BlockHeader }
  readonly evidence: Evidence
}

type SharedRead = {
  readonly chainId: number
  /** Vaults that the read covers, each as a JSON text of its on-chain properties. */
  readonly vaults: ReadonlySet<string>
  /** Time at which the read began, in epoch milliseconds. */
  readonly begun: number
  readonly read: Promise<Read>
}

/**
 * Minimum and maximum milliseconds for which requests share a chain read. Between these bounds, they share it for the
 * chain's block time.
 */
const MIN_SHARED_MS = 500
const MAX_SHARED_MS = 2_000

/**
 * Returns a function that reads the overviews (price, terms and state) of one chain's vaults, for display only, never
 * for signing. Requests share a read, even an unfinished one, for the chain's block time (0.5 to 2 s). A failed read
 * fails only the requests that wait for it. `now` returns epoch milliseconds. Throws as `readOverviews` does.
 */
export function createOverviewReader({
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
    // Cached reads need little memory: a request has at most 1,000 vaults of 2 KB each, and a Lambda container handles
    // one request at a time.
    sharedReads = [sharedRead, ...sharedReads.filter(({ begun }) => requestedAt - begun < MAX_SHARED_MS)]
    return sharedRead.read
  }
}

const texts = new WeakMap<VaultOnChain, string>()

/**
 * Returns a vault's on-chain properties as text. Two clients' records of one vault may have different properties, and
 * then need separate reads.
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
