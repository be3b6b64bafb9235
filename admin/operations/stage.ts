import type { Hash } from 'viem'
import { type Admin, AdminError } from '../admin.ts'

/** Deletes the records of a transaction's bridge transfers. Throws an AdminError if there are none. */
export async function forgetTransfers(
  { transfers }: Admin,
  { sourceChainId, hash }: { readonly sourceChainId: number; readonly hash: Hash },
): Promise<void> {
  const sent = await transfers.getSent({ sourceChainId, hash })
  if (!sent) throw new AdminError(`Nothing is recorded of ${hash} on chain ${sourceChainId}.`)
  for (const { depositor, relayHash } of sent.deposits) {
    if (relayHash) await transfers.forget({ sourceChainId, depositor, relayHash })
  }
  await transfers.forgetSent({ sourceChainId, hash })
}

/**
 * Deletes the dead letters of one queue and returns a line to print. Throws an AdminError if there is no such queue, or without the
 * operator's confirmation. Also throws if SQS refuses.
 */
export async function dropDeadLetters(
  { deadLetters }: Admin,
  { queue, isConfirmed }: { queue: string; isConfirmed: boolean },
): Promise<string> {
  const { queues } = deadLetters
  if (!queues.includes(queue)) throw new AdminError(`There is no queue ${queue}, but ${queues.join(', ')}.`)
  if (!isConfirmed) {
    const count = await deadLetters.count(queue)
    throw new AdminError(`This deletes about ${count} dead letters of ${queue} for good. Add --yes to do it.`)
  }
  return `Dead letters of ${queue}: deleted; left: about ${await deadLetters.drop(queue)}.`
}
