import {
  encodeBytes,
  encodeCall,
  encodeDynamicParts,
  encodeWord,
  type FunctionName,
  isSameAddress,
  type Transaction,
} from './calls.ts'
import { refuseUnless } from './refusal.ts'

// This file encodes and verifies transfers to other chains through Across' contracts SpokePool and MulticallHandler.
// Source of their ABIs and addresses: https://github.com/across-protocol/contracts (broadcast/deployed-addresses.json)
// and npm @across-protocol/constants 3.1.127.

/** Address of Across' SpokePool contract by chain id. A SpokePool takes the tokens that a user sends to another chain. */
const POOLS: Readonly<Record<number, string>> = {
  1: '0x5c7bcd6e7de5423a257d81b442095a1a6ced35c5',
  10: '0x6f26bf09b1c792e3228e5467807a900a503c0281',
  56: '0x4e8e101924ede233c13e2d8622dc8aed2872d505',
  137: '0x9295ee1d8c5b022be115a2ad3c30c72e34e7f096',
  8453: '0x09aea4b2242abc8bb4bb78d537a67a245a7bec64',
  42161: '0xe35e9842fceaca96570b734083f4a58e8f7c5f2a',
}

/** Across' MulticallHandler, with the same address on every chain of POOLS. It receives bridged tokens and deposits them into the vault. */
const HANDLER = '0x0f7ae28de1c8532170ad4ee566b5801485c13a0e'

/** Placeholder address of a chain's native coin. */
const COIN = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'

/**
 * One entry for each asset, such as USDC: its token address and decimals by chain id. `wrapsCoin` marks the chain's wrapped native coin.
 */
const ASSETS: readonly Readonly<Record<number, readonly [token: string, decimals: number, wrapsCoin?: true]>>[] = [
  {
    1: ['0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', 6],
    10: ['0x0b2c639c533813f4aa9d7837caf62653d097ff85', 6],
    56: ['0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d', 18],
    137: ['0x3c499c542cef5e3811e1192ce70d8cc03d5c3359', 6],
    8453: ['0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', 6],
    42161: ['0xaf88d065e77c8cc2239327c5edb3a432268e5831', 6],
  },
  {
    1: ['0xdac17f958d2ee523a2206206994597c13d831ec7', 6],
    10: ['0x94b008aa00579c1307b0ef2c499ad98a8ce58e58', 6],
    56: ['0x55d398326f99059ff775485246999027b3197955', 18],
    137: ['0xc2132d05d31c914a87c6611c10748aeb04b58e8f', 6],
    8453: ['0xfde4c96c8593536e31f229ea8f37b2ada2699bb2', 6],
    42161: ['0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9', 6],
  },
  {
    1: ['0x6b175474e89094c44da98b954eedeac495271d0f', 18],
    10: ['0xda10009cbd5d07dd0cecc66161fc93d7c9000da1', 18],
    137: ['0x8f3cf7ad23cd3cadbd9735aff958023239c6a063', 18],
    8453: ['0x50c5725949a6f0c72e6c4a641f24049a917db0cb', 18],
    42161: ['0xda10009cbd5d07dd0cecc66161fc93d7c9000da1', 18],
  },
  {
    1: ['0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2', 18, true],
    10: ['0x4200000000000000000000000000000000000006', 18, true],
    56: ['0x2170ed0880ac9a755fd29b2688956bd959f933f8', 18],
    137: ['0x7ceb23fd6bc0add59e62ac25578270cff1b9f619', 18],
    8453: ['0x4200000000000000000000000000000000000006', 18, true],
    42161: ['0x82af49447d8a07e3bd95bd0d56f35241523fbab1', 18, true],
  },
  {
    1: ['0x2260fac5e5542a773aa44fbcfedf7c193bc2c599', 8],
    10: ['0x68f180fcce6836688e9084f035309e29bf0a2095', 8],
    137: ['0x1bfd67037b42cf73acf2047067bd4f2c47d9bfd6', 8],
    42161: ['0x2f2a2543b76a4166549f7aab2e75bef0aefc5b0f', 8],
  },
]

