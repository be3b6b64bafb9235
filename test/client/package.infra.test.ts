import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import manifest from '../../client/package.json' with { type: 'json' }
import { runCommand } from '../support/guides.ts'

/**
 * Folder of the built client package. It is inside the repository, because the build needs the repository's compiler and types.
 */
const PACKED = '.local/packed-client'
const REPOSITORY = 'https://github.com/owner/name'

/** Folder of a project outside the repository, where only the project's own packages can be imported. */
const project = mkdtempSync(join(tmpdir(), 'client-'))
const installed = join(project, 'node_modules/@vaultline/client')
afterAll(() => rmSync(project, { recursive: true }))

beforeAll(() => {
  const file = pack()
  write('package.json', JSON.stringify({ private: true, type: 'module' }))
  runCommand('npm', 'install', '--offline', '--no-audit', '--no-fund', '--prefix', project, resolve(file))
  for (const name of ['react', 'react-dom', 'scheduler', '@types/react', 'csstype']) {
    cpSync(join('node_modules', name), join(project, 'node_modules', name), { recursive: true })
  }
  write('program.ts', PROGRAM)
  write('page.tsx', PAGE)
})

const PROGRAM = `
import { type Client, listVaults, orThrow, prepareDeposit, toCalls } from '@vaultline/client'
import { createFlow } from '@vaultline/client/flow'
import { messageForUser } from '@vaultline/client/messages'
import { query } from '@vaultline/client/query'
import { verifyingFetch } from '@vaultline/client/verify'
import { unwrap } from '@vaultline/client/webhooks'
import { createWitness } from '@vaultline/client/witness'

export const used = [createFlow, query, verifyingFetch, unwrap, createWitness]
export async function prepare(client: Client) {
  const { data } = orThrow(await listVaults(client))
  const [vault] = data
  if (!vault) return []
  const result = await prepareDeposit(client, { vaultAddress: vault.poolAddress, userAddress: '0x1', amount: '1' })
  if (result.ok) return toCalls(result.data)
  // @ts-expect-error The code of another operation
  if (result.error.code === 'coin_not_found') return []
  throw new Error(messageForUser(result.error, { amount: vault.asset }))
}
`

const PAGE = `
import type { Vault } from '@vaultline/client'
import { Deposit, type DepositProps, useDeposit, Withdrawal } from '@vaultline/client/react'

export function Page({ vault, ...props }: { vault: Vault } & Pick<DepositProps, 'client' | 'sender' | 'account'>) {
  const { status } = useDeposit(props.client, { vaultAddress: '0x1', userAddress: '0x2', amount: '1' })
  return (
    <>
      {status}
      <Deposit {...props} vault={vault} className="card" />
      <Withdrawal {...props} vault={vault} amount="max" onDone={() => undefined} />
      {/* @ts-expect-error It needs an account. */}
      <Deposit client={props.client} sender={props.sender} vault={vault} />
    </>
  )
}
`

const STRICT = { strict: true, noEmit: true, skipLibCheck: false, types: [], jsx: 'react-jsx' }
const STRICTEST = {
  ...STRICT,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
}
const BROWSER = { lib: ['es2022', 'dom', 'dom.iterable'], module: 'esnext', moduleResolution: 'bundler' }

const SETTINGS = {
  node16: { ...STRICT, target: 'es2022', lib: ['es2022', 'dom'], module: 'node16' },
  nodenext: { ...STRICTEST, target: 'es2022', lib: ['es2022', 'dom'], module: 'nodenext' },
  Vite: { ...STRICTEST, ...BROWSER, target: 'es2022', erasableSyntaxOnly: true },
  'Next.js': { ...STRICT, ...BROWSER, target: 'es2017', isolatedModules: true, esModuleInterop: true },
}

function pack(...options: string[]): string {
  return runCommand('node', 'scripts/pack.ts', '--out', PACKED, ...options).trim()
}

function write(name: string, text: string): void {
  mkdirSync(dirname(join(project, name)), { recursive: true })
  writeFileSync(join(project, name), text)
}

function compile(compilerOptions: object, files: readonly string[]): string {
  write('tsconfig.json', JSON.stringify({ compilerOptions, files }))
  return spawnSync('tsc', ['--project', project], { encoding: 'utf8' }).stdout
}

function runNode(name: string, code: string): string {
  write(name, code)
  return runCommand('node', join(project, name)).trim()
}

function linksOf(markdown: string): string[] {
  return [...markdown.matchAll(/\]\(([^)]+)\)/g)].map(([, target = '']) => target)
}

