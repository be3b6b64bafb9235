import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, buildSync } from 'esbuild'
import { CONSUMERS, ENDPOINTS, type FunctionName, JOBS } from './functions.ts'
import { copyZod, trimOwnCode } from './trimming.ts'

/** Upload of a function: its code, the JSON files that it serves, and its bytes by source file. */
export type Bundle = {
  readonly code: Uint8Array
  /** Paths of the JSON files in the function's folder, which it reads beside its code. */
  readonly served: readonly string[]
  readonly bytesByFile: ReadonlyMap<string, number>
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const LAMBDA_CREDENTIALS = fileURLToPath(import.meta.resolve('./lambda-credentials.ts'))
const NO_ENDPOINT_DISCOVERY = fileURLToPath(import.meta.resolve('./no-endpoint-discovery.ts'))
/** Files from which the SDK's clients read their version. */
const SDK_VERSION = /(^|\/)node_modules\/@aws-sdk\/[^/]+\/package\.json$/

const OPTIONS = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  absWorkingDir: ROOT,
} satisfies BuildOptions

/** Keeps the names of our functions: stack traces then need no source map, which takes 20 ms of each cold start. */
const OWN_CODE_OPTIONS = { ...OPTIONS, packages: 'external', keepNames: true } satisfies BuildOptions

const WITH_PACKAGES = {
  ...OPTIONS,
  // ES modules come first: the packages' CommonJS forms call `require`, which an ES module does not have.
  mainFields: ['module', 'main'],
  // The bundle has the AWS SDK that was tested, not the runtime's own.
  // The SDK imports this package for operations with an event stream. DynamoDB and Secrets Manager have none: 14 KiB.
  external: ['@smithy/core/event-streams'],
  alias: {
    '@aws-sdk/credential-provider-node': LAMBDA_CREDENTIALS,
    '@aws-sdk/middleware-endpoint-discovery': NO_ENDPOINT_DISCOVERY,
  },
  // The SDK's clients read their own package.json for the version in their user agent: 2 KiB each. `verifyInputs` refuses all other JSON.
  loader: { '.json': 'empty' },
  minify: true,
  legalComments: 'none',
  metafile: true,
  write: false,
  // Our own code is first bundled outside the repository.
  nodePaths: [join(ROOT, 'node_modules')],
} satisfies BuildOptions

/**
 * Bundles each function into one ES module, as it is deployed. Reads packages once for all functions. Throws if esbuild does, or if a
 * package reads JSON.
 */
export function buildBundles(names: readonly FunctionName[]): ReadonlyMap<FunctionName, Bundle> {
  const ownCode = mkdtempSync(join(tmpdir(), 'vaultline-own-code-'))
  try {
    buildSync({
      ...OWN_CODE_OPTIONS,
      entryPoints: names.map((name) => ({ in: `functions/${name}/handler.ts`, out: name })),
      outdir: ownCode,
    })
    for (const name of names) {
      const path = join(ownCode, `${name}.mjs`)
      writeFileSync(path, trimOwnCode(readFileSync(path, 'utf8')))
    }
    copyZod(ROOT, ownCode)
    const { outputFiles, metafile } = buildSync({
      ...WITH_PACKAGES,
      entryPoints: names.map((name) => ({ in: join(ownCode, `${name}.mjs`), out: name })),
      outdir: ROOT,
    })
    verifyInputs(Object.keys(metafile.inputs))
    const codes = new Map(outputFiles.map(({ path, contents }) => [path, contents]))
    return new Map(
      names.map((name) => {
        const file = `${name}.mjs`
        const code = codes.get(join(ROOT, file))
        if (!code) throw new Error(`esbuild made no bundle of ${name}.`)
        const inputs = Object.entries(metafile.outputs[file]?.inputs ?? {})
        const bytesByFile = new Map(inputs.map(([from, { bytesInOutput }]) => [from, bytesInOutput]))
        const served = globSync(join(ROOT, 'functions', name, '*.json'))
        return [name, { code, served, bytesByFile }]
      }),
    )
  } finally {
    rmSync(ownCode, { recursive: true })
  }
}

let all: ReadonlyMap<FunctionName, Bundle> | undefined

/** Returns the bundle of one function. The first call builds all bundles, in a third of the time that single builds take. */
export function readBundle(name: FunctionName): Bundle {
  all ??= buildBundles([...ENDPOINTS, ...JOBS, ...CONSUMERS].map(([each]) => each))
  const made = all.get(name)
  if (!made) throw new Error(`There is no function ${name}.`)
  return made
}

/** Throws if a bundle of these files contains a JSON file that would be empty in it. */
export function verifyInputs(files: readonly string[]): void {
  const emptied = files.filter((file) => file.endsWith('.json') && !SDK_VERSION.test(file))
  if (emptied.length > 0) throw new Error(`A bundle would be without the content of ${emptied.join(', ')}.`)
}

/** Writes a bundle into a directory, which it creates if needed. */
export function writeBundle({ code, served }: Bundle, directory: string): void {
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'index.mjs'), code)
  for (const path of served) cpSync(path, join(directory, basename(path)))
}

/** Size budgets in KiB of the functions that exceed the default, with the reason. */
const OTHER_BUDGETS: Partial<Record<FunctionName, number>> = {
  // The library that verifies passkeys, with all certificate formats: 310 KiB.
  'accounts/register': 666,
  'accounts/login': 646,
  'accounts/recover': 669,
  'accounts/credentials-add': 676,
  // Wallets of two kinds of chains, and their signatures.
  'accounts/wallets-link': 484,
  // Campaigns and balances on seven chains, with their APIs; claims are simulated.
  'vaults/claim-rewards': 451,
  'activity/rewards': 435,
  'portfolio/all-balances': 462,
  // The protocols, vault terms, yields over three ranges, and token values.
  'vaults/list': 498,
  'vaults/vault': 495,
  // The bridge's API, with its pause in the cache table, and the comparison of two hosts: 10 KiB. Deposits add what is pinned of vaults.
  // Half a KiB is the amounts that work, in error details; 7 KiB are remembered quotes.
  'vaults/deposit': 545,
  'vaults/withdraw': 531,
  'vaults/claim': 530,
  'vaults/cancel': 515,
  // The records and their fold, values of transfers, and yields over three ranges: the largest read-only functions.
  'activity/positions': 496,
  'activity/position': 506,
  'activity/deposits': 498,
  'activity/withdrawals': 498,
  // The chains and the evidence of transfers, the vaults' events in fills, and the bridge's API for hints: 28 KiB.
  'vaults/cross-chain-status': 508,
  // The records, for requests of vaults that use request ids.
  'vaults/deposit-status': 490,
  'vaults/withdraw-status': 491,
  // The records, the bridge and its API for hints, and the clients' events before and after finality with their types. The queue, and
  // amounts and yields of accounts for event entries: 14 KiB. No caller waits for it.
  'jobs/refresh-chain': 647,
  // The same without the bridge, and with metrics.
  'queues/refresh-shard': 578,
  // The clients' events, the queue, the source's API with its pause, and the comparison of two hosts.
  'jobs/refresh-rewards': 478,
  // Only the frame: middy, the logger, zod, and the check of the edge's key.
  'system/health': 113,
  'system/apple-app-site-association': 113,
  'system/assetlinks': 114,
  'system/openapi': 113,
  // The frame and every contract: it grows by 1 or 2 KiB with each endpoint.
  'system/unknown-route': 227,
}

/** Returns the maximum size of a function's minified bundle, in KiB. */
export function maxBundleKib(name: FunctionName): number {
  return OTHER_BUDGETS[name] ?? 400
}
