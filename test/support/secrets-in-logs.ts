import { afterAll, afterEach } from 'vitest'

/** Pattern of secrets in logs: e-mail addresses, API keys, sessions, secrets of one-time codes and webhooks, private keys. */
const SECRET = /[\w.+-]@[\w-]+\.[a-z]{2,}|jk_(?:live|test|local)_\w{20,}|Bearer \S{20,}|otpauth:|whsec_|-----BEGIN/i

/** Lines that were logged since the last test, and a function that prints each. */
const logged: { readonly line: string; readonly show: () => void }[] = []

for (const method of ['debug', 'info', 'warn', 'error', 'log', 'trace'] as const) {
  // biome-ignore lint/suspicious/noConsole: the log goes through the console; this looks on.
  const write = console[method]
  console[method] = (...parts: unknown[]) => {
    logged.push({ line: parts.map(String).join(' '), show: () => write(...parts) })
  }
  // The next file in this process starts with the original console.
  afterAll(() => {
    console[method] = write
  })
}

afterEach(({ task }) => {
  const lines = logged.splice(0)
  // Passing tests print no lines. To give vitest each line would take longer than the test.
  if (task.result?.state === 'fail') for (const { show } of lines) show()
  for (const { line } of lines) {
    const [secret] = SECRET.exec(line) ?? []
    if (secret) throw new Error(`The log has a secret: ${secret}`)
  }
})
