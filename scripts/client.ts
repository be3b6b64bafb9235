import { readFile, writeFile } from 'node:fs/promises'
import { endpoints } from '../functions/contracts.ts'
import { listErrorDefinitions } from '../lib/core/errors.ts'
import type { EndpointContract } from '../lib/frame/contract.ts'
import { buildOpenApi, type JsonSchema, jsonSchema, listErrors, operationId } from '../reference/openapi.ts'

// Writes generated files of the client package. Types and operations come from the OpenAPI document, MCP tools from the contracts, and
// error texts for users from docs/errors.md. With --check it only compares the files.
const CHECK = process.argv.includes('--check')

type Schema = JsonSchema | boolean

/** Request headers that are no parameters, because the client adds them itself or only the browser may send them. */
const SENT_ANYWAY = ['authorization', 'origin']

/** Areas whose operations become MCP tools: they only read, or prepare transactions for the user to sign. */
const TOOL_AREAS: readonly EndpointContract['tag'][] = ['Vaults', 'Activity', 'Markets']
/** Schema of the tools' parameter `limit`. Its page sizes fit a model's context: a vault takes about 700 tokens. */
const TOOL_LIMIT: JsonSchema = {
  type: 'integer',
  description: 'Page size; `cursor` takes the `nextCursor` of a page',
  minimum: 1,
  maximum: 25,
  default: 10,
}

const CONTRACTS: readonly EndpointContract[] = Object.values(endpoints)
const { version } = JSON.parse(await readFile('client/package.json', 'utf8'))
const { paths, webhooks, components } = buildOpenApi(CONTRACTS, '')
const files = {
  'client/src/api.ts': generateApi(),
  'client/src/mcp-tools.ts': generateTools(),
  'client/src/texts.ts': generateTexts(await readFile('docs/errors.md', 'utf8')),
}
for (const [file, text] of Object.entries(files)) {
  if (!CHECK) await writeFile(file, text)
  else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
    process.stderr.write(`${file} is not what the contracts and docs/errors.md say. Run: npm run client\n`)
    process.exitCode = 1
  }
}

/**
 * Generates the error texts for users. They come from docs/errors.md, where the last column of some tables contains
 * them.
 */
function generateTexts(page: string): string {
  const rows = [...page.matchAll(/^\| `(\w+)` +\|(?:[^|]*\|){3} +(\S[^|]*?) +\|$/gm)]
  const lines = rows.map(([, code, text = '']) => `  ${code}: ${JSON.stringify(text)},`)
  return [
    '// Written from docs/errors.md by `npm run client`.',
    '/** Texts for users by error code. Codes without a text get a general one. */',
    'export const TEXTS: Readonly<Record<string, string>> = {',
    ...lines,
    '}',
    '',
  ].join('\n')
}

function generateApi(): string {
  const operations = CONTRACTS.filter(({ tag, path }) => tag !== 'System' || path === '/health')
  const code = operations.map(operationCode).join('\n\n')
  const delivered = Object.values(webhooks).map(({ post }) => typeOf(schemaOf(post.requestBody), ''))
  const types = namedTypes([code, ...delivered].join('\n'))
  return [
    '// Written from the contracts by `npm run client`.',
    "import { operation } from './operation.ts'",
    ...types,
    errorTypes(),
    code,
    '',
  ].join('\n\n')
}

/** Returns the types that this generated code mentions, and the types that those types mention. */
function namedTypes(code: string): string[] {
  const types = new Map<string, string>()
  const meanings = new Map(
    Object.values(webhooks).map(({ post }) => [typeOf(schemaOf(post.requestBody), ''), post.description]),
  )
  const addTypes = (within: string) => {
    for (const [name, schema] of Object.entries(components.schemas)) {
      if (types.has(name) || !new RegExp(`\\b${name}\\b`).test(within)) continue
      const about = meanings.has(name) ? { description: meanings.get(name) } : schema
      const type = `${comment(about, '')}export type ${name} = ${typeOf(schema, '')}`
      types.set(name, type)
      addTypes(type.replace(`export type ${name}`, ''))
    }
  }
  addTypes(code)
  return [...types].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, type]) => type)
}

