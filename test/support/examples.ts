import { isAddress } from 'viem'
import { endpoints } from '../../functions/contracts.ts'
import type { EndpointContract } from '../../lib/frame/contract.ts'
import type { Example } from '../../reference/openapi.ts'
import type { HttpReply, Service } from './service.ts'

/** File with the examples of the OpenAPI document, by operation name. */
export const EXAMPLES_FILE = 'reference/examples.json'

/** Placeholders that replace session and registration tokens in examples. They show readers that no token is real. */
const SECRETS: Readonly<Record<string, string>> = {
  token: 'example-session-token',
  temporaryAuthenticationToken: 'example-temporary-token',
  challengeIdentifier: 'example-challenge-identifier',
}
/** Networks that examples keep from a longer list. All networks have the same fields, so two suffice. */
const NETWORKS: readonly unknown[] = ['eth-mainnet', 'base-mainnet']
/** Maximum number of objects of a list in an example. */
const MAX_ITEMS = 2

/** Returns the endpoint for a method and path, with its path parameters. Throws if no endpoint fits. */
export function findEndpoint(method: string, path: string) {
  const { pathname } = new URL(path, 'http://service')
  for (const name of Object.keys(endpoints) as (keyof typeof endpoints)[]) {
    const contract: EndpointContract = endpoints[name]
    const pattern = contract.path.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')
    const match = contract.method === method && new RegExp(`^${pattern}$`).exec(pathname)
    if (match) return { name, contract, pathParameters: match.groups ?? {} }
  }
  throw new Error(`No endpoint takes ${method} ${path}`)
}

/** Builds an OpenAPI example from a request and its response. Lists are shortened and secrets replaced by placeholders. */
export function buildExample(
  [method, path, { body, headers = {} } = {}]: Parameters<Service['call']>,
  reply: HttpReply,
): Example {
  const { contract, pathParameters } = findEndpoint(method, path)
  const query = Object.fromEntries(new URL(path, 'http://service').searchParams)
  const documented = Object.entries(headers).filter(([name]) => name in (contract.request.headers?.shape ?? {}))
  return {
    parameters: { ...Object.fromEntries(documented), ...pathParameters, ...query },
    ...(body !== undefined && { body: present(body) }),
    ...(reply.body !== undefined && { response: present(reply.body) }),
  }
}

/**
 * Returns the new example, but keeps the old numbers and the old texts with digits: hashes, times, addresses, ids. Such values
 * differ at each run. So a diff of the examples shows only real changes.
 */
export function keepKnownValues(previous: unknown, next: unknown): unknown {
  if (typeof previous === 'number' && typeof next === 'number') return previous
  if (typeof previous === 'string' && typeof next === 'string')
    return [previous, next].every(hasDigit) ? previous : next
  if (typeof previous !== 'object' || typeof next !== 'object' || previous === null || next === null) return next
  const values = new Map(Object.entries(previous))
  if (Array.isArray(next)) return next.map((item, index) => keepKnownValues(values.get(`${index}`), item))
  const fields = Object.entries(next).map(([name, field]) => {
    const before = values.get(name)
    return [name, BY_CHANCE.includes(name) && typeof before === typeof field ? before : keepKnownValues(before, field)]
  })
  return Object.fromEntries(fields)
}

/** Fields whose words differ at each run, because list items created in the same second have no fixed order. */
const BY_CHANCE = ['vaultName']

const hasDigit = (text: string) => /\d/.test(text)

function present(value: unknown): unknown {
  if (typeof value === 'string') {
    // Examples show a public webhook URL, because only the local service delivers to this machine.
    return value
      .replace(/(?<=^otpauth:.*secret=)\w+/, 'EXAMPLE')
      .replace(/^http:\/\/127\.0\.0\.1:\d+(?=\/vaultline$)/, 'https://hooks.example.com')
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.filter((item) => typeof item !== 'object' || !isOtherNetwork(item?.chain))
    const isOfThings = items.some((item) => typeof item === 'object')
    return (isOfThings ? items.slice(0, MAX_ITEMS) : items).map(present)
  }
  // An example that contains the whole OpenAPI document would be too long.
  if ('openapi' in value && 'info' in value) return { openapi: value.openapi, info: value.info }
  const fields = Object.entries(value).filter(([name]) => !isOtherNetwork(name))
  return Object.fromEntries(fields.map(([name, field]) => [name, secretOf(name, field) ?? present(field)]))
}

/**
 * Returns the placeholder of a secret field, or undefined for any other field. A field `token` with an address is not
 * secret. It names an ERC-20 token, not a session token.
 */
function secretOf(name: string, field: unknown): string | undefined {
  return typeof field === 'string' && isAddress(field) ? undefined : SECRETS[name]
}

function isOtherNetwork(name: unknown): boolean {
  return typeof name === 'string' && name.endsWith('-mainnet') && !NETWORKS.includes(name)
}
