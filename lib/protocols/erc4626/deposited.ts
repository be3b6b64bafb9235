import type { Address } from 'viem'
import type { ShareTransfer } from '../books.ts'

/** What a `Deposit` event says: of the standards' two accounts the payer, or the controller of a claim, is the first. */
type Deposited = { readonly sender: Address; readonly owner: Address; readonly shares: bigint }

/**
 * Whether these deposits of a vault in one transaction name the receiver of the shares first, as those of Centrifuge's
 * SyncDepositVault do, and claims by ERC-7540's reference implementation. The transfers of shares tell: those of the whole
 * transaction, or those of one account, where `ofAccount` says whose, with the deposits that name it.
 */
export function namesReceiverFirst(
  deposits: readonly Deposited[],
  transfers: readonly ShareTransfer[],
  ofAccount?: Address,
): boolean {
  const ofTwo = deposits.filter(({ sender, owner }) => sender !== owner)
  if (ofTwo.length === 0) return false
  const parties = new Set(deposits.flatMap(({ sender, owner }) => [sender, owner]))
  // What goes on from one of them tells nothing of whom it came to.
  const arrivals = transfers.filter(({ from }) => !parties.has(from))
  const left = new Map<string, number>()
  for (const { to, shares } of arrivals) left.set(keyOf(to, shares), (left.get(keyOf(to, shares)) ?? 0) + 1)
  const ofOne = deposits.filter(({ sender, owner }) => sender === owner)
  const taken = takeMatches(left, ofOne, 'owner')
  const [first, second] = [takeMatches(new Map(left), ofTwo, 'sender'), takeMatches(new Map(left), ofTwo, 'owner')]
  if (first !== second) return first > second
  // Whoever got none of the shares has paid for the other.
  const isPayer = ofAccount !== undefined && arrivals.filter(({ to }) => to === ofAccount).length === taken
  return isPayer && ofTwo.every(({ owner }) => owner === ofAccount)
}

/** How many of these deposits have brought their shares to the account of this name, by transfers which are taken for them. */
function takeMatches(left: Map<string, number>, deposits: readonly Deposited[], name: 'sender' | 'owner'): number {
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
