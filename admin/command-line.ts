import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import * as z from 'zod'
import { AppError, getErrorDefinition } from '../lib/core/errors.ts'
import { type Admin, AdminError } from './admin.ts'
import { type Command, optionHelp } from './command.ts'
import { COMMANDS } from './commands.ts'

const Stage = z.enum(['dev', 'staging', 'prod']).optional()

type Stage = z.output<typeof Stage>

/**
 * Runs the command that these arguments name and returns the lines to print. `connect` opens the stage with this name, or the local service
 * for undefined. Throws an AdminError for an unknown command, and errors of the command.
 */
export async function runCommandLine(
  [name, ...args]: readonly string[],
  connect: (stage: Stage) => Promise<Admin>,
): Promise<string[]> {
  if (name === undefined || name === '--help') return overview()
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!command) throw new AdminError(`There is no command ${name}. See npm run admin -- --help.`)

  const { help, stage, ...values } = parseOptions(command, args)
  if (help) return usage(name, command)
  const { stage: to } = z.object({ stage: Stage }).parse({ stage })
  const work = command.prepare(values)
  return await work(await connect(to))
}

/** Describes a failure to the operator, without details for programmers. */
export function describeFailure(error: unknown): string {
  if (error instanceof z.ZodError) return error.issues.map(describeIssue).join('\n')
  if (error instanceof AppError) return `${error.message}. ${getErrorDefinition(error.code).message}`
  if (error instanceof AdminError) return error.message
  if (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')) {
    return error.message.split('. ', 1)[0] ?? error.message
  }
  if (!(error instanceof Error)) return String(error)
  return error.name === 'Error' ? error.message : `${error.name}: ${error.message}`
}

function parseOptions({ options }: Command, args: readonly string[]): Record<string, unknown> {
  const config: ParseArgsOptionsConfig = { stage: { type: 'string' }, help: { type: 'boolean' } }
  for (const [name, schema] of Object.entries(options.shape)) {
    config[kebabCase(name)] = { type: optionHelp.get(schema)?.value === undefined ? 'boolean' : 'string' }
  }
  const { values } = parseArgs({ args: [...args], options: config })
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [camelCase(name), value]))
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const option = `--${kebabCase(issue.path.join('.'))}`
  // An option's value is always a string, so a wrong type can only mean that the option is missing.
  return issue.code === 'invalid_type' ? `${option} is missing` : `${option}: ${issue.message}`
}

function overview(): string[] {
  return [
    'Usage: npm run admin -- <command> [options]',
    '',
    'Manages a stage, its clients, API keys, vaults, webhooks and users.',
    '',
    ...alignRows(Object.entries(COMMANDS).map(([name, { summary }]) => [name, summary])),
    '',
    ...commonOptions(),
    '',
    'npm run admin -- <command> --help lists the options of a command.',
  ]
}

function usage(name: string, { summary, options }: Command): string[] {
  const described = Object.entries(options.shape).map(([option, schema]) => {
    const { value, meaning = '' } = optionHelp.get(schema) ?? {}
    const flag = `--${kebabCase(option)}${value === undefined ? '' : ` <${value}>`}`
    return { flag, meaning, optional: z.safeParse(schema, undefined).success }
  })
  const flags = described.map(({ flag, optional }) => (optional ? `[${flag}]` : flag))
  return [
    ['Usage: npm run admin --', name, ...flags].join(' '),
    '',
    summary,
    '',
    ...alignRows(described.map(({ flag, meaning }) => [flag, meaning])),
    ...commonOptions(),
  ]
}

function commonOptions(): string[] {
  return alignRows([
    [
      '--stage <dev|staging|prod>',
      'Work on a deployed stage, with the AWS credentials and region of your environment;',
    ],
    ['', 'without it, on the local service that npm start runs'],
    ['--help', 'Show this help'],
  ])
}

function alignRows(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(28, ...rows.map(([left]) => left.length + 2))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`)
}

function kebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

function camelCase(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
