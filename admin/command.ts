import * as z from 'zod'
import { ChainIdText } from '../lib/chain/registry.ts'
import { Client } from '../lib/clients/client.ts'
import { Address } from '../lib/core/codecs.ts'
import type { Admin } from './admin.ts'

/** Command that an operator runs with `npm run admin`. */
export type Command = {
  readonly summary: string
  /** Options by their names in camel case. */
  readonly options: z.ZodObject
  /** Parses the options' values, or throws a ZodError. Returns a function that runs the command and returns the lines to print. */
  readonly prepare: (values: Readonly<Record<string, unknown>>) => (admin: Admin) => Promise<string[]>
}

/** Commands by their names. */
export type Commands = Readonly<Record<string, Command>>

/** Builds a command with these options; `run` receives their parsed values. */
export function buildCommand<Options extends z.ZodObject>(
  summary: string,
  options: Options,
  run: (admin: Admin, values: z.output<Options>) => Promise<string[]>,
): Command {
  return {
    summary,
    options,
    prepare: (values) => {
      const parsed = options.parse(values)
      return (admin) => run(admin, parsed)
    },
  }
}

/** Help texts of options: a placeholder for the value (none for a flag), and the meaning. */
export const optionHelp = z.registry<{ value?: string; meaning: string }>()

/** Builds a schema of non-empty text with at most `longest` characters. */
export const buildTextSchema = (longest: number) => z.string().trim().min(1, 'must not be empty').max(longest)

/** Builds a schema of a flag: an option without a value, false by default. */
export const buildFlagSchema = (meaning: string) => z.boolean().default(false).register(optionHelp, { meaning })

/** Splits a comma-separated list into its trimmed parts. */
export const splitList = (text: string) => text.split(',').map((part) => part.trim())

/** Command-line option with a client's id. */
export const clientId = Client.shape.clientId.register(optionHelp, {
  value: 'id',
  meaning: 'The client, as in list-clients',
})

/** Command-line option with the id of one client; absent for all clients. */
export const optionalClientId = Client.shape.clientId
  .optional()
  .register(optionHelp, { value: 'id', meaning: 'Only this client, as in list-clients' })

/** Command-line option with a chain's id. */
export const chain = z
  .string()
  .regex(/^\d+$/, 'must be a chain id such as 8453')
  .pipe(ChainIdText)
  .register(optionHelp, { value: 'id', meaning: 'The chain id, such as 8453' })

/** Command-line option with the address of a vault. */
export const address = Address.register(optionHelp, { value: '0x…', meaning: 'The vault contract' })

/** Formats rows under their headings; returns `None.` without rows. */
export function formatColumns(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return ['None.']
  const table = [headings, ...rows]
  const widths = headings.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)))
  return table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
