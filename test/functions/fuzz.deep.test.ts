import { Agent, request } from 'node:http'
import fc from 'fast-check'
import { describe, expect, vi } from 'vitest'
import { endpoints } from '../../functions/contracts.ts'
import { EVM_CHAINS } from '../../lib/chain/registry.ts'
import type { EndpointContract } from '../../lib/frame/contract.ts'
import { listErrors } from '../../reference/openapi.ts'
import { expectError } from '../support/errors.ts'
import { scaleSampleCount } from '../support/runs.ts'
import { test as base, type HttpReply, USERS } from '../support/service.ts'
import { CODE_POINT } from '../support/texts.ts'

// Logging is off, because writing log lines would take longer than the requests.
vi.hoisted(() => {
  process.env['POWERTOOLS_LOG_LEVEL'] = 'SILENT'
})

const RUNS = { numRuns: scaleSampleCount(200) }
const [{ address: USER }] = USERS
const NOBODYS_VAULT = '0x00000000000000000000000000000000000000A1'

type RawRequest = {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body?: Buffer | string | undefined
}

const test = base
  /** Sends a request over a socket without any change. `fetch` would normalize the path and the headers. */
  .extend('send', ({ service }, { onCleanup }) => {
    const agent = new Agent({ keepAlive: true })
    onCleanup(() => agent.destroy())
    return ({ method, path, headers, body }: RawRequest): Promise<HttpReply> =>
      new Promise((resolve, reject) => {
        const length = { 'content-length': String(Buffer.byteLength(body ?? '')) }
        const options = { agent, method, headers: { ...headers, ...length } }
        const outgoing = request(new URL(service.baseUrl), { ...options, path }, async (incoming) => {
          const text = Buffer.concat(await incoming.toArray()).toString()
          const received = new Headers(incoming.headers as Record<string, string>)
          resolve({ status: incoming.statusCode ?? 0, headers: received, body: JSON.parse(text) })
        })
        outgoing.once('error', reject).end(body)
      })
  })
  /**
   * Sends the requests in `first` and then hundreds of random ones. Asserts that one of the endpoint contracts declares
   * each reply. Returns the error codes of the replies.
   */
  .extend(
    'fuzz',
    ({ send }) =>
      async (
        requests: fc.Arbitrary<RawRequest>,
        contracts: readonly EndpointContract[],
        first: readonly RawRequest[] = [],
      ) => {
        const met = new Set<string>()
        const property = fc.asyncProperty(requests, async (sent) => {
          met.add(expectDeclared(contracts, await send(sent)))
        })
        await fc.assert(property, { ...RUNS, examples: first.map((sent): [RawRequest] => [sent]) })
        return [...met]
      },
  )
  .extend('vaults', ({ service }) => service.backends.chains.flatMap(({ vaults }) => vaults))

/**
 * Asserts that one of these endpoint contracts declares the reply, and that the reply's status is below 500. Returns
 * the reply's error code, or "success".
 */
function expectDeclared(contracts: readonly EndpointContract[], reply: HttpReply): string {
  expect(reply.status).toBeLessThan(500)
  if (reply.status === 200) {
    const errors = contracts.map(({ response }) => response.safeDecode(reply.body).error)
    expect(errors).toContain(undefined)
    return 'success'
  }
  const code = contracts.flatMap(listErrors).find((declared) => declared === reply.body.code)
  expect(code, `${reply.body.code} is declared`).toBeDefined()
  if (code) expectError(reply, code, fieldsOf(reply))
  return String(code)
}

function fieldsOf({ body }: HttpReply): string[] | undefined {
  return (body.details as { field: string }[] | undefined)?.map(({ field }) => field)
}

const PLAIN_TEXT = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)) })
const HEADER_TEXT = fc
  .oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0xa0, max: 0xff }))
  .chain((code) => fc.string({ unit: fc.constantFrom('\t', 'a', '{', String.fromCharCode(code)), maxLength: 200 }))
const HEADERS = fc.dictionary(
  fc.constantFrom('content-type', 'accept', 'authorization', 'platform', 'origin', 'cookie', 'user-agent', 'x-other'),
  fc.oneof(HEADER_TEXT, fc.constantFrom('application/json', 'application/octet-stream', 'text/plain', 'null')),
)
const QUERY = fc.oneof(
  fc.constant(''),
  PLAIN_TEXT.map((text) => `?${text}`),
  fc.dictionary(fc.string({ unit: CODE_POINT }), fc.string()).map((all) => `?${new URLSearchParams(all)}`),
)

