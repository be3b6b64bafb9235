import { parseArgs } from 'node:util'
import * as z from 'zod'

/**
 * Parses a script's command-line options. A schema that accepts `true` makes a flag; any other option takes a text. Returns undefined if
 * the function only printed the usage (for --help) or a problem. An invalid option also sets exit code 2.
 */
export function readOptions<Shape extends z.ZodRawShape>(
  usage: string,
  schema: z.ZodObject<Shape>,
  args: readonly string[] = process.argv.slice(2),
): z.output<z.ZodObject<Shape>> | undefined {
  const types = Object.entries(schema.shape).map(([name, one]) => {
    const isFlag = z.safeParse(one, true).success
    return [name, { type: isFlag ? ('boolean' as const) : ('string' as const) }] as const
  })
  try {
    const { help, ...values } = parseArgs({
      args: [...args],
      options: { ...Object.fromEntries(types), help: { type: 'boolean' } },
    }).values
    if (!help) return schema.parse(values)
    process.stdout.write(usage)
  } catch (error) {
    process.stderr.write(`${describe(error)}\n\n${usage}`)
    process.exitCode = 2
  }
  return undefined
}

function describe(error: unknown): string {
  if (error instanceof z.ZodError) {
    return error.issues.map(({ path, message }) => `--${path.join('.')}: ${message}`).join('\n')
  }
  if (error instanceof TypeError) return error.message
  throw error
}
