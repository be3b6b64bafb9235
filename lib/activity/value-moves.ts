import { isHex, numberToHex } from 'viem'
import { type Call, decodeAnswers } from '../chain/call.ts'
import { byLocation } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { Ledger, VaultEvent } from '../protocols/books.ts'
import { getProtocol } from '../protocols/protocols.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'
import { toResult } from '../result.ts'
import { findMoves, transactionsOf } from './fold.ts'

/** Shares that an event moves between owners, and the call that returns their value. */
type Move = {
  readonly event: VaultEvent
  readonly shares: bigint
  readonly wholeShare: bigint
  readonly call: Call<bigint>
}

/** The moves of a vault whose price no event tells. */
export function listMoves(vault: VaultOnChain, events: readonly VaultEvent[]): Move[] {
  const { shareValue } = getProtocol(vault)
  if (!shareValue) return []
  const wholeShare = 10n ** BigInt(vault.shareDecimals)
  const moved = transactionsOf(events).flatMap((transaction) => [...findMoves(vault, transaction)])
  return moved.flatMap(([event, { shares }]) =>
    shares > 0n ? [{ event, shares, wholeShare, call: shareValue(vault, shares) }] : [],
  )
}

/** The events, with the values of moves as their ledgers; `values` are those of the moves, undefined where unknown. */
export function valueMoves(
  events: readonly VaultEvent[],
  moves: readonly Move[],
  values: readonly (bigint | undefined)[],
): readonly VaultEvent[] {
  const ledgers = new Map(
    moves.flatMap(({ event, shares, wholeShare }, index): [VaultEvent, Ledger][] => {
      const assets = values[index]
      // A vault may return 0 while its price is not set: only less than a whole share can be worth nothing.
      const isUnset = assets === 0n && shares >= wholeShare
      return assets === undefined || isUnset ? [] : [[event, { assets, supply: shares }]]
    }),
  )
  if (ledgers.size === 0) return events
  return events.map((event) => {
    const ledger = ledgers.get(event)
    return ledger ? { ...event, ledger } : event
  })
}

/** The last of these moves by their blocks, so many at most. */
export function lastMoves(moves: readonly Move[], max: number): Move[] {
  return moves.toSorted((one, other) => byLocation(one.event.location, other.event.location)).slice(-max)
}

/** Failures of a whole request after which another try may succeed. */
const AGAIN: ReadonlySet<string> = new Set(['upstream_timeout', 'upstream_unavailable'])

/** Results of calls, undefined for those that failed; `isForgotten` if the node has no state of any of their blocks. */
type Read<T> = { readonly values: readonly (T | undefined)[]; readonly isForgotten: boolean }

/**
 * Makes calls after blocks, in one request: most nodes keep the states of 128 blocks. Throws `upstream_timeout` and
 * `upstream_unavailable`, after which another try may succeed. Of two hosts both must have the states.
 */
export async function readCallsAt<T>(
  reader: ChainReader,
  calls: readonly { readonly call: Call<T>; readonly block: bigint }[],
): Promise<Read<T>> {
  if (calls.length === 0) return { values: [], isForgotten: false }
  const requests = calls.map(({ call: { to, data }, block }) => ({
    method: 'eth_call',
    params: [{ to, data }, numberToHex(block)],
  }))
  const outcomes = await toResult(reader.request(requests, { isOfPast: true }))
  if ('error' in outcomes && AGAIN.has(outcomes.error.code)) throw outcomes.error
  const outcomeOf = (index: number) => ('value' in outcomes ? outcomes.value[index] : undefined)
  const values = calls.map(({ call }, index) => {
    const outcome = outcomeOf(index)
    const returned = outcome && 'result' in outcome && isHex(outcome.result) ? outcome.result : undefined
    return decodeAnswers([call], [returned])[0]
  })
  // A call that reverted has had its state.
  const isForgotten = calls.every((_, index) => {
    const outcome = outcomeOf(index)
    return !outcome || ('error' in outcome && outcome.error.refusal === 'archive')
  })
  return { values, isForgotten }
}
