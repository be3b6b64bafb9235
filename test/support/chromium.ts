import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import packageJson from '../../package.json' with { type: 'json' }

const VERSION = packageJson.devDependencies['@sparticuz/chromium']
/** All processes of the machine share this folder. Its name has the version, so that a new version is unpacked again. */
const CHROMIUM = join(tmpdir(), `vaultline-chromium-${VERSION}`)
const UNPACK = join(import.meta.dirname, 'unpack-chromium.ts')

/** Path of the Chromium program, and the environment variables with which it finds its libraries. */
export type Chromium = { readonly executablePath: string; readonly env: NodeJS.ProcessEnv }

/**
 * Unpacks Chromium once per machine, in a process of its own. Otherwise the package may start a program that another process is
 * still writing (`spawn ETXTBSY`).
 */
export async function unpackChromium(): Promise<Chromium> {
  const chromium: Chromium = {
    executablePath: join(CHROMIUM, 'chromium'),
    env: { ...process.env, LD_LIBRARY_PATH: join(CHROMIUM, 'al2023', 'lib') },
  }
  if (existsSync(CHROMIUM)) return chromium
  const parts = await mkdtemp(`${CHROMIUM}-`)
  const env = { ...process.env, TMPDIR: parts }
  await promisify(execFile)(process.execPath, [UNPACK], { env })
  await rename(parts, CHROMIUM).catch(async (error) => {
    await rm(parts, { recursive: true })
    if (!existsSync(CHROMIUM)) throw error
  })
  return chromium
}
