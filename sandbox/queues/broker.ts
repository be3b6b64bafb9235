import { randomUUID } from 'node:crypto'
import { DAY_MS, HOUR_MS } from '../../lib/time.ts'

/** How the queues differ from what one would wish of them: SQS does each of these at times. */
export type QueueLies = {
  /** The share of messages that are handed out once more, by a server that missed that they were done. */
  twice: number
  /** Whether messages come in any order; otherwise the one that waits longest comes first. */
  disorder: boolean
  /** For so many milliseconds a new message is not seen yet. */
  heldBackMs: number
  /** The share of messages that a receiver who does not wait is not given: it asks some of SQS's servers and not all. */
  passedOver: number
  /** Whether a receiver may be given fewer messages than there are. */
  shortBatches: boolean
  /** The share of the messages of a batch that are refused. */
  refused: number
  /** How many messages a move takes in a second: 500 at most. */
  movedPerSecond: number
  /** How many messages of a queue are hidden at most after they were handed out. */
  maxInFlight: number
  /** Whether nothing is answered but that SQS is not there. */
  down: boolean
}

/** How many messages of a queue can be had, are to be had later, or are being worked on. */
export type QueueCounts = { readonly visible: number; readonly delayed: number; readonly hidden: number }

type Message = {
  readonly id: string
  readonly body: string
  readonly sentAt: number
  /** Of what invocation it comes, as its sender says. */
  readonly trace: string | undefined
  /** The tenant; a message without one is a tenant of its own. */
  readonly group: string | undefined
  visibleAt: number
  receives: number
  firstReceivedAt: number | undefined
  lastReceivedAt: number | undefined
  /** Only the last one takes the message away. */
  receipt: string | undefined
}

/** A queue and its messages. */
export type Queue = {
  readonly name: string
  readonly arn: string
  readonly visibilitySeconds: number
  /** Where a message goes that was handed out so often. */
  readonly deadLetters: Queue | undefined
  readonly mostReceives: number
  readonly keptMs: number
  messages: Message[]
  /** When all its messages go, those too that come until then. */
  emptyAt: number | undefined
}

/** A move of dead letters to where they are tried again. */
type MoveTask = {
  readonly handle: string
  readonly source: Queue
  readonly destination: Queue
  readonly startedAt: number
  /** How many messages could be had at its start. */
  readonly toMove: number
  moved: number
  status: 'RUNNING' | 'COMPLETED'
}

/** The number of every account on this machine. */
export const ACCOUNT = '000000000000'
const REGION = 'eu-west-1'
/** How long a queue keeps messages if nothing else is said: SQS's default. */
const KEPT_DAYS = 4
/** For so long after a purge its messages can still be had, and others are lost with them; another is refused. */
const PURGE_MS = 60_000
/** A message is visible again at most so long after it was handed out. */
const MAX_HIDDEN_MS = 12 * HOUR_MS
/**
 * A tenant is noisy with more than this share of the messages in flight, and at least so many of them.
 * Source: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html
 */
const NOISY = { share: 0.1, messages: 30 }

type Dependencies = {
  readonly lies: QueueLies
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Uniform in [0, 1). */
  readonly random: () => number
}

