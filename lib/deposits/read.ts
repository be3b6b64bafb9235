import { type Address, numberToHex } from 'viem'
import * as z from 'zod'
import { type BlockHeader, Log, parseResult, readTimestamps } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import { AppError } from '../errors.ts'
import { logger } from '../logger.ts'
import type { Vault } from '../vaults/vault.ts'
import { type LiveAccount, liveAccount } from './account.ts'
import { parseVaultEvents, VAULT_EVENT_TOPICS } from './events.ts'
import { openDeposits } from './history.ts'
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
 * chain, chains side by side. Throws the chain's error only when no chain could be read.
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
  const failures = outcomes.flatMap((outcome, index) =>
    outcome.status === 'rejected' ? [{ chainId: byChain[index]?.[0], reason: outcome.reason }] : [],
  )
  for (const { chainId, reason } of failures) {
    if (!(reason instanceof AppError)) throw reason
    logger.warn('chain not read', { chainId, code: reason.code })
  }
  if (failures.length > 0 && failures.length === outcomes.length) throw failures[0]?.reason
  return {
    vaults: outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : [])),
    errors: Object.fromEntries(failures.map(({ chainId, reason }) => [String(chainId), reason.message])),
  }
}

async function readChain(
  reader: ChainReader,
  vaults: readonly Vault[],
  user: Address,
  movements: readonly Movement[],
  checkpoint: Checkpoint,
): Promise<UserVault[]> {
  const recordedOf = (vault: Vault) =>
    movements.filter((movement) => movement.chainId === vault.chainId && movement.vault === vault.address)
  const queries = vaults.map((vault) => liveAccount(vault, user, openRequest(recordedOf(vault))))
  const { block, values, outcomes } = await reader.read(queries, { along: [tailRequest(vaults, checkpoint)] })
  const logs = await tailLogs(reader, outcomes[0], { vaults, checkpoint, head: block })
  const timestampOf = await readTimestamps(reader.request, logs)
  const events = Map.groupBy(parseVaultEvents(reader.chain.id, logs, timestampOf), ({ vault }) => vault)

  return vaults.flatMap((vault, index) => {
    const live = values[index]
    if (!live) return []
    const progress = checkpoint.vaults[vault.address] ?? { through: 0, ledger: EMPTY_LEDGER }
    const since = (events.get(vault.address) ?? []).filter(
      ({ position }) => position.blockNumber > BigInt(progress.through) && position.blockNumber <= block.number,
    )
    const tail = postEvents(vault, progress.ledger, since).movements.filter((movement) => movement.user === user)
    const all = new Map([...recordedOf(vault), ...tail].map((movement) => [positionOf(movement), movement]))
    return [{ vault, movements: [...all.values()], live }]
  })
}

function openRequest(movements: readonly Movement[]) {
  const open = openDeposits(movements)
  const [first] = open
  return first && { requestId: first.requestId, assets: open.reduce((total, { assets }) => total + assets, 0n) }
}

/** The call for the events since the checkpoint of the vault that is recorded least far. */
function tailRequest(vaults: readonly Vault[], checkpoint: Checkpoint) {
  return {
    method: 'eth_getLogs',
    params: [{ ...tailFilter(vaults), fromBlock: numberToHex(tailStart(vaults, checkpoint)), toBlock: 'latest' }],
  }
}

async function tailLogs(
  reader: ChainReader,
  outcome: Parameters<typeof parseResult>[1],
  { vaults, checkpoint, head }: { vaults: readonly Vault[]; checkpoint: Checkpoint; head: BlockHeader },
): Promise<Log[]> {
  if (outcome && 'result' in outcome) return parseResult(z.array(Log), outcome)
  // The node refuses a range this long: the records are far behind, and this answer costs more round trips.
  return reader.logs(tailFilter(vaults), BigInt(tailStart(vaults, checkpoint)), head.number)
}

function tailFilter(vaults: readonly Vault[]) {
  return { address: vaults.map(({ address }) => address), topics: [VAULT_EVENT_TOPICS] }
}

function tailStart(vaults: readonly Vault[], checkpoint: Checkpoint): number {
  const through = vaults.map(({ address, firstBlock }) => checkpoint.vaults[address]?.through ?? firstBlock - 1)
  return Math.max(0, Math.min(...through) + 1)
}
