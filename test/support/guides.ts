import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'

/** Code blocks of a documentation page, by file name. `folder` is a project with the client package installed. */
export type Guide = { readonly folder: string; readonly snippets: ReadonlyMap<string, string> }

/**
 * Compiler settings as strict as this repository's, for Node and browsers. Guides must compile in a reader's equally strict
 * project.
 */
const STRICTEST = {
  extends: '../../../tsconfig.json',
  compilerOptions: { lib: ['es2024', 'dom', 'dom.iterable'], jsx: 'react-jsx' },
  include: ['*.ts', '*.tsx'],
  exclude: [],
}

/**
 * Writes the code blocks of a page, or of all pages in a folder, to files. Each block begins with its file name: ```ts name.ts.
 * `constants` replaces constants that the reader fills in. Throws for a missing or repeated file name, and for a constant that
 * no block has.
 */
export async function extractGuide(path: string, constants: Readonly<Record<string, string>>): Promise<Guide> {
  const text = configure(await readPages(path), constants)
  const snippets = new Map<string, string>()
  for (const [block, info = '', code = ''] of text.matchAll(/^```(?:tsx?|js|json)\b([^\n]*)\n(.*?)^```$/gms)) {
    const name = info.trim()
    const isNew = /^[\w-]+\.(tsx?|json)$/.test(name) && !snippets.has(name)
    if (!isNew) throw new Error(`${path} has a block that names no file of its own: ${block}`)
    snippets.set(name, code)
  }
  const folder = resolve('.local/guides', path.replaceAll('/', '-'))
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const files = [...snippets, ['strictest.json', JSON.stringify(STRICTEST)] as const]
  await Promise.all([installClient(folder), ...files.map(([name, code]) => writeFile(join(folder, name), code))])
  return { folder, snippets }
}

async function readPages(path: string): Promise<string> {
  if (path.endsWith('.md')) return readFile(path, 'utf8')
  const pages = (await readdir(path)).map((page) => join(path, page))
  if (existsSync(`${path}.md`)) pages.unshift(`${path}.md`)
  return (await Promise.all(pages.map((page) => readFile(page, 'utf8')))).join('\n')
}

/** Compiles the code blocks and checks their format. Throws the output of the compiler or formatter if they find a problem. */
export function checkSnippets({ folder, snippets }: Guide, project: string): void {
  runCommand('tsc', '--project', join(folder, project), '--checkers', '1')
  const files = [...snippets.keys()].map((name) => join(folder, name))
  runCommand('biome', 'format', '--colors=off', '--vcs-enabled=false', ...files)
}

/** Runs a command and returns its output. Throws the output if the command fails. */
export function runCommand(command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} failed: ${stdout}${stderr}`)
  return stdout
}

/** Lists the exported functions that neither the code blocks nor their tests call. `tests` is the source text of the tests. */
export function listUncalledFunctions(snippets: Guide['snippets'], tests: string): string[] {
  const code = [...snippets.values()].join('')
  const exported = [...code.matchAll(/^export (?:async )?(?:function|const) ([a-z]\w*)/gm)].map(([, name = '']) => name)
  const callers = tests + code.replaceAll(/(function|const) \w+/g, '')
  return exported.filter((name) => !new RegExp(`[.']${name}\\b|\\b${name}\\(`).test(callers))
}

function configure(text: string, constants: Readonly<Record<string, string>>): string {
  return Object.entries(constants).reduce((before, [name, value]) => {
    const after = before.replace(new RegExp(`(?<=^const ${name} = )'.*'$`, 'm'), `'${value}'`)
    if (after === before) throw new Error(`No snippet has a constant ${name}.`)
    return after
  }, text)
}

async function installClient(folder: string): Promise<void> {
  const target = join(folder, 'node_modules', '@vaultline', 'client')
  runCommand('tsc', '--project', 'client', '--outDir', join(target, 'dist'))
  await cp('client/package.json', join(target, 'package.json'))
}

/** Lists the file names of code blocks that are TypeScript modules. */
export function listModules(snippets: Guide['snippets']): string[] {
  return [...snippets.keys()].filter((name) => /\.tsx?$/.test(name))
}

/** Bundles the code blocks into a browser script. The script's global `guide` maps each file name to the file's exports. */
export async function bundleSnippets({ folder, snippets }: Guide): Promise<string> {
  const forPages = listModules(snippets).filter((name) => !snippets.get(name)?.includes("from 'node:"))
  const exports = forPages.map((name) => `export * as ${JSON.stringify(name)} from './${name}'`)
  const { outputFiles } = await build({
    stdin: { contents: exports.join('\n'), resolveDir: folder },
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'guide',
    platform: 'browser',
    jsx: 'automatic',
  })
  return outputFiles[0]?.text ?? ''
}
