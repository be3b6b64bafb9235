import { fork } from 'node:child_process'
import { once } from 'node:events'

/** Child process of this script. It responds to each message, and ends when the parent ends. */
export type Helper<Told> = {
  /** First message of the child process, which it sends when it is ready. */
  readonly told: Told
  /** Returns the milliseconds of CPU time since the last call. */
  readonly cpu: () => Promise<number>
  /** Sends a message and returns the response. The file that the process runs defines both types. */
  readonly ask: <Answer>(message: object) => Promise<Answer>
  stop(): Promise<void>
}

const MAX_COMPLAINT = 2_000

/**
 * Starts a file as a child process with these environment variables. Discards its log. Throws an Error with its stderr if it ends early.
 */
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
  const ready: Told = await nextMessage()
  const ask = <Answer>(message: object | 'cpu') => {
    const answer = nextMessage<Answer>()
    child.send(message)
    return answer
  }
  return {
    told: ready,
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
 * Reports to the parent process that this one is ready, and responds to its messages. A request for CPU time is handled here, others by
 * `answer`.
 */
export function reportToParent(
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
