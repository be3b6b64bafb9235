import { writeFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import type { Address } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, describe, expect } from 'vitest'
import * as z from 'zod'
import { endpoints } from '../../functions/contracts.ts'
import { handler as refreshChain } from '../../functions/jobs/refresh-chain/handler.ts'
import { handler as refreshMarket } from '../../functions/jobs/refresh-market/handler.ts'
import { handler as refreshRewards } from '../../functions/jobs/refresh-rewards/handler.ts'
import { handler as refreshTokens } from '../../functions/jobs/refresh-tokens/handler.ts'
import { type ErrorCode, getErrorDefinition } from '../../lib/core/errors.ts'
import type { EndpointContract } from '../../lib/frame/contract.ts'
import { EventType } from '../../lib/webhooks/event.ts'
import packageJson from '../../package.json' with { type: 'json' }
import examples from '../../reference/examples.json' with { type: 'json' }
import { type Example, listErrors, operationId } from '../../reference/openapi.ts'
import { ACCOUNTS } from '../../sandbox/accounts.ts'
import { clashingNames } from '../interface/letter-case.ts'
import {
  beginCredentialAddition,
  createSession,
  type RegistrationOptions,
  recoverAccount,
  registerUser,
  someEmail,
} from '../support/accounts.ts'
import { someKeyPair } from '../support/credentials.ts'
import { buildExample, EXAMPLES_FILE, findEndpoint, keepKnownValues } from '../support/examples.ts'
import { someContext } from '../support/lambda.ts'
import { recordAllBlocks } from '../support/records.ts'
import { test as base, type HttpReply, type Service, USERS } from '../support/service.ts'
import { listUndeclaredRequests } from '../support/uses.ts'
import { playWalletStory } from '../support/wallet-story.ts'

type JsonSchema = Record<string, unknown>
type Field = { readonly items?: object; readonly anyOf?: object[] }
type Content = { readonly 'application/json': { readonly schema: JsonSchema; readonly example?: unknown } }
type Operation = {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly security: readonly JsonSchema[]
  readonly parameters: readonly {
    readonly name: string
    readonly in: string
    readonly description?: string
    readonly required: boolean
    readonly schema: JsonSchema
    readonly example?: unknown
  }[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, Response>>
}
type Delivery = Pick<Operation, 'summary' | 'description' | 'requestBody' | 'responses' | 'parameters'>
type Response = { readonly description: string; readonly headers: JsonSchema; readonly content?: Content }
type Document = {
  readonly openapi: string
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: Delivery }>>
  readonly components: {
    readonly parameters: Readonly<Record<string, object>>
    readonly headers: Readonly<Record<string, object>>
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly responses: Readonly<Record<string, Response>>
    readonly securitySchemes: JsonSchema
  }
}

const DOCUMENTED = Object.entries<EndpointContract>(endpoints).filter(([, { path }]) => path !== '$default')
const [USER] = USERS
const NOBODYS_VAULT = '0x00000000000000000000000000000000000000A1'
const HASH = `0x${'5c'.repeat(32)}`
const OF_USER = `/defi-vaults/v1/defi/user/${USER.address}`

const test = base
  .override('backendsOptions', () => ({ withPast: true }))
  .extend('document', { scope: 'file' }, async ({ sharedService }): Promise<Document> => {
    const { body } = await sharedService.call('GET', '/openapi.json', { key: null })
    return body
  })
  .extend('operationOf', ({ document }) => (name: string): Operation => {
    const { method, path } = Object.fromEntries(DOCUMENTED)[name] as EndpointContract
    return resolveReferences(document.paths[path]?.[method.toLowerCase()], document) as Operation
  })

const REFERENCE = /^#\/components\/(schemas|responses|parameters|headers)\/([\w-]+)$/

function resolveReferences(part: unknown, document: Document): unknown {
  if (Array.isArray(part)) return part.map((item) => resolveReferences(item, document))
  if (typeof part !== 'object' || part === null) return part
  const { $ref, ...rest } = part as JsonSchema
  const [, kind, name] = REFERENCE.exec(`${$ref}`) ?? []
  const referred = name ? document.components[kind as 'schemas' | 'responses' | 'parameters' | 'headers'][name] : {}
  const whole = Object.entries({ ...(referred as JsonSchema), ...rest })
  return Object.fromEntries(whole.map(([key, value]) => [key, resolveReferences(value, document)]))
}

const GATEWAY_STATUSES = ['413', '429', '431', '500', '503']

