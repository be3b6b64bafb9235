import type * as z from 'zod'
import type { EndpointContract } from '../lib/frame/contract.ts'
import recorded from './examples.json' with { type: 'json' }
import { type Example, operationId } from './openapi.ts'

const EXAMPLES: Readonly<Record<string, Example>> = recorded
const MAX_COLUMNS = 120
const MAX_CHARACTERS = 80
const SENT_BY_CLIENT = ['authorization', 'origin']

/** Request of an operation's example: the path after the API's URL, and the headers except those that identify the caller. */
export type ExampleRequest = {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Returns the request of an operation's recorded example; undefined if none was recorded. */
export function exampleRequest(contract: EndpointContract): ExampleRequest | undefined {
  const example = EXAMPLES[operationId(contract)]
  if (!example) return undefined
  const { path, request } = contract
  const { parameters, body } = example
  const inPath = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ''))
  const only = (part: z.ZodObject | undefined) =>
    Object.entries(parameters).filter(([name]) => name in (part?.shape ?? {}))
  const query = new URLSearchParams(only(request.query)).toString()
  return {
    path: `${inPath}${query && `?${query}`}`,
    headers: {
      ...Object.fromEntries(only(request.headers)),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body }),
  }
}

/** Formats an operation's example as Markdown blocks: the request for curl and for our client, and the response. */
export function exampleBlocks(contract: EndpointContract): string[] {
  const request = exampleRequest(contract)
  if (!request) return []
  const { response } = EXAMPLES[operationId(contract)] ?? {}
  return [
    `\`\`\`sh\n${curlText(contract, request)}\n\`\`\``,
    // Operations with the tag System have no example for the client, except getHealth: the client has only operations that wallets call.
    ...(contract.tag === 'System' && operationId(contract) !== 'getHealth'
      ? []
      : [`\`\`\`ts\n${clientText(contract)}\n\`\`\``]),
    ...(response === undefined ? [] : ['The response:', jsonBlock(response)]),
  ]
}

/** Formats a value as a Markdown block of JSON. */
export function jsonBlock(value: unknown): string {
  return `\`\`\`json\n${jsonText(value)}\n\`\`\``
}

function curlText({ method, caller }: EndpointContract, { path, headers, body }: ExampleRequest): string {
  const sent = [
    ...(caller === 'anyone' ? [] : ['x-join-key: $VAULTLINE_KEY']),
    ...(caller === 'user' ? ['authorization: Bearer $TOKEN'] : []),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  return [
    `curl "$VAULTLINE_URL${path}"${method === 'GET' || body !== undefined ? '' : ` -X ${method}`}`,
    ...sent.map((header) => `-H "${header}"`),
    ...(body === undefined ? [] : [`-d '${jsonText(body)}'`]),
  ].join(' \\\n  ')
}

function clientText(contract: EndpointContract): string {
  const id = operationId(contract)
  const { parameters = {}, body } = EXAMPLES[id] ?? {}
  const named = Object.entries(parameters).filter(([name]) => !SENT_BY_CLIENT.includes(name))
  const input = { ...Object.fromEntries(named), ...(typeof body === 'object' ? body : {}) }
  const args = ['client', ...(Object.keys(input).length > 0 || body !== undefined ? [typescriptText(input)] : [])]
  const session = contract.caller === 'user' ? ', session: TOKEN' : ''
  return [
    `import { ${id} } from '@vaultline/client'`,
    '',
    `const client = { url: VAULTLINE_URL, key: VAULTLINE_KEY${session} }`,
    `const result = await ${id}(${args.join(', ')})`,
    'if (!result.ok) throw new Error(result.error.code)',
    ...(contract.status === 204 ? [] : ['console.log(result.data)']),
  ].join('\n')
}

/** Formats a value as JSON, each part on one line if it fits, and shortens long texts. */
function jsonText(value: unknown): string {
  return valueText(value, (text) => JSON.stringify(text), JSON.stringify)
}

/** Formats a value as a TypeScript literal, each part on one line if it fits, and shortens long texts. */
function typescriptText(value: unknown): string {
  const quote = (text: string) => (/['\\\n]/.test(text) ? JSON.stringify(text) : `'${text}'`)
  return valueText(value, quote, (name) => (/^[a-z_$][\w$]*$/i.test(name) ? name : quote(name)))
}

function valueText(
  value: unknown,
  quote: (text: string) => string,
  nameOf: (name: string) => string,
  indent = '',
): string {
  if (typeof value === 'string') {
    return quote(value.length > MAX_CHARACTERS ? `${value.slice(0, MAX_CHARACTERS)}…` : value)
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const inner = `${indent}  `
  const named = (name: string) => (Array.isArray(value) ? '' : `${nameOf(name)}: `)
  const parts = Object.entries(value).map(([name, part]) => `${named(name)}${valueText(part, quote, nameOf, inner)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const line = `${open} ${parts.join(', ')} ${close}`
  if (parts.length === 0) return `${open}${close}`
  if (!line.includes('\n') && indent.length + line.length <= MAX_COLUMNS) return line
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`
}
