import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defineConfig } from 'vitepress'
import { readAsGitHub, slugify } from './markdown.ts'
import { buildSidebar, linkOf, OPERATIONS, pageOf, ROOT } from './pages.ts'

/** Configuration of the documentation site. Its pages are the repository's Markdown files in docs/, and some others. */
export default defineConfig({
  title: 'Vaultline',
  description: 'The back end of a self-custody wallet: documentation and API reference',
  lang: 'en',
  base: '/docs/',
  srcDir: ROOT,
  outDir: join(ROOT, 'dist/docs'),
  srcExclude: ['!(docs|client|site)/**/*', 'client/!(README.md)', 'site/!(index.md)'],
  rewrites: (file) => pageOf(file) ?? file,
  // Links to localhost are not checked, because the local service does not run during the build.
  ignoreDeadLinks: 'localhostLinks',
  metaChunk: true,
  // A page does not prefetch linked pages: it loads 0.4 MB instead of 1.3.
  router: { prefetchLinks: false },
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: { config: readAsGitHub, anchor: { slugify }, toc: { slugify } },
  vite: {
    server: { watch: { ignored: ['**/.local/**', '**/cdk.out/**', '**/dist/**'] } },
    // Vue is not bundled: the pages lie outside the folder where Vue is installed, so the bundler would not find Vue.
    ssr: { external: ['vue', 'vue/server-renderer'] },
  },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        miniSearch: { searchOptions: { boost: { title: 4, text: 1, titles: 2 } } },
        // The search index leaves out the pages of docs/decisions. A heading that names a type of event counts as bold
        // text, so that it is no search result of its own.
        _render: (source, env, markdown) =>
          env.relativePath.includes('decisions/')
            ? ''
            : markdown.render(source.replaceAll(/^## (\w+\.\w+)$/gm, '**$1**'), env),
      },
    },
    nav: [
      { text: 'Quick start', link: '/guides/quick-start.html' },
      { text: 'API', link: '/api.html' },
      { text: 'Errors', link: '/errors.html' },
      { text: 'Deploy', link: '/deploy.html' },
    ],
    sidebar: buildSidebar(),
    outline: [2, 3],
  },
  transformPageData({ relativePath, frontmatter }) {
    const operation = OPERATIONS.find(({ name }) => relativePath === `api/${name}.md`)
    if (operation?.request) frontmatter['operation'] = operation
  },
  /** Moves inline scripts into files, so that the `Content-Security-Policy` can forbid inline scripts. */
  transformHtml(code, _, { siteConfig: { outDir, assetsDir, site } }) {
    return code.replaceAll(/<script([^>]*)>([^<]+)<\/script>/g, (_, attributes, script) => {
      const name = `${createHash('sha256').update(script).digest('hex').slice(0, 8)}.js`
      mkdirSync(join(outDir, assetsDir), { recursive: true })
      writeFileSync(join(outDir, assetsDir, name), script)
      return `<script${attributes} src="${site.base}${assetsDir}/${name}"></script>`
    })
  },
  /**
   * Writes each page's Markdown source beside the page, the file llms.txt, and an empty config.json. The deployment
   * replaces config.json by one that contains the URL of the API.
   */
  buildEnd({ outDir, pages }) {
    for (const file of [...pages.filter((page) => page !== 'site/index.md'), 'llms.txt']) {
      const target = join(outDir, pageOf(file) ?? file)
      mkdirSync(dirname(target), { recursive: true })
      writeFileSync(target, withSiteLinks(file))
    }
    writeFileSync(join(outDir, 'config.json'), '{}\n')
  },
})

/** Returns the text of a file in which links lead to the Markdown sources of the site's pages. */
function withSiteLinks(file: string): string {
  const text = readFileSync(join(ROOT, file), 'utf8')
  return text.replaceAll(/(!?)\[([^\]]*)\]\(([^)\s]+)\)/g, (whole, image, label, link) => {
    if (image) return whole
    const href = linkOf(file, link)
    return href === undefined ? label : `[${label}](${href})`
  })
}