/** Returns the schema of the errors that the service itself sends. Errors of the API gateway have another schema. */
function ownErrors(response: Response | undefined): JsonSchema {
  const schema = response?.content?.['application/json'].schema as JsonSchema
  const [own = schema] = (schema['anyOf'] ?? []) as readonly JsonSchema[]
  return own
}

function mergeObjects({ allOf, ...schema }: JsonSchema): JsonSchema {
  const parts = (allOf ?? []) as readonly { readonly properties: object; readonly required: readonly string[] }[]
  if (parts.length === 0) return schema
  const properties = Object.assign({}, ...parts.map((part) => part.properties))
  return { type: 'object', ...schema, properties, required: parts.flatMap(({ required }) => required) }
}

function closeSchema(schema: unknown): JsonSchema {
  const close = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(close)
    if (typeof value !== 'object' || value === null) return value
    const rest = mergeObjects(value as JsonSchema)
    const inner = Object.fromEntries(Object.entries(rest).map(([name, part]) => [name, close(part)]))
    const isObject = inner['type'] === 'object' && inner['properties'] !== undefined
    return isObject && !('additionalProperties' in inner) ? { ...inner, additionalProperties: false } : inner
  }
  return close(schema) as JsonSchema
}

function problemsOf(schema: JsonSchema, value: unknown): string | undefined {
  const { error } = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(value)
  return error && z.prettifyError(error)
}

