import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { API_AREAS } from '../lib/frame/contract.ts'

const USAGE = 'Usage: npm run new -- endpoint <area>/<name>, for example: npm run new -- endpoint vaults/fees\n'
const LIST = 'functions/contracts.ts'
const LIVE_ANSWERS = 'test/functions/openapi.service.test.ts'
const WORD = '[a-z][a-z0-9]*(?:-[a-z0-9]+)*'

/** Returns the files of a new endpoint by their paths. The generated endpoint returns the caller's client id. */
function filesOf(area: string, name: string, tag: string): Readonly<Record<string, string>> {
  const work = `get${pascalCase(name)}`
  return {
    [`functions/${area}/${name}/contract.ts`]: `import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'GET',
  path: '/${area}/${name}',
  title: 'Get ${name.replaceAll('-', ' ')}',
  summary: 'Says who asks: write here in one sentence what the caller gets.',
  tag: '${tag}',
  caller: 'client',
  uses: {},
  request: {},
  response: z.object({ clientId: z.string().describe('Who asked') }),
  errors: [],
  cacheControl: 'no-store',
  impact: 'Write here in one sentence what users notice when this fails.',
} as const satisfies EndpointContract
`,
    [`functions/${area}/${name}/handler.ts`]: `import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { contract } from './contract.ts'

function ${work}() {
  return async ({ client }: Request<typeof contract>): Promise<Reply<typeof contract>> => ({ clientId: client.clientId })
}

export const handler = endpoint(contract, {}, ${work})
`,
    [`test/functions/${area}/${name}.service.test.ts`]: `import { describe, expect } from 'vitest'
import { endpoints } from '../../../functions/contracts.ts'
import { chainlessTest as test } from '../../support/service.ts'

const { path } = endpoints['${area}/${name}']

describe('GET ${area}/${name}', () => {
  test('says who asks', async ({ service }) => {
    const { status, body } = await service.call('GET', path)
    expect({ status, body }).toEqual({ status: 200, body: { clientId: expect.any(String) } })
  })
})
`,
  }
}

/**
 * Adds an endpoint to the text of functions/contracts.ts, after the last endpoint of its area. The first endpoint of a new area goes to the
 * end of the list.
 */
function withEndpoint(list: string, area: string, name: string): string {
  const local = camelCase(`${area}-${name}`)
  const lines = list.split('\n')
  const lastOfArea = lines.findLastIndex((line) => line.startsWith(`  '${area}/`))
  const endOfList = lines.indexOf('} as const satisfies Record<string, EndpointContract>')
  lines.splice(lastOfArea === -1 ? endOfList : lastOfArea + 1, 0, `  '${area}/${name}': ${local},`)
  lines.unshift(`import { contract as ${local} } from './${area}/${name}/contract.ts'`)
  return lines.join('\n')
}

function withLiveAnswer(text: string, area: string, name: string): string {
  return text.replace(
    '\n]\n\nconst liveTest',
    `\n  ['${area}/${name}', 'ok', 'the usual answer', get('/${area}/${name}')],\n]\n\nconst liveTest`,
  )
}

function camelCase(words: string): string {
  return words.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function pascalCase(words: string): string {
  return camelCase(`-${words}`)
}

async function createEndpoint(area: string, name: string): Promise<void> {
  if (area === 'jobs') throw new Error('A job is no endpoint: functions/jobs/refresh-tokens is a short one to copy.')
  const tag = pascalCase(area)
  if (!(tag in API_AREAS)) {
    throw new Error(`There is no area ${area}: enter ${tag} in API_AREAS of lib/frame/contract.ts first.`)
  }
  if (existsSync(`functions/${area}/${name}`)) throw new Error(`functions/${area}/${name} is there already.`)
  await mkdir(`functions/${area}/${name}`, { recursive: true })
  await mkdir(`test/functions/${area}`, { recursive: true })
  for (const [path, text] of Object.entries(filesOf(area, name, tag))) await writeFile(path, text)
  await writeFile(LIST, withEndpoint(await readFile(LIST, 'utf8'), area, name))
  await writeFile(LIVE_ANSWERS, withLiveAnswer(await readFile(LIVE_ANSWERS, 'utf8'), area, name))
  run('biome', ['check', '--write', LIST, LIVE_ANSWERS, `functions/${area}/${name}`, `test/functions/${area}`])
  run(process.execPath, ['scripts/reference.ts'])
  run(process.execPath, ['scripts/client.ts'])
  process.stdout.write(
    `functions/${area}/${name} answers GET /${area}/${name}, and has its test, its line in ${LIST},\n` +
      `a live answer in ${LIVE_ANSWERS}, and its page in docs/api and its function in the client.\n` +
      'Next: step 2 of the recipe "Endpoint" in CONTRIBUTING.md.\n',
  )
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stderr}`)
}

const [what, place = ''] = process.argv.slice(2)
const [, area, name] = new RegExp(`^(${WORD})/(${WORD})$`).exec(place) ?? []
try {
  if (what !== 'endpoint' || !area || !name) throw new Error(USAGE.trim())
  await createEndpoint(area, name)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
