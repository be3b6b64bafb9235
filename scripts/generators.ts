import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endpoints } from '../functions/contracts.ts'
import examples from '../reference/examples.json' with { type: 'json' }
import { buildOpenApi } from '../reference/openapi.ts'

// Checks that public linters and code generators accept the OpenAPI document, and that the generated code compiles. The tools are installed
// in a separate folder, because both generators need another TypeScript version.
const FOLDER = '.local/generators'
const VERSIONS = {
  '@hey-api/openapi-ts': '0.99.0',
  '@redocly/cli': '2.77.0',
  '@stoplight/spectral-cli': '6.16.3',
  'openapi-typescript': '7.13.0',
  typescript: '5.9.3',
}
const FILES = {
  'package.json': { private: true, type: 'module', dependencies: VERSIONS },
  'openapi.json': buildOpenApi(Object.values(endpoints), '0.0.0', examples),
  'spectral.json': { extends: ['spectral:oas'] },
  // Redocly accepts only this file name. The content is JSON, which is valid YAML.
  'redocly.yaml': { extends: ['recommended'], telemetry: 'off' },
  'tsconfig.json': {
    compilerOptions: {
      strict: true,
      target: 'es2022',
      lib: ['es2022', 'dom', 'dom.iterable'],
      module: 'esnext',
      moduleResolution: 'bundler',
      noEmit: true,
      types: [],
    },
    include: ['generated'],
  },
}
const STEPS = [
  ['spectral', 'lint', 'openapi.json', '--ruleset', 'spectral.json', '--fail-severity', 'hint'],
  ['redocly', 'lint', 'openapi.json', '--config', 'redocly.yaml', '--max-problems', '1000'],
  ['openapi-typescript', 'openapi.json', '--output', 'generated/openapi-typescript.ts'],
  ['openapi-ts', '--input', 'openapi.json', '--output', 'generated/openapi-ts', '--no-log-file'],
  ['tsc', '--project', 'tsconfig.json'],
] as const

mkdirSync(FOLDER, { recursive: true })
rmSync(join(FOLDER, 'generated'), { recursive: true, force: true })
for (const [name, content] of Object.entries(FILES)) writeFileSync(join(FOLDER, name), JSON.stringify(content, null, 2))
run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'])
for (const [command, ...args] of STEPS) run(join('node_modules', '.bin', command), args)

function run(command: string, args: readonly string[]): void {
  process.stdout.write(`\n> ${command} ${args.join(' ')}\n`)
  const { status } = spawnSync(command, args, { cwd: FOLDER, stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
}