describe('The document', () => {
  test('is valid OpenAPI 3.1', async ({ document }) => {
    const validator = new Validator()
    expect(await validator.validate(structuredClone(document))).toEqual({ valid: true })
    expect(validator.version).toBe('3.1')
  })

  test('has the running version, and is the same each time', async ({ service, document }) => {
    expect(document.info.version).toBe(packageJson.version)
    const again = await service.call('GET', '/openapi.json')
    expect(again.body).toEqual(document)
  })

  test('has every route of the contracts and no other', ({ document }) => {
    const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const promised = DOCUMENTED.map(([, { method, path }]) => `${method} ${path}`)
    expect(documented.sort()).toEqual(promised.sort())
  })

  test('has a unique name for every operation', ({ document }) => {
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    )
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9]+$/)
  })

  test('describes every parameter, and every field that has more than one value', ({ document }) => {
    const isDescribed = (field: unknown): boolean => {
      const { items, anyOf = [], ...schema } = resolveReferences(field, document) as Field
      return 'description' in schema || 'const' in schema || (items && isDescribed(items)) || anyOf.some(isDescribed)
    }
    const undescribed = (part: unknown, name: string): string[] => {
      if (typeof part !== 'object' || part === null) return []
      const inner = Object.entries(part).flatMap(([key, value]) => undescribed(value, `${name}.${key}`))
      const fields = Object.entries('properties' in part && !Array.isArray(part) ? (part.properties as object) : {})
      return [...inner, ...fields.flatMap(([key, field]) => (isDescribed(field) ? [] : [`${name}.${key}`]))]
    }
    expect(undescribed(document.components.schemas, '')).toEqual([])
    const operations = Object.values(document.paths).flatMap(Object.values<Operation>)
    const parameters = operations.flatMap(({ operationId, parameters }) =>
      parameters.flatMap(({ name, description }) => (description ? [] : [`${operationId}.${name}`])),
    )
    expect(parameters).toEqual([])
  })

  test('describes units at the fields, because references override the description of an object', ({ document }) => {
    const withUnit = Object.entries(document.components.schemas).filter(
      ([, { properties, description }]) => properties && /second|smallest unit|percent/i.test(`${description}`),
    )
    expect(withUnit.map(([name]) => name)).toEqual([])
    const { properties } = document.components.schemas['EstimatedSettlement'] as { properties: object }
    for (const { description } of Object.values(properties)) expect(description).toContain('seconds')
  })

  test('has no two fields of an object that differ only in case', ({ operationOf }) => {
    expect(clashingNames(DOCUMENTED.map(([name]) => closeSchema(operationOf(name))))).toEqual([])
  })

  test('has only references into itself', ({ document }) => {
    const references = [...JSON.stringify(document).matchAll(/"(#\/[^"]+)"/g)].map(([, reference]) => reference)
    expect(references.length).toBeGreaterThan(0)
    for (const reference of references) {
      const [, kind, name] = REFERENCE.exec(reference ?? '') ?? []
      expect(document.components).toHaveProperty([`${kind}`, `${name}`])
    }
  })

  test.for(DOCUMENTED)('has every error of %s, by status, with code and text', ([name, contract], { operationOf }) => {
    const { responses } = operationOf(name)
    const codes = listErrors(contract)
    const statuses = new Set([
      String(contract.status ?? 200),
      ...(contract.cacheControl === 'no-store' ? [] : ['304']),
      ...GATEWAY_STATUSES,
      ...codes.map((code) => getErrorDefinition(code).status.toString()),
    ])
    expect(Object.keys(responses).sort()).toEqual([...statuses].sort())
    for (const code of codes) {
      const { status, error } = getErrorDefinition(code)
      const response = responses[status]
      expect(response?.description).toContain(`\`${code}\`: ${error}.`)
      expect(ownErrors(response)).toMatchObject({
        allOf: [
          { properties: { requestId: { type: 'string' } } },
          {
            required: ['code'],
            properties: {
              code: { enum: expect.arrayContaining([code]) },
              error: { enum: expect.arrayContaining([error]) },
            },
          },
        ],
      })
    }
  })

  test.for(DOCUMENTED)("has the gateway's own errors of %s, which have only a message", ([name], { operationOf }) => {
    const { responses } = operationOf(name)
    for (const status of GATEWAY_STATUSES) {
      const { description, content } = responses[status] ?? {}
      expect(description).toContain('`{ "message": "…" }` only, from the gateway')
      const schema = content?.['application/json'].schema as JsonSchema
      expect(problemsOf(schema, { message: 'Service Unavailable' })).toBeUndefined()
    }
  })

  test.for(DOCUMENTED)('has the parameters, the body and the key of %s', ([name, contract], { operationOf }) => {
    const { parameters, requestBody, security, summary, description } = operationOf(name)
    const { headers, path, query, body } = contract.request
    const names = [headers, path, query].flatMap((part) => Object.keys(part?.shape ?? {}))
    expect(parameters.map((parameter) => parameter.name)).toEqual(names)
    for (const parameter of parameters) {
      expect(parameter.required || parameter.in !== 'path').toBe(true)
      expect(parameter.schema).toMatchObject({ type: 'string' })
    }
    const documented = requestBody?.content['application/json'].schema
    expect(Object.keys((documented?.['properties'] ?? {}) as object)).toEqual(Object.keys(body?.shape ?? {}))
    expect(requestBody === undefined || documented?.['additionalProperties'] === false).toBe(true)
    const scopes = { Activity: ['vaults'], System: [] }
    const { [contract.tag as keyof typeof scopes]: apiKey = [contract.tag.toLowerCase()] } = scopes
    const keys = { anyone: [], client: [{ apiKey }], user: [{ apiKey, session: [] }] }
    expect(security).toEqual(keys[contract.caller])
    expect([summary, description]).toEqual([contract.title, contract.summary])
  })

  test('requires the same fields of a body as the service', ({ operationOf }) => {
    const deposit = operationOf('vaults/deposit').requestBody?.content['application/json'].schema as JsonSchema
    expect(deposit['required']).toEqual(['vaultAddress', 'amount', 'userAddress'])
    const right = { vaultAddress: NOBODYS_VAULT, amount: '1', userAddress: USER.address }
    expect(problemsOf(deposit, right)).toBeUndefined()
    for (const wrong of [
      {},
      { ...right, srcChainID: 1 },
      { ...right, amount: '01' },
      { ...right, amount: 1 },
      { ...right, vaultAddress: 'x' },
      { ...right, amount: null },
    ]) {
      expect(problemsOf(deposit, wrong)).toBeDefined()
    }
  })

  test('allows null for the optional fields of a body, at any depth', ({ operationOf }) => {
    const bodyOf = (name: string) => operationOf(name).requestBody?.content['application/json'].schema as JsonSchema
    const deposit = { vaultAddress: NOBODYS_VAULT, amount: '1', userAddress: USER.address }
    const nulls = { srcChainId: null, srcToken: null, chainId: null }
    expect(problemsOf(bodyOf('vaults/deposit'), { ...deposit, ...nulls })).toBeUndefined()
    const password = { credentialKind: 'Password', credentialInfo: { password: 'x'.repeat(8) }, credentialName: null }
    const signedChallenge = { firstFactorCredential: password, secondFactorCredential: null }
    expect(problemsOf(bodyOf('accounts/register'), { signedChallenge, recoveryCredential: null })).toBeUndefined()
    const nothing = { ...password, credentialInfo: null }
    expect(problemsOf(bodyOf('accounts/register'), { firstFactorCredential: nothing })).toBeDefined()
  })

  test.for(DOCUMENTED)('has an example of %s that matches its schemas', ([name], { operationOf }) => {
    const { parameters, requestBody, responses } = operationOf(name)
    const [success] = Object.entries(responses).flatMap(([code, response]) => (code < '300' ? [response] : []))
    const shown = [
      ...parameters.filter(({ required, example }) => required || example !== undefined),
      ...[requestBody, success].flatMap((part) => part?.content?.['application/json'] ?? []),
    ]
    const problems = shown.flatMap(({ schema, example }) =>
      example === undefined ? 'none: npm run examples' : (problemsOf(closeSchema(schema), example) ?? []),
    )
    expect(problems).toEqual([])
  })

  test('has no example of a removed operation', () => {
    const operations = DOCUMENTED.map(([, contract]) => operationId(contract))
    expect(operations).toEqual(expect.arrayContaining(Object.keys(examples)))
  })

  test('describes every webhook delivery: meaning, headers, body, an example, and the effect of each response', ({
    document,
  }) => {
    expect(Object.keys(document.webhooks)).toEqual([...EventType.options, 'webhook.test'])
    for (const [type, webhook] of Object.entries(document.webhooks)) {
      const { post } = resolveReferences(webhook, document) as { post: Delivery }
      expect(post.summary).toBe(type)
      // The description says what a webhook event means, when it is sent, and which other events may precede or
      // follow it.
      expect(post.description).toMatch(/^An? .*Sent /)
      if (type !== 'webhook.test') expect(post.description).toMatch(/[Ff]ollow|in place of|No event says/)
      expect(post.parameters.map(({ name, in: place, required }) => [name, place, required])).toEqual(
        ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, 'header', true]),
      )
      const { schema, example } = post.requestBody?.content['application/json'] ?? {}
      expect(schema).toMatchObject({ properties: { type: { const: type } } })
      expect(problemsOf(closeSchema(schema ?? {}), example), type).toBeUndefined()
      expect(Object.keys(post.responses).sort()).toEqual(['2XX', '410', '429', 'default'])
    }
  })

  test('distinguishes events by their type, with a named schema for each', ({ document }) => {
    const { oneOf, discriminator } = document.components.schemas['WebhookEvent'] as {
      oneOf: { $ref: string }[]
      discriminator: { propertyName: string; mapping: Record<string, string> }
    }
    expect(discriminator.propertyName).toBe('type')
    expect(Object.keys(discriminator.mapping)).toEqual(EventType.options)
    expect(Object.values(discriminator.mapping)).toEqual(oneOf.map(({ $ref }) => $ref))
    for (const [type, $ref] of Object.entries(discriminator.mapping)) {
      expect(resolveReferences({ $ref }, document)).toMatchObject({ properties: { type: { const: type } } })
    }
  })

  test('names the header of the key', ({ document }) => {
    expect(document.components.securitySchemes).toEqual({
      apiKey: { type: 'apiKey', in: 'header', name: 'x-join-key', description: expect.any(String) },
      session: { type: 'http', scheme: 'bearer', description: expect.any(String) },
    })
  })
})

