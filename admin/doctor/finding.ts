import { AppError } from '../../lib/core/errors.ts'

/**
 * Result of a check. `ok` needs no action, and `skip` means that nothing was checked. `WARN` can be intended; `FAIL` is a fault in any
 * case.
 */
export type Finding = {
  readonly mark: 'ok' | 'skip' | 'WARN' | 'FAIL'
  readonly name: string
  /** Result in words, without secrets. */
  readonly result: string
  /** Next step for the operator: a command to run, or a page in docs/operate to read. */
  readonly remedy?: string
}

/** Check of one part of an environment. If `look` throws or takes too long, the result is a finding with the check's name. */
export type Check = { readonly name: string; readonly look: () => Promise<readonly Finding[]> }

/** Returns a reference to the section of a page in docs/operate that has instructions. */
export function guideSection(page: string, heading: string): string {
  return `docs/operate/${page}.md, "${heading}"`
}

/** Describes why something failed, without URLs, which can contain keys. */
export function describeReason(error: unknown): string {
  if (error instanceof AppError) {
    return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
  }
  if (!(error instanceof Error)) return String(error)
  const { name, message } = error
  // A refused connection is an AggregateError without a message, but with a code.
  const why = message || ('code' in error ? String(error.code) : '')
  return name === 'Error' ? why : [name, why].filter(Boolean).join(': ')
}

/** Returns a count with its word, such as `1 host` and `2 hosts`. */
export function formatCount(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}

/** Joins the first few names, and adds the number of the others. */
export function joinFirstNames(names: readonly string[], most = 3): string {
  const rest = names.length - most
  return [...names.slice(0, most), ...(rest > 0 ? [`${rest} more`] : [])].join(', ')
}
