import { readFile, writeFile } from 'node:fs/promises'
import * as z from 'zod'
import { endpoints } from '../functions/contracts.ts'
import { ERRORS } from '../lib/errors.ts'
import { type EndpointContract, scopeOf } from '../lib/frame/contract.ts'
import { DELIVERED, DELIVERY, DELIVERY_ANSWERS, DeliveryHeaders } from '../lib/webhooks/delivery-contract.ts'
import { WebhookEvent } from '../lib/webhooks/event.ts'
import recorded from '../reference/examples.json' with { type: 'json' }
import { INTRODUCTION } from '../reference/introduction.ts'
import { type Example, type JsonSchema, jsonSchema, listErrors, operationId } from '../reference/openapi.ts'

// Writes docs/api.md from the contracts that the functions run on; with --check it only says whether the file is what
// the contracts say.
const FILE = 'docs/api.md'
const CHECK = process.argv.includes('--check')
const EXAMPLES: Readonly<Record<string, Example>> = recorded
const MOST_COLUMNS = 120
/** The longest text of an example that is shown whole. */
const MOST_CHARACTERS = 80

const HEADING = `# API reference

Written from the contracts that the functions run on: \`npm run docs\`. The same as OpenAPI 3.1: \`GET /openapi.json\`.

The examples follow one user through a service on one machine, where \`npm run examples\` took them down: long lists and long
texts are cut short here.`

/** What an event has, whatever its type. */
const EveryEvent = z.object({
  ...WebhookEvent.options[0].shape,
  type: z.string().describe('One of those that follow'),
  data: z.looseObject({}).describe('What happened, and where: as follows, by `type`'),
})

const CALLERS: Record<EndpointContract['caller'], string> = {
  anyone: 'Needs no API key.',
  client: 'Needs the `x-join-key` header.',
  user: 'Needs the `x-join-key` header and a session: `Authorization: Bearer <token>`.',
}

const text = reference()
if (!CHECK) await writeFile(FILE, text)
else if ((await readFile(FILE, 'utf8').catch(() => '')) !== text) {
  process.stderr.write(`${FILE} is not what the contracts say. Run: npm run docs\n`)
  process.exitCode = 1
}

function reference(): string {
  const routes = Object.values<EndpointContract>(endpoints).filter(({ path }) => path !== '$default')
  return `${[HEADING, INTRODUCTION, ...routes.map(route), deliveries()].join('\n\n')}\n`
}

/** What receivers of webhooks are sent. */
function deliveries(): string {
  const answers = Object.entries(DELIVERY_ANSWERS).map(([status, { description }]) => `| ${status} | ${description} |`)
  const shown = new Map<string, string>()
  return [
    '## Webhooks',
    DELIVERY,
    'Receivers, and how to try them: [guides/webhooks.md](guides/webhooks.md).',
    ...fieldTable('Header', DeliveryHeaders),
    ['| you answer | what follows |', '|---|---|', ...answers].join('\n'),
    'Every event has:',
    ...fieldTable('Body', EveryEvent),
    ...DELIVERED.flatMap((delivered) => [`### ${delivered.type}`, delivered.meaning, ...ownTable(delivered, shown)]),
  ].join('\n\n')
}

/** What a type of event has of its own, or of which type the same stands already; `shown` are the types by their tables. */
function ownTable({ type, schema }: (typeof DELIVERED)[number], shown: Map<string, string>): string[] {
  if (type === 'webhook.test') return fieldTable('Body', schema)
  const [table = ''] = fieldTable('`data`', schema.shape.data)
  const before = shown.get(table)
  if (before) return [`Its \`data\` is as of [${before}](#${before.replace('.', '')}).`]
  shown.set(table, type)
  return [table]
}

function route(contract: EndpointContract): string {
  const { method, path, summary, caller, request, response, status = 200 } = contract
  const scope = scopeOf(contract)
  return [
    `## ${method} ${path}`,
    summary,
    [CALLERS[caller], ...(scope ? [`The key has the scope \`${scope}\`.`] : [])].join(' '),
    ...fieldTable('Header', request.headers),
    ...fieldTable('Path', request.path),
    ...fieldTable('Query', request.query),
    ...fieldTable('Body', request.body),
    ...(response instanceof z.ZodUndefined ? [`Answers ${status} without a body.`] : []),
    ...fieldTable('Answer', response),
    ...exampleBlocks(contract),
    errorTable(contract),
  ].join('\n\n')
}

/** A call of curl, and what it answered. */
function exampleBlocks(contract: EndpointContract): string[] {
  const example = EXAMPLES[operationId(contract)]
  if (!example) return []
  const { method, path, caller, request } = contract
  const { parameters, body, response } = example
  const inPath = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => parameters[name] ?? '')
  const only = (part: z.ZodObject | undefined) =>
    Object.entries(parameters).filter(([name]) => name in (part?.shape ?? {}))
  const query = new URLSearchParams(only(request.query)).toString()
  const headers = [
    ...(caller === 'anyone' ? [] : ['x-join-key: $API_KEY']),
    ...(caller === 'user' ? ['authorization: Bearer $TOKEN'] : []),
    ...only(request.headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : ['content-type: application/json']),
  ]
  const curl = [
    `curl "$BASE_URL${inPath}${query && `?${query}`}"${method === 'GET' || body !== undefined ? '' : ` -X ${method}`}`,
    ...headers.map((header) => `-H "${header}"`),
    ...(body === undefined ? [] : [`-d '${jsonText(body)}'`]),
  ]
  return [
    `\`\`\`sh\n${curl.join(' \\\n  ')}\n\`\`\``,
    ...(response === undefined ? [] : [`\`\`\`json\n${jsonText(response)}\n\`\`\``]),
  ]
}