type Ask = (service: Service, vaults: Vaults) => Promise<HttpReply>
type Vaults = { readonly asyncVault: Address; readonly syncVault: Address; readonly otherUsdc: Address }

const deposit =
  (choose: (vaults: Vaults) => unknown, extra: (vaults: Vaults) => object = () => ({})): Ask =>
  (service, vaults) =>
    service.call('POST', endpoints['vaults/deposit'].path, {
      body: { vaultAddress: choose(vaults), amount: '50000000', userAddress: USER.address, ...extra(vaults) },
    })
const withdraw =
  (choose: (vaults: Vaults) => unknown, extra: object): Ask =>
  (service, vaults) =>
    service.call('POST', endpoints['vaults/withdraw'].path, {
      body: { vaultAddress: choose(vaults), userAddress: ACCOUNTS.anchor.address, ...extra },
    })
const claim =
  (choose: (vaults: Vaults) => unknown, extra: object = {}): Ask =>
  (service, vaults) =>
    service.call('POST', endpoints['vaults/claim'].path, {
      body: { vaultAddress: choose(vaults), userAddress: USER.address, ...extra },
    })
const cancel =
  (choose: (vaults: Vaults) => unknown, extra: object): Ask =>
  (service, vaults) =>
    service.call('POST', endpoints['vaults/cancel'].path, {
      body: { vaultAddress: choose(vaults), userAddress: USERS[1].address, ...extra },
    })
