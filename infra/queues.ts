/** Definition of a queue. */
export type QueueDefinition = {
  readonly name: string
  /** Seconds a received message stays hidden: at least six times its function's timeout, as AWS advises. */
  readonly visibilitySeconds: number
  /** Receives after which an unprocessed message becomes a dead letter. */
  readonly maxReceives: number
  readonly keptDays: number
}

/** Queues of the service, each with a dead-letter queue. The stack and the local service both create them from this. */
export const QUEUES = {
  // A waiting event is received ten times, and more often while its webhook is behind. A hundred receives are our own fault.
  deliveryQueue: { name: 'deliveries', visibilitySeconds: 180, maxReceives: 100, keptDays: 14 },
  shardQueue: { name: 'shards', visibilitySeconds: 300, maxReceives: 5, keptDays: 4 },
} as const satisfies Record<string, QueueDefinition>

/** Key of one of the service's queues. */
export type QueueKey = keyof typeof QUEUES

/** Keys of the service's queues. */
export const QUEUE_KEYS = Object.keys(QUEUES) as readonly QueueKey[]

/** Returns the name of a stage's queue in AWS. */
export function queueName(stage: string, queue: QueueKey): string {
  return `vaultline-${stage}-${QUEUES[queue].name}`
}

/** Returns the name of a queue's dead-letter queue. */
export function deadLettersName(stage: string, queue: QueueKey): string {
  return `${queueName(stage, queue)}-dead`
}
