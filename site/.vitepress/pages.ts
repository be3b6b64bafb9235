import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { DefaultTheme } from 'vitepress'

/** Root folder of the repository. */
export const ROOT = join(import.meta.dirname, '../..')

/** Operation of the API, as the generated file docs/api/operations.json describes it. */
export type Operation = {
  readonly name: string
  readonly title: string
  readonly tag: string
  readonly method: string
  readonly path: string
  readonly caller: 'anyone' | 'client' | 'user'
  readonly request?: {
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly body?: unknown
  }
}

/** Operations in the order of the API reference. */
export const OPERATIONS: readonly Operation[] = JSON.parse(readFileSync(join(ROOT, 'docs/api/operations.json'), 'utf8'))

/** Pages of the site outside docs/, by the paths of their Markdown files. */
const OTHER_PAGES: Readonly<Record<string, string>> = {
  'site/index.md': 'index.md',
  'README.md': 'overview.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'security.md',
  'client/README.md': 'client.md',
}

/**
 * Returns the path of the page that the site makes from a Markdown file. Returns undefined for a file that is not a
 * page. `file` is relative to the repository's root, and the result to the site's root.
 */
export function pageOf(file: string): string | undefined {
  const own = OTHER_PAGES[file]
  if (own || !file.startsWith('docs/') || !file.endsWith('.md')) return own
  // An index gets a page of its own name instead of index.html, because not every host serves a folder's index.
  return file.slice('docs/'.length).replace(/(?<=.)\/(index|README)\.md$/, '.md')
}

/**
 * Returns the target of a link within the site; undefined if the linked file is not a page. External links and anchors stay unchanged.
 * Throws if the file does not exist.
 */
export function linkOf(from: string, link: string): string | undefined {
  if (/^([a-z]+:|#|\/)/.test(link)) return link
  const [path = '', heading] = decodeURI(link).split('#')
  const file = posix.join(posix.dirname(from), path).replace(/\/$/, '')
  if (!existsSync(join(ROOT, file))) throw new Error(`${from} leads to ${file}, which does not exist.`)
  const [page] = [file, `${file}/index.md`, `${file}/README.md`].flatMap((each) =>
    existsSync(join(ROOT, each)) && pageOf(each) ? [pageOf(each) ?? ''] : [],
  )
  if (page === undefined) return undefined
  return posix.relative(posix.dirname(pageOf(from) ?? from), page) + (heading === undefined ? '' : `#${heading}`)
}

/** Builds the menu of the site. */
export function buildSidebar(): DefaultTheme.SidebarItem[] {
  const tags = [...new Set(OPERATIONS.map(({ tag }) => tag))]
  return [
    {
      text: 'Start',
      items: [item('README.md', 'Overview'), item('docs/guides/quick-start.md'), item('docs/sandbox.md')],
    },
    {
      text: 'Guides',
      items: [
        ...[
          'deposits',
          'asynchronous-vaults',
          'cross-chain',
          'withdrawals',
          'rewards',
          'prices',
          'webhooks',
          'verify-answers',
          'mcp',
        ].map((name) => item(`docs/guides/${name}.md`)),
        item('docs/integrate.md'),
        item('docs/integrate/keys-and-passwords.md'),
        item('docs/integrate/wallets-and-recovery.md'),
        item('client/README.md', 'TypeScript client'),
        item('docs/guides/going-live.md'),
      ],
    },
    {
      text: 'API',
      items: [
        item('docs/api/index.md', 'All operations'),
        ...tags.map((tag) => ({
          text: tag,
          collapsed: true,
          items: OPERATIONS.filter((each) => each.tag === tag).map(({ title, name }) => ({
            text: title,
            link: `/api/${name}.html`,
          })),
        })),
        item('docs/api/events.md', 'Webhook events'),
        item('docs/errors.md'),
        item('docs/versioning.md'),
      ],
    },
    {
      text: 'Operate',
      items: [
        item('docs/deploy.md'),
        { text: 'Later tasks', collapsed: true, items: itemsIn('docs/operate') },
        { text: 'Runbooks', collapsed: true, items: itemsIn('docs/runbooks') },
        item('docs/cost.md'),
        item('docs/scale.md'),
        item('SECURITY.md'),
      ],
    },
    {
      text: 'Project',
      items: [
        item('docs/architecture.md'),
        { text: 'Decisions', collapsed: true, items: itemsIn('docs/decisions') },
        item('CONTRIBUTING.md', 'Contributing'),
        item('CHANGELOG.md', 'Changelog'),
      ],
    },
  ]
}

function item(file: string, text?: string): DefaultTheme.SidebarItem {
  const title = /^# (.*)$/m.exec(readFileSync(join(ROOT, file), 'utf8'))?.[1] ?? file
  return { text: text ?? title.replaceAll('`', ''), link: `/${pageOf(file)?.replace(/\.md$/, '.html')}` }
}

/** Lists the pages of a folder; its index comes first. */
function itemsIn(folder: string): DefaultTheme.SidebarItem[] {
  const names = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith('.md'))
  const isIndex = (name: string) => /^(index|README)\.md$/.test(name)
  return [
    ...names.filter(isIndex).map((name) => item(`${folder}/${name}`, 'Index')),
    ...names.filter((name) => !isIndex(name)).map((name) => item(`${folder}/${name}`)),
  ]
}
