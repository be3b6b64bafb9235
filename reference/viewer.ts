import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const VERSION = '1.72.1'
/** What the registry says of this version, and what nobody can change without our seeing it. */
const INTEGRITY = 'sha512-XpEJ0rfc/cXbCrR+iC4kK0o/WwX2dTtGQbT049OlPKAHD6IMIFdTeGz2r+M27P2EDWKyUITRm/NzlP8z2pw/Ow=='
const SCRIPT = 'package/dist/browser/standalone.js'

/** The name of the viewer's script: Scalar's API reference (https://github.com/scalar/scalar, MIT). */
export const VIEWER_FILE = `scalar-${VERSION}.js`

const run = promisify(execFile)

/**
 * The path of the viewer's script in this folder, where it is kept; npm, which finds its settings in this environment, fetches
 * it the first time. Throws where no registry can be reached, and for a package that is not the pinned one.
 */
export async function fetchViewer(folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  const path = join(folder, VIEWER_FILE)
  const isThere = await access(path).then(
    () => true,
    () => false,
  )
  if (isThere) return path
  await mkdir(folder, { recursive: true })
  const parts = await mkdtemp(join(folder, 'fetching-'))
  try {
    const options = ['--pack-destination', parts, '--prefer-offline', '--fetch-retries', '0', '--loglevel', 'error']
    const { stdout } = await run('npm', ['pack', `@scalar/api-reference@${VERSION}`, ...options], { env })
    const archive = join(parts, stdout.trim())
    const integrity = `sha512-${createHash('sha512')
      .update(await readFile(archive))
      .digest('base64')}`
    if (integrity !== INTEGRITY) throw new Error(`The viewer's package is ${integrity}, not the pinned one.`)
    await run('tar', ['-xzf', archive, '-C', parts, SCRIPT], { env })
    await rename(join(parts, SCRIPT), path)
  } finally {
    await rm(parts, { recursive: true })
  }
  return path
}
