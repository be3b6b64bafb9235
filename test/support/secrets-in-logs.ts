import { afterEach } from 'vitest'

/** What no line of any log may have: e-mail addresses, API keys, sessions, secrets of one-time codes, keys. */
const SECRET = /[\w.+-]+@[\w-]+\.[a-z]{2,}|jk_(?:live|test|local)_\w{20,}|Bearer \S{20,}|otpauth:|-----BEGIN/i

const found: string[] = []

for (const method of ['debug', 'info', 'warn', 'error', 'log', 'trace'] as const) {
  // biome-ignore lint/suspicious/noConsole: the log goes through the console; this looks on.
  const write = console[method].bind(console)
  console[method] = (...parts: unknown[]) => {
    const [secret] = SECRET.exec(parts.map(String).join(' ')) ?? []
    if (secret) found.push(secret)
    write(...parts)
  }
}

afterEach(() => {
  const [first] = found.splice(0)
  if (first) throw new Error(`The log has a secret: ${first}`)
})