const VALUE = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>('', '0', '-1', '01', '1e3', 2 ** 53, -0, 1.5, `0x${'0'.repeat(40)}`, '0x', {}, [], null),
  fc.stringMatching(/^0x[0-9a-fA-F]{38,42}$/),
  fc.stringMatching(/^0x[0-9a-f]{40}$/),
  fc.bigInt({ min: 0n, max: 2n ** 257n }).map(String),
  fc.string({ unit: 'grapheme', maxLength: 50 }),
)

/**
 * Random values as texts for a query. `String` would throw for an object whose `toString` is no function, so
 * JSON.stringify is used.
 */
const VALUE_TEXT = VALUE.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))

function typo(text: string): fc.Arbitrary<string> {
  return fc
    .tuple(fc.nat({ max: text.length - 1 }), fc.constantFrom('', 'g', 'F', ' ', '\u0660', '\u0000'))
    .map(([at, character]) => text.slice(0, at) + character + text.slice(at + 1))
}

function nearly(right: Record<string, unknown>): fc.Arbitrary<Record<string, unknown>> {
  const field = fc.constantFrom(...Object.keys(right), 'srcChainId', 'srcToken', 'chainId')
  return fc.oneof(
    fc.tuple(field, VALUE).map(([name, value]) => ({ ...right, [name]: value })),
    fc.tuple(PLAIN_TEXT, VALUE).map(([name, value]) => ({ ...right, [name]: value })),
    field.map((name) => ({ ...right, [name]: undefined })),
    field.chain((name) => typo(String(right[name] ?? name)).map((text) => ({ ...right, [name]: text }))),
    field.chain((name) => typo(name).map((text) => ({ ...right, [name]: undefined, [text]: right[name] }))),
  )
}

/**
 * Builds random bodies. Few of them are valid, because the service reads a chain for each valid body, which takes
 * long.
 */
function bodies(rights: readonly Record<string, unknown>[]): fc.Arbitrary<Buffer | string | undefined> {
  const right = fc.constantFrom(...rights)
  return fc.oneof(
    { weight: 6, arbitrary: right.chain(nearly).map((body) => JSON.stringify(body)) },
    { weight: 3, arbitrary: fc.json() },
    { weight: 2, arbitrary: fc.string({ unit: CODE_POINT }) },
    { weight: 2, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: right.map((body) => JSON.stringify(body)) },
    { weight: 1, arbitrary: fc.constantFrom(undefined, '', ' '.repeat(16_385), '[', '{"a":{"a":{"a":1}}}') },
  )
}