const status =
  (choose: (vaults: Vaults) => string, query = `?userAddress=${USER.address}`): Ask =>
  (service, vaults) =>
    service.call('GET', endpoints['vaults/deposit-status'].path.replace('{vaultAddress}', choose(vaults)) + query)
const withdrawStatus =
  (choose: (vaults: Vaults) => string): Ask =>
  (service, vaults) => {
    const path = endpoints['vaults/withdraw-status'].path.replace('{vaultAddress}', choose(vaults))
    return service.call('GET', `${path}?userAddress=${USERS[2].address}`)
  }
const crossChain =
  (hash: string, query: string): Ask =>
  (service) =>
    service.call('GET', endpoints['vaults/cross-chain-status'].path.replace('{txHash}', hash) + query)
const list =
  (key?: string): Ask =>
  (service) =>
    service.call('GET', endpoints['vaults/list'].path, { ...(key !== undefined && { key }) })
const get =
  (path: string | ((vaults: Vaults) => string)): Ask =>
  (service, vaults) =>
    service.call('GET', typeof path === 'string' ? path : path(vaults))
const withWires =
  (behaviour: 'answer 500' | 'answer HTML', ask: Ask): Ask =>
  (service, vaults) => {
    for (const wire of Object.values(service.rpc)) wire.behaviour = behaviour
    return ask(service, vaults)
  }

const claimRewards =
  (extra: object): Ask =>
  (service) =>
    service.call('POST', endpoints['vaults/claim-rewards'].path, {
      body: { userAddress: USERS[1].address, chainId: 8453, ...extra },
    })

const search =
  (text: string): Ask =>
  (service) =>
    service.call('POST', endpoints['markets/search'].path, { body: { search: text } })
type Call = (method: string, path: string, body?: unknown) => Promise<HttpReply>
const beginToRecover =
  (fields: object): Ask =>
  (service) =>
    service.call('POST', '/auth/recover/init', {
      headers: { platform: 'web' },
      body: { email: someEmail(), ...fields },
    })
const recoverAs =
  (credentialsOf: (begun: RegistrationOptions, keyPair: ReturnType<typeof someKeyPair>) => object): Ask =>
  async (service) => {
    const recoveryKey = someKeyPair()
    const { email } = await registerUser(service, (begun) => ({
      firstFactorCredential: someKeyPair().create(begun),
      recoveryCredential: recoveryKey.create(begun, {}, { kind: 'RecoveryKey' }),
    }))
    return recoverAccount(service, email, recoveryKey, (begun) => credentialsOf(begun, someKeyPair()))
  }
const asUser =
  (method: string, path: string, body?: unknown): Ask =>
  async (service) => {
    const { headers } = await createSession(service)
    return service.call(method, path, { headers, ...(body !== undefined && { body }) })
  }
const withWallet =
  (ask: (call: Call, linked: HttpReply) => HttpReply | Promise<HttpReply>): Ask =>
  async (service) => {
    const { headers } = await createSession(service)
    const wallet = privateKeyToAccount(USER.privateKey)
    const call: Call = (method, path, body) =>
      service.call(method, path, { headers, ...(body !== undefined && { body }) })
    const { message } = (await call('POST', '/auth/wallets/init', { address: wallet.address, chain: 'evm' })).body
    const linked = await call('POST', '/auth/wallets', { message, signature: await wallet.signMessage({ message }) })
    return ask(call, linked)
  }

