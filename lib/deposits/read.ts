import { type Address, numberToHex } from 'viem'
import * as z from 'zod'
import { type BlockHeader, Log, parseResult, readTimestamps } from '../chain/logs.ts'
import type { ChainReader, Query } from '../chain/reader.ts'
import { AppError } from '../errors.ts'
import { logger } from '../logger.ts'
import type { Vault } from '../vaults/vault.ts'
import { type LiveAccount, liveAccount } from './account.ts'
import { parseVaultEvents, VAULT_EVENT_TOPICS } from './events.ts'
import { EMPTY_LEDGER, postEvents } from './ledger.ts'
import { type Movement, positionOf } from './movement.ts'
import type { Checkpoint, RecordsTable } from './table.ts'

/** What happened to a user in one vault, in order, up to the chain's last block, and what the user has there now. */
export type UserVault = {
  readonly vault: Vault
  readonly movements: readonly Movement[]
  readonly live: LiveAccount
}

/** A user in all vaults that could be read, and why the vaults of some chains could not, by chain id. */
export type UserVaults = {
  readonly vaults: readonly UserVault[]
  readonly errors: Readonly<Record<string, string>>
}

type Dependencies = {
  readonly readerOf: (chainId: number) => ChainReader
  readonly records: Pick<RecordsTable, 'listMovements' | 'getCheckpoint'>
}

/**
 * A user in these vaults: what is recorded, with the events since then and the live balances from one round trip per
 * chain, chains side by side. Throws the chain's error only when nothing could be read.
 */
export async function readUserVaults(
  { readerOf, records }: Dependencies,
  vaults: readonly Vault[],
  user: Address,
): Promise<UserVaults> {
  const byChain = [...Map.groupBy(vaults, ({ chainId }) => chainId)]
  const [movements, ...checkpoints] = await Promise.all([
    records.listMovements(user),
    ...byChain.map(([chainId]) => records.getCheckpoint(chainId)),
  ])
  const outcomes = await Promise.allSettled(
    byChain.map(([chainId, ofChain], index) =>
      readChain(readerOf(chainId), ofChain, user, movements, checkpoints[index] ?? { vaults: {} }),
    ),
  )
  const read = outcomes.map((outcome): ChainRead => {
    if (outcome.status === 'fulfilled') return outcome.value
    if (!(outcome.reason instanceof AppError)) throw outcome.reason
    return { vaults: [], failure: outcome.reason }
  })
  const failures = read.flatMap(({ failure }, index) => (failure ? [{ chainId: byChain[index]?.[0], failure }] : []))
  for (const { chainId, failure } of failures) logger.warn('chain not read', { chainId, code: failure.code })
  const found = read.flatMap((ofChain) => ofChain.vaults)
  if (failures[0] && failures.length === read.length && found.length === 0) throw failures[0].failure
  return {
    vaults: found,
    errors: Object.fromEntries(failures.map(({ chainId, failure }) => [String(chainId), failure.message])),
  }
}

/** The vaults of a chain that could be read, and why others that the user has used could not. */
type ChainRead = { readonly vaults: readonly UserVault[]; readonly failure?: AppError | undefined }

