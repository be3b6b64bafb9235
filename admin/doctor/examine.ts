import { type Check, describeReason, type Finding } from './finding.ts'

type Limits = {
  /** So long a check may take. */
  readonly limitMs: number
  /** Tells somebody who waits what is not there yet. */
  readonly say: (line: string) => void
}

const PATIENCE_MS = 1_000

/** Makes these checks side by side and gives what they find, in their order. */
export async function examine(checks: readonly Check[], { limitMs, say }: Limits): Promise<readonly Finding[]> {
  const waiting = new Set(checks.map(({ name }) => name))
  const patience = setInterval(() => say(`Waiting for ${[...waiting].join(', ')} …`), PATIENCE_MS)
  try {
    const found = await Promise.all(
      checks.map(async ({ name, look }): Promise<readonly Finding[]> => {
        try {
          return await within(limitMs, look())
        } catch (error) {
          return [failureOf(name, error)]
        } finally {
          waiting.delete(name)
        }
      }),
    )
    return found.flat()
  } finally {
    clearInterval(patience)
  }
}

/** What AWS says of a table, a queue and a topic that are not there. */
const ABSENT = ['ResourceNotFoundException', 'QueueDoesNotExist', 'NotFoundException']

function failureOf(name: string, error: unknown): Finding {
  const isAbsent = error instanceof Error && ABSENT.includes(error.name)
  const remedy = 'Deploy the stage, which makes it: docs/deploy.md'
  return { mark: 'FAIL', name, found: describeReason(error), ...(isAbsent && { remedy }) }
}

async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  const over = Promise.withResolvers<never>()
  const timer = setTimeout(() => over.reject(new Error(`no answer in ${limitMs / 1000} s`)), limitMs)
  return await Promise.race([work, over.promise]).finally(() => clearTimeout(timer))
}

/** Findings as lines, each with what to do on the next one, and how many there are of each kind. */
export function describeFindings(findings: readonly Finding[]): string[] {
  const width = Math.max(...findings.map(({ name }) => name.length))
  const count = (mark: Finding['mark']) => findings.filter((finding) => finding.mark === mark).length
  return [
    ...findings.flatMap(({ mark, name, found, remedy }) => [
      `${mark.padEnd(4)}  ${name.padEnd(width)}  ${found}`,
      ...(remedy ? [`      ${remedy}`] : []),
    ]),
    `${count('FAIL')} failed and ${count('WARN')} warned of ${findings.length}.`,
  ]
}
