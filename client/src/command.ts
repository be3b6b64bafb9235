import type { Exchange, PublicKey } from './signature.ts'
import { type PinnedVault, verifyAnswer, type Witness, type Witnessed } from './verify.ts'
import { createWitness } from './witness.ts'

/** Input of the command that verifies a saved response: the contents of its files, and its options. */
export type CommandInput = {
  /** Trusted public keys as JSON: one key, a list of keys, or a key set (JWKS). */
  readonly keys: string
  readonly vaults?: string | undefined
  /** Maximum amount that may go to another chain, in the smallest unit of the vault's asset. */
  readonly mostSent?: string | undefined
  /** Response as `curl -i` prints it, or a request with its response as JSON. */
  readonly answer: string
  readonly url?: string | undefined
  /** Body of the request that led to the response, byte for byte. */
  readonly data?: string | undefined
  /** URL of the caller's own blockchain node. */
  readonly rpc?: string | undefined
  /** Tolerated difference between the amounts in the response and those of the node, in percent. */
  readonly tolerance?: string | undefined
}

/** Lines to print, and the exit code. The code is 0 for a valid response, 1 for a refused and 3 for an expired one. */
export type CommandResult = { readonly code: 0 | 1 | 3; readonly lines: readonly string[] }

/** Describes in plain words the effect of a saved response, or the reason why it is refused. Throws if a file has the wrong format. */
export async function describeAnswer(
  { keys, vaults, mostSent, answer, url, data, rpc, tolerance }: CommandInput,
  now: Date,
): Promise<CommandResult> {
  const exchange = url === undefined ? parseJson<Exchange>(answer, 'the answer') : parseCurl(answer, url, data)
  const facts = {
    vaults: vaults === undefined ? undefined : parseVaults(vaults, 'the file of --vaults'),
    mostSent: parseAmount(mostSent),
  }
  const trust = { keys: parseKeys(keys, 'the file of --keys'), ...facts, witness: parseWitness(rpc, tolerance) }
  const verdict = await verifyAnswer(exchange, trust, null)
  if (!verdict.ok) return { code: 1, lines: [`REFUSED (${verdict.reason}): ${verdict.message}`, 'Sign nothing of it.'] }
  const { signedAt, expiresAt, keyId, steps, witnessed } = verdict
  const isOfVault = steps.some(({ call }) => call !== 'claim of rewards')
  const isOver = expiresAt.getTime() < now.getTime()
  return {
    code: isOver ? 3 : 0,
    lines: [
      `Signed by the key ${keyId} at ${signedAt.toISOString()}, good until ${expiresAt.toISOString()}.`,
      ...steps.map(({ chainId, does }, index) => `${index + 1}. On chain ${chainId}: ${does}.`),
      ...(steps.length === 0
        ? ['It has no transactions.']
        : ['These are all of its transactions, and exactly the requested ones.']),
      ...(witnessed ? describeWitness(witnessed) : []),
      ...(isOfVault && !vaults
        ? ['The asset, the protocol and the chain of the vault come only from the answer: pin them with --vaults.']
        : []),
      ...(isOver ? ['It has expired: send nothing of it, and request it again.'] : []),
    ],
  }
}

function describeWitness({ chainId, isSimulated, notes }: Witnessed): string[] {
  const way = isSimulated ? 'by a dry run' : 'only in part'
  return [`Your node of chain ${chainId} confirms them ${way}.`, ...notes]
}

function parseCurl(text: string, url: string, data: string | undefined): Exchange {
  const [, head = '', body = ''] =
    /^(?:HTTP\/\S+ 1\d\d[\s\S]*?\r?\n\r?\n)*(HTTP\/\S+ \d{3}[\s\S]*?)\r?\n\r?\n([\s\S]*)$/.exec(text) ?? []
  const [first = '', ...rest] = head.split(/\r?\n/)
  const status = Number(first.split(' ')[1])
  const headers = Object.fromEntries(
    rest.map((line) => {
      const [name = '', ...value] = line.split(':')
      return [name.trim(), value.join(':').trim()]
    }),
  )
  const method = data === undefined ? 'GET' : 'POST'
  return { request: { method, url, ...(data !== undefined && { body: data }) }, answer: { status, headers, body } }
}

/** Parses public keys from JSON: one key, a list, or a key set (JWKS). Throws an error that names `source` if the format is wrong. */
export function parseKeys(text: string, source: string): PublicKey[] {
  const parsed = parseJson<PublicKey | PublicKey[] | { keys: PublicKey[] }>(text, source)
  const keys: readonly unknown[] = [parsed].flatMap((one) => (hasFields(one, 'keys') ? one.keys : one)).flat()
  const isKey = (key: unknown): key is PublicKey =>
    hasFields(key, 'kty', 'crv', 'x', 'kid') && key.kty === 'OKP' && key.crv === 'Ed25519'
  if (keys.length === 0 || !keys.every(isKey)) {
    throw new Error(`There is no { "kty": "OKP", "crv": "Ed25519", "x", "kid" }, nor a list of them, in ${source}.`)
  }
  return [...keys]
}

/** Parses a JSON list of the vaults that the caller trusts. Throws an error that names `source` if the format is wrong. */
export function parseVaults(text: string, source: string): PinnedVault[] {
  const vaults: unknown = parseJson(text, source)
  const isVault = (vault: unknown): vault is PinnedVault => hasFields(vault, 'chainId', 'address', 'protocol', 'asset')
  if (!Array.isArray(vaults) || !vaults.every(isVault)) {
    throw new Error(`There is no list of { "chainId", "address", "protocol", "asset", "shareToken"? } in ${source}.`)
  }
  return vaults
}

function parseAmount(text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,78}$/.test(text)) throw new Error('--most-sent must be an amount in the smallest unit such as 1000000.')
  return BigInt(text)
}

function parseWitness(url: string | undefined, tolerance: string | undefined): Witness | undefined {
  if (tolerance !== undefined && (url === undefined || !/^\d{1,2}(\.\d{1,2})?$/.test(tolerance))) {
    throw new Error('--tolerance must be a percentage below 100 such as 1 or 0.5, with --rpc.')
  }
  if (url === undefined) return undefined
  if (!/^https?:\/\//.test(url)) throw new Error('--rpc must be an http or https URL.')
  return createWitness({ url, ...(tolerance !== undefined && { tolerancePercent: Number(tolerance) }) })
}

function hasFields<Name extends string>(value: unknown, ...names: readonly Name[]): value is Record<Name, unknown> {
  return typeof value === 'object' && value !== null && names.every((name) => Object.hasOwn(value, name))
}

/** Parses JSON as the type `Form`, without a check of its fields. Throws an error that names `source` if the text is no JSON. */
export function parseJson<Form>(text: string, source: string): Form {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`There is no JSON in ${source}.`)
  }
}
