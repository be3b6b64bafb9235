import { relative } from 'node:path'
import type { MarkdownRenderer } from 'vitepress'
import { linkOf, OPERATIONS, ROOT } from './pages.ts'

/** HTML tags that our Markdown may contain. Other angle brackets are plain text, such as `<id>`. */
const TAGS = /^<\/?(a|br|details|div|img|kbd|p|picture|source|sub|summary|sup|TryIt)[\s/>]/i

/** Returns the anchor of a heading, by the same rule as GitHub. */
export function slugify(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

/** Returns the path of the Markdown file being rendered; empty for a text that is no file. */
function fileOf({ realPath, path }: { readonly realPath?: string; readonly path?: string }): string {
  const file = realPath ?? path
  return file ? relative(ROOT, file) : ''
}

/** Configures the renderer to treat Markdown as GitHub does: links lead from file to file, and each code block shows its file's name. */
export function readAsGitHub(md: MarkdownRenderer): void {
  md.core.ruler.push('links', ({ tokens, env }) => {
    const from = fileOf(env)
    if (!from) return
    for (const { children } of tokens) {
      let isText = false
      for (const token of children ?? []) {
        if (token.type === 'link_open') {
          const href = linkOf(from, String(token.attrGet('href')))
          isText = href === undefined
          if (href !== undefined) token.attrSet('href', href)
        }
        if (!isText || !/^link_(open|close)$/.test(token.type)) continue
        // The link becomes plain text, because it leads to a file of the repository that is not a page.
        if (token.type === 'link_close') isText = false
        Object.assign(token, { type: token.type.replace('link', 'span'), tag: 'span', attrs: null })
      }
    }
  })

  md.core.ruler.push('try', (state) => {
    const name = /^docs\/api\/([\w-]+)\.md$/.exec(fileOf(state.env))?.[1]
    if (!OPERATIONS.some((each) => each.name === name && each.request)) return
    const headings = state.tokens.flatMap(({ type, tag }, at) => (type === 'heading_open' && tag === 'h2' ? [at] : []))
    const block = new state.Token('html_block', '', 0)
    block.content = '<TryIt />\n'
    // `<TryIt />` is the form that sends a request. It follows the page's first section, which is the example.
    state.tokens.splice(headings[1] ?? state.tokens.length, 0, block)
  })

  for (const kind of ['html_block', 'html_inline'] as const) {
    md.renderer.rules[kind] = (tokens, at) => {
      const { content = '' } = tokens[at] ?? {}
      return TAGS.test(content.trim()) ? content : md.utils.escapeHtml(content)
    }
  }

  const { code_inline, fence } = md.renderer.rules
  md.renderer.rules.code_inline = (...code) => {
    const text = code_inline?.(...code) ?? ''
    // Long names of fields get optional line breaks at their dots.
    return /^<code[^>]*>[\w[\].]+<\/code>$/.test(text) ? text.replaceAll(/\.(?=\w)/g, '.<wbr>') : text
  }
  md.renderer.rules.fence = (tokens, at, ...rest) => {
    const name = /^\w+ ([\w-]+\.\w+)$/.exec(tokens[at]?.info.trim() ?? '')?.[1]
    const block = fence?.(tokens, at, ...rest) ?? ''
    return name ? `<p class="file-name">${name}</p>${block}` : block
  }
}
