import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { AdminError } from '../admin/admin.ts'
import { describeFailure } from '../admin/command-line.ts'
import { connectStage } from '../admin/connect.ts'
import { FailedExamination, runDoctor } from '../admin/doctor.ts'
import { type Prompter, readAnswers } from '../admin/stage/answers.ts'
import { openAwsAccount } from '../admin/stage/aws-account.ts'
import { bringUpStage, type ProcessResult } from '../admin/stage/bring-up.ts'
import { billIdleStage } from './cost/bill.ts'
import { COUNTS_FILE, CountsFile } from './cost/counts.ts'
import { readOptions } from './options.ts'

const USAGE = `Usage: npm run up -- [options]

Brings a stage up in the account and region of your AWS credentials, and prints its URL and a key. Asks five questions, unless
options answer them, and asks once more before its first change. Run it again after it stopped: it adds what is missing.

  --stage <dev|staging|prod>
  --domain <name|none>       The domain of your wallet's pages, for passkeys
  --alarms <e-mail|none>     The address that gets alarms
  --nodes <file|public>      A file with your node URLs and keys, as docs/operate/secrets.md shows
  --vault <id:0x…|example>   The first vault: its chain id and address
  --stages <file>            Your file of stages; stages.json unless given
  --yes                      Asks nothing: takes the defaults dev, none, none, public and example, and goes on
`
/** Number of characters that are kept from the end of a process's output. */
const TAIL = 8_000
const Answer = z.string().optional()
const options = readOptions(
  USAGE,
  z.object({
    ...{ stage: Answer, domain: Answer, alarms: Answer, nodes: Answer, vault: Answer },
    stages: Answer,
    yes: z.boolean().default(false),
  }),
)
if (options) await main(options)

async function main({ stages, yes, stage, domain, alarms, nodes, vault }: NonNullable<typeof options>): Promise<void> {
  const terminal = process.stdin.isTTY ? createInterface({ input: process.stdin, output: process.stderr }) : undefined
  const ask: Prompter | undefined =
    terminal && ((question, fallback) => terminal.question(`${question} [${fallback}]: `))
  const counted = CountsFile.parse(JSON.parse(await readFile(COUNTS_FILE, 'utf8')))
  try {
    const flags = { stage, domain, alarms, nodes, vault }
    await bringUpStage(await readAnswers(flags, { ask, acceptsDefaults: yes }), {
      accountIn: openAwsAccount,
      connect: connectStage,
      cdk: (words) => run([join('node_modules', 'aws-cdk', 'bin', 'cdk'), ...words], { isEchoed: true }),
      smoke: (url, apiKey) => run([join('scripts', 'smoke.ts'), '--url', url], { apiKey }),
      doctor: async (of) =>
        await runDoctor(connectStage(of), stages).then(
          (lines) => ({ code: 0, tail: lines.join('\n') }),
          (error: unknown) => {
            if (!(error instanceof FailedExamination)) throw error
            return { code: 1, tail: error.message }
          },
        ),
      agree: async (question) => {
        process.stderr.write(`${question}\n`)
        if (yes) return true
        if (!ask) throw new AdminError('There is no terminal to ask on. Add --yes to go on.')
        return /^y(es)?$/i.test(await ask('yes or no', 'no'))
      },
      say: (line) => process.stderr.write(`${line}\n`),
      print: (line) => process.stdout.write(`${line}\n`),
      stagesFile: stages,
      priceOf: (environment, hasOwnNodes) => billIdleStage(counted, environment, hasOwnNodes),
      sleep,
    })
  } catch (error) {
    process.stderr.write(`${describeFailure(error)}\n`)
    process.exitCode = 1
  } finally {
    terminal?.close()
  }
}

/** Runs a Node script. The API key is an environment variable, because `ps` shows arguments to other users but no variables. */
async function run(
  words: readonly string[],
  { isEchoed = false, apiKey }: { readonly isEchoed?: boolean; readonly apiKey?: string | undefined },
): Promise<ProcessResult> {
  const env = { ...process.env, ...(apiKey && { API_KEY: apiKey }) }
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'], env })
  let tail = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      if (isEchoed) process.stderr.write(text)
      tail = `${tail}${text}`.slice(-TAIL)
    })
  }
  const ended = Promise.withResolvers<number>()
  child.once('error', ended.reject).once('close', (code) => ended.resolve(code ?? 1))
  return { code: await ended.promise, tail: tail.trim() }
}
