import type { TransferKey } from '../../lib/bridge/transfer.ts'
import { type Admin, AdminError } from '../admin.ts'

/** Forgets what is recorded of a transfer; throws AdminError when nothing is. */
export async function forgetTransfer({ transfers }: Admin, key: TransferKey): Promise<void> {
  const { sourceChainId, transactionHash, index } = key
  if (!(await transfers.get(key))) {
    throw new AdminError(`Nothing is recorded of deposit ${index} of ${transactionHash} on chain ${sourceChainId}.`)
  }
  await transfers.forget(key)
}

/**
 * Deletes the messages of one queue that functions could not work on. Throws AdminError where there is no such queue, or as long
 * as the operator has not confirmed it, and what SQS refuses.
 */
export async function dropDeadLetters(
  { deadLetters }: Admin,
  { queue, isConfirmed }: { queue: string; isConfirmed: boolean },
): Promise<string> {
  const { queues } = deadLetters
  if (!queues.includes(queue)) throw new AdminError(`There is no queue ${queue}, but ${queues.join(', ')}.`)
  if (!isConfirmed) {
    const count = await deadLetters.count(queue)
    throw new AdminError(`Messages of ${queue} that would be deleted, for good: about ${count}. Add --yes to do it.`)
  }
  return `Dead letters of ${queue}: deleted; left: about ${await deadLetters.drop(queue)}.`
}
