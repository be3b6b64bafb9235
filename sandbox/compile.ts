import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Abi, Hex } from 'viem'

/** What a contract's source becomes: `bytecode` deploys it, `deployedBytecode` is what then lies at its address. */
export type CompiledContract = { readonly abi: Abi; readonly bytecode: Hex; readonly deployedBytecode: Hex }

/** Every contract of `sandbox/contracts` that can be deployed, by name. */
export type CompiledContracts = { readonly [name: string]: CompiledContract }

const SOURCES = join(import.meta.dirname, 'contracts')
const CACHE = join(import.meta.dirname, '../.local')
const SETTINGS = {
  // Without the optimizer's slowest step, which takes half of the time; the code is a tenth larger.
  optimizer: { enabled: true, runs: 200, details: { cse: false } },
  evmVersion: 'prague',
  metadata: { bytecodeHash: 'none', appendCBOR: false },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
}

let compiling: Promise<CompiledContracts> | undefined

/**
 * Every contract compiled, from the cache in `.local` unless a source changed; `onCompile` is told when one did and it
 * takes some seconds. Throws with solc's messages.
 */
export function compileContracts({ onCompile }: { onCompile?: () => void } = {}): Promise<CompiledContracts> {
  compiling ??= readOrCompile(onCompile).catch((error) => {
    compiling = undefined
    throw error
  })
  return compiling
}

async function readOrCompile(onCompile?: () => void): Promise<CompiledContracts> {
  const sources = await readSources()
  const cached = join(CACHE, `contracts-${fingerprint(sources)}.json`)
  const known = await readFile(cached, 'utf8').catch(() => undefined)
  if (known !== undefined) return JSON.parse(known)

  onCompile?.()
  const contracts = await compile(sources)
  await mkdir(CACHE, { recursive: true })
  // Written aside and renamed, because test files that start together compile together.
  const partial = `${cached}.${process.pid}`
  await writeFile(partial, JSON.stringify(contracts))
  await rename(partial, cached)
  return contracts
}

/** One compiled contract by name; throws with the known names where there is none of that name. */
export async function compiledContract(name: string): Promise<CompiledContract> {
  const contracts = await compileContracts()
  const contract = contracts[name]
  if (!contract) throw new Error(`No contract ${name}; there are ${Object.keys(contracts).join(', ')}`)
  return contract
}

type Sources = { readonly [path: string]: { readonly content: string } }

async function readSources(): Promise<Sources> {
  const paths = (await readdir(SOURCES, { recursive: true })).filter((path) => path.endsWith('.sol')).sort()
  const contents = await Promise.all(paths.map((path) => readFile(join(SOURCES, path), 'utf8')))
  return Object.fromEntries(paths.map((path, i) => [path, { content: contents[i] ?? '' }]))
}

const require = createRequire(import.meta.url)

function fingerprint(sources: Sources): string {
  const versions = ['solc', '@openzeppelin/contracts'].map((name) => require(`${name}/package.json`).version)
  return createHash('sha256')
    .update(JSON.stringify([versions, SETTINGS, sources]))
    .digest('hex')
    .slice(0, 16)
}

type Compiler = { compile(input: string, callbacks: { import: typeof readImport }): string }
type Output = {
  errors?: readonly { severity: string; formattedMessage: string }[]
  contracts?: {
    [path: string]: {
      [name: string]: {
        abi: Abi
        evm: { bytecode: { object: string }; deployedBytecode: { object: string } }
      }
    }
  }
}

async function compile(sources: Sources): Promise<CompiledContracts> {
  // 8 MB of WebAssembly, needed only when a source changed.
  const { default: solc }: { default: Compiler } = await import('solc')
  const input = { language: 'Solidity', sources, settings: SETTINGS }
  const output: Output = JSON.parse(solc.compile(JSON.stringify(input), { import: readImport }))
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'))

  const contracts: { [name: string]: CompiledContract } = {}
  for (const path of Object.keys(sources)) {
    for (const [name, { abi, evm }] of Object.entries(output.contracts?.[path] ?? {})) {
      // An abstract contract or an interface has no code.
      if (evm.bytecode.object === '') continue
      contracts[name] = {
        abi,
        bytecode: `0x${evm.bytecode.object}`,
        deployedBytecode: `0x${evm.deployedBytecode.object}`,
      }
    }
  }
  return contracts
}

function readImport(path: string): { contents: string } | { error: string } {
  try {
    return { contents: readFileSync(require.resolve(path), 'utf8') }
  } catch {
    return { error: `${path} is neither in sandbox/contracts nor an installed package` }
  }
}
