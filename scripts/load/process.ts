import { fork } from 'node:child_process'
import { once } from 'node:events'

/** Child process of a script. It responds to each message, and ends when its parent process ends. */
export type ChildProcessHandle<FirstMessage> = {
  /** First message of the child process, which it sends when it is ready. */
  readonly firstMessage: FirstMessage
  /** Returns the milliseconds of CPU time that the child process used since the last call. */
  readonly cpu: () => Promise<number>
  /** Sends a message to the child process and returns its response. The child's own file defines the types of both. */
  readonly ask: <Answer>(message: object) => Promise<Answer>
  stop(): Promise<void>
}

const MAX_COMPLAINT = 2_000

/**
 * Starts a file as a child process with these environment variables, and waits for its first message. Discards stdout. Throws an Error with
 * the child's stderr if the child ends before it responds.
 */
export async function startProcess<FirstMessage>(
  file: URL,
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<ChildProcessHandle<FirstMessage>> {
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
  const ready: FirstMessage = await nextMessage()
  const ask = <Answer>(message: object | 'cpu') => {
    const answer = nextMessage<Answer>()
    child.send(message)
    return answer
  }
  return {
    firstMessage: ready,
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
 * Sends `firstMessage` to the parent process as the first message, then responds to the parent's messages. Responds to `cpu` with CPU milliseconds,
 * and to any other message with the result of `answer`. Calls `stop` when the parent ends.
 */
export function reportToParent(
  firstMessage: unknown,
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
  process.send?.(firstMessage)
}
