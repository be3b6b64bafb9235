import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endpoints } from '../functions/contracts.ts'
import type { EndpointContract } from '../lib/frame/contract.ts'
import examples from '../reference/examples.json' with { type: 'json' }
import { buildOpenApi, operationId } from '../reference/openapi.ts'

// Tests Go types that are generated from the OpenAPI document. Decodes the recorded responses into these types, encodes them again, and
// reports each value that differs. Needs an installation of Go.
const FOLDER = '.local/go-client'
const MAIN = `package main

import (
	"encoding/json"
	"os"
)

func main() {
	var responses Responses
	if err := json.NewDecoder(os.Stdin).Decode(&responses); err != nil {
		panic(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(responses); err != nil {
		panic(err)
	}
}
`
/**
 * Matches names of values whose fields the schemas do not list, so that the generated types lack these fields: the OpenAPI document, and
 * prices by currency.
 */
const OPEN = /\.(info\.|eur)/

type Operation = { readonly responses: Readonly<Record<string, { readonly content?: Content }>> }
type Content = { readonly 'application/json': { readonly schema: object } }
type Recorded = Readonly<Record<string, { readonly response?: unknown }>>

const { paths, components } = buildOpenApi(Object.values(endpoints), '0.0.0', examples) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: object
}
const recorded = Object.values<EndpointContract>(endpoints).flatMap((contract) => {
  const { method, path, status = 200 } = contract
  const id = operationId(contract)
  const schema = paths[path]?.[method.toLowerCase()]?.responses[status]?.content?.['application/json'].schema
  const { response } = (examples as Recorded)[id] ?? {}
  return schema && response !== undefined ? [{ id, schema, response }] : []
})
const responses = Object.fromEntries(recorded.map(({ id, response }) => [id, response]))
const properties = Object.fromEntries(recorded.map(({ id, schema }) => [id, schema]))
const schema = { type: 'object', properties, required: Object.keys(properties), components }

mkdirSync(FOLDER, { recursive: true })
const files = { 'package.json': { private: true, dependencies: { quicktype: '26.0.0' } }, 'schema.json': schema }
for (const [name, content] of Object.entries(files)) writeFileSync(join(FOLDER, name), JSON.stringify(content))
writeFileSync(join(FOLDER, 'main.go'), MAIN)
run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel', 'error'])
const types = [
  '--lang',
  'go',
  '--package',
  'main',
  '--top-level',
  'Responses',
  '--no-combine-classes',
  '--out',
  'types.go',
]
run(join('node_modules', '.bin', 'quicktype'), ['--src-lang', 'schema', ...types, 'schema.json'])
const decoded: unknown = JSON.parse(run('go', ['run', 'main.go', 'types.go'], JSON.stringify(responses)))

const differing = differences(responses, decoded).filter((name) => !OPEN.test(name))
process.stdout.write(`Go decodes ${recorded.length} recorded responses; ${differing.length} values differ.\n`)
for (const name of differing) process.stdout.write(`${name}\n`)
if (differing.length > 0) process.exitCode = 1

function run(command: string, args: readonly string[], input = ''): string {
  const { status, stdout, error } = spawnSync(command, args, {
    cwd: FOLDER,
    input,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  if (error || status !== 0) throw new Error(`${command} ${args.join(' ')} failed`, { cause: error })
  return stdout
}

/** Lists the names of values in `expected` that are missing or different in `other`. Compares times as instants. */
function differences(expected: unknown, other: unknown, name = ''): string[] {
  if (typeof expected !== 'object' || expected === null) return isSame(expected, other) ? [] : [name]
  const values = new Map(Object.entries(other ?? {}))
  return Object.entries(expected).flatMap(([key, value]) => differences(value, values.get(key), `${name}.${key}`))
}

function isSame(expected: unknown, other: unknown): boolean {
  return expected === other || (isTime(expected) && isTime(other) && Date.parse(expected) === Date.parse(other))
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)
}
