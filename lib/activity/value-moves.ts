import { isHex, numberToHex } from 'viem'
import { type Call, decodeAnswers } from '../chain/call.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { Ledger, VaultEvent } from '../protocols/books.ts'
import { getProtocol } from '../protocols/protocols.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'
import { toResult } from '../result.ts'
import { findMoves, transactionsOf } from './fold.ts'

/** Shares that an event moves between owners, and the call for what the vault says that they are worth. */
type Move = { readonly event: VaultEvent; readonly shares: bigint; readonly call: Call<bigint> }

/** The moves of a vault whose price no event tells. */
export function listMoves(vault: VaultOnChain, events: readonly VaultEvent[]): Move[] {
  const { shareValue } = getProtocol(vault)
  if (!shareValue) return []
  const moved = transactionsOf(events).flatMap((transaction) => [...findMoves(vault, transaction)])
  return moved.map(([event, { shares }]) => ({ event, shares, call: shareValue(vault, shares) }))
}

/** The events, with the values of moves as their ledgers; `values` are those of the moves, undefined where unknown. */
export function valueMoves(
  events: readonly VaultEvent[],
  moves: readonly Move[],
  values: readonly (bigint | undefined)[],
): readonly VaultEvent[] {
  const ledgers = new Map(
    moves.flatMap(({ event, shares }, index): [VaultEvent, Ledger][] => {
      const assets = values[index]
      return assets === undefined ? [] : [[event, { assets, supply: shares }]]
    }),
  )
  if (ledgers.size === 0) return events
  return events.map((event) => {
    const ledger = ledgers.get(event)
    return ledger ? { ...event, ledger } : event
  })
}

/** Makes calls after blocks, in one request: most nodes keep the states of 128 blocks. Undefined for those that fail. */
export async function readCallsAt<T>(
  reader: ChainReader,
  calls: readonly { readonly call: Call<T>; readonly block: bigint }[],
): Promise<(T | undefined)[]> {
  if (calls.length === 0) return []
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
