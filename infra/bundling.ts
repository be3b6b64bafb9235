import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, buildSync } from 'esbuild'
import { CONSUMERS, ENDPOINTS, type FunctionName, JOBS } from './functions.ts'
import { copyZod, trimOwnCode } from './trimming.ts'

/** Bundle of a function for its upload: the code, the JSON files that it reads, and the bytes by source file. */
export type Bundle = {
  readonly code: Uint8Array
  /** Paths of JSON files in the function's source folder that are copied beside its code, because it reads them. */
  readonly served: readonly string[]
  readonly bytesByFile: ReadonlyMap<string, number>
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const LAMBDA_CREDENTIALS = fileURLToPath(import.meta.resolve('./lambda-credentials.ts'))
const NO_ENDPOINT_DISCOVERY = fileURLToPath(import.meta.resolve('./no-endpoint-discovery.ts'))
/** Paths of the package.json files from which the SDK's clients read their version. */
const SDK_VERSION = /(^|\/)node_modules\/@aws-sdk\/[^/]+\/package\.json$/

const OPTIONS = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  absWorkingDir: ROOT,
} satisfies BuildOptions

/** Options for our own code. They keep function names, so stack traces need no source map, which would take 20 ms of each cold start. */
const OWN_CODE_OPTIONS = { ...OPTIONS, packages: 'external', keepNames: true } satisfies BuildOptions

const WITH_PACKAGES = {
  ...OPTIONS,
  // ES modules are preferred, because the packages' CommonJS versions call `require`, which is not defined in an ES module.
  mainFields: ['module', 'main'],
  // Bundles contain the tested version of the AWS SDK instead of using the one in Lambda's runtime. This package, 14 KiB, serves operations
  // with an event stream. DynamoDB and Secrets Manager have none, so it is left out.
  external: ['@smithy/core/event-streams'],
  alias: {
    '@aws-sdk/credential-provider-node': LAMBDA_CREDENTIALS,
    '@aws-sdk/middleware-endpoint-discovery': NO_ENDPOINT_DISCOVERY,
  },
  // JSON is emptied, because the SDK's clients read their own package.json only for the version in their user agent: 2 KiB each.
  // `verifyInputs` refuses all other JSON.
  loader: { '.json': 'empty' },
  minify: true,
  legalComments: 'none',
  metafile: true,
  write: false,
  // Packages are resolved from the repository, because our own code is first bundled into a folder outside of it.
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

/**
 * Returns the bundle of one function. The first call builds the bundles of all functions, in a third of the time that separate builds take.
 */
export function readBundle(name: FunctionName): Bundle {
  all ??= buildBundles([...ENDPOINTS, ...JOBS, ...CONSUMERS].map(([each]) => each))
  const made = all.get(name)
  if (!made) throw new Error(`There is no function ${name}.`)
  return made
}

/** Throws if these input files of a bundle include a JSON file that `loader` would empty. */
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

/** Maximum bundle sizes in KiB of functions that exceed the default; the comments give the reason. */
const OTHER_BUDGETS: Partial<Record<FunctionName, number>> = {
  // These functions contain the library that verifies passkeys, with all certificate formats: 310 KiB.
  'accounts/register': 666,
  'accounts/login': 646,
  'accounts/recover': 669,
  'accounts/credentials-add': 676,
  // This function contains code for wallets of EVM chains and of Solana, and for their signatures.
  'accounts/wallets-link': 484,
  // These functions contain the reward campaigns, balances on seven chains, and the APIs of both; claims are simulated.
  'vaults/claim-rewards': 451,
  'activity/rewards': 435,
  'portfolio/all-balances': 462,
  // These functions contain the vault protocols, vault terms, yields over three ranges, and token values.
  'vaults/list': 498,
  'vaults/vault': 495,
  // These functions contain the bridge's API, with its pause in the cache table, and the comparison of two hosts: 10 KiB. Deposits add the
  // check of pinned code and price. Half a KiB is for error details with allowed amounts; 7 KiB are for remembered quotes.
  'vaults/deposit': 545,
  'vaults/withdraw': 531,
  'vaults/claim': 530,
  'vaults/cancel': 515,
  // These are the largest read-only functions. They contain the computation of positions from records, values of transfers, and yields over
  // three ranges.
  'activity/positions': 496,
  'activity/position': 506,
  'activity/deposits': 498,
  'activity/withdrawals': 498,
  // This function contains the chains, the proof of transfers, the vaults' events in fills, and the bridge's API for hints: 28 KiB.
  'vaults/cross-chain-status': 508,
  // These functions contain the records, which requests of vaults with request ids need.
  'vaults/deposit-status': 490,
  'vaults/withdraw-status': 491,
  // This job contains the records, the bridge and its API for hints, and the clients' events with their types. The queue, and amounts and
  // yields of deposits and withdrawals in events, take 14 KiB. No caller waits for it.
  'jobs/refresh-chain': 647,
  // This function contains the same as refresh-chain without the bridge, and with metrics.
  'queues/refresh-shard': 578,
  // This job contains the clients' events, the queue, the API of the rewards' source with its pause, and the comparison of two hosts.
  'jobs/refresh-rewards': 478,
  // These functions contain only the code common to all: middy, the logger, zod, and the check of CloudFront's key.
  'system/health': 113,
  'system/apple-app-site-association': 113,
  'system/assetlinks': 114,
  'system/openapi': 113,
  // This function contains the common code and the contract of every endpoint, so it grows by 1 or 2 KiB with each endpoint.
  'system/unknown-route': 227,
}

/** Returns the maximum size of a function's minified bundle, in KiB. */
export function bundleBudget(name: FunctionName): number {
  return OTHER_BUDGETS[name] ?? 400
}