describe('The packed client', () => {
  test('has the license of the repository, a README, and no dependencies', () => {
    expect(readFileSync(join(installed, 'LICENSE'), 'utf8')).toBe(readFileSync('LICENSE', 'utf8'))
    expect(readFileSync(join(installed, 'README.md'), 'utf8')).toContain('# @vaultline/client')
    const { dependencies, scripts } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
    expect(dependencies).toBeUndefined()
    expect(Object.keys(scripts)).toEqual(['prepack'])
  })

  test('has a file for each entry and command, and no file without a source', () => {
    const named = [...Object.values(manifest.exports).map((entry) => entry.default), ...Object.values(manifest.bin)]
    expect(named.filter((file) => !existsSync(join(installed, file)))).toEqual([])
    const nameOf = (file: string) => file.replace(/^\w+\//, '').replace(/(\.d)?\.(tsx?|js)(\.map)?$/, '')
    const [built, written] = ['dist/**/*.*', 'src/**/*.*'].map((files) =>
      globSync(files, { cwd: installed }).map((file) => nameOf(file)),
    )
    expect(new Set(built)).toEqual(new Set(written))
  })

  test('has source maps and declaration maps that lead to sources in the package', () => {
    const maps = globSync('dist/*.map', { cwd: installed })
    expect(maps.length).toBe(2 * globSync('dist/*.js', { cwd: installed }).length)
    const missing = maps.flatMap((map) => {
      const { sources } = JSON.parse(readFileSync(join(installed, map), 'utf8'))
      return sources.filter((source: string) => !existsSync(resolve(installed, 'dist', source)))
    })
    expect(missing).toEqual([])
    const [code = ''] = globSync('dist/flow.js', { cwd: installed })
    expect(readFileSync(join(installed, code), 'utf8')).toMatch(/\/\/# sourceMappingURL=flow\.js\.map$/)
  })

  test("links to files of the repository only if it is packed with the repository's address", () => {
    const isAbsolute = (link: string) => link.startsWith('https://') || link.startsWith('#')
    expect(linksOf(readFileSync(join(installed, 'README.md'), 'utf8')).filter((link) => !isAbsolute(link))).toEqual([])

    pack('--repository', REPOSITORY)
    const links = linksOf(readFileSync(join(PACKED, 'README.md'), 'utf8'))
    expect(links.filter((link) => !isAbsolute(link))).toEqual([])
    const base = `${REPOSITORY}/blob/v${manifest.version}/`
    const files = links.filter((link) => link.startsWith(base)).map((link) => link.slice(base.length).split('#')[0])
    expect(files.length).toBeGreaterThan(2)
    expect(files.filter((file = '') => !existsSync(file))).toEqual([])
    expect(JSON.parse(readFileSync(join(PACKED, 'package.json'), 'utf8'))).toMatchObject({
      repository: { url: `git+${REPOSITORY}.git`, directory: 'client' },
      bugs: `${REPOSITORY}/issues`,
    })
  })

  test.for(Object.keys(SETTINGS) as (keyof typeof SETTINGS)[])('compiles with the settings of %s', (name) => {
    expect(compile(SETTINGS[name], ['program.ts', 'page.tsx'])).toBe('')
  })

  test('compiles in CommonJS if Node can require it; otherwise TypeScript says why not', () => {
    write('common.cts', "import client = require('@vaultline/client')\nexport = client.listVaults\n")
    expect(compile(SETTINGS.nodenext, ['common.cts'])).toBe('')
    expect(compile(SETTINGS.node16, ['common.cts'])).toContain('only resolves to an ES module')
  })

  test('calls the API from an ES module and from CommonJS', () => {
    const call = `
      const fetch = async (url) => Response.json({ data: [String(url)] })
      listVaults({ url: 'https://api.example', key: 'jk', fetch }).then(({ data }) => console.log(data.data[0]))`
    const url = 'https://api.example/defi-vaults/v1/vaults'
    expect(runNode('call.mjs', `import { listVaults } from '@vaultline/client'\n${call}`)).toBe(url)
    expect(runNode('call.cjs', `const { listVaults } = require('@vaultline/client')\n${call}`)).toBe(url)
  })

  test('renders a deposit on a server', () => {
    const code = `import { Deposit } from '@vaultline/client/react'
      import { createElement } from 'react'
      import { renderToString } from 'react-dom/server'
      const vault = { poolAddress: '0x1', chainId: 1, asset: { symbol: 'USDC', decimals: 6 } }
      const render = (props) => renderToString(createElement(Deposit, { client: {}, account: '0x2', vault, ...props }))
      console.log(render({}), render({ amount: '5000000' }))`
    expect(runNode('server.mjs', code)).toMatch(/Amount in (<!-- -->)?USDC.*Preparing …/)
  })

  test('marks its React components as client components', () => {
    expect(readFileSync(join(installed, 'dist/react.js'), 'utf8')).toMatch(/^'use client';/)
  })
})
