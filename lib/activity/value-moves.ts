import { isHex, numberToHex } from 'viem'
import { type ContractCall, decodeReturnValues } from '../chain/call.ts'
import { compareLocation } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import { toResult } from '../core/result.ts'
import type { Ledger, VaultEvent } from '../protocols/books.ts'
import { getProtocol } from '../protocols/protocols.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'
import { findShareTransfers, groupByTransaction } from './fold.ts'

type Move = {
  readonly event: VaultEvent
  readonly shares: bigint
  readonly wholeShare: bigint
  readonly call: ContractCall<bigint>
}

/**
 * Lists the share transfers of a vault without price events; empty for other vaults. Each has the contract call that
 * returns its value.
 */
export function listTransfersToValue(vault: VaultOnChain, events: readonly VaultEvent[]): Move[] {
  const { shareValue } = getProtocol(vault)
  if (!shareValue) return []
  const wholeShare = 10n ** BigInt(vault.shareDecimals)
  const moved = groupByTransaction(events).flatMap((transaction) => [...findShareTransfers(vault, transaction)])
  return moved.flatMap(([event, { shares }]) =>
    shares > 0n ? [{ event, shares, wholeShare, call: shareValue(vault, shares) }] : [],
  )
}

/**
 * Adds values to the events of these share transfers. `values` are in the order of `moves`, in the asset's smallest
 * unit, undefined if unknown.
 */
export function addTransferValues(
  events: readonly VaultEvent[],
  moves: readonly Move[],
  values: readonly (bigint | undefined)[],
): readonly VaultEvent[] {
  const ledgers = new Map(
    moves.flatMap(({ event, shares, wholeShare }, index): [VaultEvent, Ledger][] => {
      const assets = values[index]
      // A vault may return 0 before its price is set. The value 0 is accepted only for less than one whole share.
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

/** Returns the last share transfers in block order, at most `max` transfers. */
export function selectLastTransfers(moves: readonly Move[], max: number): Move[] {
  return moves.toSorted((one, other) => compareLocation(one.event.location, other.event.location)).slice(-max)
}

const RETRYABLE: ReadonlySet<string> = new Set(['upstream_timeout', 'upstream_unavailable'])

/**
 * Results of contract calls; undefined for failed calls. `isForgotten` is true if the node no longer has the state of
 * any block that these calls need.
 */
type Read<T> = { readonly values: readonly (T | undefined)[]; readonly isForgotten: boolean }

/**
 * Makes each contract call on the state after its block, all in one HTTP request. Most nodes keep only the states of
 * the last 128 blocks. A reader that compares two hosts needs the states on both. Throws only `upstream_timeout` and
 * `upstream_unavailable`, because a retry may then succeed.
 */
export async function readCallsAtBlocks<T>(
  reader: ChainReader,
  calls: readonly { readonly call: ContractCall<T>; readonly block: bigint }[],
): Promise<Read<T>> {
  if (calls.length === 0) return { values: [], isForgotten: false }
  const requests = calls.map(({ call: { to, data }, block }) => ({
    method: 'eth_call',
    params: [{ to, data }, numberToHex(block)],
  }))
  const outcomes = await toResult(reader.request(requests))
  if ('error' in outcomes && RETRYABLE.has(outcomes.error.code)) throw outcomes.error
  const outcomeOf = (index: number) => ('value' in outcomes ? outcomes.value[index] : undefined)
  const values = calls.map(({ call }, index) => {
    const outcome = outcomeOf(index)
    const returned = outcome && 'result' in outcome && isHex(outcome.result) ? outcome.result : undefined
    return decodeReturnValues([call], [returned])[0]
  })
  // A reverted call proves that the node still has the state of its block.
  const isForgotten = calls.every((_, index) => {
    const outcome = outcomeOf(index)
    return !outcome || ('error' in outcome && outcome.error.refusal === 'archive')
  })
  return { values, isForgotten }
}