/** Maximum loss between the amount sent and the amount that arrives, in percent of the amount sent. */
const MAX_FEE_PERCENT = 10n
const MAX_EXCLUSIVITY_SECONDS = 300n
/**
 * Across has two forms of exclusivity, the period in which only one relayer may fill the transfer. A number up to this limit counts seconds
 * from the deposit. A larger number is the Unix time of the period's end.
 */
const MAX_PERIOD_SECONDS = 31_536_000n
const HOUR_SECONDS = 3600n

/** Transfer to another chain, as the user requested it. */
export type Transfer = {
  readonly user: string
  readonly fromChain: number
  readonly toChain: number
  readonly token: string
  /** Token that must arrive on `toChain`. If undefined, the known token of the same asset must arrive. */
  readonly arrives: string | undefined
  readonly amount: bigint
  /** Amount that arrives according to the response, in the smallest unit of the token on `toChain`. */
  readonly outputAmount: bigint
  /**
   * Vault on `toChain` that takes the arriving tokens, and the vault functions that may deposit them. Without `into` the user gets the
   * tokens.
   */
  readonly into?: { readonly vault: string; readonly functions: readonly FunctionName[] }
}

/** Returns the address of Across' SpokePool contract on this chain. Throws a Refusal for an unknown chain. */
export function poolAddress(chainId: number): string {
  const { [chainId]: pool } = POOLS
  refuseUnless(pool !== undefined, `no bridge is known on chain ${chainId}`)
  return pool
}

/** Returns true for the placeholder address of a chain's native coin. */
export function isNativeCoin(token: string): boolean {
  return isSameAddress(token, COIN)
}

/**
 * Returns the token that the bridge takes for `token`: the wrapped coin for a native coin, else `token` itself. Throws a Refusal if the
 * bridge takes no native coin on this chain.
 */
export function toBridgedToken(chainId: number, token: string): string {
  if (!isNativeCoin(token)) return token
  const { [chainId]: wrapped } = ASSETS.find(({ [chainId]: onChain }) => onChain?.[2]) ?? {}
  refuseUnless(wrapped !== undefined, `the bridge takes no coin on chain ${chainId}`)
  return wrapped[0]
}

/**
 * Verifies that a transaction makes exactly this transfer. Returns the name of the function that deposits the tokens into the vault, or
 * undefined if no vault takes the tokens. Throws a Refusal on any difference.
 */
export function verifyTransfer(
  { to, data }: Pick<Transaction, 'to' | 'data'>,
  transfer: Transfer,
): FunctionName | undefined {
  const { user, fromChain, toChain, token, arrives, amount, outputAmount, into } = transfer
  refuseUnless(isSameAddress(to, poolAddress(fromChain)), 'the transfer is not to the bridge')
  poolAddress(toChain)
  const asset = ASSETS.find(({ [fromChain]: onChain }) => onChain && isSameAddress(onChain[0], token))
  const { [fromChain]: sent, [toChain]: received } = asset ?? {}
  refuseUnless(sent !== undefined && received !== undefined, 'the bridge does not take the token to that chain')
  const [outputToken, decimals] = received
  refuseUnless(arrives === undefined || isSameAddress(arrives, outputToken), 'another token would arrive')
  verifyFee(amount * 10n ** BigInt(decimals), outputAmount * 10n ** BigInt(sent[1]))

  // The bridge chooses the relayer and the times, so the verifier cannot predict them. It reads them from the call, checks them against
  // limits, and encodes the whole call again for the comparison.
  const [relayer = 0n, quotedAt = 0n, deadline = 0n, exclusivity = 0n] = [7, 8, 9, 10].map((index) => {
    const text = data.slice(8 + 64 * index, 72 + 64 * index)
    return text.length < 64 ? 0n : BigInt(`0x${text}`)
  })
  verifyTimes({ relayer, quotedAt, deadline, exclusivity })
  const fits = ([name, message]: readonly [FunctionName | undefined, string]) => {
    const expected =
      '7b939232' +
      [user, into ? HANDLER : user, token, outputToken].map(encodeWord).join('') +
      [amount, outputAmount, BigInt(toChain), relayer, quotedAt, deadline, exclusivity, 0x180n]
        .map(encodeWord)
        .join('') +
      encodeBytes(message)
    // Across lets integrators append an id to a call: the prefix 1dc0de and two bytes. This suffix is allowed.
    const isRight = data.startsWith(expected) && /^(1dc0de[0-9a-f]{4})?$/.test(data.slice(expected.length))
    return isRight ? [{ name }] : []
  }
  const messages = into
    ? into.functions.map((name) => [name, depositMessage(user, { ...into, name, asset: outputToken })] as const)
    : [[undefined, ''] as const]
  const [message] = messages.flatMap(fits)
  refuseUnless(message !== undefined, 'the transfer is not the requested one')
  return message.name
}