/** A value as JSON, each part of it on one line where it fits; long texts are cut short. */
function jsonText(value: unknown, indent = ''): string {
  if (typeof value === 'string' && value.length > MOST_CHARACTERS) {
    return JSON.stringify(`${value.slice(0, MOST_CHARACTERS)}…`)
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const inner = `${indent}  `
  const named = (name: string) => (Array.isArray(value) ? '' : `${JSON.stringify(name)}: `)
  const parts = Object.entries(value).map(([name, part]) => `${named(name)}${jsonText(part, inner)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const line = `${open} ${parts.join(', ')} ${close}`
  if (parts.length === 0) return `${open}${close}`
  if (!line.includes('\n') && indent.length + line.length <= MOST_COLUMNS) return line
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`
}

function errorTable(contract: EndpointContract): string {
  const rows = listErrors(contract).map((code) => {
    const { status, error, message } = ERRORS[code]
    return `| ${status} | ${error} | \`${code}\` | ${message} |`
  })
  return ['| status | error | code | what to do |', '|---|---|---|---|', ...rows].join('\n')
}

function fieldTable(title: string, schema: z.ZodType | undefined): string[] {
  if (!schema) return []
  const { $defs = {}, ...own } = jsonSchema(schema)
  const rows = fields(inPlace(own, $defs), '')
  if (rows.length === 0) return []
  return [[`| ${title} | type | |`, '|---|---|---|', ...rows].join('\n')]
}

/** The same schema with those that it refers to in their places. */
function inPlace(schema: JsonSchema, named: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const text = JSON.stringify(schema, (_, part) => {
    const name = typeof part?.$ref === 'string' ? part.$ref.replace('#/$defs/', '') : undefined
    const { $ref: _ref, ...besides } = part ?? {}
    return name === undefined ? part : { ...named[name], ...besides }
  })
  return JSON.parse(text)
}

function fields(schema: z.core.JSONSchema._JSONSchema, prefix: string): string[] {
  if (typeof schema === 'boolean') return []
  const { properties = {}, required = [], allOf, anyOf, oneOf, discriminator } = schema
  // Each of the variants is described by itself.
  if (discriminator) return []
  if (allOf) return allOf.flatMap((part) => fields(part, prefix))
  const tagged = oneOf && variantsByTag(oneOf, prefix)
  if (tagged) return tagged
  const variants = [...(anyOf ?? []), ...(oneOf ?? [])].flatMap((variant) => fields(variant, prefix))
  if (variants.length > 0) return [...new Set(variants)]
  return Object.entries(properties).flatMap(([name, property]) => {
    if (typeof property === 'boolean') return []
    const optional = property.default === undefined ? 'optional' : `optional, default \`${property.default}\``
    const note = [required.includes(name) ? '' : optional, property.description ?? ''].filter(Boolean).join('. ')
    const path = `${prefix}${name}`
    return [`| \`${path}\` | ${typeOf(property)} | ${note} |`, ...fieldsWithin(property, path)]
  })
}

/** The fields of variants that a field tells apart, under what it says there; undefined where none does. */
function variantsByTag(oneOf: readonly z.core.JSONSchema._JSONSchema[], prefix: string): string[] | undefined {
  const variants = oneOf.map((variant) => (typeof variant === 'boolean' ? {} : variant))
  const tagOf = ({ properties = {} }: z.core.JSONSchema.BaseSchema, name: string) => {
    const { [name]: property = true, ...others } = properties
    return typeof property === 'object' && (property.const ?? property.enum) !== undefined
      ? { property, others }
      : undefined
  }
  const name = Object.keys(variants[0]?.properties ?? {}).find((each) =>
    variants.every((variant) => tagOf(variant, each)),
  )
  if (name === undefined) return undefined
  const found = variants.flatMap((variant) => {
    const tag = tagOf(variant, name)
    return tag ? [{ variant, ...tag }] : []
  })
  const path = `${prefix}${name}`
  return [
    `| \`${path}\` | ${typeOf({ anyOf: found.map(({ property }) => property) })} |  |`,
    ...found.flatMap(({ variant, property, others }) => {
      const rows = fields({ ...variant, properties: others }, prefix)
      return rows.length > 0 ? [`| _where \`${path}\` is ${typeOf(property)}:_ | | |`, ...rows] : []
    }),
  ]
}

/** The fields of an object, of the elements of a list, or of the values under the keys of a record. */
function fieldsWithin(schema: z.core.JSONSchema._JSONSchema, path: string): string[] {
  if (typeof schema === 'boolean') return []
  const { items, properties, additionalProperties } = schema
  if (items && !Array.isArray(items)) return fieldsWithin(items, `${path}[]`)
  if (!properties && typeof additionalProperties === 'object')
    return fieldsWithin(additionalProperties, `${path}.<key>`)
  return fields(schema, `${path}.`)
}

function typeOf(schema: z.core.JSONSchema.BaseSchema): string {
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(', ')
  if (schema['discriminator']) return '[event](#webhooks)'
  if (schema.type === 'array' && typeof schema.items === 'object' && !Array.isArray(schema.items)) {
    const { enum: values, discriminator } = schema.items
    if (values ?? discriminator) return `array of ${typeOf(schema.items)}`
  }
  const variants = (schema.anyOf ?? schema.oneOf)?.filter((variant) => typeof variant !== 'boolean')
  if (variants) return [...new Set(variants.map(typeOf))].join(' or ')
  return [schema.type ?? 'any'].flat().join(' or ')
}
