import { onTestFinished, vi } from 'vitest'

/** One structured log line. */
export type LogLine = { readonly level: string; readonly message: string; readonly [key: string]: unknown }

/** Captures all log lines from now until the test ends. */
export function captureLogs(): { readonly lines: LogLine[]; readonly text: () => string } {
  const lines: LogLine[] = []
  for (const method of ['debug', 'info', 'warn', 'error', 'log', 'trace'] as const) {
    const spy = vi.spyOn(console, method)
    spy.mockImplementation((...parts: unknown[]) => {
      const text = parts.map(String).join(' ')
      lines.push(text.startsWith('{') ? JSON.parse(text) : { level: 'RAW', message: text })
    })
    onTestFinished(() => spy.mockRestore())
  }
  return { lines, text: () => JSON.stringify(lines) }
}