const LIVE: readonly (readonly [name: keyof typeof endpoints, ErrorCode | 'ok', what: string, Ask])[] = [
  ['vaults/list', 'ok', 'all vaults while no chain responds', withWires('answer 500', list())],
  ['vaults/list', 'missing_api_key', 'no key', list('')],
  ['vaults/list', 'invalid_api_key', 'a wrong key', list('x')],
  ['vaults/deposit', 'ok', 'an instant deposit', deposit(({ syncVault }) => syncVault)],
  [
    'vaults/deposit',
    'ok',
    'a deposit that would revert',
    deposit(
      ({ syncVault }) => syncVault,
      () => ({ amount: (2n ** 255n).toString() }),
    ),
  ],
  [
    'vaults/deposit',
    'unknown_field',
    'a misspelt field',
    deposit(
      ({ asyncVault }) => asyncVault,
      () => ({ srcChainID: 1 }),
    ),
  ],
  ['vaults/deposit', 'missing_or_invalid_vault_address', 'no address', deposit(() => 5)],
  ['vaults/deposit', 'vault_not_found', 'an unknown vault', deposit(() => NOBODYS_VAULT)],
  [
    'vaults/deposit',
    'invalid_content_digest',
    'another body',
    ({ call }) =>
      call('POST', '/defi-vaults/v1/defi/vault/deposit', { body: {}, headers: { 'content-digest': 'sha-256=::' } }),
  ],
  ['vaults/deposit', 'payload_too_large', 'a large body', deposit(() => 'x'.repeat(20_000))],
  [
    'vaults/deposit',
    'upstream_unavailable',
    'a chain that is down',
    withWires(
      'answer 500',
      deposit(({ asyncVault }) => asyncVault),
    ),
  ],
  [
    'vaults/deposit',
    'upstream_bad_answer',
    'a chain that is confused',
    withWires(
      'answer HTML',
      deposit(({ asyncVault }) => asyncVault),
    ),
  ],
  ['vaults/deposit-status', 'missing_or_invalid_user_address', 'no user', status(({ asyncVault }) => asyncVault, '')],
  [
    'vaults/deposit-status',
    'deposit_status_not_applicable',
    'a synchronous vault',
    status(({ syncVault }) => syncVault),
  ],
  ['vaults/withdraw-status', 'ok', 'no withdrawal', withdrawStatus(({ asyncVault }) => asyncVault)],
  [
    'vaults/withdraw-status',
    'withdraw_status_not_applicable',
    'a synchronous vault',
    withdrawStatus(({ syncVault }) => syncVault),
  ],
  ['vaults/withdraw', 'ok', 'a request of the maximum', withdraw(({ asyncVault }) => asyncVault, { max: true })],
  [
    'vaults/withdraw',
    'ok',
    'shares that are paid at once',
    withdraw(({ syncVault }) => syncVault, { shares: '1000000' }),
  ],
  [
    'vaults/withdraw',
    'amount_exceeds_balance',
    'more than there is',
    withdraw(({ syncVault }) => syncVault, { amount: '9'.repeat(30) }),
  ],
  ['vaults/withdraw', 'missing_or_invalid_amount', 'no amount', withdraw(({ syncVault }) => syncVault, {})],
  [
    'vaults/claim',
    'no_claimable_deposit',
    'nothing settled',
    claim(({ asyncVault }) => asyncVault, { userAddress: USERS[1].address }),
  ],
  ['vaults/claim', 'claim_not_applicable', 'a synchronous vault', claim(({ syncVault }) => syncVault)],
  [
    'vaults/claim',
    'no_claimable_withdrawal',
    'no withdrawal settled',
    claim(({ asyncVault }) => asyncVault, { kind: 'withdrawal' }),
  ],
  ['vaults/claim', 'invalid_kind', 'another kind', claim(({ asyncVault }) => asyncVault, { kind: 'all' })],
  [
    'vaults/cancel',
    'no_pending_request',
    'no pending withdrawal',
    cancel(({ asyncVault }) => asyncVault, { kind: 'withdrawal' }),
  ],
  ['vaults/cancel', 'cancel_not_applicable', 'a synchronous vault', cancel(({ syncVault }) => syncVault, {})],
  [
    'vaults/history',
    'invalid_range',
    'another range',
    get(({ syncVault }) => `/defi-vaults/v1/defi/vault/${syncVault}/history?range=2y`),
  ],
  ['vaults/cross-chain-status', 'ok', 'an unknown hash', crossChain(HASH, '?srcChainId=8453')],
  ['vaults/cross-chain-status', 'invalid_tx_hash', 'no hash', crossChain('x', '?srcChainId=8453')],
  ['vaults/cross-chain-status', 'missing_src_chain_id', 'no chain', crossChain(HASH, '')],
  ['vaults/cross-chain-status', 'unsupported_src_chain_id', 'another chain', crossChain(HASH, '?srcChainId=2')],
  ['activity/positions', 'ok', 'a user with none', get(`/defi-vaults/v1/defi/user/${NOBODYS_VAULT}/positions`)],
  ['activity/positions', 'missing_or_invalid_user_address', 'no address', get('/defi-vaults/v1/defi/user/x/positions')],
  [
    'activity/position',
    'position_not_found',
    'a vault that was never used',
    get(({ syncVault }) => `/defi-vaults/v1/defi/user/${USERS[2].address}/positions/${syncVault}`),
  ],
  ['activity/withdrawals', 'invalid_cursor', 'a forged cursor', get(`${OF_USER}/withdrawals?cursor=x`)],
  ['activity/deposits', 'invalid_cursor', 'a forged cursor', get(`${OF_USER}/deposits?cursor=x`)],
  ['activity/rewards', 'ok', 'a user with none', get(`/defi-vaults/v1/defi/user/${NOBODYS_VAULT}/rewards`)],
  ['vaults/claim-rewards', 'no_claimable_rewards', 'a user with none', claimRewards({})],
  ['vaults/claim-rewards', 'invalid_tokens', 'no token', claimRewards({ tokens: [] })],
  ['accounts/recover-init', 'ok', 'a recovery that begins', beginToRecover({})],
  [
    'accounts/recover',
    'invalid_credential',
    'a wrong credential',
    recoverAs((begun, keyPair) => ({ firstFactorCredential: keyPair.create(begun, { challenge: 'x' }) })),
  ],
  [
    'accounts/login-init',
    'ok',
    'a login that begins with an e-mail address',
    (service) => service.call('POST', '/auth/login/init', { body: { email: someEmail() } }),
  ],
  ['accounts/sessions-end', 'session_not_found', 'an unknown id', asUser('DELETE', '/auth/sessions/none')],
  ['accounts/logout', 'missing_session', 'none', (service) => service.call('POST', '/auth/logout')],
  [
    'accounts/credentials-add',
    'challenge_expired_or_used',
    'a token of nobody',
    async (service) => {
      const { headers, keyPair } = await createSession(service)
      const begun = await beginCredentialAddition(service, headers)
      const body = {
        temporaryAuthenticationToken: 'x',
        firstFactorCredential: someKeyPair().create(begun),
        confirmation: { firstFactor: keyPair.get(begun) },
      }
      return service.call('POST', '/auth/credentials', { headers, body })
    },
  ],
  ['accounts/credentials-remove', 'credential_not_found', 'another', asUser('DELETE', '/auth/credentials/x')],
  ['accounts/wallets-unlink', 'wallet_not_found', 'another', asUser('DELETE', `/auth/wallets/${USER.address}`)],
  ['markets/coins', 'unsupported_currency', 'another currency', get('/portfolio-indexor/markets?currency=doubloon')],
  ['markets/coin', 'coin_not_found', 'another', get('/portfolio-indexor/markets/coins/no-such-coin')],
  ['markets/search', 'ok', 'nothing found', search('no such coin')],
  ['markets/search', 'invalid_search', 'two letters', search('us')],
  ['portfolio/all-balances', 'ok', 'no wallet', asUser('GET', '/portfolio-indexor/allBalances')],
  [
    'portfolio/all-balances',
    'ok',
    'a wallet while chains are down',
    withWires(
      'answer 500',
      withWallet((call) => call('GET', '/portfolio-indexor/allBalances')),
    ),
  ],
  [
    'portfolio/all-balances',
    'unsupported_currency',
    'another currency',
    asUser('GET', '/portfolio-indexor/allBalances?currency=doubloon'),
  ],
  ['portfolio/nfts', 'missing_session', 'no session', get('/portfolio-indexor/nft')],
  ['portfolio/token-chart-by-id', 'ok', 'all there is', get('/portfolio-indexor/token/id/bitcoin')],
  ['portfolio/token-chart-by-id', 'invalid_days', 'half a day', get('/portfolio-indexor/token/id/bitcoin?days=0.5')],
  ['portfolio/token-chart-by-id', 'token_not_found', 'another', get('/portfolio-indexor/token/id/no-such-coin')],
  [
    'portfolio/token-chart-by-address',
    'unsupported_network',
    'another network',
    get('/portfolio-indexor/token/address/mars/native'),
  ],
]

