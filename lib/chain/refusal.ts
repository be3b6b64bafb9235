import * as z from 'zod'
import { blockOf, featureOf, hasOverrides, isEventsRequest, isOptional } from './request.ts'
import type { RpcRequest } from './rpc.ts'

/** Maximum characters of a node's error message that are read. The meaning is at the message's beginning. */
const MAX_MESSAGE = 500

/** An error of JSON-RPC, as nodes return it, with its message shortened. */
export const NodeError = z.object({
  code: z.number(),
  message: z
    .string()
    .default('')
    .transform((message) => message.slice(0, MAX_MESSAGE)),
})
export type NodeError = z.output<typeof NodeError>

/**
 * Meaning of a node's error, independent of its wording and HTTP status:
 *
 * * `call`: this call fails on any node, because the EVM stops it or a parameter is invalid.
 * * `batch`: the batch has too many calls, or too many bytes.
 * * `range`: the request for events covers too many blocks. `results`: the blocks have too many events.
 * * `archive`: the node does not keep data of that age.
 * * `unsupported`: the node lacks the method, or state overrides.
 * * `busy`: the node gets too many requests, or has no healthy backend. `unserved`: any other fault of the node.
 */
export type NodeErrorMeaning = 'call' | 'batch' | 'range' | 'results' | 'archive' | 'unsupported' | 'busy' | 'unserved'

const REVERTED = 3
const REVERT = /execution reverted|\breverted\b/i
/**
 * Error messages about a failure in the EVM, or about a transaction that cannot run. They are from geth, reth, Erigon,
 * Nethermind, Besu, Nitro and anvil. Reth and Nethermind write the names of EVM halts without spaces.
 */
const EVM =
  /EVM error|VM execution|out ?of ?(gas|memory|bounds)|opcode|stack ?(underflow|overflow|limit)|invalid ?jump|bad ?instruction|illegal state change|static ?call ?violation|access ?violation|precompile ?failure|invalid code: must|write protection|data out ?of|(code|contract) ?size|initcode|address collision|uint64 overflow|call ?(depth|toodeep)|nonce|intrinsic gas|floor data gas|gas required exceeds|gas limit too high|block gas limit|(insufficient|lack of) (funds|balance) for|insufficient (sender|maxfee)|upfront cost|fee per gas|sender (is )?not an eoa|deployed code/i
const PARAMETERS = /invalid argument|too many arguments|cannot unmarshal/i
/** Codes of eth_simulateV1 for a transaction that cannot run (https://github.com/ethereum/execution-apis, execute). */
const isSimulationError = (code: number) => code <= -38_010 && code >= -38_026
const RATE_LIMITED =
  /no backend|over capacity|request limit reached|rate.?limit|too many requests|request count exceeded|compute units|requests per|throttl/i
// Error codes for rate limits of several providers. The last three are codes of the proxy proxyd: no healthy backend, over capacity, an
// invalid backend response.
const BUSY_CODES = [429, -32_016, -32_029, -32_090, -32_011, -32_012, -32_013]
/**
 * Error messages of a node whose latest block is too old. They are matched before other patterns, because they also
 * mention ranges and parameters.
 */
const BEHIND =
  /header (range )?not found|unknown block|block not found|beyond current head|block is out of range|invalid block range/i
const METHOD_NOT_FOUND = -32_601
const LIMIT_EXCEEDED = -32_005
/** Error code for deleted history (EIP-4444). */
const PRUNED = 4_444
const BATCH = /\bbatch/i
const RESULTS =
  /\bresults\b|response size|response (is )?too (big|large)|query timeout|more than \d+ (logs|events)|logs matched/i
const RANGE = /\brange|\branges\b|limited to [\d,]+ ?(blocks)?|too many blocks|[\d,]+ blocks?\b|blocks? limit/i
const ARCHIVE =
  /archive|prun(ed|ing)|missing trie node|historical (state|data|rpc)|(world|no) state (un)?available|receipt not available|data before .* is not available|not available for block|too old/i
const UNSUPPORTED =
  /unsupported method|method .*(not found|not supported|not available|does not exist|not allowed|disabled|not whitelisted)/i
