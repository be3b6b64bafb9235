import { existsSync, globSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { build } from 'esbuild'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { CallError } from '../../client/src/index.ts'
import { consumers, endpoints, jobs } from '../../functions/contracts.ts'
import { AppError, getErrorDefinition, listErrorDefinitions } from '../../lib/core/errors.ts'
import { fieldErrors } from '../../lib/core/field.ts'
import type { Contract, EndpointContract, JobContract } from '../../lib/frame/contract.ts'
import { parseRequest } from '../../lib/frame/request.ts'
import { buildOpenApi, listErrors } from '../../reference/openapi.ts'
import { DOCUMENTED_ERRORS } from '../support/errors.ts'

const ENDPOINTS = Object.entries<EndpointContract>(endpoints)
const ALL = { ...endpoints, ...jobs, ...consumers }
const CONTRACTS = Object.entries<Contract>(ALL)
/** Options that make a JSON schema describe values in the form in which HTTP bodies contain them. */
const AS_SENT = { io: 'input', unrepresentable: 'any' } as const
const FILES = globSync('functions/**/contract.ts')

test('Exactly the contracts in functions/ are listed, under the names of their folders', async () => {
  expect(FILES.length).toBeGreaterThan(0)
  const modules = await Promise.all(
    FILES.map(async (file) => {
      const { contract } = await import(/* @vite-ignore */ `../../${file}`)
      return [file.replace(/^functions\/(.*)\/contract\.ts$/, '$1'), contract] as const
    }),
  )
  expect(Object.keys(ALL).sort()).toEqual(modules.map(([name]) => name).sort())
  for (const [name, contract] of modules) expect(Object.fromEntries(CONTRACTS)[name]).toBe(contract)
})

test.for(CONTRACTS.map(([name]) => [name]))('%s has a handler with its work in the same folder', ([name]) => {
  expect(readFileSync(`functions/${name}/handler.ts`, 'utf8')).toMatch(/\bfunction \w+\(|=>/)
})

test('Every handler has a contract', () => {
  const folders = globSync('functions/**/handler.ts').map((file) => file.replace(/\/handler\.ts$/, ''))
  expect(folders.filter((folder) => !existsSync(`${folder}/contract.ts`))).toEqual([])
})

test.for(CONTRACTS)(
  '%s describes in sentences its effect and the meaning of its failure',
  ([, { summary, impact }]) => {
    for (const text of [summary, impact]) expect(text).toMatch(/^[A-Z][^\n]{10,}[^.!?]\.$/)
  },
)

/** Values that replace parts of a valid body. Most of them have a type that the contract refuses. */
const STRANGE = [null, 0, '', 'text', true, [], [null], {}]

function* distortions(value: unknown): Generator<unknown> {
  yield* STRANGE
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    for (const one of distortions(inner)) {
      yield Array.isArray(value) ? value.with(Number(key), one) : { ...value, [key]: one }
    }
  }
}

/** Builds a body in which all optional objects of the schema are present, so that their inner fields can be changed too. */
function fillIn(schema: z.core.$ZodType): unknown {
  if (schema instanceof z.ZodOptional) return fillIn(schema.unwrap())
  if (!(schema instanceof z.ZodObject)) return 'any'
  return Object.fromEntries(Object.entries(schema.shape).map(([name, field]) => [name, fillIn(field)]))
}

describe('A contract of an endpoint', () => {
  test.for(ENDPOINTS.filter(([, { request }]) => request.body))(
    'refuses a body with a value of another type at any place, without an internal error: %s',
    ([, contract]) => {
      const refusals = new Set<number>()
      for (const body of distortions(fillIn(contract.request.body as z.ZodObject))) {
        try {
          parseRequest(contract, { body: JSON.stringify(body) })
        } catch (error) {
          expect(error).toBeInstanceOf(AppError)
          refusals.add(getErrorDefinition((error as AppError).code).status)
        }
      }
      expect([...refusals]).toEqual([400])
    },
  )

  test.for(ENDPOINTS)('has an error for each field: %s', ([, { request }]) => {
    const fields = [request.headers, request.path, request.query, request.body].flatMap((part) =>
      Object.entries<z.ZodType>(part?.shape ?? {}),
    )
    expect(fields.filter(([, schema]) => !fieldErrors(schema)).map(([name]) => name)).toEqual([])
  })

  test.for(ENDPOINTS)('checks headers, path, query and body in this order: %s', ([, { request }]) => {
    const order = ['headers', 'path', 'query', 'body']
    expect(Object.keys(request)).toEqual(order.filter((part) => part in request))
  })

  test.for(ENDPOINTS)(
    'has a path schema for exactly the parameters of its path: %s',
    ([, { path, aliases = [], request }]) => {
      const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      expect(Object.keys(request.path?.shape ?? {})).toEqual(parameters)
      for (const alias of aliases) expect(alias).not.toContain('{')
    },
  )

  test.for(ENDPOINTS)('refuses unknown fields of a body: %s', ([, { request }]) => {
    const unknown = request.body?.safeParse({ surelyUnknown: 1 }).error?.issues.map(({ code }) => code)
    expect(unknown ?? ['unrecognized_keys']).toContain('unrecognized_keys')
  })

  test.for(ENDPOINTS)('declares errors that exist, each once: %s', ([, contract]) => {
    const codes = listErrors(contract)
    expect(new Set(codes).size).toBe(codes.length)
    expect(listErrorDefinitions().map(({ code }) => code)).toEqual(expect.arrayContaining(codes))
    expect(new Set(contract.errors).size).toBe(contract.errors.length)
  })

  test.for(ENDPOINTS)(
    'forbids caching of user data and calldata, and allows it for public data: %s',
    ([name, { caller, tag, method, aged, cacheControl }]) => {
      const isForAll = caller === 'anyone' || (caller === 'client' && ['Markets', 'Portfolio'].includes(tag))
      // Price histories may be cached for 60 seconds although the response is signed, because past prices do not
      // change.
      if (name === 'vaults/history') return expect(cacheControl).toBe('private, max-age=60')
      if (!isForAll || method === 'POST') expect(cacheControl).toBe('no-store')
      if (isForAll && aged && method === 'GET') expect(cacheControl).toBe('public, max-age=60')
      expect(cacheControl).toMatch(/^(no-store|public, max-age=\d+)$/)
    },
  )
})

describe('The default', () => {
  const { paths, components } = buildOpenApi(
    ENDPOINTS.map(([, contract]) => contract),
    '1',
  )
  const named = (reference: string | undefined) => {
    const schema = components.schemas[reference?.split('/').at(-1) ?? '']
    return typeof schema === 'object' ? schema : undefined
  }
  const operations = Object.values(paths)
    .flatMap((operation) => Object.values(operation))
    // `listVaults` is excluded, because its page contains the whole list by default.
    .filter(({ operationId }) => operationId !== 'listVaults')
  const fields = operations.flatMap(({ parameters, requestBody }) => [
    ...parameters.map(({ name, schema }) => [name, schema] as const),
    ...Object.entries(named(requestBody?.content['application/json'].schema.$ref)?.properties ?? {}),
  ])

  test.for<[string, string | number]>([
    ['currency', 'usd'],
    ['days', 'max'],
    ['limit', '50'],
    ['index', '0'],
    ['kind', 'deposit'],
  ])('of %s is described at each parameter and field: %j', ([wanted, value]) => {
    const matches = fields.filter(([name]) => name === wanted)
    expect(matches.length).toBeGreaterThan(0)
    for (const [, schema] of matches) expect(schema).toMatchObject({ default: value })
  })

  test('is in the reference of each parameter that has one', async () => {
    const pages = await Promise.all((await readdir('docs/api')).map((name) => readFile(`docs/api/${name}`, 'utf8')))
    const lines = pages.flatMap((text) => text.split('\n'))
    const rows = lines.filter((line) => /^\| `(currency|days|limit|index)` \|.*\| optional/.test(line))
    for (const row of rows.filter((line) => !line.includes('without it one page has all')))
      expect(row).toMatch(/\| optional, default `(usd|max|50|0)`(\. | \|)/)
  })
})

/** Words of the schema parser's own error messages. Callers must see the API's messages instead. */
const WORDS_OF_THE_PARSER = /invalid|expected|received|unrecognized|too (small|big)|nan|undefined|option|union|pattern/i

/**
 * Builds values for each alternative of a JSON schema. `leaf` replaces every simple value, so most results are
 * invalid.
 */
function wrongValues(schema: z.core.JSONSchema._JSONSchema, leaf: unknown): unknown[] {
  if (typeof schema === 'boolean') return [leaf]
  const choices = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  if (choices.length > 0) return choices.flatMap((choice) => wrongValues(choice, leaf))
  if (schema.const !== undefined) return [schema.const]
  if (!schema.properties) return [leaf]
  const properties = Object.entries(schema.properties).map(
    ([name, property]) => [name, wrongValues(property, leaf)] as const,
  )
  const most = Math.max(...properties.map(([, values]) => values.length))
  const objects = Array.from({ length: most }, (_, i) =>
    Object.fromEntries(properties.map(([name, values]) => [name, values[i % values.length]])),
  )
  return [...objects, {}, { surelyUnknown: leaf }, leaf]
}

describe('A request', () => {
  const leaves = [undefined, null, '', 'x', 'x'.repeat(2000), '-1', '1e400', 0, -1, 1.5, 2 ** 60, true, [], {}]

  test.for(
    ENDPOINTS.filter(([, { request }]) => Object.values(request).some(({ shape }) => Object.keys(shape).length > 0)),
  )('that is invalid in any way gets an error in our own words: %s', ([, contract]) => {
    const { headers, path, query, body } = contract.request
    const issues = new Set<string>()
    const tell = (event: Parameters<typeof parseRequest>[1]) => {
      try {
        parseRequest(contract, event)
      } catch (error) {
        const { details = [] } = error as AppError
        for (const { issue } of details) issues.add(issue)
      }
    }
    const wrong = (schema: z.ZodType | undefined) =>
      schema ? leaves.flatMap((leaf) => wrongValues(z.toJSONSchema(schema, AS_SENT), leaf)) : []
    const texts = (part: z.ZodType | undefined) => wrong(part).filter(isTexts)
    for (const sent of texts(headers)) tell({ headers: sent })
    for (const sent of texts(path)) tell({ pathParameters: sent })
    for (const sent of texts(query)) tell({ queryStringParameters: sent })
    for (const sent of wrong(body)) {
      if (typeof sent === 'object' && sent !== null) tell({ body: JSON.stringify(sent) })
    }
    expect(issues.size).toBeGreaterThan(0)
    for (const issue of issues) {
      expect(issue).toMatch(/^(is|must|has) [^\n]{3,500}$/)
      expect(issue).not.toMatch(WORDS_OF_THE_PARSER)
    }
  })
})

function isTexts(value: unknown): value is Record<string, string> {
  return typeof value === 'object' && value !== null && Object.values(value).every((text) => typeof text === 'string')
}

describe('The routes', () => {
  const routes = ENDPOINTS.flatMap(([, { method, path, aliases = [] }]) =>
    [path, ...aliases].map((one) => `${method} ${one}`),
  )

  test('are unique, whatever the names of their parameters', () => {
    const shapes = routes.map((route) => route.replaceAll(/\{\w+\}/g, '{}'))
    expect(new Set(shapes).size).toBe(routes.length)
  })

  test('are those of the interface', () => {
    expect(routes).toEqual(
      expect.arrayContaining([
        'GET /defi-vaults/v1/vaults',
        'POST /defi-vaults/v1/defi/vault/deposit',
        'POST /defi-vaults/v1/defi/vault/claim',
        'GET /defi-vaults/v1/defi/vault/{vaultAddress}/deposit-status',
        'GET /defi-vaults/v1/defi/cross-chain/{txHash}/status',
        'GET /defi-vaults/v1/defi/cross-chain/status',
        'POST /auth/register/init',
        'POST /auth/register',
        'POST /auth/login/init',
        'POST /auth/login',
        'POST /auth/logout',
        'GET /auth/credentials',
        'POST /auth/credentials/init',
        'POST /auth/credentials',
        'DELETE /auth/credentials/{id}',
        'POST /auth/wallets/init',
        'POST /auth/wallets',
        'GET /auth/wallets',
        'DELETE /auth/wallets/{address}',
        'GET /health',
        'GET /openapi.json',
        'ANY $default',
      ]),
    )
  })

  test('require authentication, except the public ones', () => {
    const open = ENDPOINTS.filter(([, { caller }]) => caller === 'anyone').map(([, { path }]) => path)
    const wellKnown = [
      '/.well-known/apple-app-site-association',
      '/.well-known/assetlinks.json',
      '/.well-known/jwks.json',
    ]
    const allowed = ['/health', '/openapi.json', '$default', '/auth/register/init', ...wellKnown]
    expect(open.filter((path) => !allowed.includes(path))).toEqual([])
  })
})

describe('A job', () => {
  test.for(Object.entries<JobContract>(jobs))(
    '%s accepts every input of its schedule',
    ([, { runs, event, everyMinutes }]) => {
      expect(runs.length).toBeGreaterThan(0)
      for (const run of runs) expect(event.safeDecode(run).success).toBe(true)
      expect(Number.isInteger(everyMinutes) && everyMinutes > 0).toBe(true)
    },
  )
})

/** Matches modules that run code when they are loaded. A contract must not import them. */
const DOES_SOMETHING =
  /@aws-sdk|@smithy|@middy|@aws-lambda-powertools|lib\/aws\/|lib\/logger\.ts|handler\.ts$|(table|reader|readers|rpc)\.ts$|lib\/lambda\/(?!contract\.ts|env\.ts)/

test('The list of all contracts imports no module that does anything when loaded', async () => {
  const { metafile } = await build({
    entryPoints: ['functions/contracts.ts'],
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    mainFields: ['module', 'main'],
    logLevel: 'silent',
  })
  const inputs = Object.keys(metafile.inputs)
  expect(inputs).toEqual(expect.arrayContaining(FILES))
  expect(inputs.filter((input) => DOES_SOMETHING.test(input))).toEqual([])
  // Built-in modules of Node.js are forbidden only in the project's own files, because the bundler removes unused
  // imports from packages.
  const own = Object.entries(metafile.inputs).filter(([input]) => !input.includes('node_modules'))
  const builtIns = own.flatMap(([file, { imports }]) =>
    imports.flatMap(({ path, external }) => (external ? [`${file} imports ${path}`] : [])),
  )
  expect(builtIns).toEqual([])
})

describe('The errors', () => {
  test('have the promised statuses and texts', () => {
    const entries = listErrorDefinitions().map(({ code, status, error }) => [code, [status, error]])
    expect(Object.fromEntries(entries)).toEqual(DOCUMENTED_ERRORS)
  })

  test('share a text only for upstream failures', () => {
    const byText = Map.groupBy(listErrorDefinitions(), ({ error }) => error)
    const shared = [...byText].filter(([, definitions]) => definitions.length > 1).map(([text]) => text)
    expect(shared).toEqual(['Upstream unavailable', 'Nodes disagree'])
  })

  test('have codes in snake_case', () => {
    for (const { code } of listErrorDefinitions()) expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
  })

  test('have a message in a sentence, and a retry time for 429 and 503', () => {
    for (const { code, status, message, retryAfterSeconds } of listErrorDefinitions()) {
      expect(message, code).toMatch(/^[A-Z].*\.$/)
      expect(retryAfterSeconds !== undefined, code).toBe([429, 503].includes(status))
    }
  })

  test('are each declared by some endpoint', () => {
    const declared = new Set<string>(ENDPOINTS.flatMap(([, contract]) => listErrors(contract)))
    expect(listErrorDefinitions().filter(({ code }) => !declared.has(code))).toEqual([])
  })

  test("are each in docs/errors.md once with their status, as are the client's own errors", () => {
    const rows = readFileSync('docs/errors.md', 'utf8').matchAll(/^\| `(\w+)` +\| (\d*|any) +\|/gm)
    const documented = [...rows].map(([, code, status]) => [code, status])
    const ours = listErrorDefinitions().map(({ code, status }) => [code, `${status}`])
    const clients = {
      network: '',
      timeout: '',
      aborted: '',
      unverified: '',
      throttled: '429',
      unexpected: 'any',
    } satisfies Record<CallError['code'], string>
    expect(documented.toSorted()).toEqual([...ours, ...Object.entries(clients)].toSorted())
  })
})
