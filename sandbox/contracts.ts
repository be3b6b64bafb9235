import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Abi, Hex } from 'viem'
import { once } from '../lib/core/once.ts'

/** Compiled Solidity contract. `bytecode` is the creation code; `deployedBytecode` is the code on the chain after deployment. */
export type CompiledContract = { readonly abi: Abi; readonly bytecode: Hex; readonly deployedBytecode: Hex }

/** All deployable contracts of `sandbox/contracts`, by name. */
export type CompiledContracts = { readonly [name: string]: CompiledContract }

/** Path of the file with the compiled contracts and a fingerprint of their sources. */
export const COMPILED_FILE = join(import.meta.dirname, 'contracts/compiled.json')

/** Contract as stored in compiled.json. `deployed` locates the deployed code in `bytecode`: offset and length in bytes. */
type StoredContract = { readonly abi: Abi; readonly bytecode: string; readonly deployed: readonly [number, number] }
type CompiledFile = { readonly fingerprint: string; readonly contracts: Readonly<Record<string, StoredContract>> }
type Sources = { readonly [path: string]: { readonly content: string } }

const SOURCES = join(import.meta.dirname, 'contracts')
const SETTINGS = {
  // The optimizer's slowest step, common subexpression elimination, is off. The step takes a third of the compile time, and makes the code
  // only a fifth smaller.
  optimizer: { enabled: true, runs: 200, details: { cse: false } },
  evmVersion: 'prague',
  metadata: { bytecodeHash: 'none', appendCBOR: false },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
}

/** Returns every compiled contract. Throws if a source, the compiler or a library changed since the compilation. */
export const compiledContracts: () => Promise<CompiledContracts> = once(async () => {
  const { fingerprint, contracts } = await readCompiledFile()
  if (fingerprint !== fingerprintOf(await readSources())) {
    throw new Error('The local contracts changed since they were compiled. Run: npm run contracts')
  }
  return Object.fromEntries(
    Object.entries(contracts).map(
      ([
        name,
        {
          abi,
          bytecode,
          deployed: [start, size],
        },
      ]) => {
        const deployedBytecode: Hex = `0x${bytecode.slice(2 * start, 2 * (start + size))}`
        return [name, { abi, bytecode: `0x${bytecode}`, deployedBytecode }]
      },
    ),
  )
})

/** Returns the compiled contract with this name. Throws an Error with the known names if there is none. */
export async function compiledContract(name: string): Promise<CompiledContract> {
  const contracts = await compiledContracts()
  const contract = contracts[name]
  if (!contract) throw new Error(`No contract ${name}; there are ${Object.keys(contracts).join(', ')}`)
  return contract
}

/** Returns true if `COMPILED_FILE` matches the current sources, compiler and libraries. */
export async function areContractsCompiled(): Promise<boolean> {
  return (await readCompiledFile()).fingerprint === fingerprintOf(await readSources())
}

/**
 * Compiles the contracts in about 15 seconds and returns the new text of `COMPILED_FILE`. Throws an Error with solc's messages if the
 * compilation fails.
 */
export async function compileContracts(): Promise<string> {
  const sources = await readSources()
  const file: CompiledFile = { fingerprint: fingerprintOf(sources), contracts: await compile(sources) }
  return `${JSON.stringify(file)}\n`
}

async function readCompiledFile(): Promise<CompiledFile> {
  return JSON.parse(await readFile(COMPILED_FILE, 'utf8'))
}

async function readSources(): Promise<Sources> {
  const paths = (await readdir(SOURCES, { recursive: true })).filter((path) => path.endsWith('.sol')).sort()
  const contents = await Promise.all(paths.map((path) => readFile(join(SOURCES, path), 'utf8')))
  return Object.fromEntries(paths.map((path, i) => [path, { content: contents[i] ?? '' }]))
}

const require = createRequire(import.meta.url)

function fingerprintOf(sources: Sources): string {
  const versions = ['solc', '@openzeppelin/contracts'].map((name) => require(`${name}/package.json`).version)
  return createHash('sha256')
    .update(JSON.stringify([versions, SETTINGS, sources]))
    .digest('hex')
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

async function compile(sources: Sources): Promise<CompiledFile['contracts']> {
  // The compiler is imported here, because its 8 MB of WebAssembly are needed only if a source has changed.
  const { default: solc }: { default: Compiler } = await import('solc')
  const input = { language: 'Solidity', sources, settings: SETTINGS }
  const output: Output = JSON.parse(solc.compile(JSON.stringify(input), { import: readImport }))
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'))

  const contracts: Record<string, StoredContract> = {}
  for (const path of Object.keys(sources)) {
    for (const [name, { abi, evm }] of Object.entries(output.contracts?.[path] ?? {})) {
      const [bytecode, deployed] = [evm.bytecode.object, evm.deployedBytecode.object]
      // Abstract contracts and interfaces have no code and are left out.
      if (bytecode === '') continue
      if (!bytecode.includes(deployed))
        throw new Error(`${name} has immutable values, which compiled.json cannot store`)
      contracts[name] = { abi, bytecode, deployed: [bytecode.indexOf(deployed) / 2, deployed.length / 2] }
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