const liveTest = test
  .extend('vaults', { scope: 'file' }, async ({ sharedService }): Promise<Vaults> => {
    const [chain, other] = sharedService.backends.chains as [
      Service['backends']['chains'][number],
      Service['backends']['chains'][number],
    ]
    const addressOf = (type: 'async' | 'sync') => chain.vaults.find((vault) => vault.type === type)?.address as Address
    await Promise.all([chain, other].map(({ chainId }) => refreshChain({ chainId }, someContext())))
    await refreshTokens({}, someContext())
    await refreshMarket({}, someContext())
    await refreshRewards({ chainId: chain.chainId }, someContext())
    const otherUsdc = other.tokens.find(({ symbol }) => symbol === 'USDC')?.address as Address
    return { asyncVault: addressOf('async'), syncVault: addressOf('sync'), otherUsdc }
  })
  .extend('verify', ({ service, document, operationOf }) => (name: keyof typeof endpoints, reply: HttpReply): void => {
    const { status, headers, body } = reply
    const refused = listUndeclaredRequests(endpoints[name], service.table.tries)
    expect(refused, `missing in uses of ${name}: ${refused.join(', ')}`).toEqual([])
    const response = operationOf(name).responses[status]
    expect(response).toBeDefined()
    const isPresent = (header: string) => !headers.has(header) || response?.headers[header]
    expect(Object.keys(document.components.headers).filter((header) => !isPresent(header))).toEqual([])
    const schema = response?.content?.['application/json'].schema as JsonSchema
    if (status < 300) {
      expect(schema ? problemsOf(closeSchema(schema), body) : body, name).toBeUndefined()
      return
    }
    const [error, ofThisStatus] = ownErrors(response)['allOf'] as [JsonSchema, JsonSchema]
    expect(problemsOf(closeSchema(error), body)).toBeUndefined()
    expect(problemsOf(ofThisStatus, body)).toBeUndefined()
  })

