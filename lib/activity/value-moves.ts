import { isHex, numberToHex } from 'viem'
import { type Call, decodeAnswers } from '../chain/call.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { VaultEvent } from '../protocols/books.ts'
import { getProtocol } from '../protocols/protocols.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'
import { toResult } from '../result.ts'
import { findMoves, transactionsOf } from './ledger.ts'

/** Events of a vault that are to be valued. */
export type Unvalued = { readonly vault: VaultOnChain; readonly events: readonly VaultEvent[] }

/** The most moves whose value is read: the last ones. */
const MAX_MOVES = 100

/**
 * Reads what the vault says that moved shares are worth after their block, in one request, where no event tells the price. Returns
 * the events with that as their ledger. Most nodes keep the states of 128 blocks: a value that the node does not give is left out.
 */
export async function valueMoves(
  reader: ChainReader,
  unvalued: readonly Unvalued[],
): Promise<(readonly VaultEvent[])[]> {
  const moves = unvalued.flatMap(({ vault, events }) => {
    const { shareValue } = getProtocol(vault)
    if (!shareValue) return []
    const moved = transactionsOf(events).flatMap((transaction) => [...findMoves(vault, transaction)])
    return moved.map(([event, { shares }]) => ({ event, shares, call: shareValue(vault, shares) }))
  })
  const last = moves.slice(-MAX_MOVES)
  if (last.length === 0) return unvalued.map(({ events }) => events)
  const read = await readCallsAt(
    reader,
    last.map(({ event, call }) => ({ call, block: event.location.blockNumber })),
  )
  const ledgers = new Map(
    last.map(({ event, shares }, index) => {
      const assets = read[index]
      return [event, assets === undefined ? undefined : { assets, supply: shares }]
    }),
  )
  return unvalued.map(({ events }) =>
    events.map((event) => {
      const ledger = ledgers.get(event)
      return ledger ? { ...event, ledger } : event
    }),
  )
}

/** Makes calls after blocks, in one request; undefined for those that the node does not answer. */
export async function readCallsAt<T>(
  reader: ChainReader,
  calls: readonly { readonly call: Call<T>; readonly block: bigint }[],
): Promise<(T | undefined)[]> {
  const requests = calls.map(({ call: { to, data }, block }) => ({
    method: 'eth_call',
    params: [{ to, data }, numberToHex(block)],
  }))
  const outcomes = await toResult(reader.request(requests, { isOfPast: true }))
  return calls.map(({ call }, index) => {
    const outcome = 'value' in outcomes ? outcomes.value[index] : undefined
    const returned = outcome && 'result' in outcome && isHex(outcome.result) ? outcome.result : undefined
    return decodeAnswers([call], [returned])[0]
  })
}