/** Verifies that a transaction claims the user's refund of this token from the bridge. Throws a Refusal on any difference. */
export function verifyRefundClaim(
  { to, data, value }: Transaction,
  { user, token, chainId }: { readonly user: string; readonly token: string; readonly chainId: number },
): void {
  refuseUnless(isSameAddress(to, poolAddress(chainId)) && value === 0n, 'the claim is not to the bridge, or pays it')
  refuseUnless(data === `a18a096e${encodeWord(token)}${encodeWord(user)}`, 'the claim is not only for the user')
}

function verifyFee(input: bigint, output: bigint): void {
  refuseUnless(output > 0n && output <= input, 'more would arrive than is sent, or nothing')
  refuseUnless(output * 100n >= input * (100n - MAX_FEE_PERCENT), 'more than a tenth would be lost on the way')
}

function verifyTimes(times: Readonly<Record<'relayer' | 'quotedAt' | 'deadline' | 'exclusivity', bigint>>): void {
  const { relayer, quotedAt, deadline, exclusivity } = times
  const least = exclusivity > MAX_PERIOD_SECONDS ? quotedAt + HOUR_SECONDS : 0n
  const isBounded =
    relayer < 2n ** 160n &&
    [quotedAt, deadline, exclusivity].every((time) => time < 2n ** 32n) &&
    deadline > quotedAt &&
    deadline <= quotedAt + 7n * HOUR_SECONDS &&
    (relayer === 0n ? exclusivity === 0n : exclusivity <= least + MAX_EXCLUSIVITY_SECONDS)
  refuseUnless(isBounded, 'the transfer has times that the bridge does not give')
}

/**
 * Encodes instructions for Across' MulticallHandler: approve the vault, then deposit the whole balance for the user. If the deposit fails,
 * the handler sends the tokens to the user. Form: `abi.encode(Instructions { Call[] calls; address fallbackRecipient })`.
 */
function depositMessage(
  user: string,
  { vault, name, asset }: { readonly vault: string; readonly name: FunctionName; readonly asset: string },
): string {
  const approve = encodeCall('approve', { spender: vault, amount: 0n })
  const deposit = encodeCall(name, { amount: 0n, user, payer: HANDLER })
  const calls = [
    call(asset, approve),
    call(HANDLER, withBalance(asset, approve, { asset, offset: 36n })),
    call(HANDLER, withBalance(vault, deposit, { asset, offset: 4n })),
  ]
  return encodeWord(0x20n) + encodeWord(0x40n) + encodeWord(user) + encodeWord(3n) + encodeDynamicParts(calls)
}

/** Encodes `Call { address target; bytes callData; uint256 value }` with a value of 0. */
function call(target: string, data: string): string {
  return encodeWord(target) + encodeWord(0x60n) + encodeWord(0n) + encodeBytes(data)
}

/**
 * Encodes a call of the MulticallHandler's `makeCallWithBalance(target, callData, 0, [(asset, offset)])`. Before the
 * handler calls `target`, it writes its balance of the asset into `callData` at this offset.
 */
function withBalance(
  target: string,
  data: string,
  { asset, offset }: { readonly asset: string; readonly offset: bigint },
): string {
  const inner = encodeBytes(data)
  const behind = BigInt(0x80 + inner.length / 2)
  return `c41e8295${encodeWord(target)}${encodeWord(0x80n)}${encodeWord(0n)}${encodeWord(behind)}${inner}${encodeWord(1n)}${encodeWord(asset)}${encodeWord(offset)}`
}