const examplesByOperation = new Map<string, Example>()

/**
 * Wraps the service's `call`. The first successful call of each operation becomes an example in the OpenAPI document.
 */
function recordExamples(service: Service): Service {
  const call: Service['call'] = async (...request) => {
    // The service compares table requests since the last reset with the permissions of the called operation.
    service.table.reset()
    const reply = await service.call(...request)
    const id = operationId(findEndpoint(request[0], request[1]).contract)
    if (reply.status < 300 && !examplesByOperation.has(id)) examplesByOperation.set(id, buildExample(request, reply))
    return reply
  }
  return { ...service, call }
}

// Examples of the OpenAPI document are written by `npm run examples`, if every test has passed.
// biome-ignore lint/correctness/noEmptyPattern: vitest reads fixtures from this pattern.
afterAll(({}, { tasks }) => {
  if (process.env['EXAMPLES'] !== 'write' || tasks.some(({ result }) => result?.state === 'fail')) return
  const ids = DOCUMENTED.map(([, contract]) => operationId(contract))
  const missing = ids.filter((id) => !examplesByOperation.has(id))
  if (missing.length > 0) throw new Error(`No test has an answer of ${missing.join(', ')}`)
  const recorded = Object.fromEntries(ids.map((id) => [id, examplesByOperation.get(id)]))
  writeFileSync(EXAMPLES_FILE, JSON.stringify(keepKnownValues(examples, recorded)))
})

describe('A live response matches the document:', () => {
  // One test covers about forty operations, because a wallet uses them one after another.
  liveTest('each one of a wallet that uses all features', { timeout: 120_000 }, async ({ service, vaults, verify }) => {
    const watched = recordExamples(service)
    const call: Service['call'] = async (...request) => {
      const reply = await watched.call(...request)
      expect(reply.status, `${request[0]} ${request[1]}: ${JSON.stringify(reply.body)}`).toBeLessThan(300)
      verify(findEndpoint(request[0], request[1]).name, reply)
      return reply
    }
    const [chain] = service.backends.chains
    if (!chain) throw new Error('The story needs a chain')
    await playWalletStory({ ...service, call }, { ...vaults, publishEvents: () => recordAllBlocks(chain) })
  })

  liveTest.for(LIVE)('%s, %s: %s', async ([name, expected, , ask], { service, vaults, verify }) => {
    const reply = await ask(recordExamples(service), vaults)
    expect(reply.status < 300 ? 'ok' : reply.body.code).toBe(expected)
    verify(name, reply)
  })

  test('one of every endpoint', () => {
    expect(new Set(examplesByOperation.keys())).toEqual(
      new Set(DOCUMENTED.map(([, contract]) => operationId(contract))),
    )
  })

  test('a body that differs would be found', ({ operationOf }) => {
    const schema = closeSchema(operationOf('system/health').responses['200']?.content?.['application/json'].schema)
    expect(problemsOf(schema, { status: 'ok', version: '1' })).toBeUndefined()
    for (const wrong of [
      {},
      { status: 'ok' },
      { status: 'no', version: '1' },
      { status: 'ok', version: '1', more: 1 },
    ]) {
      expect(problemsOf(schema, wrong)).toBeDefined()
    }
  })
})