/** Generates the table of the MCP server's tools: the operations of `TOOL_AREAS` that need no user session. */
function generateTools(): string {
  const contracts = CONTRACTS.filter(({ tag, caller }) => caller === 'client' && TOOL_AREAS.includes(tag))
  const rows = contracts.map((contract) => {
    const { title, summary, request } = contract
    const parts = [request.path, request.query, request.body].flatMap((part) => (part ? [jsonSchema(part)] : []))
    const properties = Object.assign({}, ...parts.map((part) => part.properties))
    const inputSchema = {
      type: 'object',
      properties: Object.fromEntries(
        Object.entries<Schema>(properties).map(([name, field]) => [name, toolField(name, field)]),
      ),
      required: parts.flatMap(({ required = [] }) => required),
      additionalProperties: false,
      ...(parts.some(({ $defs }) => $defs) && { $defs: Object.assign({}, ...parts.map(({ $defs }) => $defs)) }),
    }
    const name = operationId(contract)
    return `  ${name}: { operation: ${name}, ${JSON.stringify({ title, description: summary, inputSchema }).slice(1)},`
  })
  return [
    '// Written from the contracts and client/package.json by `npm run client`.',
    `import { ${contracts.map(operationId).join(', ')} } from './api.ts'`,
    `/** The version of this package. */\nexport const VERSION = '${version}'`,
    '/** The tools of the MCP server by the names of their operations. */',
    'export const TOOLS = {',
    ...rows.map(namingTools),
    '} as const',
    '',
  ].join('\n')
}

/** Builds the schema of a tool's input field. The field is an integer if the API's parameter is a number as text. */
function toolField(name: string, field: Schema): Schema {
  if (name === 'limit') return TOOL_LIMIT
  if (typeof field === 'boolean' || field.type !== 'string' || !isNumeric(field)) return field
  const { pattern: _, enum: values, default: value, ...rest } = field
  return {
    ...rest,
    type: 'integer',
    ...(values && { enum: values.map(Number) }),
    ...(value !== undefined && { default: Number(value) }),
  }
}

/** Replaces routes in a description by the names of tools, because a language model sees only tools. */
function namingTools(text: string): string {
  return CONTRACTS.reduce(
    (before, contract) => before.replaceAll(`\`${contract.method} ${contract.path}\``, `\`${operationId(contract)}\``),
    text,
  )
}

function errorTypes(): string {
  const codes = listErrorDefinitions().map(
    ({ code, status, error, message }) => `  /** ${error}. ${message} */\n  ${code}: ${status}`,
  )
  return `/** The HTTP status of each error, by its code. */\nexport type Errors = {\n${codes.join('\n')}\n}`
}

function operationCode(contract: EndpointContract): string {
  const { method, path } = contract
  const operation = paths[path]?.[method.toLowerCase()]
  if (!operation) throw new Error(`The document has no ${method} ${path}.`)
  const { operationId, description, parameters, requestBody, responses } = operation
  const inputs = parameters.filter(({ name }) => !SENT_ANYWAY.includes(name))
  const namesIn = (place: string) => inputs.flatMap((parameter) => (parameter.in === place ? [parameter.name] : []))
  const fields = inputs.map(({ name, required, schema, description }) => {
    const type = isNumeric(schema) ? `${typeOf(schema, '  ')} | number` : typeOf(schema, '  ')
    return `${comment({ description }, '  ')}  ${name}${required ? '' : '?'}: ${type}${required ? '' : ' | undefined'}`
  })
  const body = requestBody && typeOf(requestBody.content['application/json'].schema, '')
  const input = [...(fields.length > 0 ? [`{\n${fields.join('\n')}\n}`] : []), ...(body ? [body] : [])].join(' & ')
  const [success = {}] = Object.entries(responses).flatMap(([status, response]) => (status < '300' ? [response] : []))
  const places = { query: namesIn('query'), headers: namesIn('header') }
  const where = Object.entries(places).flatMap(([place, names]) =>
    names.length > 0 ? [`${place}: [${names.map((name) => `'${name}'`).join(', ')}]`] : [],
  )
  const items = itemsOf(success)
  if (!('content' in success)) where.push('isEmpty: true')
  if (items) where.push(`items: '${items}'`)
  const args = [`'${method}'`, `'${path}'`, ...(where.length > 0 ? [`{ ${where.join(', ')} }`] : [])]
  const mayBeLeftOut = !requestBody && !inputs.some(({ required }) => required)
  const generics = [[...(input ? [input] : []), ...(mayBeLeftOut ? ['void'] : [])].join(' | '), dataOf(success)]
  generics.push(listErrors(contract).map(literal).join(' | '))
  return `/** ${description} */\nexport const ${operationId} = /* @__PURE__ */ operation<\n${generics.join(',\n')}\n>(${args.join(', ')})`
}

