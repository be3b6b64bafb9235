import type { Exchange, PublicKey } from './signature.ts'
import { type PinnedVault, verifyAnswer } from './verify.ts'

/** What the command is given: the texts of its files, and its options. */
export type Given = {
  /** The keys that may sign: one, a list, or a key set. */
  readonly keys: string
  /** A list of pinned vaults. */
  readonly vaults?: string | undefined
  /** The answer as `curl -i` prints it, or an exchange as JSON. */
  readonly answer: string
  readonly url?: string | undefined
  /** The body that was sent, to the byte. */
  readonly data?: string | undefined
}

/** What to print, and with which code to end: 0 where the answer is what it must be, 1 where it is not. */
export type Outcome = { readonly code: 0 | 1; readonly lines: readonly string[] }

/** Says in plain words what an answer that was kept does, or why it is refused. Throws where a file has another form. */
export async function describeAnswer({ keys, vaults, answer, url, data }: Given): Promise<Outcome> {
  const exchange = url === undefined ? parseJson<Exchange>(answer) : parseCurl(answer, url, data)
  const trust = { keys: parseKeys(keys), vaults: vaults === undefined ? undefined : parseJson<PinnedVault[]>(vaults) }
  const verdict = await verifyAnswer(exchange, trust, null)
  if (!verdict.ok) return { code: 1, lines: [`REFUSED (${verdict.reason}): ${verdict.message}`, 'Sign nothing of it.'] }
  const { signedAt, expiresAt, keyId, steps } = verdict
  const isOver = expiresAt.getTime() < Date.now()
  return {
    code: 0,
    lines: [
      `Signed by the key ${keyId} at ${signedAt.toISOString()}, good until ${expiresAt.toISOString()}${isOver ? ', which is over' : ''}.`,
      ...steps.map(({ chainId, does }, index) => `${index + 1}. On chain ${chainId}: ${does}.`),
      ...(steps.length === 0
        ? ['It has no transactions.']
        : ['These are all of its transactions, and what was asked for.']),
      ...(steps.length > 0 && !vaults
        ? ['The asset, the protocol and the chain of the vault are what the answer says: pin them with --vaults.']
        : []),
    ],
  }
}

/** A response as `curl -i` prints it, after interim ones. */
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

function parseKeys(text: string): PublicKey[] {
  const parsed = parseJson<PublicKey | PublicKey[] | { keys: PublicKey[] }>(text)
  if (Array.isArray(parsed)) return parsed
  return 'keys' in parsed ? parsed.keys : [parsed]
}

/** What the reader of a file says that it is; the verifier throws at nothing that it is not. */
function parseJson<Form>(text: string): Form {
  return JSON.parse(text)
}
