import { readFile } from 'node:fs/promises'
import { posix } from 'node:path'

/** The guides in the order in which they are read, by their paths in `docs/`. */
const GUIDES = [
  'guides/quick-start.md',
  'guides/deposits.md',
  'guides/asynchronous-vaults.md',
  'guides/cross-chain.md',
  'guides/withdrawals.md',
  'guides/prices.md',
  'guides/webhooks.md',
  'guides/verify-answers.md',
  'integrate.md',
  'integrate/keys-and-passwords.md',
  'integrate/wallets-and-recovery.md',
  'errors.md',
  'guides/going-live.md',
]

/** The anchor of a heading, as the viewer names it. */
const toAnchor = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-')

/** What they lead to besides, by its name among the reference's files. */
const TEXTS: Readonly<Record<string, string>> = {
  'api.md': 'api.txt',
  'deploy.md': 'deploy.txt',
  '../client/README.md': 'client.txt',
}

const readDocument = (path: string) => readFile(new URL(`../docs/${path}`, import.meta.url), 'utf8')

/**
 * The guides as one Markdown text and its contents, for the document's description: their links lead to headings as the viewer
 * names them, and to the reference's files. Throws for a link to what the reference does not have.
 */
export async function buildGuides(): Promise<{ readonly contents: string; readonly pages: string }> {
  const texts = new Map(await Promise.all(GUIDES.map(async (path) => [path, await readDocument(path)] as const)))

  const titleOf = (path: string) => /^# (.*)$/m.exec(texts.get(path) ?? '')?.[1]

  function locate(from: string, link: string): string {
    const [target, heading] = link.split('#')
    const path = target ? posix.join(posix.dirname(from), target) : from
    const title = titleOf(path)
    if (title !== undefined) return `#description/${heading ?? toAnchor(title)}`
    const name = TEXTS[path]
    if (name === undefined) throw new Error(`docs/${from} leads to ${path}, which the reference does not have.`)
    return name
  }

  const pages = [...texts].map(([path, text]) =>
    text
      .replaceAll(/\]\((?!https?:)([^)\s]+)\)/g, (_, link: string) => `](${locate(path, link)})`)
      // The name of a file that is to be pasted, which viewers do not show.
      .replaceAll(/^```(\w+) ([\w-]+\.\w+)$/gm, '**$2**\n\n```$1'),
  )
  const links = GUIDES.map((path) => `[${titleOf(path)}](${locate('', path)})`)
  return { contents: `Guides: ${links.join(', ')}.`, pages: pages.join('\n') }
}

/** What the guides lead to, as files of plain text, because browsers save what is called .md instead of showing it. */
export async function buildTexts(): Promise<Readonly<Record<string, string>>> {
  const files = Object.entries(TEXTS).map(async ([path, name]) => [name, await readDocument(path)] as const)
  return Object.fromEntries(await Promise.all(files))
}
