import { randomUUID } from 'node:crypto'
import { DAY_MS, HOUR_MS } from '../../lib/core/time.ts'

/** Simulated faults of queues, each of which can occur in real SQS. Shares are from 0 to 1. */
export type QueueFaults = {
  /** Share of received messages that are delivered twice, as if one of SQS's servers had missed the deletion. */
  twice: number
  /** True for delivery in random order. Otherwise the message that has been visible longest comes first. */
  disorder: boolean
  /** Milliseconds for which a new message stays invisible. */
  invisibleMs: number
  /** Share of messages that a receive without long polling misses. Such a receive queries only some of SQS's servers. */
  missedShare: number
  shortBatches: boolean
  /** Share of entries that a batch request rejects when it sends or deletes messages. */
  refused: number
  /** Messages per second that a redrive of dead letters moves; SQS moves at most 500. */
  movedPerSecond: number
  maxInFlight: number
  /** True if SQS responds only with the error ServiceUnavailable. */
  down: boolean
}

/** Numbers of a queue's messages. `hidden` messages were received, and are invisible until their visibility timeout ends. */
export type QueueCounts = { readonly visible: number; readonly delayed: number; readonly hidden: number }

type Message = {
  readonly id: string
  readonly body: string
  readonly sentAt: number
  /** Trace id of the invocation that sent the message. */
  readonly trace: string | undefined
  /** Message group id: the tenant of a message, for SQS's fair queues. Messages without a group id never count as noisy. */
  readonly group: string | undefined
  visibleAt: number
  receives: number
  firstReceivedAt: number | undefined
  lastReceivedAt: number | undefined
  /** Receipt handle of the last receive. Older handles of this message delete nothing. */
  receipt: string | undefined
}

/** Queue with its messages. */
export type Queue = {
  readonly name: string
  readonly arn: string
  readonly visibilitySeconds: number
  /** Dead-letter queue, to which messages move after `mostReceives` receives. */
  readonly deadLetters: Queue | undefined
  readonly mostReceives: number
  readonly retentionMs: number
  messages: Message[]
  /** Epoch milliseconds at which a pending purge deletes all messages, even messages sent meanwhile. */
  emptyAt: number | undefined
}

type MoveTask = {
  readonly handle: string
  readonly source: Queue
  readonly destination: Queue
  readonly startedAt: number
  /** Number of visible messages in the source queue when the move started. */
  readonly toMove: number
  moved: number
  status: 'RUNNING' | 'COMPLETED'
}

/** AWS account id of all local queues. */
export const ACCOUNT_ID = '000000000000'
const REGION = 'eu-west-1'
/** Default number of days for which SQS keeps a message. */
const DEFAULT_RETENTION_DAYS = 4
/** Duration of a purge in milliseconds. SQS rejects further purges until the purge ends. */
const PURGE_MS = 60_000
/** Maximum milliseconds for which a message can stay hidden after a receive. */
const MAX_HIDDEN_MS = 12 * HOUR_MS
/**
 * SQS's fair queues treat a tenant as noisy if two values exceed these thresholds: its share of all messages in flight,
 * and its number of messages in flight. Source:
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html
 */
const NOISY = { share: 0.1, messages: 30 }

