import { isAddress } from 'viem'
import { endpoints } from '../../functions/contracts.ts'
import type { EndpointContract } from '../../lib/frame/contract.ts'
import type { Example } from '../../reference/openapi.ts'
import type { HttpReply, Service } from './service.ts'

/** The file of the examples that the document shows, by the names of their operations. */
export const EXAMPLES_FILE = 'reference/examples.json'

/** What is good for a session or a registration is told by what it is: nobody has to wonder whose it was. */
const SECRETS: Readonly<Record<string, string>> = {
  token: 'example-session-token',
  temporaryAuthenticationToken: 'example-temporary-token',
  challengeIdentifier: 'example-challenge-identifier',
}
/** Of what is the same for each of many networks, these are shown. */
const NETWORKS: readonly unknown[] = ['eth-mainnet', 'base-mainnet']
/** The longest list of things, rather than of words, that is shown whole. */
const MAX_ITEMS = 2

/** The endpoint that takes this request, with the parameters of its path; throws where there is none. */
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

/** A request and its answer as an example: its lists cut short, its secrets told by their names. */
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
 * The new value, with what differs by chance as it was known: numbers, and texts with digits (hashes, times, addresses, ids).
 * So a new field of an answer changes one example, and a changed word is seen.
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

/** Words that differ by chance: of entries of the same second any may come first. */
const BY_CHANCE = ['vaultName']

const hasDigit = (text: string) => /\d/.test(text)

/** A value of JSON as a reader wants to see it. */
function present(value: unknown): unknown {
  if (typeof value === 'string') {
    // The local service sends to this machine alone, and every other to public hosts.
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
  // The document about itself goes on for long.
  if ('openapi' in value && 'info' in value) return { openapi: value.openapi, info: value.info }
  const fields = Object.entries(value).filter(([name]) => !isOtherNetwork(name))
  return Object.fromEntries(fields.map(([name, field]) => [name, secretOf(name, field) ?? present(field)]))
}

/** The text in place of a secret. An ERC-20 token is none. */
function secretOf(name: string, field: unknown): string | undefined {
  return typeof field === 'string' && isAddress(field) ? undefined : SECRETS[name]
}

function isOtherNetwork(name: unknown): boolean {
  return typeof name === 'string' && name.endsWith('-mainnet') && !NETWORKS.includes(name)
}
