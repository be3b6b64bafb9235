import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import * as z from 'zod'

const folder = mkdtempSync(join(tmpdir(), 'wallet-'))
afterAll(() => rmSync(folder, { recursive: true }))

const Manifest = z.record(
  z.string(),
  z.object({ file: z.string(), imports: z.array(z.string()).default([]), css: z.array(z.string()).default([]) }),
)

/**
 * Builds the demo wallet as for deployment, in a separate process. Otherwise the tests' NODE_ENV would select React's
 * development build.
 */
function buildWallet() {
  const { PATH } = process.env
  const args = ['build', 'wallet', '--outDir', folder, '--emptyOutDir', '--manifest', '--logLevel', 'error']
  const { status, stderr } = spawnSync('vite', args, { env: { PATH }, encoding: 'utf8' })
  expect(status, stderr).toBe(0)
  return Manifest.parse(JSON.parse(readFileSync(join(folder, '.vite/manifest.json'), 'utf8')))
}

test('The deployed wallet loads at most 170 kB gzipped for its first page, without local accounts and control room', () => {
  const manifest = buildWallet()
  const files = new Set(['index.html'])
  const add = (name: string) => {
    const chunk = manifest[name]
    if (!chunk || files.has(chunk.file)) return
    for (const file of [chunk.file, ...chunk.css]) files.add(file)
    chunk.imports.forEach(add)
  }
  for (const name of ['index.html', 'src/pages/home.tsx']) add(name)
  const sizes = [...files].map((file) => gzipSync(readFileSync(join(folder, file))).length)
  expect(files.size).toBeGreaterThan(3)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(170_000)

  const assets = readdirSync(join(folder, 'assets')).map((file) => readFileSync(join(folder, 'assets', file), 'utf8'))
  expect(assets.some((code) => code.includes('x-join-key'))).toBe(true)
  expect(
    assets.filter((code) => code.includes('eip6963:announceProvider') && code.includes('local.vaultline')),
  ).toEqual([])
  expect(
    assets.filter((code) =>
      /vaultline\.exchanges|\/sandbox\/explorer|Control room|Local Solana account|room-wallet/.test(code),
    ),
  ).toEqual([])
})
