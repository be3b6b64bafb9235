import { readFile, writeFile } from 'node:fs/promises'
import { COMPILED_FILE, compileContracts } from '../sandbox/contracts.ts'

// Compiles the sandbox's Solidity contracts into `COMPILED_FILE`. With --check it only compares the file with the result.
const text = await compileContracts()
if (!process.argv.includes('--check')) await writeFile(COMPILED_FILE, text)
else if ((await readFile(COMPILED_FILE, 'utf8')) !== text) {
  process.stderr.write('The compiled contracts do not match their sources. Run: npm run contracts\n')
  process.exitCode = 1
}
