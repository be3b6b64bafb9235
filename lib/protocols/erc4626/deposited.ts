import type { Address } from 'viem'
import type { ShareTransfer } from '../books.ts'

/**
 * Arguments of a `Deposit` event. The standards define `sender` as the payer, or as the controller of a claim; `owner`
 * receives the shares.
 */
type DepositArgs = { readonly sender: Address; readonly owner: Address; readonly shares: bigint }

/**
 * Returns true if a vault's `Deposit` events in one transaction name the receiver of the shares as `sender`.
 * Centrifuge's SyncDepositVault does so; the reference implementation of ERC-7540 does so for claims. The share
 * transfers show who received the shares. With `ofAccount`, deposits and transfers are only those of this account.
 */
export function namesReceiverFirst(
  deposits: readonly DepositArgs[],
  transfers: readonly ShareTransfer[],
  ofAccount?: Address,
): boolean {
  const ofTwo = deposits.filter(({ sender, owner }) => sender !== owner)
  if (ofTwo.length === 0) return false
  const parties = new Set(deposits.flatMap(({ sender, owner }) => [sender, owner]))
  // A sender or owner of these deposits may also pass shares on to anyone. Only transfers from other addresses
  // therefore show who received the shares of a deposit.
  const arrivals = transfers.filter(({ from }) => !parties.has(from))
  const left = new Map<string, number>()
  for (const { to, shares } of arrivals) left.set(keyOf(to, shares), (left.get(keyOf(to, shares)) ?? 0) + 1)
  const ofOne = deposits.filter(({ sender, owner }) => sender === owner)
  const taken = takeMatches(left, ofOne, 'owner')
  const [first, second] = [takeMatches(new Map(left), ofTwo, 'sender'), takeMatches(new Map(left), ofTwo, 'owner')]
  if (first !== second) return first > second
  // The share transfers match `sender` and `owner` as receivers equally often. They may still show that `ofAccount`
  // received no shares of these deposits, so that it only paid for them. If all events then name `ofAccount` as
  // `owner`, the receivers are in `sender`.
  const isPayer = ofAccount !== undefined && arrivals.filter(({ to }) => to === ofAccount).length === taken
  return isPayer && ofTwo.every(({ owner }) => owner === ofAccount)
}

function takeMatches(left: Map<string, number>, deposits: readonly DepositArgs[], name: 'sender' | 'owner'): number {
  return deposits.filter(({ [name]: receiver, shares }) => {
    const key = keyOf(receiver, shares)
    const count = left.get(key) ?? 0
    if (count > 0) left.set(key, count - 1)
    return count > 0
  }).length
}

function keyOf(to: Address, shares: bigint): string {
  return `${to} ${shares}`
}
