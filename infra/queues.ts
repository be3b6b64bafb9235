/** A queue as data. */
export type QueueDefinition = {
  readonly name: string
  /** For so long what was handed out is hidden: at least six times what the function that takes it may take, as AWS advises. */
  readonly visibilitySeconds: number
}

/**
 * The service's queues, each with one for dead letters beside it: the stack deploys them and the local service has them from
 * this.
 */
export const QUEUES = {
  eventQueue: { name: 'events', visibilitySeconds: 180 },
  deliveryQueue: { name: 'deliveries', visibilitySeconds: 180 },
  shardQueue: { name: 'shards', visibilitySeconds: 300 },
} as const satisfies Record<string, QueueDefinition>

/** The word for one of the service's queues. */
export type QueueKey = keyof typeof QUEUES

/** The words for the service's queues. */
export const QUEUE_KEYS = Object.keys(QUEUES) as readonly QueueKey[]

/** What was handed out so often, and never done, goes to the dead letters. */
export const MOST_RECEIVES = 5

/** The name under which a stage's queue exists in AWS. */
export function queueName(stage: string, queue: QueueKey): string {
  return `vaultline-${stage}-${QUEUES[queue].name}`
}

/** The name of the queue for what could not be done of another. */
export function deadLettersName(stage: string, queue: QueueKey): string {
  return `${queueName(stage, queue)}-dead`
}
