import { fork } from 'node:child_process'
import { once } from 'node:events'

/** A process of this script's, which answers each message with one of its own, and ends with this process. */
export type Helper<Told> = {
  /** What it said once it was ready. */
  readonly told: Told
  /** Milliseconds of CPU time that it has used since this was last asked. */
  readonly cpu: () => Promise<number>
  /** Its answer to a message, which is of the type that its file says. */
  readonly ask: <Answer>(message: object) => Promise<Answer>
  stop(): Promise<void>
}

const MAX_COMPLAINT = 2_000

/** Starts a file as a process with this in its environment. What it logs is thrown away; throws with it where the process ends instead. */
export async function startProcess<Told>(
  file: URL,
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<Helper<Told>> {
  const { PATH, HOME } = process.env
  const env = { PATH, HOME, ...environment }
  const child = fork(file, args, { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  let complaint = ''
  child.stderr?.on('data', (text) => {
    complaint = `${complaint}${text}`.slice(-MAX_COMPLAINT)
  })
  const nextMessage = async <Message>(): Promise<Message> => {
    const answered = new AbortController()
    const until = { signal: answered.signal }
    const ended = once(child, 'exit', until).then(() => {
      throw new Error(`A process has ended before it answered: ${complaint}`)
    })
    try {
      const [message] = await Promise.race([once(child, 'message', until), ended])
      return message
    } finally {
      answered.abort()
    }
  }
  const told: Told = await nextMessage()
  const ask = <Answer>(message: object | 'cpu') => {
    const answer = nextMessage<Answer>()
    child.send(message)
    return answer
  }
  return {
    told,
    cpu: () => ask<number>('cpu'),
    ask,
    async stop() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

/**
 * Says in a process that was started so that it is ready, and answers what it is asked from then on: the CPU time, or with
 * `answer` any other message.
 */
export function tellParent(
  told: unknown,
  stop: () => Promise<unknown>,
  answer?: (message: unknown) => Promise<unknown>,
): void {
  let before = process.cpuUsage()
  process.on('message', async (message) => {
    if (message !== 'cpu') {
      process.send?.(await answer?.(message))
      return
    }
    const { user, system } = process.cpuUsage(before)
    before = process.cpuUsage()
    process.send?.((user + system) / 1000)
  })
  process.once('disconnect', () => void stop().finally(() => process.exit()))
  process.send?.(told)
}