describe('Hundreds of random requests never break', () => {
  test('the vault list', async ({ service, fuzz }) => {
    const contract = endpoints['vaults/list']
    // Few requests have the valid API key, because each valid request for the list reads both chains, which takes
    // long.
    const key = fc.oneof({ weight: 19, arbitrary: HEADER_TEXT }, { weight: 1, arbitrary: fc.constant(service.apiKey) })
    const requests = fc.record({ query: QUERY, headers: HEADERS, key }).map(({ query, headers, key }) => ({
      method: 'GET',
      path: contract.path + query,
      headers: { ...headers, 'x-join-key': key },
    }))
    const met = await fuzz(requests, [contract])
    expect(met).toEqual(expect.arrayContaining(['success', 'missing_api_key', 'invalid_api_key']))
  })

  test.for([
    ['vaults/deposit', { amount: '1000' }, ['success', 'missing_or_invalid_amount', 'missing_or_invalid_src_chain_id']],
    ['vaults/claim', {}, ['no_claimable_deposit', 'claim_not_applicable']],
  ] as const)('%s', async ([name, extra, expected], { service, vaults, fuzz }) => {
    const contract = endpoints[name]
    const addresses = [...vaults.map(({ address }) => address), NOBODYS_VAULT]
    const rights = addresses.map((vaultAddress) => ({ vaultAddress, ...extra, userAddress: USER }))
    type Parts = Pick<RawRequest, 'headers' | 'body'> & { readonly query: string }
    const requestOf = ({ query, headers, body }: Parts) => ({
      method: 'POST',
      path: contract.path + query,
      headers: { ...headers, 'x-join-key': service.apiKey },
      body,
    })
    const requests = fc.record({ query: QUERY, headers: HEADERS, body: bodies(rights) }).map(requestOf)
    const first = rights.map((right) => requestOf({ query: '', headers: {}, body: JSON.stringify(right) }))
    const met = await fuzz(requests, [contract], first)
    expect(met).toEqual(expect.arrayContaining([...expected, 'invalid_json', 'unknown_field']))
  })

  test('the deposit status', async ({ service, vaults, fuzz }) => {
    const contract = endpoints['vaults/deposit-status']
    const vault = fc.constantFrom(...vaults.map(({ address }) => address))
    const place = fc.oneof(vault, vault.chain(typo), fc.stringMatching(/^0x[0-9a-f]{40}$/), PLAIN_TEXT)
    const query = fc.oneof(
      QUERY,
      fc.constant(`?userAddress=${USER}`),
      typo(USER).map((user) => `?userAddress=${encodeURIComponent(user)}`),
      fc.oneof(typo('8453'), VALUE_TEXT).map((chainId) => `?userAddress=${USER}&chainId=${encode(chainId)}`),
    )
    const requests = fc.record({ place, query, headers: HEADERS }).map(({ place, query, headers }) => ({
      method: 'GET',
      path: contract.path.replace('{vaultAddress}', () => encode(place)) + query,
      headers: { ...headers, 'x-join-key': service.apiKey },
    }))
    // A path with no address, or with a dot for it, is an unknown route. Replies to unknown routes are therefore
    // allowed too.
    const met = await fuzz(requests, [contract, endpoints['system/unknown-route']])
    const expected = [
      'success',
      'missing_or_invalid_vault_address',
      'missing_or_invalid_user_address',
      'vault_not_found',
    ]
    expect(met).toEqual(expect.arrayContaining([...expected, 'missing_or_invalid_chain_id']))
  })

  test('the cross-chain status', async ({ service, fuzz }) => {
    const contract = endpoints['vaults/cross-chain-status']
    const hash = fc.stringMatching(/^0x[0-9a-f]{64}$/)
    const place = fc.oneof(hash.chain(typo), hash, PLAIN_TEXT)
    // Ids of chains that do not run on this machine are excluded, because a test must not read a real chain.
    const elsewhere = EVM_CHAINS.map(({ id }) => id.toString())
    const chainId = fc.oneof(typo('8453'), VALUE_TEXT).filter((text) => !elsewhere.includes(text))
    const query = fc.oneof(
      QUERY,
      fc.constantFrom('?srcChainId=8453', '?srcChainId=42161&index=2'),
      chainId.map((text) => `?srcChainId=${encode(text)}`),
      fc.oneof(typo('8453'), VALUE_TEXT).map((text) => `?srcChainId=8453&index=${encode(text)}`),
    )
    const requests = fc.record({ place, query, headers: HEADERS }).map(({ place, query, headers }) => ({
      method: 'GET',
      path: contract.path.replace('{txHash}', () => encode(place)) + query,
      headers: { ...headers, 'x-join-key': service.apiKey },
    }))
    // A path with no hash, or with a dot for it, is an unknown route. Replies to unknown routes are therefore allowed
    // too.
    const met = await fuzz(requests, [contract, endpoints['system/unknown-route']])
    const expected = ['success', 'invalid_tx_hash', 'missing_src_chain_id', 'invalid_src_chain_id', 'invalid_index']
    expect(met).toEqual(expect.arrayContaining(expected))
  })

  // Only the health endpoint is tested of all endpoints without input, because its response is the shortest.
  test('the health endpoint', async ({ fuzz }) => {
    const contract = endpoints['system/health']
    const requests = fc.record({ query: QUERY, headers: HEADERS, key: HEADER_TEXT }).map(({ query, headers, key }) => ({
      method: 'GET',
      path: contract.path + query,
      headers: { ...headers, 'x-join-key': key },
    }))
    expect(await fuzz(requests, [contract])).toEqual(['success'])
  })

  test('any route with any method', async ({ fuzz }) => {
    const knownPaths = fc.constantFrom(...Object.values(endpoints).map(({ path }) => path))
    const odd = fc.constantFrom('..', '.', '%2e%2e', '%', '%zz', '%00', '%c0%af', '/', '\\', '{x}', '*', ';', '@')
    const path = fc.oneof(
      knownPaths,
      fc.array(fc.oneof(PLAIN_TEXT, odd)).map((pieces) => pieces.join('/')),
      knownPaths.chain(typo).map((text) => text.replaceAll(/[^\x21-\x7e]/g, encode)),
      fc.tuple(knownPaths, odd).map((pieces) => pieces.join('/')),
      odd.map((part) => endpoints['vaults/deposit-status'].path.replace('{vaultAddress}', () => part)),
    )
    const requests = fc.record({
      method: fc.constantFrom('GET', 'GET', 'POST', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'),
      path: path.map((text) => (text.startsWith('/') ? text : `/${text}`)),
      headers: HEADERS,
      body: fc.oneof(fc.constant(undefined), fc.json()),
    })
    const met = await fuzz(requests, Object.values(endpoints))
    expect(met).toEqual(expect.arrayContaining(['not_found', 'method_not_allowed', 'missing_api_key']))
  })
})

/** Encodes a text as part of a path or query. `encodeURIComponent` alone would throw for lone surrogates. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
