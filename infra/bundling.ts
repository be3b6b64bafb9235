import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, buildSync } from 'esbuild'
import { CONSUMERS, ENDPOINTS, type FunctionName, JOBS } from './functions.ts'
import { copyZod, trimOwnCode } from './trimming.ts'

/** Upload of a Lambda function: its code, the JSON files that it serves, and the share of each source file in the code, in bytes. */
export type Bundle = {
  readonly code: Uint8Array
  /** Paths of the JSON files in the function's folder. The function reads them at run time. */
  readonly served: readonly string[]
  readonly bytesByFile: ReadonlyMap<string, number>
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const LAMBDA_CREDENTIALS = fileURLToPath(import.meta.resolve('./lambda-credentials.ts'))
const NO_ENDPOINT_DISCOVERY = fileURLToPath(import.meta.resolve('./no-endpoint-discovery.ts'))
/** Matches the package.json files from which the AWS SDK's clients read their own version. */
const SDK_VERSION = /(^|\/)node_modules\/@aws-sdk\/[^/]+\/package\.json$/

const OPTIONS = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  absWorkingDir: ROOT,
} satisfies BuildOptions

/**
 * `keepNames` makes stack traces show the names of functions. Stack traces then need no source map, which would take 20 ms of each cold
 * start.
 */
const OWN_CODE_OPTIONS = { ...OPTIONS, packages: 'external', keepNames: true } satisfies BuildOptions

const WITH_PACKAGES = {
  ...OPTIONS,
  // ES modules come first: the packages' CommonJS forms call `require`, which an ES module does not have.
  mainFields: ['module', 'main'],
  // Only this package stays out of the bundles. The AWS SDK imports it for operations with an event stream, and DynamoDB and Secrets
  // Manager have none. A bundle is 14 KiB smaller without it.
  external: ['@smithy/core/event-streams'],
  alias: {
    '@aws-sdk/credential-provider-node': LAMBDA_CREDENTIALS,
    '@aws-sdk/middleware-endpoint-discovery': NO_ENDPOINT_DISCOVERY,
  },
  // JSON files become empty, to keep the package.json files of the AWS SDK's clients (2 KiB each) out of the bundles. `verifyInputs` throws
  // if a bundle contains any other JSON file.
  loader: { '.json': 'empty' },
  minify: true,
  legalComments: 'none',
  metafile: true,
  write: false,
  // esbuild searches packages here, because the code to bundle is in a temporary folder outside the repository.
  nodePaths: [join(ROOT, 'node_modules')],
} satisfies BuildOptions

/**
 * Bundles each function into one ES module, ready for upload. Reads packages once for all functions. Throws if esbuild fails, or if a
 * package imports a JSON file.
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
 * Returns the bundle of one function; throws if no function has this name. The first call builds all bundles, which takes a third of the
 * time of single builds.
 */
export function readBundle(name: FunctionName): Bundle {
  all ??= buildBundles([...ENDPOINTS, ...JOBS, ...CONSUMERS].map(([each]) => each))
  const bundle = all.get(name)
  if (!bundle) throw new Error(`There is no function ${name}.`)
  return bundle
}

/** Throws if a source file of the bundle is JSON, because esbuild empties JSON files. Ignores the package.json files of the AWS SDK. */
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

/**
 * Maximum bundle sizes in KiB, for functions whose maximum is not the default. Each comment names the large parts of the bundles below it.
 */
const OTHER_BUDGETS: Partial<Record<FunctionName, number>> = {
  // The library that verifies passkeys, with all certificate formats, takes 310 KiB of these bundles.
  'accounts/register': 666,
  'accounts/login': 646,
  'accounts/recover': 669,
  'accounts/credentials-add': 676,
  // This bundle contains code that verifies the signatures of wallets on EVM chains and on Solana.
  'accounts/wallets-link': 484,
  // These bundles contain the API clients for reward campaigns and for balances on seven chains. Reward claims are also simulated.
  'vaults/claim-rewards': 451,
  'activity/rewards': 435,
  'portfolio/all-balances': 462,
  // These bundles contain all vault protocols, the vaults' terms, yields over three periods, and token prices.
  'vaults/list': 495,
  'vaults/vault': 491,
  // These bundles contain code that calls the bridge's API and compares two nodes (10 KiB). While that API must not be
  // called, the cache table contains the end of the pause. Deposits also check a vault's confirmed code and price.
  // Error details with valid amounts take half a KiB; stored quotes take 7 KiB.
  'vaults/deposit': 539,
  'vaults/withdraw': 525,
  'vaults/claim': 524,
  'vaults/cancel': 509,
  // These bundles contain code that reads and sums vault records, values transfers, and computes yields over three
  // periods. They are the largest bundles of functions that only read.
  'activity/positions': 494,
  'activity/position': 501,
  'activity/deposits': 495,
  'activity/withdrawals': 496,
  // This bundle contains code that searches bridge transfers on the source and the destination chain. It also finds
  // vault events in the transaction that completes a transfer. With the client of the bridge's API, that takes 28 KiB.
  'vaults/cross-chain-status': 500,
  // These bundles contain code that reads vault records, because some vaults identify requests by an id.
  'vaults/deposit-status': 488,
  'vaults/withdraw-status': 488,
  // This bundle contains code that writes vault records, follows bridge transfers, and reports events to clients before
  // and after finality. The code for the queue, and for amounts and yields in events, takes 14 KiB. The size slows no
  // caller, because the job is scheduled.
  'jobs/refresh-chain': 641,
  // This bundle contains the code of jobs/refresh-chain without the code for the bridge.
  'queues/refresh-shard': 575,
  // This bundle contains code that reports events to clients, writes to the queue, and compares two nodes. It also
  // calls the rewards API. While that API must not be called, the cache table contains the end of the pause.
  'jobs/refresh-rewards': 478,
  // These bundles contain only the common code of endpoints: middy, the logger, zod, and the check of CloudFront's key.
  'system/health': 113,
  'system/apple-app-site-association': 113,
  'system/assetlinks': 114,
  'system/openapi': 113,
  // This bundle contains the common code and the contract of every endpoint. It grows by 1 or 2 KiB with each endpoint.
  'system/unknown-route': 227,
}

/** Returns the maximum size of a function's minified bundle, in KiB. */
export function maxBundleKib(name: FunctionName): number {
  return OTHER_BUDGETS[name] ?? 400
}