/** What SQS does with queues, their messages and moves between them, whoever asks for it. */
export function createBroker({ lies, now, random }: Dependencies) {
  const queues = new Map<string, Queue>()
  const tasks: MoveTask[] = []

  function forgetOld(queue: Queue): void {
    const keptFrom = now() - queue.keptMs
    queue.messages = queue.messages.filter(({ sentAt }) => sentAt >= keptFrom)
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
      visibleAt: sentAt + delaySeconds * 1000 + lies.heldBackMs,
      receives: 0,
      firstReceivedAt: undefined,
      lastReceivedAt: undefined,
      receipt: undefined,
    }
    queue.messages.push(message)
    return message
  }

  /** Moves what a task has had the time for; it ends where nothing more can be had of its source. */
  function goOn(task: MoveTask): void {
    const { source, destination, startedAt } = task
    const due = Math.floor(((now() - startedAt) / 1000) * lies.movedPerSecond)
    while (task.status === 'RUNNING' && task.moved < due) {
      const oldest = source.messages.find(({ visibleAt }) => visibleAt <= now())
      if (!oldest) task.status = 'COMPLETED'
      else {
        source.messages = source.messages.filter((message) => message !== oldest)
        // A new message to SQS, with another id.
        add(destination, oldest.body, {})
        task.moved += 1
      }
    }
  }

  const listInFlight = ({ messages }: Queue): Message[] =>
    messages.filter(({ receipt, visibleAt }) => receipt !== undefined && visibleAt > now())

  /** The messages in flight of each noisy tenant. */
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
    /** A new queue of this name, in place of any other. */
    create(
      name: string,
      visibilitySeconds: number,
      {
        deadLetters,
        mostReceives = Number.POSITIVE_INFINITY,
        keptDays = KEPT_DAYS,
      }: { deadLetters?: Queue | undefined; mostReceives?: number | undefined; keptDays?: number } = {},
    ): Queue {
      const arn = `arn:aws:sqs:${REGION}:${ACCOUNT}:${name}`
      const keptMs = keptDays * DAY_MS
      const of = { deadLetters, mostReceives, keptMs }
      const queue: Queue = { name, arn, visibilitySeconds, ...of, messages: [], emptyAt: undefined }
      queues.set(name, queue)
      return queue
    },

    /** The queue of this name, without the messages that are too old. */
    find(name: string): Queue | undefined {
      const queue = queues.get(name)
      if (queue) forgetOld(queue)
      return queue
    },

    list: (): readonly Queue[] => [...queues.values()],

    count,
    add,

    /** Does what SQS has had the time for by itself. */
    catchUp(): void {
      for (const queue of queues.values()) {
        if (queue.emptyAt === undefined || queue.emptyAt > now()) continue
        queue.messages = []
        queue.emptyAt = undefined
      }
      for (const task of tasks) goOn(task)
    },

    /** True if no message can be handed out before another one is deleted or visible again. */
    isFull: (queue: Queue): boolean => listInFlight(queue).length >= lies.maxInFlight,

    /**
     * Hides what it gives, and moves to the dead letters what was handed out too often. Messages of noisy tenants come last,
     * of these the ones of the tenant with the fewest messages in flight first.
     */
    receive(queue: Queue, most: number, hiddenSeconds: number, passedOver: number): Message[] {
      const inFlight = listInFlight(queue)
      const noisy = countNoisy(inFlight)
      const noise = ({ group = '' }: Message) => noisy.get(group) ?? 0
      const room = Math.min(most, lies.maxInFlight - inFlight.length)
      const visible = queue.messages.filter(
        ({ visibleAt }) => visibleAt <= now() && !(passedOver > 0 && random() < passedOver),
      )
      const rank = new Map(visible.map((message) => [message, lies.disorder ? random() : message.visibleAt]))
      const given = lies.shortBatches ? Math.min(room, 1 + Math.floor(random() * most)) : room
      const chosen = visible
        .sort((a, b) => noise(a) - noise(b) || (rank.get(a) ?? 0) - (rank.get(b) ?? 0))
        .slice(0, Math.max(0, given))
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
        if (random() < lies.twice) queue.messages.push({ ...message, visibleAt: now(), receipt: undefined })
        return true
      })
    },

    /** An older receipt takes nothing away, and is no error. */
    remove(queue: Queue, receipt: string): void {
      queue.messages = queue.messages.filter((message) => message.receipt !== receipt)
    },

    /** Hides a message in flight for so long from now on, but not for longer than 12 hours in all. */
    hide(queue: Queue, receipt: string, seconds: number): 'hidden' | 'not in flight' | 'too long' {
      const message = listInFlight(queue).find((candidate) => candidate.receipt === receipt)
      if (!message) return 'not in flight'
      const visibleAt = now() + seconds * 1000
      if (visibleAt > (message.lastReceivedAt ?? now()) + MAX_HIDDEN_MS) return 'too long'
      message.visibleAt = visibleAt
      return 'hidden'
    },

    /** Takes every message of a queue away in a minute; false where that is under way. */
    purge(queue: Queue): boolean {
      if (queue.emptyAt !== undefined) return false
      queue.emptyAt = now() + PURGE_MS
      return true
    },

    /** Begins to move the messages of a queue to another one, and gives the handle of that; undefined where that is under way. */
    startMove(source: Queue, destination: Queue): string | undefined {
      if (tasks.some((task) => task.source === source && task.status === 'RUNNING')) return undefined
      const handle = Buffer.from(randomUUID()).toString('base64')
      const toMove = count(source).visible
      tasks.unshift({ handle, source, destination, startedAt: now(), toMove, moved: 0, status: 'RUNNING' })
      return handle
    },

    /** The moves out of a queue, the last one first. */
    listMoves: (source: Queue): readonly MoveTask[] => tasks.filter((task) => task.source === source),
  }
}

/** Those of which it is so, and the others. */
export function split<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  const { first = [], second = [] } = Object.groupBy(all, (one) => (isFirst(one) ? 'first' : 'second'))
  return [first, second]
}
