import { createInterface } from 'node:readline/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { AdminError } from '../admin/admin.ts'
import { describeFailure } from '../admin/command-line.ts'
import { openAwsAccount } from '../admin/stage/aws-account.ts'
import { takeDownStage } from '../admin/stage/take-down.ts'
import { STAGES } from '../infra/environments.ts'
import { readOptions } from './options.ts'

const USAGE = `Usage: npm run down -- <dev|staging|prod> [--force] [--yes]

Deletes the stacks of a stage in the account and region of your AWS credentials. You type the stage's name first.

  --force   Deletes a protected stage too; its tables, secrets and logs stay
  --yes     Does not ask for confirmation
`
const Flag = z.boolean().default(false)
const [word = '', ...others] = process.argv.slice(2)
const options = readOptions(
  USAGE,
  z.object({ stage: z.enum(STAGES), force: Flag, yes: Flag }),
  word && !word.startsWith('-') ? ['--stage', word, ...others] : [word, ...others].filter(Boolean),
)
if (options) await main(options)

async function main({ stage, force, yes }: NonNullable<typeof options>): Promise<void> {
  const terminal = process.stdin.isTTY ? createInterface({ input: process.stdin, output: process.stderr }) : undefined
  try {
    await takeDownStage(
      stage,
      { isForced: force },
      {
        accountIn: openAwsAccount,
        ask: async (question) => {
          if (yes) return stage
          if (terminal) return await terminal.question(`${question}: `)
          throw new AdminError('There is no terminal to ask on. Add --yes to go on.')
        },
        say: (line) => process.stderr.write(`${line}\n`),
        sleep,
      },
    )
  } catch (error) {
    process.stderr.write(`${describeFailure(error)}\n`)
    process.exitCode = 1
  } finally {
    terminal?.close()
  }
}
