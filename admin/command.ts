import * as z from 'zod'
import { ChainIdText } from '../lib/chain/registry.ts'
import { Client } from '../lib/clients/client.ts'
import { Address } from '../lib/codecs.ts'
import type { Admin } from './admin.ts'

/** One thing that an operator can ask for. */
export type Command = {
  readonly summary: string
  /** Its options, by their names in camel case. */
  readonly options: z.ZodObject
  /** Parses the options' values, or throws a ZodError, and gives the work itself, which returns the lines to print. */
  readonly prepare: (values: Readonly<Record<string, unknown>>) => (admin: Admin) => Promise<string[]>
}

/** Commands by their names. */
export type Commands = Readonly<Record<string, Command>>

/** A command with these options, whose values its work is given parsed. */
export function command<Options extends z.ZodObject>(
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

/** What the help says of an option: a word for its value, without which it is a flag, and its meaning. */
export const optionHelp = z.registry<{ value?: string; meaning: string }>()

/** Text that is not empty, of so many characters at most. */
export const text = (longest: number) => z.string().trim().min(1, 'must not be empty').max(longest)

/** An option without a value, which is given or not. */
export const flag = (meaning: string) => z.boolean().default(false).register(optionHelp, { meaning })

/** The parts of a list with commas. */
export const parts = (text: string) => text.split(',').map((part) => part.trim())

/** Which client. */
export const clientId = Client.shape.clientId.register(optionHelp, {
  value: 'id',
  meaning: 'The client, as in list-clients',
})

/** Which client, or all of them. */
export const ofClient = Client.shape.clientId
  .optional()
  .register(optionHelp, { value: 'id', meaning: 'Of this client alone, as in list-clients' })

/** Which chain. */
export const chain = z
  .string()
  .regex(/^\d+$/, 'must be a chain id such as 8453')
  .pipe(ChainIdText)
  .register(optionHelp, { value: 'id', meaning: 'The chain id, such as 8453' })

/** Which vault of a chain. */
export const address = Address.register(optionHelp, { value: '0x…', meaning: 'The vault contract' })

/** Rows under their headings, or a word that there are none. */
export function columns(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
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
