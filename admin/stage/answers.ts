import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { STAGES, type Stage } from '../../infra/environments.ts'
import { ChainIdText } from '../../lib/chain/registry.ts'
import { Config } from '../../lib/config.ts'
import { Address } from '../../lib/core/codecs.ts'
import { parseJson } from '../../lib/core/json.ts'
import type { VaultKey } from '../../lib/vaults/vault.ts'
import { AdminError } from '../admin.ts'

/** Vault of the default answer: Moonwell Flagship USDC on Base. */
const EXAMPLE_VAULT: VaultKey = { chainId: 8453, address: '0xc1256Ae5FF1cf2719D4937adb3bbCCab2E00A2Ca' }

/** Answers of an operator to the five questions of the command `up`. */
export type Answers = {
  readonly stage: Stage
  /** Domain of the wallet's pages, for passkeys; undefined for none. */
  readonly domain: string | undefined
  readonly alarmEmail: string | undefined
  /** Fields for the secret `config`; undefined for public nodes. Never print them, because they contain API keys. */
  readonly config: Readonly<Record<string, unknown>> | undefined
  readonly vault: VaultKey
}

/** Values of the five command-line flags, each the answer to one question; undefined if the flag is absent. */
export type AnswerFlags = Readonly<Record<keyof typeof QUESTIONS, string | undefined>>

/** Prompts on a terminal and returns the typed text, or the fallback for an empty line. */
export type Prompter = (question: string, fallback: string) => Promise<string>

const Domain = z
  .string()
  .regex(
    /^(?!.*\.$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,}$/,
    'must be a domain, as wallet.example.com, or none',
  )

const Email = z.email('must be an e-mail address, or none')

const VaultText = z
  .string()
  .regex(/^\d+:0x[0-9a-fA-F]{40}$/, 'must be a chain id and an address, as 8453:0x…, or example')
  .transform((text) => text.split(':'))
  .pipe(z.tuple([ChainIdText, Address]))
  .transform(([chainId, address]) => ({ chainId, address }))

/** Questions in order, each with its default answer for an empty line. The flag of a question has the same name. */
const QUESTIONS = {
  stage: { text: `Stage (${STAGES.join(', ')})`, fallback: 'dev' },
  domain: { text: "Domain of your wallet's pages, for passkeys (or none)", fallback: 'none' },
  alarms: { text: 'E-mail address for alarms (or none)', fallback: 'none' },
  nodes: {
    text: 'File with your node URLs and keys, as docs/operate/secrets.md shows (or public)',
    fallback: 'public',
  },
  vault: { text: 'First vault, as 8453:0x… (or example: Moonwell Flagship USDC on Base)', fallback: 'example' },
} as const

type Question = keyof typeof QUESTIONS
const NAMES = Object.keys(QUESTIONS) as readonly Question[]

/**
 * Returns the operator's answers to the five questions. Each answer comes from its command-line flag, else from the terminal. If the
 * operator accepted the defaults, missing flags get the default answers. Repeats a question after an invalid answer. Throws an AdminError
 * for an invalid flag, or for a missing flag if there is no terminal.
 */
export async function readAnswers(
  flags: AnswerFlags,
  { ask, acceptsDefaults }: { readonly ask: Prompter | undefined; readonly acceptsDefaults: boolean },
): Promise<Answers> {
  const missing = NAMES.filter((name) => flags[name] === undefined)
  if (missing.length > 0 && !ask && !acceptsDefaults) {
    const lacking = missing.map((name) => `--${name}`).join(', ')
    throw new AdminError(`There is no terminal to ask on. Give ${lacking}; or --yes for their defaults.`)
  }
  const answer = async <T>(name: Question, parse: (text: string) => T | Promise<T>): Promise<T> => {
    const { text, fallback } = QUESTIONS[name]
    const answer = flags[name] ?? (acceptsDefaults || !ask ? fallback : undefined)
    if (answer !== undefined || !ask) {
      return await parseOr(parse, answer ?? fallback, (problem) => {
        throw new AdminError(`--${name} ${problem}.`)
      })
    }
    for (let hint = ''; ; ) {
      const typed = (await ask(`${hint}${text}`, fallback)).trim()
      const parsed = await parseOr(
        async (input) => ({ value: await parse(input) }),
        typed || fallback,
        (problem) => ({ problem }),
      )
      if ('value' in parsed) return parsed.value
      hint = `It ${parsed.problem}.\n`
    }
  }
  return {
    stage: await answer('stage', (text) => z.enum(STAGES, `must be one of ${STAGES.join(', ')}`).parse(text)),
    domain: await answer('domain', (text) => (text === 'none' ? undefined : Domain.parse(text))),
    alarmEmail: await answer('alarms', (text) => (text === 'none' ? undefined : Email.parse(text))),
    config: await answer('nodes', async (text) => (text === 'public' ? undefined : await readConfig(text))),
    vault: await answer('vault', (text) => (text === 'example' ? EXAMPLE_VAULT : VaultText.parse(text))),
  }
}

async function parseOr<T, U>(
  parse: (text: string) => T | Promise<T>,
  text: string,
  refuse: (problem: string) => U,
): Promise<T | U> {
  try {
    return await parse(text)
  } catch (error) {
    if (error instanceof z.ZodError) return refuse(error.issues[0]?.message ?? 'does not fit')
    if (error instanceof AdminError) return refuse(error.message)
    throw error
  }
}

/** Reads the JSON of an operator's configuration file. No error message contains any of it, because it is secret. */
async function readConfig(path: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new AdminError(`must be a file that can be read, or public: ${path} is not`)
  })
  const { data } = z.record(z.string(), z.unknown()).safeParse(parseJson(text))
  if (data && Config.safeParse(data).success) return data
  throw new AdminError(`must be a file as docs/operate/secrets.md shows: ${path} has another form`)
}
