import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { PROTOCOL_NAMES } from '../lib/protocols/vault-on-chain.ts'

const RESTRICTED = 'lint/style/noRestrictedImports'

/** Code that breaks a linter rule: rule, file, code, and the linter's category. */
const VIOLATIONS = [
  ['lib imports nothing above it', 'lib/vaults/a.ts', "import '../../functions/vaults/list/contract.ts'", RESTRICTED],
  ['lib does not import infra', 'lib/chain/a.ts', "import '../../infra/tables.ts'", RESTRICTED],
  ['lib does not import the sandbox', 'lib/i.ts', "import '../sandbox/rpc.ts'", RESTRICTED],
  ['functions do not import the sandbox', 'functions/x/j/handler.ts', "import '../../../sandbox/rpc.ts'", RESTRICTED],
  ['infra does not import the sandbox', 'infra/c.ts', "import '../sandbox/rpc.ts'", RESTRICTED],
  ["infra does not import the operator's commands", 'infra/d.ts', "import '../admin/connect.ts'", RESTRICTED],
  ['the sandbox imports no handler', 'sandbox/a.ts', "import '../functions/vaults/list/handler.ts'", RESTRICTED],
  ["the operator's commands import no handler", 'admin/a.ts', "import '../functions/x/a/handler.ts'", RESTRICTED],
  ['only the sandbox enters its folders', 'test/lib/a.test.ts', "import '../../sandbox/chains/plan.ts'", RESTRICTED],
  ['scripts keep to its doors', 'scripts/a.ts', "import '../sandbox/chains/plan.ts'", RESTRICTED],
  ["so do the operator's commands", 'admin/b.ts', "import '../sandbox/chains/plan.ts'", RESTRICTED],
  ['a domain does not import the frame', 'lib/vaults/b.ts', "import '../frame/contract.ts'", RESTRICTED],
  ['a domain does not import the services', 'lib/vaults/e.ts', "import '../services.ts'", RESTRICTED],
  ['a domain does not import middy', 'lib/vaults/c.ts', "import '@middy/core'", RESTRICTED],
  ['a domain does not import the store of another', 'lib/vaults/d.ts', "import '../clients/store.ts'", RESTRICTED],
  ['a domain does not import any other store', 'lib/bridge/d.ts', "import '../vaults/state-store.ts'", RESTRICTED],
  ['lib does not import tests', 'lib/a.ts', "import '../test/support/service.ts'", RESTRICTED],
  ['functions do not import each other', 'functions/x/a/handler.ts', "import '../b/contract.ts'", RESTRICTED],
  ['functions do not reach other areas', 'functions/x/b/handler.ts', "import '../../y/b/contract.ts'", RESTRICTED],
  ['functions do not import infra', 'functions/x/c/handler.ts', "import '../../../infra/tables.ts'", RESTRICTED],
  ['a contract imports no handler', 'functions/x/d/contract.ts', "import './handler.ts'", RESTRICTED],
  ['a contract imports no AWS client', 'functions/x/e/contract.ts', "import '../../../lib/aws/dynamo.ts'", RESTRICTED],
  ['a contract imports no frame', 'functions/x/f/contract.ts', "import '../../../lib/frame/endpoint.ts'", RESTRICTED],
  ['a contract imports no store', 'functions/x/g/contract.ts', "import '../../../lib/clients/store.ts'", RESTRICTED],
  ['a contract imports no other contract', 'functions/x/h/contract.ts', "import '../a/contract.ts'", RESTRICTED],
  ['infra imports no handler', 'infra/a.ts', "import '../functions/vaults/list/handler.ts'", RESTRICTED],
  ['the reference imports no handler', 'reference/a.ts', "import '../functions/vaults/list/handler.ts'", RESTRICTED],
  ['encoders of calldata take no client', 'lib/y/calldata.ts', "import '../chain/reader.ts'", RESTRICTED],
  ['the environment is read at the edges only', 'lib/b.ts', 'export const a = process.env', 'lint/style/noProcessEnv'],
  ['there are no barrels', 'lib/c.ts', "export * from './codecs.ts'", 'lint/performance/noReExportAll'],
  ['there are no default exports', 'lib/d.ts', 'export default 1', 'lint/style/noDefaultExport'],
  ['there are no import cycles', 'lib/e.ts', "import './f.ts'", 'lint/suspicious/noImportCycles'],
  ['nobody writes to the console', 'lib/g.ts', 'console.log(1)', 'lint/suspicious/noConsole'],
  ['promises do not float', 'lib/h.ts', 'async function a() {}\na()', 'lint/nursery/noFloatingPromises'],
] as const
const CLEAN = [
  ['lib/f.ts', "import './e.ts'"],
  ['functions/x/i/handler.ts', "import '../../../lib/core/once.ts'\nimport './contract.ts'"],
  ['functions/x/i/contract.ts', "import '../../../lib/frame/contract.ts'\nimport '../../../lib/core/field.ts'"],
  ['functions/system/i/handler.ts', "import '../../contracts.ts'\nimport './contract.ts'"],
  ['test/lib/b.test.ts', "import '../../sandbox/chains.ts'"],
  ['test/sandbox/a.test.ts', "import '../../sandbox/chains/plan.ts'"],
  ['infra/b.ts', "import '../functions/contracts.ts'"],
  ['lib/aws/a.ts', 'export const a = process.env'],
] as const

