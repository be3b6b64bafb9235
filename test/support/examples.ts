import { isAddress } from 'viem'
import { endpoints } from '../../functions/contracts.ts'
import type { EndpointContract } from '../../lib/frame/contract.ts'
import type { Example } from '../../reference/openapi.ts'
import type { HttpReply, Service } from './service.ts'

/** File of the OpenAPI document's examples, by the names of their operations. */
export const EXAMPLES_FILE = 'reference/examples.json'

/** Placeholders for secrets of a session or a registration, so that no reader wonders whether one is real. */
const SECRETS: Readonly<Record<string, string>> = {
  token: 'example-session-token',
  temporaryAuthenticationToken: 'example-temporary-token',
  challengeIdentifier: 'example-challenge-identifier',
}
/** Networks that examples keep of a longer list, whose items all have the same fields. */
const NETWORKS: readonly unknown[] = ['eth-mainnet', 'base-mainnet']
/** Maximum number of objects that an example keeps of a list. */
const MAX_ITEMS = 2

/** Returns the endpoint that takes this request and its path parameters. Throws without one. */
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

/** Builds an example from a request and its response, with short lists and placeholders for secrets. */
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
 * Returns the new example, but keeps the known values that change by chance: numbers, and texts with digits (hashes, times,
 * addresses, ids). A new field then changes only its own example, and a changed word is noticed.
 */
export function keepKnown(known: unknown, next: unknown): unknown {
  if (typeof known === 'number' && typeof next === 'number') return known
  if (typeof known === 'string' && typeof next === 'string') return [known, next].every(hasDigit) ? known : next
  if (typeof known !== 'object' || typeof next !== 'object' || known === null || next === null) return next
  const values = new Map(Object.entries(known))
  if (Array.isArray(next)) return next.map((item, index) => keepKnown(values.get(`${index}`), item))
  const fields = Object.entries(next).map(([name, field]) => {
    const before = values.get(name)
    return [name, BY_CHANCE.includes(name) && typeof before === typeof field ? before : keepKnown(before, field)]
  })
  return Object.fromEntries(fields)
}

/** Fields whose words differ by chance, because list items of the same second have no fixed order. */
const BY_CHANCE = ['vaultName']

const hasDigit = (text: string) => /\d/.test(text)

function present(value: unknown): unknown {
  if (typeof value === 'string') {
    // Examples show a public webhook URL, because only the local service sends to this machine.
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
  // The OpenAPI document is shortened, because an example of the whole would be too long.
  if ('openapi' in value && 'info' in value) return { openapi: value.openapi, info: value.info }
  const fields = Object.entries(value).filter(([name]) => !isOtherNetwork(name))
  return Object.fromEntries(fields.map(([name, field]) => [name, secretOf(name, field) ?? present(field)]))
}

/** Returns the placeholder for a field that is secret. A field `token` with an ERC-20 token is not. */
function secretOf(name: string, field: unknown): string | undefined {
  return typeof field === 'string' && isAddress(field) ? undefined : SECRETS[name]
}

function isOtherNetwork(name: unknown): boolean {
  return typeof name === 'string' && name.endsWith('-mainnet') && !NETWORKS.includes(name)
}