/** Creates an in-memory imitation of SQS without its HTTP API: queues, messages, and moves between queues. */
export function createBroker({
  faults,
  now,
  random,
}: {
  readonly faults: QueueFaults
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number
  /** Returns a random number in [0, 1), uniformly distributed. */
  readonly random: () => number
}) {
  const queues = new Map<string, Queue>()
  const tasks: MoveTask[] = []

  function forgetOld(queue: Queue): void {
    const oldestSentAt = now() - queue.retentionMs
    queue.messages = queue.messages.filter(({ sentAt }) => sentAt >= oldestSentAt)
  }

  function add(
    queue: Queue,
    body: string,
    {
      delaySeconds = 0,
      trace,
      group,
    }: { delaySeconds?: number; trace?: string | undefined; group?: string | undefined },
  ): Message {
    const sentAt = now()
    const message = {
      id: randomUUID(),
      body,
      sentAt,
      trace,
      group,
      visibleAt: sentAt + delaySeconds * 1000 + faults.invisibleMs,
      receives: 0,
      firstReceivedAt: undefined,
      lastReceivedAt: undefined,
      receipt: undefined,
    }
    queue.messages.push(message)
    return message
  }

  /** Moves as many messages as `movedPerSecond` allows by now. Completes the move once no visible message is left. */
  function continueMove(task: MoveTask): void {
    const { source, destination, startedAt } = task
    const due = Math.floor(((now() - startedAt) / 1000) * faults.movedPerSecond)
    while (task.status === 'RUNNING' && task.moved < due) {
      const oldest = source.messages.find(({ visibleAt }) => visibleAt <= now())
      if (!oldest) task.status = 'COMPLETED'
      else {
        source.messages = source.messages.filter((message) => message !== oldest)
        // SQS treats a moved message as a new one with a new id.
        add(destination, oldest.body, {})
        task.moved += 1
      }
    }
  }

  const listInFlight = ({ messages }: Queue): Message[] =>
    messages.filter(({ receipt, visibleAt }) => receipt !== undefined && visibleAt > now())

  function countNoisy(inFlight: readonly Message[]): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    for (const { group } of inFlight) if (group !== undefined) counts.set(group, (counts.get(group) ?? 0) + 1)
    return new Map([...counts].filter(([, count]) => count >= NOISY.messages && count > NOISY.share * inFlight.length))
  }

  const count = ({ messages }: Queue): QueueCounts => {
    const [visible, later] = split(messages, ({ visibleAt }) => visibleAt <= now())
    const [delayed, hidden] = split(later, ({ receipt }) => receipt === undefined)
    return { visible: visible.length, delayed: delayed.length, hidden: hidden.length }
  }

  return {
    /** Creates a queue; replaces an existing queue of this name. */
    create(
      name: string,
      visibilitySeconds: number,
      {
        deadLetters,
        mostReceives = Number.POSITIVE_INFINITY,
        retentionDays = DEFAULT_RETENTION_DAYS,
      }: { deadLetters?: Queue | undefined; mostReceives?: number | undefined; retentionDays?: number } = {},
    ): Queue {
      const arn = `arn:aws:sqs:${REGION}:${ACCOUNT_ID}:${name}`
      const retentionMs = retentionDays * DAY_MS
      const of = { deadLetters, mostReceives, retentionMs }
      const queue: Queue = { name, arn, visibilitySeconds, ...of, messages: [], emptyAt: undefined }
      queues.set(name, queue)
      return queue
    },

    /** Returns the queue of this name, without expired messages; undefined if there is none. */
    find(name: string): Queue | undefined {
      const queue = queues.get(name)
      if (queue) forgetOld(queue)
      return queue
    },

    list: (): readonly Queue[] => [...queues.values()],

    count,
    add,

    /** Executes the purges and moves that are due by now. */
    catchUp(): void {
      for (const queue of queues.values()) {
        if (queue.emptyAt === undefined || queue.emptyAt > now()) continue
        queue.messages = []
        queue.emptyAt = undefined
      }
      for (const task of tasks) continueMove(task)
    },

    isFull: (queue: Queue): boolean => listInFlight(queue).length >= faults.maxInFlight,

    /**
     * Receives at most `most` messages and hides them for `hiddenSeconds`. Messages that were received too often move
     * to the dead-letter queue. Messages of noisy tenants come last; among them, tenants with fewer messages in flight
     * come first. `missedShare` is the share of visible messages that are missed.
     */
    receive(queue: Queue, most: number, hiddenSeconds: number, missedShare: number): Message[] {
      const inFlight = listInFlight(queue)
      const noisy = countNoisy(inFlight)
      const noise = ({ group = '' }: Message) => noisy.get(group) ?? 0
      const room = Math.min(most, faults.maxInFlight - inFlight.length)
      const visible = queue.messages.filter(
        ({ visibleAt }) => visibleAt <= now() && !(missedShare > 0 && random() < missedShare),
      )
      const rank = new Map(visible.map((message) => [message, faults.disorder ? random() : message.visibleAt]))
      const batchSize = faults.shortBatches ? Math.min(room, 1 + Math.floor(random() * most)) : room
      const chosen = visible
        .sort((a, b) => noise(a) - noise(b) || (rank.get(a) ?? 0) - (rank.get(b) ?? 0))
        .slice(0, Math.max(0, batchSize))
      return chosen.filter((message) => {
        if (queue.deadLetters && message.receives >= queue.mostReceives) {
          queue.messages = queue.messages.filter((other) => other !== message)
          queue.deadLetters.messages.push({ ...message, visibleAt: now(), receipt: undefined })
          return false
        }
        message.receives += 1
        message.firstReceivedAt ??= now()
        message.lastReceivedAt = now()
        message.receipt = randomUUID()
        message.visibleAt = now() + hiddenSeconds * 1000
        if (random() < faults.twice) queue.messages.push({ ...message, visibleAt: now(), receipt: undefined })
        return true
      })
    },

    /** Deletes the message with this receipt handle. An older receipt handle deletes nothing and causes no error. */
    remove(queue: Queue, receipt: string): void {
      queue.messages = queue.messages.filter((message) => message.receipt !== receipt)
    },

    /** Hides a received message for `seconds` from now, at most 12 hours after its receive. */
    hide(queue: Queue, receipt: string, seconds: number): 'hidden' | 'not in flight' | 'too long' {
      const message = listInFlight(queue).find((candidate) => candidate.receipt === receipt)
      if (!message) return 'not in flight'
      const visibleAt = now() + seconds * 1000
      if (visibleAt > (message.lastReceivedAt ?? now()) + MAX_HIDDEN_MS) return 'too long'
      message.visibleAt = visibleAt
      return 'hidden'
    },

    /** Starts a purge. Returns false if a purge is already pending. */
    purge(queue: Queue): boolean {
      if (queue.emptyAt !== undefined) return false
      queue.emptyAt = now() + PURGE_MS
      return true
    },

    /**
     * Starts to move all messages of a queue to another queue. Returns the task's handle; undefined if a move from this queue is already
     * running.
     */
    startMove(source: Queue, destination: Queue): string | undefined {
      if (tasks.some((task) => task.source === source && task.status === 'RUNNING')) return undefined
      const handle = Buffer.from(randomUUID()).toString('base64')
      const toMove = count(source).visible
      tasks.unshift({ handle, source, destination, startedAt: now(), toMove, moved: 0, status: 'RUNNING' })
      return handle
    },

    /** Lists the moves from a queue, newest first. */
    listMoves: (source: Queue): readonly MoveTask[] => tasks.filter((task) => task.source === source),
  }
}

/** Splits a list into the elements that satisfy the predicate, and the elements that do not. */
export function split<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  const { first = [], second = [] } = Object.groupBy(all, (one) => (isFirst(one) ? 'first' : 'second'))
  return [first, second]
}