const Report = z.object({
  diagnostics: z.array(z.object({ category: z.string(), location: z.object({ path: z.string() }) })),
})

let folder: string
let categoriesByPath: Map<string, string[]>

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gates-'))
  cpSync('biome.json', join(folder, 'biome.json'))
  for (const [path, code] of [...VIOLATIONS.map(([, path, code]) => [path, code] as const), ...CLEAN]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), `${code}\n`)
  }
  const options = ['--vcs-enabled=false', '--reporter=json', '--max-diagnostics=none']
  const { stdout } = spawnSync('biome', ['lint', ...options], { cwd: folder, encoding: 'utf8' })
  const { diagnostics } = Report.parse(JSON.parse(stdout))
  const byPath = Map.groupBy(diagnostics, ({ location }) => location.path)
  categoriesByPath = new Map([...byPath].map(([path, group]) => [path, group.map(({ category }) => category)]))
})
afterAll(() => rmSync(folder, { recursive: true }))

test.for(VIOLATIONS)('The linter goes red when broken: %s', ([, path, , category]) => {
  expect(categoriesByPath.get(path)).toContain(category)
})

test.for(CLEAN.slice(1))('The linter lets pass what the rules allow: %s', ([path]) => {
  expect(categoriesByPath.get(path) ?? []).toEqual([])
})

test('Encoders of calldata are synchronous', () => {
  const encoders = readdirSync('lib', { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('calldata.ts'),
  )
  expect(encoders).not.toEqual([])
  for (const path of encoders) expect(readFileSync(join('lib', path), 'utf8')).not.toMatch(/\b(async|await|Promise)\b/)
})

function readSources(folders: readonly string[]) {
  return folders
    .flatMap((root) => readdirSync(root, { recursive: true, encoding: 'utf8' }).map((path) => join(root, path)))
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }))
}

const SOURCES = readSources(['lib', 'functions', 'admin', 'infra', 'reference', 'scripts', 'sandbox'])
const COMMENTED = [...SOURCES, ...readSources(['client/src', 'wallet/src', 'test'])]

