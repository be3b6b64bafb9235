import { readFile, writeFile } from 'node:fs/promises'
import { endpoints } from '../functions/contracts.ts'
import packageJson from '../package.json' with { type: 'json' }
import examples from '../reference/examples.json' with { type: 'json' }
import { buildOpenApi } from '../reference/openapi.ts'

// Writes the file that `GET /openapi.json` serves from the contracts and the recorded examples. With --check it only compares.
const FILE = 'functions/system/openapi/openapi.json'

const text = `${JSON.stringify(buildOpenApi(Object.values(endpoints), packageJson.version, examples), null, 2)}\n`
if (!process.argv.includes('--check')) await writeFile(FILE, text)
else if ((await readFile(FILE, 'utf8').catch(() => '')) !== text) {
  process.stderr.write(`${FILE} is not what the contracts say. Run: npm run docs\n`)
  process.exitCode = 1
}
