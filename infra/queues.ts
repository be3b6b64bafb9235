/** A queue as data. */
export type QueueDefinition = {
  readonly name: string
  /** For so long what was handed out is hidden: at least six times what the function that takes it may take, as AWS advises. */
  readonly visibilitySeconds: number
  /** A message that is received so often and never done goes to the dead letters. */
  readonly maxReceives: number
  readonly keptDays: number
}

/**
 * The service's queues, each with one for dead letters beside it: the stack deploys them and the local service has them from
 * this.
 */
export const QUEUES = {
  // An event that waits is handed out ten times, and more often while its webhook is behind: a hundred times is our own fault.
  deliveryQueue: { name: 'deliveries', visibilitySeconds: 180, maxReceives: 100, keptDays: 14 },
  shardQueue: { name: 'shards', visibilitySeconds: 300, maxReceives: 5, keptDays: 4 },
} as const satisfies Record<string, QueueDefinition>

/** The word for one of the service's queues. */
export type QueueKey = keyof typeof QUEUES

/** The words for the service's queues. */
export const QUEUE_KEYS = Object.keys(QUEUES) as readonly QueueKey[]

/** The name under which a stage's queue exists in AWS. */
export function queueName(stage: string, queue: QueueKey): string {
  return `vaultline-${stage}-${QUEUES[queue].name}`
}

/** The name of the queue for what could not be done of another. */
export function deadLettersName(stage: string, queue: QueueKey): string {
  return `${queueName(stage, queue)}-dead`
}
