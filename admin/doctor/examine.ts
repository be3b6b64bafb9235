import { type Check, describeReason, type Finding } from './finding.ts'

type Limits = {
  readonly limitMs: number
  /** Reports pending checks to the operator. */
  readonly say: (line: string) => void
}

const PATIENCE_MS = 1_000

/** Runs these checks concurrently and returns their findings in order. A check that throws or exceeds the time limit results in a FAIL. */
export async function runChecks(checks: readonly Check[], { limitMs, say }: Limits): Promise<readonly Finding[]> {
  const waiting = new Set(checks.map(({ name }) => name))
  const patience = setInterval(() => say(`Waiting for ${[...waiting].join(', ')} …`), PATIENCE_MS)
  try {
    const findings = await Promise.all(
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
    return findings.flat()
  } finally {
    clearInterval(patience)
  }
}

/** Names of AWS errors for a missing table, queue or topic. */
const ABSENT = ['ResourceNotFoundException', 'QueueDoesNotExist', 'NotFoundException']

function failureOf(name: string, error: unknown): Finding {
  const isAbsent = error instanceof Error && ABSENT.includes(error.name)
  const remedy = 'Deploy the stage, which makes it: docs/deploy.md'
  return { mark: 'FAIL', name, result: describeReason(error), ...(isAbsent && { remedy }) }
}

async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  const over = Promise.withResolvers<never>()
  const timer = setTimeout(() => over.reject(new Error(`no answer in ${limitMs / 1000} s`)), limitMs)
  return await Promise.race([work, over.promise]).finally(() => clearTimeout(timer))
}

/** Formats findings as lines, each with its remedy on the next line. The last line counts failures and warnings. */
export function describeFindings(findings: readonly Finding[]): string[] {
  const width = Math.max(...findings.map(({ name }) => name.length))
  const count = (mark: Finding['mark']) => findings.filter((finding) => finding.mark === mark).length
  return [
    ...findings.flatMap(({ mark, name, result, remedy }) => [
      `${mark.padEnd(4)}  ${name.padEnd(width)}  ${result}`,
      ...(remedy ? [`      ${remedy}`] : []),
    ]),
    `${count('FAIL')} failed and ${count('WARN')} warned of ${findings.length}.`,
  ]
}
