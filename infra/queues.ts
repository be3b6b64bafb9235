/** Definition of a queue. */
export type QueueDefinition = {
  readonly name: string
  /** Seconds that a received message stays hidden. AWS advises at least six times the timeout of the function that receives it. */
  readonly visibilitySeconds: number
  /** Number of receives after which an unprocessed message becomes a dead letter. */
  readonly maxReceives: number
  readonly retentionDays: number
}

/** Queues of the service, each with a dead-letter queue. The stack and the local service both create them from these definitions. */
export const QUEUES = {
  // SQS delivers an event's message again for each attempt to send the event to a webhook. There are ten attempts at
  // most, and more only while the webhook's server is down. A hundred deliveries can only be a fault of this service.
  deliveryQueue: { name: 'deliveries', visibilitySeconds: 180, maxReceives: 100, retentionDays: 14 },
  shardQueue: { name: 'shards', visibilitySeconds: 300, maxReceives: 5, retentionDays: 4 },
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
export function deadLetterQueueName(stage: string, queue: QueueKey): string {
  return `${queueName(stage, queue)}-dead`
}
