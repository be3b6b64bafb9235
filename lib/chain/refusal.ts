import * as z from 'zod'

/** An error of JSON-RPC, as nodes put it. */
export const NodeError = z.object({ code: z.number(), message: z.string().default('') })
export type NodeError = z.output<typeof NodeError>

/**
 * What a node means by an error, whatever its HTTP status (how nodes put it was read in their sources and documents):
 *
 * * `busy`: it is asked too much, or has no healthy backend. `unavailable`: it fails at this call, or is behind.
 *   Another node may serve both.
 * * `batch`: the batch has too many calls, or too many bytes.
 * * `range`: events of so many blocks are too many blocks. `results`: they are too many events.
 * * `archive`: it does not keep what is that old.
 * * `unsupported`: it has no such method.
 * * `call`: this call alone fails, on any node.
 */
export type ErrorClass = 'busy' | 'unavailable' | 'batch' | 'range' | 'results' | 'archive' | 'unsupported' | 'call'

// A contract's own words, which say nothing of the node.
const REVERTED = 3
const REVERT = /execution reverted|\breverted\b|out of gas|invalid opcode/i
const RATE_LIMITED =
  /no backend|over capacity|request limit reached|rate.?limit|too many requests|request count exceeded|compute units|requests per|throttl/i
// Rate limits of several providers, and proxyd's own: no healthy backend, over capacity, a backend's answer that is none.
const BUSY_CODES = [429, -32_016, -32_029, -32_090, -32_011, -32_012, -32_013]
const UNAVAILABLE =
  /unhealthy|not healthy|backend offline|header (range )?not found|unknown block|block not found|no state available|beyond current head|block is out of range|invalid block range|not yet synced|service unavailable|temporarily|tenant disabled|unauthori[sz]ed|must authenticate|^internal (server )?error|timed? ?out/i
const INTERNAL_ERROR = -32_603
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
  if (code === REVERTED || REVERT.test(message)) return 'call'
  const asksForEvents = method === 'eth_getLogs'
  if (method === undefined && BATCH.test(message)) return 'batch'
  if (ARCHIVE.test(message)) return 'archive'
  if (asksForEvents && RESULTS.test(message)) return 'results'
  if (BUSY_CODES.includes(code)) return 'busy'
  if (UNAVAILABLE.test(message)) return 'unavailable'
  if (asksForEvents && RANGE.test(message)) return 'range'
  if (RATE_LIMITED.test(message)) return 'busy'
  // Of events that is their number, or their blocks; of all else how often one asks.
  if (code === LIMIT_EXCEEDED) return asksForEvents ? 'range' : 'busy'
  if (code === METHOD_NOT_FOUND || UNSUPPORTED.test(message)) return 'unsupported'
  if (code === INTERNAL_ERROR) return 'unavailable'
  return 'call'
}

/** The lowest limit of blocks or calls; a lower number in a message means something else. */
const LEAST = 2

/**
 * The limit that a refusal's words tell, below what was asked for: "maximum 10 calls in 1 batch" is 10, of
 * "(9999 > 5000)" it is the smaller one. Undefined where they tell none.
 */
export function parseLimit(message: string, askedFor: number): number | undefined {
  const words = message.replaceAll(/0x[0-9a-f]+/gi, '')
  const numbers = [...words.matchAll(/(\d[\d,]*)(k\b)?/gi)].map(
    ([, digits = '', thousands]) => Number(digits.replaceAll(',', '')) * (thousands ? 1_000 : 1),
  )
  const limits = numbers.filter((number) => number >= LEAST && number < askedFor)
  return limits.length > 0 ? Math.min(...limits) : undefined
}
