import { randomUUID } from 'node:crypto'
import { MOST_RECEIVES } from '../../infra/queues.ts'
import { DAY_MS } from '../../lib/time.ts'

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
  visibleAt: number
  receives: number
  firstReceivedAt: number | undefined
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
const RETENTION_MS = 4 * DAY_MS
const DEAD_RETENTION_MS = 14 * DAY_MS
/** For so long after a purge its messages can still be had, and others are lost with them; another is refused. */
const PURGE_MS = 60_000

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
    const keptFrom = now() - (queue.deadLetters ? RETENTION_MS : DEAD_RETENTION_MS)
    queue.messages = queue.messages.filter(({ sentAt }) => sentAt >= keptFrom)
  }

  function add(queue: Queue, body: string, delaySeconds: number, trace?: string): Message {
    const sentAt = now()
    const message = {
      id: randomUUID(),
      body,
      sentAt,
      trace,
      visibleAt: sentAt + delaySeconds * 1000 + lies.heldBackMs,
      receives: 0,
      firstReceivedAt: undefined,
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
        add(destination, oldest.body, 0)
        task.moved += 1
      }
    }
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
        mostReceives = MOST_RECEIVES,
      }: { deadLetters?: Queue | undefined; mostReceives?: number | undefined } = {},
    ): Queue {
      const arn = `arn:aws:sqs:${REGION}:${ACCOUNT}:${name}`
      const queue: Queue = { name, arn, visibilitySeconds, deadLetters, mostReceives, messages: [], emptyAt: undefined }
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

    /** Hides what it gives, and moves to the dead letters what was handed out too often. */
    receive(queue: Queue, most: number, hiddenSeconds: number, passedOver: number): Message[] {
      const visible = queue.messages.filter(
        ({ visibleAt }) => visibleAt <= now() && !(passedOver > 0 && random() < passedOver),
      )
      const rank = new Map(visible.map((message) => [message, lies.disorder ? random() : message.visibleAt]))
      const given = lies.shortBatches ? 1 + Math.floor(random() * most) : most
      const chosen = visible.sort((a, b) => (rank.get(a) ?? 0) - (rank.get(b) ?? 0)).slice(0, given)
      return chosen.filter((message) => {
        if (queue.deadLetters && message.receives >= queue.mostReceives) {
          queue.messages = queue.messages.filter((other) => other !== message)
          queue.deadLetters.messages.push({ ...message, visibleAt: now(), receipt: undefined })
          return false
        }
        message.receives += 1
        message.firstReceivedAt ??= now()
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

    /** Hides a message that is being worked on for so long from now on; false where it is not. */
    hide({ messages }: Queue, receipt: string, seconds: number): boolean {
      const message = messages.find((candidate) => candidate.receipt === receipt)
      if (!message || message.visibleAt <= now()) return false
      message.visibleAt = now() + seconds * 1000
      return true
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