function dataOf(response: object): string {
  return 'content' in response ? typeOf(schemaOf(response), '') : 'undefined'
}

/** Returns the name of the field that holds a page's items in a paginated response. The list `evidence` does not hold items. */
function itemsOf(response: object): string | undefined {
  const { $ref = '' } = 'content' in response ? schemaOf(response) : {}
  const schema = components.schemas[$ref.split('/').at(-1) ?? '']
  const { properties = {} } = typeof schema === 'object' ? schema : {}
  if (!('nextCursor' in properties)) return undefined
  const lists = Object.keys(properties).filter((name) => typeOf(properties[name] ?? true, '').endsWith('[]'))
  return lists.find((name) => name !== 'evidence')
}

function schemaOf(response: object): JsonSchema {
  // The cast: our OpenAPI document describes each response as JSON.
  const { content } = response as { content?: { 'application/json': { schema: JsonSchema } } }
  return content?.['application/json'].schema ?? {}
}

function typeOf(schema: Schema, indent: string): string {
  if (typeof schema === 'boolean') return 'unknown'
  const { $ref, allOf, anyOf, oneOf, prefixItems, items, properties, additionalProperties, pattern = '' } = schema
  if ($ref) return $ref.split('/').at(-1) ?? 'unknown'
  if (schema.const !== undefined) return literal(schema.const)
  // The generated type of a numeric enumeration allows any number, so that a new chain id needs no new version of the
  // client.
  if (schema.enum)
    return [...schema.enum.map(literal), ...(schema.type === 'integer' ? ['(number & {})'] : [])].join(' | ')
  if (allOf) return allOf.map((part) => typeOf(part, indent)).join(' & ')
  const variants = anyOf ?? oneOf
  if (variants) return [...new Set(variants.map((variant) => typeOf(variant, indent)))].join(' | ')
  if (prefixItems) return `[${prefixItems.map((item) => typeOf(item, indent)).join(', ')}]`
  if (items && !Array.isArray(items)) return `${parenthesised(typeOf(items, indent))}[]`
  if (properties) return objectType(schema, indent)
  if (typeof additionalProperties === 'object') return `Record<string, ${typeOf(additionalProperties, indent)}>`
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type }, indent)).join(' | ')
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is TypeScript's template, not ours
  if (schema.type === 'string') return pattern.startsWith('^0x') ? '`0x${string}`' : 'string'
  if (schema.type === 'integer' || schema.type === 'number') return 'number'
  return schema.type === 'boolean' || schema.type === 'null' ? schema.type : 'unknown'
}

function objectType({ properties = {}, required = [], additionalProperties }: JsonSchema, indent: string): string {
  const inner = `${indent}  `
  const fields = Object.entries(properties).map(([name, field]) => {
    const optional = required.includes(name) ? '' : '?'
    const key = /^\d/.test(name) ? `'${name}'` : name
    return `${comment(field, inner)}${inner}${key}${optional}: ${typeOf(field, inner)}${optional && ' | undefined'}`
  })
  const isOpen = typeof additionalProperties === 'object' && Object.keys(additionalProperties).length === 0
  return `{\n${[...fields, ...(isOpen ? [`${inner}[name: string]: unknown`] : [])].join('\n')}\n${indent}}`
}

function parenthesised(type: string): string {
  return type.includes(' | ') ? `(${type})` : type
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}

/** Returns whether a parameter's text always represents a number. */
function isNumeric({ pattern = '', enum: values }: JsonSchema): boolean {
  return values ? values.every((value) => /^\d+$/.test(String(value))) : pattern.includes('[1-9][0-9]')
}

function comment(schema: boolean | { readonly description?: string | undefined }, indent: string): string {
  const description = typeof schema === 'object' ? schema.description : undefined
  return description ? `${indent}/** ${description} */\n` : ''
}
