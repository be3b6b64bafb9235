import { type Address, numberToHex } from 'viem'
import { expect } from 'vitest'
import { handler } from '../../functions/jobs/refresh-chain/handler.ts'
import { initialProgress, recordingStore, VaultProgress } from '../../lib/activity/store.ts'
import type { Item } from '../../lib/aws/requests.ts'
import { evmChain } from '../../lib/chain/registry.ts'
import type { RequestKind } from '../../lib/protocols/request-kind.ts'
import { priceStore } from '../../lib/vaults/price-store.ts'
import { addPrices } from '../../lib/vaults/prices.ts'
import type { VaultKey } from '../../lib/vaults/vault.ts'
import { callRpc } from '../../sandbox/rpc.ts'
import { someContext } from './lambda.ts'
import type { HttpReply, Service } from './service.ts'
import { resetTable, scanTable } from './tables.ts'

/** Opens the service's store of recorded blockchain events, so that tests can write to it directly. */
export function recordsOf({ tables }: Service) {
  return recordingStore(tables.deposits)
}

/** Result of one run of the job refresh-chain. */
export type RefreshReport = {
  readonly outcome: string
  readonly through: number | null
  readonly behind: number
  readonly lagSeconds: number
  readonly vaults: number
  readonly entries: number
  readonly prices: number
  readonly states: number
  readonly openTransfers: number
  readonly endedTransfers: number
  readonly unreportedVaults: number
}

/** Runs the job refresh-chain once for a chain. `remainingMs` is the time until the Lambda timeout, in milliseconds. */
export async function runRefreshChain(chainId: number, { remainingMs = 30_000 } = {}): Promise<RefreshReport> {
  return (await handler({ chainId }, someContext({ remainingMs }))) as RefreshReport
}

type Chain = { readonly chainId: number; readonly rpcUrl: string }

/** Mines blocks and advances the time until every present block is final. Returns the number of the newest of those blocks. */
export async function finalizeBlocks(chain: Chain): Promise<number> {
  const { tag, seconds } = evmChain(chain.chainId)?.finality ?? { tag: 'safe', seconds: 0 }
  const [head] = await callRpc(chain, [{ method: 'eth_blockNumber', params: [] }])
  // The mined blocks move the tag `safe` or `finalized` past every earlier block. The calls go one by one, because anvil runs a
  // batch in no fixed order.
  for (const { method, params } of [
    { method: 'anvil_mine', params: [numberToHex(3)] },
    { method: 'evm_increaseTime', params: [seconds] },
    { method: 'anvil_mine', params: [numberToHex(tag === 'safe' ? 2 : 4)] },
  ]) {
    await callRpc(chain, [{ method, params }])
  }
  return Number(head)
}

/** Makes all present blocks of a chain final. Then runs the job refresh-chain until it has recorded them. */
export async function recordAllBlocks(chain: Chain): Promise<void> {
  const final = await finalizeBlocks(chain)
  for (let run = 0; run < 20; run += 1) {
    const { through, behind } = await runRefreshChain(chain.chainId)
    if ((through ?? 0) >= final && behind === 0) return
  }
  throw new Error('The records do not catch up with the chain')
}

/**
 * Records share prices of a vault in the table without the service. Times are in seconds since 1970. The prices get the block
 * numbers 0, 1, 2 and so on.
 */
export async function recordPrices(
  service: Service,
  vault: VaultKey,
  prices: readonly { readonly price: bigint; readonly timestamp: bigint }[],
): Promise<void> {
  const records = recordsOf(service)
  const [progress = initialProgress({ firstBlock: 0 })] = await records.getProgress([vault])
  const at = prices
    .toSorted((left, right) => Number(left.timestamp - right.timestamp))
    .map((price, index) => ({ ...price, blockNumber: BigInt(index) }))
  await priceStore(service.tables.deposits).record([{ vault, prices: at, known: [] }])
  const knownPrices = addPrices(progress, at, BigInt(progress.through))
  await records.putProgress([[vault, { ...progress, ...knownPrices }]])
}

/**
 * Returns all items that the job refresh-chain has recorded, by key. Omits their fields `writeId` and `version`. Also
 * omits items of open requests that are already settled. A job run that was killed leaves such items, and the service
 * never reads them.
 */
export async function scanRecords({ tables }: Service): Promise<Map<string, Item>> {
  const records = await scanTable(tables.deposits)
  const isLeft = ({ pk, sk, kind, requestId }: Item) => {
    const { settledIds } = VaultProgress.partial().parse(records.get(`${pk} PROGRESS`) ?? {})
    const lastId = settledIds?.[kind as RequestKind] ?? -1n
    return sk.startsWith('OPEN#') && BigInt(String(requestId)) <= lastId
  }
  return new Map(
    [...records]
      .filter(([, item]) => !isLeft(item))
      .map(([key, { writeId: _, version: __, ...record }]) => [key, record]),
  )
}

/** Replaces all recorded items by those of an earlier `scanRecords`. */
export function restoreRecords({ tables }: Service, earlier: ReadonlyMap<string, Item>): Promise<void> {
  return resetTable(tables.deposits, earlier)
}

/**
 * Returns functions that request users' positions, deposits and withdrawals with a client's API key. The functions
 * remove the field `evidence` from the responses.
 */
export function createUserViews(service: Pick<Service, 'call'>, key?: string) {
  const get = async (path: string): Promise<HttpReply> => {
    const reply = await service.call('GET', `/defi-vaults/v1/defi/user/${path}`, key === undefined ? {} : { key })
    const { evidence: _, ...body } = reply.body
    return { ...reply, body }
  }
  return {
    positions: (user: string) => get(`${user}/positions`),
    position: (user: string, vault: Address | string, query = '') => get(`${user}/positions/${vault}${query}`),
    deposits: (user: string, query = '') => get(`${user}/deposits${query}`),
    withdrawals: (user: string, query = '') => get(`${user}/withdrawals${query}`),
  }
}

/**
 * Requests a user's position, deposits and withdrawals before and after the job records their events. The service first
 * reads them live from the chain, then from the records. Asserts that both responses are equal and returns the first
 * one.
 */
export async function readConsistentViews(
  service: Service,
  { key, chain }: { key: string; chain: Chain },
  user: string,
) {
  const views = createUserViews(service, key)
  const show = async () => ({
    position: (await views.positions(user)).body.positions[0],
    deposits: (await views.deposits(user)).body.deposits,
    withdrawals: (await views.withdrawals(user)).body.withdrawals,
  })
  const live = await show()
  await recordAllBlocks(chain)
  expect(await show()).toEqual(live)
  return live
}
