import * as z from 'zod'

/** A message is looked at no further: what is meant stands at its beginning. */
const MAX_MESSAGE = 500

/** An error of JSON-RPC, as nodes put it; the message is cut. */
export const NodeError = z.object({
  code: z.number(),
  message: z
    .string()
    .default('')
    .transform((message) => message.slice(0, MAX_MESSAGE)),
})
export type NodeError = z.output<typeof NodeError>

/**
 * What a node means by an error, whatever its HTTP status (how nodes put it was read in their sources and documents):
 *
 * * `busy`: it is asked too much, or has no healthy backend. `unavailable`: any other fault of the node, in whatever words.
 *   Another node may serve both.
 * * `batch`: the batch has too many calls, or too many bytes.
 * * `range`: events of so many blocks are too many blocks. `results`: they are too many events.
 * * `archive`: it does not keep what is that old.
 * * `unsupported`: it has no such method.
 * * `call`: this call fails, on any node. The list of these failures is closed: they are the EVM's, and of parameters.
 */
export type ErrorClass = 'busy' | 'unavailable' | 'batch' | 'range' | 'results' | 'archive' | 'unsupported' | 'call'

// A contract's own words, which say nothing of the node.
const REVERTED = 3
const REVERT = /execution reverted|\breverted\b/i
/**
 * Failures of the EVM, and of a transaction before it runs, in the words of geth, reth, Erigon, Nethermind, Besu, Nitro and
 * anvil. Reth writes the names of its halts without spaces.
 */
const EVM =
  /EVM error|VM execution|out ?of ?gas|opcode|stack ?(underflow|overflow|limit)|invalid ?jump|invalid code: must|write protection|data out ?of|(code|contract) ?size|initcode|address collision|uint64 overflow|call ?(depth|toodeep)|nonce|intrinsic gas|floor data gas|gas required exceeds|block gas limit|(insufficient|lack of) (funds|balance) for|insufficient (sender|maxfee)|upfront cost|fee per gas|sender (is )?not an eoa|deployed code/i
const INVALID_PARAMETERS = -32_602
/** Codes of eth_simulateV1 for a transaction that cannot run (https://github.com/ethereum/execution-apis, execute). */
const isSimulationError = (code: number) => code <= -38_010 && code >= -38_025
const RATE_LIMITED =
  /no backend|over capacity|request limit reached|rate.?limit|too many requests|request count exceeded|compute units|requests per|throttl/i
// Rate limits of several providers, and proxyd's own: no healthy backend, over capacity, a backend's answer that is none.
const BUSY_CODES = [429, -32_016, -32_029, -32_090, -32_011, -32_012, -32_013]
/** A node that is behind speaks of ranges and parameters. */
const BEHIND =
  /header (range )?not found|unknown block|block not found|no state available|beyond current head|block is out of range|invalid block range/i
const METHOD_NOT_FOUND = -32_601
const LIMIT_EXCEEDED = -32_005
const BATCH = /\bbatch/i
const RESULTS =
  /\bresults\b|response size|response is too (big|large)|query timeout|more than \d+ (logs|events)|logs matched/i
const RANGE = /\brange|\branges\b|limited to [\d,]+ ?(blocks)?|too many blocks|[\d,]+ blocks?\b|blocks? limit/i
const ARCHIVE = /archive|prun(ed|ing)|missing trie node|historical (state|data)|not available for block|too old/i
const UNSUPPORTED =
  /unsupported method|method .*(not found|not supported|not available|does not exist|not allowed|disabled|not whitelisted)/i

/** What a node means by an error that answers calls of this method (undefined: a whole batch). */
export function classifyError({ code, message }: NodeError, method: string | undefined): ErrorClass {
  if (code === REVERTED || REVERT.test(message) || EVM.test(message)) return 'call'
  const asksForEvents = method === 'eth_getLogs'
  if (method === undefined && BATCH.test(message)) return 'batch'
  if (ARCHIVE.test(message)) return 'archive'
  if (asksForEvents && RESULTS.test(message)) return 'results'
  if (BEHIND.test(message)) return 'unavailable'
  // Proxies give ranges the codes of busy nodes, too.
  if (asksForEvents && RANGE.test(message) && !RATE_LIMITED.test(message)) return 'range'
  if (BUSY_CODES.includes(code) || RATE_LIMITED.test(message)) return 'busy'
  // Of events that is their number, or their blocks; of all else how often one asks.
  if (code === LIMIT_EXCEEDED) return asksForEvents ? 'range' : 'busy'
  if (code === METHOD_NOT_FOUND || UNSUPPORTED.test(message)) return 'unsupported'
  return code === INVALID_PARAMETERS || isSimulationError(code) ? 'call' : 'unavailable'
}

/** The lowest limit of blocks or calls; a lower number in a message means something else. */
const LEAST = 2
/** How often one may ask is no limit of blocks or calls. */
const RATE =
  /\d[\d,]*k? ?((req|call|credit|compute unit|cu)\w* ?)?(\/|\bper\b|\bin\b|\ba\b) ?(\d+ ?)?(m?s|sec|min|hour|day|month)|\d+ ?([rq]ps|m?s|sec|min|hour)/gi
/** A number of what is limited. */
const COUNTED = /(\d[\d,]*)(k\b)?[ -]?(?=blocks?\b|block range|range\b|calls?\b|requests?\b)/gi
const NUMBER = /(\d[\d,]*)(k\b)?/gi

/**
 * The limit that a refusal's words tell, below what was asked for: "maximum 10 calls in 1 batch" is 10, of
 * "(9999 > 5000)" it is the smaller one. Undefined where they tell none.
 */
export function parseLimit(message: string, askedFor: number): number | undefined {
  const words = message.replaceAll(/0x[0-9a-f]+/gi, '').replaceAll(RATE, '')
  const limitsBy = (pattern: RegExp) =>
    [...words.matchAll(pattern)]
      .map(([, digits = '', thousands]) => Number(digits.replaceAll(',', '')) * (thousands ? 1_000 : 1))
      .filter((number) => number >= LEAST && number < askedFor)
  const counted = limitsBy(COUNTED)
  const limits = counted.length > 0 ? counted : limitsBy(NUMBER)
  return limits.length > 0 ? Math.min(...limits) : undefined
}
