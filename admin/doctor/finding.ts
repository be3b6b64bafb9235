import { AppError } from '../../lib/errors.ts'

/** What was found of one thing: `ok` needs nothing, `skip` was not looked at, `WARN` can be meant so, `FAIL` cannot. */
export type Finding = {
  readonly mark: 'ok' | 'skip' | 'WARN' | 'FAIL'
  readonly name: string
  /** In words, without anything that is secret. */
  readonly found: string
  /** The next step: a command, or a page for operators. */
  readonly remedy?: string
}

/** Looks at one part of an environment. What it throws, or too long a wait, is a finding of its name. */
export type Check = { readonly name: string; readonly look: () => Promise<readonly Finding[]> }

/** The section of a page in docs/operate that says what to do. */
export function operatorGuide(page: string, heading: string): string {
  return `docs/operate/${page}.md, "${heading}"`
}

/** Why something failed, without URLs, which can hold keys. */
export function describeReason(error: unknown): string {
  if (error instanceof AppError) {
    return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
  }
  if (!(error instanceof Error)) return String(error)
  const { name, message } = error
  // Connections that nobody took are errors in an error without words.
  const why = message || ('code' in error ? String(error.code) : '')
  return name === 'Error' ? why : [name, why].filter(Boolean).join(': ')
}

/** So many of these, as `1 host` and `2 hosts`. */
export function countOf(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}

/** The first few of these, and how many more there are. */
export function firstOf(names: readonly string[], most = 3): string {
  const rest = names.length - most
  return [...names.slice(0, most), ...(rest > 0 ? [`${rest} more`] : [])].join(', ')
}
