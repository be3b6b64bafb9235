import { afterAll, afterEach } from 'vitest'

/** What no line of any log may have: e-mail addresses, API keys, sessions, secrets of one-time codes and webhooks, keys. */
const SECRET = /[\w.+-]@[\w-]+\.[a-z]{2,}|jk_(?:live|test|local)_\w{20,}|Bearer \S{20,}|otpauth:|whsec_|-----BEGIN/i

/** What has been logged since the last test, and how each line is shown. */
const logged: { readonly line: string; readonly show: () => void }[] = []

for (const method of ['debug', 'info', 'warn', 'error', 'log', 'trace'] as const) {
  // biome-ignore lint/suspicious/noConsole: the log goes through the console; this looks on.
  const write = console[method]
  console[method] = (...parts: unknown[]) => {
    logged.push({ line: parts.map(String).join(' '), show: () => write(...parts) })
  }
  // The next file in this process begins with the console as it was.
  afterAll(() => {
    console[method] = write
  })
}

afterEach(({ task }) => {
  const lines = logged.splice(0)
  // To give vitest each line, of which it shows none where a test passes, would take it longer than the test.
  if (task.result?.state === 'fail') for (const { show } of lines) show()
  for (const { line } of lines) {
    const [secret] = SECRET.exec(line) ?? []
    if (secret) throw new Error(`The log has a secret: ${secret}`)
  }
})
