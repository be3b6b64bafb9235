import { afterAll, afterEach } from 'vitest'

/** Matches secrets: e-mail addresses, API keys, session tokens, one-time code URLs, webhook secrets, private keys. */
const SECRET = /[\w.+-]@[\w-]+\.[a-z]{2,}|jk_(?:live|test|local)_\w{20,}|Bearer \S{20,}|otpauth:|whsec_|-----BEGIN/i

/** Log lines since the last test. `show` prints the line. */
const logged: { readonly line: string; readonly show: () => void }[] = []

for (const method of ['debug', 'info', 'warn', 'error', 'log', 'trace'] as const) {
  // biome-ignore lint/suspicious/noConsole: the log goes through the console; this looks on.
  const write = console[method]
  console[method] = (...parts: unknown[]) => {
    logged.push({ line: parts.map(String).join(' '), show: () => write(...parts) })
  }
  // The next test file runs in the same process, so the console is restored.
  afterAll(() => {
    console[method] = write
  })
}

afterEach(({ task }) => {
  const lines = logged.splice(0)
  // Log lines are printed only for failed tests, because printing all of them would take longer than the tests.
  if (task.result?.state === 'fail') for (const { show } of lines) show()
  for (const { line } of lines) {
    const [secret] = SECRET.exec(line) ?? []
    if (secret) throw new Error(`The log has a secret: ${secret}`)
  }
})
