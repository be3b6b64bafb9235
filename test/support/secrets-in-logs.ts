import { afterAll, afterEach } from 'vitest'

/** Pattern of secrets in logs: e-mail addresses, API keys, sessions, secrets of one-time codes and webhooks, private keys. */
const SECRET = /[\w.+-]@[\w-]+\.[a-z]{2,}|jk_(?:live|test|local)_\w{20,}|Bearer \S{20,}|otpauth:|whsec_|-----BEGIN/i

/** Log lines since the last test, each with a function that prints it. */
const logged: { readonly line: string; readonly show: () => void }[] = []

for (const method of ['debug', 'info', 'warn', 'error', 'log', 'trace'] as const) {
  // biome-ignore lint/suspicious/noConsole: the log goes through the console; this looks on.
  const write = console[method]
  console[method] = (...parts: unknown[]) => {
    logged.push({ line: parts.map(String).join(' '), show: () => write(...parts) })
  }
  // The console is restored for the next test file, which runs in the same process.
  afterAll(() => {
    console[method] = write
  })
}

afterEach(({ task }) => {
  const lines = logged.splice(0)
  // Lines are printed only for failed tests. To pass each line to vitest would take longer than the tests.
  if (task.result?.state === 'fail') for (const { show } of lines) show()
  for (const { line } of lines) {
    const [secret] = SECRET.exec(line) ?? []
    if (secret) throw new Error(`The log has a secret: ${secret}`)
  }
})
