import type { Address } from 'viem'
import type { ShareTransfer } from '../books.ts'

/** Arguments of a `Deposit` event: in the standards, the payer or the controller of a claim comes first. */
type DepositArgs = { readonly sender: Address; readonly owner: Address; readonly shares: bigint }

/**
 * Returns whether a vault's deposits in one transaction name the receiver of the shares first. Centrifuge's
 * SyncDepositVault and ERC-7540's reference implementation (claims) do so. The share transfers decide. With
 * `ofAccount`, deposits and transfers are only those of this account.
 */
export function namesReceiverFirst(
  deposits: readonly DepositArgs[],
  transfers: readonly ShareTransfer[],
  ofAccount?: Address,
): boolean {
  const ofTwo = deposits.filter(({ sender, owner }) => sender !== owner)
  if (ofTwo.length === 0) return false
  const parties = new Set(deposits.flatMap(({ sender, owner }) => [sender, owner]))
  // A party passes shares on by its own transfers; they do not show who received them.
  const arrivals = transfers.filter(({ from }) => !parties.has(from))
  const left = new Map<string, number>()
  for (const { to, shares } of arrivals) left.set(keyOf(to, shares), (left.get(keyOf(to, shares)) ?? 0) + 1)
  const ofOne = deposits.filter(({ sender, owner }) => sender === owner)
  const taken = takeMatches(left, ofOne, 'owner')
  const [first, second] = [takeMatches(new Map(left), ofTwo, 'sender'), takeMatches(new Map(left), ofTwo, 'owner')]
  if (first !== second) return first > second
  // An account without any of these shares paid for the other party.
  const isPayer = ofAccount !== undefined && arrivals.filter(({ to }) => to === ofAccount).length === taken
  return isPayer && ofTwo.every(({ owner }) => owner === ofAccount)
}

/** Counts the deposits whose shares arrived at this account, and removes their transfers from `left`. */
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
