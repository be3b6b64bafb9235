import { readdir, readFile, stat, utimes } from 'node:fs/promises'
import { extname, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Folder of a built website, its sources, and the function that builds it. */
export type SiteOptions = {
  readonly folder: string
  /** Files and folders from which the website is built. Paths are relative to the repository's root. */
  readonly sources: readonly string[]
  /** Builds the website into `folder`; ends early when the signal aborts. */
  readonly build: (signal: AbortSignal) => Promise<void>
}

const ROOT = fileURLToPath(new URL('../', import.meta.url))

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  // Markdown is served as plain text, because browsers download a file of type text/markdown.
  '.md': 'text/plain; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
}

/** Returns the content type of a file by its name. */
export function contentTypeOf(name: string): string {
  return TYPES[extname(name)] ?? 'application/octet-stream'
}

/** Returns a page's security headers, with this `Content-Security-Policy`. */
export function pageHeaders(policy: string): Readonly<Record<string, string>> {
  return { 'content-security-policy': policy, 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff' }
}

/**
 * Returns functions that build and read a website. `refresh` rebuilds the website if a source is newer than the last build. Only one build
 * runs at a time.
 */
export function createSiteBuilder({ folder, sources, build }: SiteOptions) {
  const index = join(folder, 'index.html')
  const ending = new AbortController()
  let running: Promise<void> | undefined

  const refresh = async () => {
    const [builtAt, changedAt] = await Promise.all([timeOf(index), newest(sources)])
    if (builtAt > changedAt) return
    const startedAt = new Date()
    await build(ending.signal)
    // The file index.html gets the build's start time. A source that changes during the build is then newer than the
    // build.
    await utimes(index, startedAt, startedAt)
  }
  return {
    refresh(): Promise<void> {
      running ??= refresh().finally(() => {
        running = undefined
      })
      return running
    },
    /** Returns true if there is a built website, even an outdated one. */
    async isBuilt(): Promise<boolean> {
      return (await timeOf(index)) > 0
    },
    /** Reads a file of the built website; undefined if it does not exist. */
    async read(name: string): Promise<Buffer | undefined> {
      const path = resolve(folder, name)
      return path.startsWith(resolve(folder) + sep) ? await readFile(path).catch(() => undefined) : undefined
    },
    async stop(): Promise<void> {
      ending.abort()
      await running?.catch(() => undefined)
    },
  }
}

async function newest(paths: readonly string[]): Promise<number> {
  const times = paths.map(async (path) => {
    const place = resolve(ROOT, path)
    // Folders are checked too, because a deleted or renamed file changes the time of its folder only.
    const inside = await readdir(place, { recursive: true }).catch(() => [])
    return Math.max(...(await Promise.all(['', ...inside].map((name) => timeOf(join(place, name))))))
  })
  return Math.max(0, ...(await Promise.all(times)))
}

/** Returns the modification time of a file in epoch milliseconds; 0 if the file does not exist. */
async function timeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )
}