/** Lists type casts without a comment in the three lines above. The comment gives the cast's reason. */
function unexplainedCasts(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim())
  const isComment = (line: string) => /^(\/\/|\/?\*)/.test(line)
  return lines.filter((line, index) => {
    const code = line.replaceAll(/'[^']*'|"[^"]*"|`[^`]*`/g, '')
    const isCast = /[\w)\]}] as (?!const\b)[\w({['"]/.test(code) && !/^(import|export|\} from)/.test(line)
    return isCast && !isComment(line) && !lines.slice(Math.max(0, index - 3), index).some(isComment)
  })
}

test('Every cast has a comment with its reason', () => {
  expect(unexplainedCasts('const a = 1\nconst vaults = items as Vault[]')).toHaveLength(1)
  expect(unexplainedCasts('// Parsed just above.\nconst vaults = items as Vault[]')).toEqual([])
  const product = SOURCES.filter(({ path }) => path.startsWith('lib') || path.startsWith('functions'))
  const violations = product.flatMap(({ path, text }) => unexplainedCasts(text).map((line) => `${path}: ${line}`))
  expect(violations).toEqual([])
})

test('No test spies on a whole module, because a spied Node module stays so until the process ends', () => {
  const spiesOnAll = (text: string) => /vi\.mock\(.*\{ spy: true \}/.test(text)
  expect(spiesOnAll("vi.mock('node:crypto', { spy: true })")).toBe(true)
  const tests = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && path !== 'gates.test.ts',
  )
  expect(tests.filter((path) => spiesOnAll(readFileSync(join('test', path), 'utf8')))).toEqual([])
})

const RETIRED: readonly (readonly [RegExp, string])[] = [
  [/[Mm]ovements?\b/, 'ledger entry'],
  [/\b(users|clients|records|transfers|cache|state)Table\b/, 'a store is over a table'],
  [/\b(?:[a-z]\w*)?[vV]iewOf\b|\b(Deposit|Position|Chart|Wallets)View\b/, 'response'],
  [/\bmadeOf\b|\bKeptBalances\b/, 'combine, cached'],
  [/\bpretend/i, 'state override'],
  [/stand-?in\b/i, 'fake'],
  [/\bcheck(Deposit|Claim|BridgeDeposit|Approvals|ClientData)\b/, 'verify'],
  [/\bgiveLeaseBack\b/, 'releaseLease'],
  [/\bspendOldest\b/, 'first in, first out'],
  [/\bdoubted\b/, 'outlier'],
  [/\bNOBODYS\b/, 'dummy credential'],
  [/\bFirstFactorCredential\b/, 'attestation, assertion, credential'],
  [/\balong =/, 'extra calls'],
  [/\blast look\b/i, 'verify'],
  [/\btype \w*Place\b/, 'location, key'],
]

test('The lock file has the digest of every package, for each platform', () => {
  const Entry = z.object({ link: z.boolean(), inBundle: z.boolean(), integrity: z.string() }).partial()
  const Lock = z.object({ packages: z.record(z.string(), Entry) })
  for (const [folder, own] of [
    ['.', ['', 'client', 'wallet']],
    ['site', ['']],
  ] as const) {
    const { packages } = Lock.parse(JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')))
    // Packages bundled in another package's archive are exempt, because they have no digest of their own.
    const bare = Object.entries(packages).filter(
      ([, { link, inBundle, integrity }]) => !link && !inBundle && !integrity,
    )
    expect(bare.map(([path]) => path)).toEqual(own)
  }
})

test('Retired words do not come back', () => {
  for (const planted of ['a movement', 'usersTable(', 'DepositView', 'stand-in', 'checkDeposit', 'type EventPlace =']) {
    expect(RETIRED.some(([word]) => word.test(planted))).toBe(true)
  }
  const violations = SOURCES.flatMap(({ path, text }) =>
    RETIRED.filter(([word]) => word.test(text)).map(([word, instead]) => `${path}: ${word.source} → ${instead}`),
  )
  expect(violations).toEqual([])
})

/** Matches comments that begin with a clause or an adverbial instead of a subject or verb. */
const NO_SUBJECT = /^(What|How|Whether|Of|Who|Whose|Which|Where|When|If|As|By|That|So|In|From|At|For)\b/
const MAX_WORDS = 25

function unclearComments(text: string): string[] {
  const comments = [...text.matchAll(/^[ \t]*\/\*\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n)+|[ \t]\/\/ .*/gm)].map(
    ([comment]) => comment,
  )
  return comments
    .filter((comment) => !/biome-ignore|@ts-/.test(comment))
    .map((comment) =>
      comment
        .replaceAll(/^\s*(\/\*\*|\*\/|\*|\/\/)|\*\/$/gm, '')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    )
    .flatMap((comment) => [
      ...(NO_SUBJECT.test(comment) ? [`without a subject: ${comment}`] : []),
      ...comment
        .split(/(?<=[.!?;:]) (?=[\w`@(-])/)
        .filter((sentence) => sentence.split(' ').length > MAX_WORDS)
        .map((sentence) => `more than ${MAX_WORDS} words: ${sentence}`),
    ])
}

test('Comments begin with their subject or verb, and their sentences are short', () => {
  expect(unclearComments('/** What a vault holds. */\nconst a = 1')).toHaveLength(1)
  expect(unclearComments(`const a = 1 // ${'word '.repeat(26)}`)).toHaveLength(1)
  expect(unclearComments('/**\n * Assets of a vault.\n * Smallest unit.\n */\nconst a = 1')).toEqual([])
  const violations = COMMENTED.flatMap(({ path, text }) =>
    unclearComments(text).map((comment) => `${path}: ${comment}`),
  )
  expect(violations).toEqual([])
})

/** Placeholder text that scripts/new.ts generates. The author of an endpoint must replace it. */
const PLACEHOLDER = /write here/i

test('No endpoint keeps a text of the generator', () => {
  const [generator, others] = [SOURCES.filter(isGenerator), SOURCES.filter((source) => !isGenerator(source))]
  expect(generator.map(({ text }) => text.match(new RegExp(PLACEHOLDER, 'gi'))?.length)).toEqual([2])
  const unwritten = others.filter(({ text }) => PLACEHOLDER.test(text)).map(({ path }) => path)
  expect(unwritten, 'what the caller gets and what users notice is still to be written here').toEqual([])
})

function isGenerator({ path }: { readonly path: string }): boolean {
  return path === join('scripts', 'new.ts')
}

/**
 * Names of protocols. The protocol `cooldown` is matched only in quotes, because the word also means a waiting time.
 */
const NAMES = PROTOCOL_NAMES.map((name) => (name === 'cooldown' ? `'${name}'` : name))
const PROTOCOL = new RegExp([...NAMES, 'erc-?(4626|7540)'].join('|'), 'i')

test('Only lib/protocols and the sandbox, which has the contracts, name a protocol', () => {
  for (const name of PROTOCOL_NAMES) expect(`vault.protocol === '${name}'`).toMatch(PROTOCOL)
  const outside = SOURCES.filter(
    ({ path }) => !path.startsWith(join('lib', 'protocols')) && !path.startsWith('sandbox'),
  )
  expect(outside.length).toBeGreaterThan(100)
  expect(outside.filter(({ text }) => PROTOCOL.test(text)).map(({ path }) => path)).toEqual([])
})

const PAGES = new Map(
  readdirSync('.', { encoding: 'utf8' })
    .filter((name) => /^[A-Z].*\.md$/.test(name) || name === 'llms.txt')
    .concat(
      ['docs', 'lib', 'client', 'wallet', 'sandbox'].flatMap((root) =>
        readdirSync(root, { recursive: true, encoding: 'utf8' })
          .filter((path) => path.endsWith('.md') && !path.includes('node_modules'))
          .map((path) => join(root, path)),
      ),
    )
    .map((path) => [path, readFileSync(path, 'utf8')] as const),
)

test('The table of sandbox/README.md has each public module and each folder of the sandbox', () => {
  const table = PAGES.get(join('sandbox', 'README.md'))?.match(/^\|.*/gm)?.join('\n') ?? ''
  const named = [...table.matchAll(/`([\w-]+(?:\.ts|\/))`/g)].map(([, name]) => name)
  const names = readdirSync('sandbox', { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return [`${entry.name}/`]
    return /(?<!\.d)\.ts$/.test(entry.name) ? [entry.name] : []
  })
  expect(named.toSorted()).toEqual(names.toSorted())
})

function listBrokenLinks(pages: ReadonlyMap<string, string>): string[] {
  const anchorsOf = (text: string) =>
    [...text.replaceAll(/^```.*?^```/gms, '').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    )
  return [...pages].flatMap(([from, text]) =>
    [...text.matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(([, path = '', anchor]) => {
      const target = path ? join(dirname(from), path) : from
      const page = pages.get(target)
      const isThere = page === undefined ? !anchor && existsSync(target) : !anchor || anchorsOf(page).includes(anchor)
      return isThere ? [] : [`${from}: ${path}${anchor ? `#${anchor}` : ''}`]
    }),
  )
}

test('No page links to a missing file or heading', () => {
  const planted = new Map([
    ['docs/a.md', '# A page\n[b](b.md#to-be-there) [c](c.md) [self](#a-page) [gone](#gone) [lost](b.md#lost)'],
    ['docs/b.md', '## To be there!'],
  ])
  expect(listBrokenLinks(planted)).toEqual(['docs/a.md: c.md', 'docs/a.md: #gone', 'docs/a.md: b.md#lost'])
  expect(PAGES.size).toBeGreaterThan(20)
  expect(listBrokenLinks(PAGES)).toEqual([])
})

test('The guide to a first stage has at most 800 words', () => {
  const text = PAGES.get(join('docs', 'deploy.md')) ?? ''
  const words = text.split(/\s+/).filter(Boolean).length
  expect(words).toBeGreaterThan(0)
  expect(words).toBeLessThanOrEqual(800)
})

test('The index of the decisions has each decision once and marks the newest', () => {
  const index = PAGES.get(join('docs', 'decisions', 'README.md')) ?? ''
  const listed = [...index.matchAll(/^- \[\d{4}\]\((\d{4}-[\w-]+\.md)\)/gm)].map(([, name]) => name)
  const decisions = readdirSync(join('docs', 'decisions')).filter((name) => /^\d{4}-/.test(name))
  expect(decisions.length).toBeGreaterThan(20)
  expect(listed.toSorted()).toEqual(decisions.toSorted())
  const newest = decisions.toSorted().at(-1)
  expect(index.match(/^- .*_Newest\._$/gm)).toEqual([expect.stringContaining(`(${newest})`)])
})

/** Parses the table in lib/README.md, which lists each folder of lib/ and the folders that it may import. */
function listRooms(page: string): Map<string, string[]> {
  const rows = [...page.matchAll(/^\| `(\w+)\/`.*\|([^|]*)\|$/gm)]
  return new Map(
    rows.map(([, room = '', imports = '']) => [room, [...imports.matchAll(/`(\w+)`/g)].map(([, one = '']) => one)]),
  )
}

/**
 * Lists imports between folders of lib/ that the table in lib/README.md forbids. Also lists rows of the table that
 * allow an import from a folder in a later row.
 */
function listTrespasses(
  rooms: ReadonlyMap<string, readonly string[]>,
  files: readonly { path: string; text: string }[],
) {
  const order = [...rooms.keys()]
  const upwards = [...rooms].flatMap(([room, imports]) =>
    imports.filter((one) => !order.slice(0, order.indexOf(room)).includes(one)).map((one) => `${room} before ${one}`),
  )
  const violations = files.flatMap(({ path, text }) => {
    const [root, room = '', ...rest] = path.split('/')
    if (root !== 'lib' || rest.length === 0) return []
    const imported = [...text.matchAll(/from '(\.{1,2}\/[^']+)'/g)].map(([, to = '']) =>
      join(path, '..', to).split('/'),
    )
    return imported
      .filter(([lib, to = '', file]) => lib === 'lib' && file !== undefined && ![room, 'core'].includes(to))
      .filter(([, to = '']) => !rooms.get(room)?.includes(to))
      .map(([, to]) => `${path} imports ${to}`)
  })
  return [...upwards, ...violations]
}

test('Each room of lib imports only rooms in its row of the table, all of them above it', () => {
  const rooms = listRooms(PAGES.get(join('lib', 'README.md')) ?? '')
  expect(rooms.size).toBe(readdirSync('lib', { withFileTypes: true }).filter((entry) => entry.isDirectory()).length)
  expect(listTrespasses(rooms, SOURCES)).toEqual([])
  expect(readdirSync('lib').filter((name) => name.endsWith('.ts'))).toEqual(['config.ts', 'services.ts'])
  const planted = { path: 'lib/chain/a.ts', text: "import { b } from '../vaults/b.ts'" }
  expect(listTrespasses(rooms, [planted])).toEqual(['lib/chain/a.ts imports vaults'])
  expect(
    listTrespasses(
      new Map([
        ['chain', ['vaults']],
        ['vaults', []],
      ]),
      [],
    ),
  ).toEqual(['chain before vaults'])
})