async function readChain(
  reader: ChainReader,
  vaults: readonly Vault[],
  user: Address,
  movements: readonly Movement[],
  checkpoint: Checkpoint,
): Promise<ChainRead> {
  const tails = tailsOf(vaults, checkpoint)
  const queries = vaults.map((vault) => attempt(liveAccount(vault, user)))
  const { block, values, outcomes } = await reader.read(queries, { along: tails.map(tailRequest) })
  const logs = await Promise.all(tails.map((tail, index) => tailLogs(reader, tail, outcomes[index], block)))
  const whole = logs.flatMap((outcome) => (outcome instanceof AppError ? [] : outcome))
  const timestampOf = await readTimestamps(reader.request, whole)
  const events = Map.groupBy(parseVaultEvents(reader.chain.id, whole, timestampOf), ({ vault }) => vault)

  const readVault = async (vault: Vault, index: number): Promise<UserVault | AppError | undefined> => {
    const recorded = movements.filter(({ chainId, vault: of }) => chainId === vault.chainId && of === vault.address)
    const progress = checkpoint.vaults[vault.address] ?? { through: 0, ledger: EMPTY_LEDGER }
    const since = (events.get(vault.address) ?? []).filter(
      ({ position }) => position.blockNumber > BigInt(progress.through) && position.blockNumber <= block.number,
    )
    const tail = postEvents(vault, progress.ledger, since).movements.filter((movement) => movement.user === user)
    const all = new Map([...recorded, ...tail].map((movement) => [positionOf(movement), movement]))
    const value = values[index]
    const unread = logs[tails.findIndex((of) => of.vaults.includes(vault))]
    if (unread instanceof AppError) return unread
    // What the user never used need not be read.
    if (value instanceof AppError || !value) return all.size > 0 ? value : undefined
    const live = (await value.complete?.(reader, block.number)) ?? value.account
    return { vault, movements: [...all.values()], live }
  }
  const read = await Promise.all(vaults.map(readVault))
  return {
    vaults: read.flatMap((outcome) => (outcome && !(outcome instanceof AppError) ? [outcome] : [])),
    failure: read.find((outcome) => outcome instanceof AppError),
  }
}

/** The query with its failure as its value, so that one contract's is not that of all. */
function attempt<T>({ parse, ...reads }: Query<T>): Query<T | AppError> {
  return {
    ...reads,
    parse: (reading) => {
      try {
        return parse(reading)
      } catch (error) {
        if (error instanceof AppError) return error
        throw error
      }
    },
  }
}

/** The events of some vaults from a block on. */
type Tail = { readonly vaults: readonly Vault[]; readonly from: number; readonly isBehind: boolean }

/** How many blocks of events a request reads at most; behind by more, a vault's past is for the job to read. */
const LONGEST_TAIL = 500_000

/** Since the checkpoint, apart for vaults whose past is still being read: theirs is longer, and may be refused. */
function tailsOf(vaults: readonly Vault[], checkpoint: Checkpoint): Tail[] {
  const through = ({ address, firstBlock }: Vault) => checkpoint.vaults[address]?.through ?? firstBlock - 1
  const isBehind = (vault: Vault) => through(vault) < (checkpoint.through ?? 0)
  const tail = (ofVaults: readonly Vault[], isBehind: boolean): Tail[] =>
    ofVaults.length > 0
      ? [{ vaults: ofVaults, from: Math.max(0, Math.min(...ofVaults.map(through)) + 1), isBehind }]
      : []
  return [
    ...tail(
      vaults.filter((vault) => !isBehind(vault)),
      false,
    ),
    ...tail(vaults.filter(isBehind), true),
  ]
}

function tailRequest({ vaults, from }: Tail) {
  return {
    method: 'eth_getLogs',
    params: [{ ...tailFilter(vaults), fromBlock: numberToHex(from), toBlock: 'latest' }],
  }
}

/** The events of a tail; the failure where only vaults that are behind are concerned. */
async function tailLogs(
  reader: ChainReader,
  { vaults, from, isBehind }: Tail,
  outcome: Parameters<typeof parseResult>[1],
  head: BlockHeader,
): Promise<Log[] | AppError> {
  if (outcome && 'result' in outcome) return parseResult(z.array(Log), outcome)
  try {
    if (Number(head.number) - from > LONGEST_TAIL) {
      throw new AppError('upstream_unavailable', { cause: new Error('the events of the vaults are not read yet') })
    }
    // The node refuses a range this long: the records are far behind, and this answer costs more round trips.
    return await reader.logs(tailFilter(vaults), BigInt(from), head.number)
  } catch (error) {
    if (isBehind && error instanceof AppError) return error
    throw error
  }
}

function tailFilter(vaults: readonly Vault[]) {
  return { address: vaults.map(({ address }) => address), topics: [VAULT_EVENT_TOPICS] }
}
