import { readFile, rename, writeFile } from 'node:fs/promises'
import * as z from 'zod'
import { parseStages, STAGES_FILE, type StageEnvironment } from '../../infra/stages.ts'
import { parseJson } from '../../lib/core/json.ts'
import { AdminError } from '../admin.ts'
import type { Answers } from './answers.ts'

const File = z.record(z.string(), z.record(z.string(), z.unknown()))
const Named = z.object({ id: z.string() })

/** Planned change of the operator's file of stages, and the resulting settings of the stage. */
export type StagesFilePlan = {
  /** Changed fields, such as `dev.alarmEmail`; empty if the file stays the same. */
  readonly changes: readonly string[]
  readonly environment: StageEnvironment
  /** Writes the file atomically. */
  write(): Promise<void>
}

/**
 * Merges the operator's answers into the file of stages, without writing the file. Keeps fields that no answer concerns. Throws an
 * AdminError for an invalid file, a stage that cannot be deployed, or a domain that differs from that of the stage's existing passkeys.
 */
export async function planStagesFile(
  named: string | undefined,
  { stage, domain, alarmEmail }: Pick<Answers, 'stage' | 'domain' | 'alarmEmail'>,
): Promise<StagesFilePlan> {
  const path = named ?? STAGES_FILE
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  })
  const { data: file } = File.safeParse(parseJson(text ?? '{}'))
  if (!file) throw new AdminError(`${path} has another form. Mend it, or move it away: docs/operate/stages.md.`)
  const before = file[stage] ?? {}
  const id = Named.safeParse(before['relyingParty']).data?.id
  if (domain && id && id !== domain) {
    throw new AdminError(
      `${path} names ${id} for the passkeys of ${stage}. With another domain no passkey works: change it by hand if no user has one.`,
    )
  }
  if (stage !== 'dev' && !domain && !id) {
    throw new AdminError(`Stage ${stage} needs a domain for its passkeys. Answer with it, or name it in ${path}.`)
  }
  const after = {
    ...before,
    ...(domain &&
      !id && {
        corsOrigins: before['corsOrigins'] ?? [`https://${domain}`],
        relyingParty: { id: domain, name: 'Wallet', iosApps: [], androidApps: [] },
      }),
    ...(alarmEmail && { alarmEmail }),
  }
  const changes = Object.entries(after).flatMap(([field, value]) =>
    JSON.stringify(before[field]) === JSON.stringify(value) ? [] : [`${stage}.${field}`],
  )
  if (named && text === undefined && changes.length === 0) throw new AdminError(`There is no file ${named}.`)
  const changed = changes.length > 0 ? { ...file, [stage]: after } : file
  return {
    changes,
    environment: environmentOf(JSON.stringify(changed), stage),
    async write() {
      if (changes.length === 0) return
      await writeFile(`${path}.new`, `${JSON.stringify(changed, null, 2)}\n`)
      await rename(`${path}.new`, path)
    },
  }
}

function environmentOf(text: string, stage: Answers['stage']): StageEnvironment {
  try {
    // The cast is safe: the map has every stage that the text names, and always `dev`.
    return parseStages(text).get(stage) as StageEnvironment
  } catch (error) {
    throw new AdminError(error instanceof Error ? error.message : String(error))
  }
}
