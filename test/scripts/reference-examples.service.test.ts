import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCommand } from '../support/guides.ts'

test('Each example in TypeScript compiles with the client', () => {
  mkdirSync('.local', { recursive: true })
  const folder = mkdtempSync('.local/examples-')
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const prelude =
    'declare const VAULTLINE_URL: string, VAULTLINE_KEY: string, TOKEN: string, console: { log(data: unknown): void }\n'
  for (const name of readdirSync('docs/api')) {
    const [, code] = /```ts\n(.*?)```/s.exec(readFileSync(join('docs/api', name), 'utf8')) ?? []
    if (code)
      writeFileSync(
        join(folder, `${name}.ts`),
        prelude + code.replace('@vaultline/client', '../../client/src/index.ts'),
      )
  }
  const compilerOptions = {
    noEmit: true,
    rootDir: '../..',
    declaration: false,
    declarationMap: false,
    allowImportingTsExtensions: true,
  }
  const config = { extends: '../../client/tsconfig.json', compilerOptions, include: ['*.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  expect(runCommand('tsc', '--project', folder, '--checkers', '1')).toBe('')
})