const TOO_LARGE = 413
/** HTTP statuses that mean a fault of the request. All other statuses above 299 mean a fault of the node. */
const CALL_REFUSALS = [400, TOO_LARGE, 422]

/**
 * Returns the error code for a refusal without a message: the HTTP status. Returns undefined if the status means a
 * fault of the node.
 */
export function refusalStatus(status: number): number | undefined {
  return CALL_REFUSALS.includes(status) ? status : undefined
}

/** Returns the meaning of a node's error for this call. `request` is undefined for the error of a whole batch. */
export function classifyNodeError(
  { code, message }: NodeError,
  status: number,
  request: RpcRequest | undefined,
): NodeErrorMeaning {
  const isAboutTheCall = status < 300 || CALL_REFUSALS.includes(status)
  // Reverts are matched first, because a contract's own error text says nothing about the node.
  if (code === REVERTED || REVERT.test(message) || EVM.test(message)) return isAboutTheCall ? 'call' : 'unserved'
  const isTooLarge = status === TOO_LARGE
  if (!request) return BATCH.test(message) || (isTooLarge && message === '') ? 'batch' : 'unserved'
  const isForEvents = isEventsRequest(request)
  if ((code === PRUNED || ARCHIVE.test(message)) && blockOf(request) !== undefined) return 'archive'
  if (isForEvents && RESULTS.test(message)) return 'results'
  if (BEHIND.test(message)) return 'unserved'
  // Messages about ranges are matched before codes, because proxies use the codes of busy nodes for ranges too.
  if (isForEvents && RANGE.test(message) && !RATE_LIMITED.test(message)) return 'range'
  if (BUSY_CODES.includes(code) || RATE_LIMITED.test(message)) return 'busy'
  // Nodes use this code for too many events or blocks, and for too many calls per second.
  if (code === LIMIT_EXCEEDED) return isForEvents ? 'range' : 'busy'
  // Nodes refuse state overrides in many ways, so most errors of a call with overrides count as `unsupported`.
  if (
    hasOverrides(request) &&
    ((status >= 400 && !isTooLarge) ||
      code === -32_602 ||
      code === -32_600 ||
      PARAMETERS.test(message) ||
      /override/i.test(message))
  )
    return 'unsupported'
  if (code === METHOD_NOT_FOUND || UNSUPPORTED.test(message))
    return isOptional(featureOf(request)) ? 'unsupported' : 'unserved'
  if (isForEvents && isTooLarge) return 'range'
  return isAboutTheCall && (isSimulationError(code) || PARAMETERS.test(message)) ? 'call' : 'unserved'
}

/** Minimum limit of blocks or calls that a message can state. A lower number in a message means something else. */
const MIN_RANGE = 2
/** Pattern of rate limits such as `10 requests per second`, which do not limit blocks or calls. */
const RATE =
  /\d[\d,]*k? ?((req|call|credit|compute unit|cu)\w* ?)?(\/|\bper\b|\bin\b|\ba\b) ?(\d+ ?)?(m?s|sec|min|hour|day|month)|\d+ ?([rq]ps|m?s|sec|min|hour)/gi
type Limited = 'blocks' | 'calls'
const NUMBER = /(\d[\d,]*)(k\b)?[ -]?((?<blocks>block|range)|(?<calls>call|request))?/gi

/**
 * Parses the limit of blocks or calls in a node's error message; undefined if there is none below the requested number.
 * For example, "maximum 10 calls in 1 batch" gives 10 calls, and "(9999 > 5000)" gives 5000.
 */
export function parseLimit(message: string, askedFor: number, limited: Limited): number | undefined {
  const words = message.replaceAll(/0x[0-9a-f]+/gi, '').replaceAll(RATE, '')
  const numbers = [...words.matchAll(NUMBER)]
  return [numbers.filter(({ groups }) => groups?.[limited]), numbers.filter(([, , , counted]) => !counted)]
    .map((matches) =>
      Math.min(
        ...matches
          .map(([, digits = '', thousands]) => Number(digits.replaceAll(',', '')) * (thousands ? 1_000 : 1))
          .filter((number) => number >= MIN_RANGE && number < askedFor),
      ),
    )
    .find(Number.isFinite)
}
