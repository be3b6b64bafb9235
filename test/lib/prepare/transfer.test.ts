import type { Address } from 'viem'
import { describe, expect, test } from 'vitest'
import type { RouteEnd } from '../../../lib/bridge/calldata.ts'
import { findRouteEnds } from '../../../lib/bridge/route.ts'
import { describeQuote, requireBridgeAvailable } from '../../../lib/prepare/transfer.ts'
import { someVault } from '../../support/clients.ts'
import { catchErrorCode } from '../../support/errors.ts'
import { ARBITRUM, BASE, HANDLER, POOLS } from '../../support/oracles.ts'

const BNB = 56
const GNOSIS = 100
/** Tokens of the same asset on each chain, by chain id and symbol: address and decimals. */
const TOKENS: Readonly<Record<number, Readonly<Record<string, readonly [address: Address, decimals: number]>>>> = {
  [BASE]: {
    USDC: ['0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 6],
    USDT: ['0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2', 6],
  },
  [ARBITRUM]: {
    USDC: ['0xaf88d065e77c8cC2239327C5EDb3A432268e5831', 6],
    USDT: ['0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9', 6],
  },
  [BNB]: {
    USDC: ['0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d', 18],
    USDT: ['0x55d398326f99059fF775485246999027B3197955', 18],
  },
}
const EVERY = Object.entries(TOKENS).flatMap(([chainId, tokens]) =>
  Object.entries(tokens).map(([symbol, [token, decimals]]) => ({ chainId: Number(chainId), symbol, token, decimals })),
)
const ERRORS = { chain: 'unsupported_source_chain', token: 'unsupported_source_token' } as const

describe('The bridge between a vault and another chain', () => {
  const endOf = ({ chainId, token, decimals }: (typeof EVERY)[number]): RouteEnd => ({
    ...{ chainId, token, decimals, wrapsCoin: false },
    pool: POOLS[chainId] as Address,
    handler: HANDLER,
  })

  test('takes the same asset as the vault, and no other token', () => {
    for (const asset of EVERY) {
      const vault = someVault({ chainId: asset.chainId, asset: asset.token })
      for (const other of EVERY) {
        const find = () => findRouteEnds(vault, { chainId: other.chainId, token: other.token, errors: ERRORS })
        if (other.symbol === asset.symbol) expect(find()).toEqual({ vault: endOf(asset), other: endOf(other) })
        else expect(catchErrorCode(find)).toBe('unsupported_source_token')
      }
    }
  })

  test('connects only supported chains, for supported assets', () => {
    const [asset] = EVERY as [(typeof EVERY)[number]]
    const vault = someVault({ chainId: asset.chainId, asset: asset.token })
    const other = { chainId: ARBITRUM, token: asset.token, errors: ERRORS }
    expect(catchErrorCode(() => findRouteEnds(vault, { ...other, chainId: GNOSIS }))).toBe('unsupported_source_chain')
    expect(catchErrorCode(() => findRouteEnds({ ...vault, chainId: GNOSIS }, other))).toBe('cross_chain_not_available')
    expect(catchErrorCode(() => findRouteEnds({ ...vault, asset: HANDLER }, other))).toBe('cross_chain_not_available')
  })
})

describe('A transfer is prepared', () => {
  const BOTH = [false, true]
  const clocks = { source: 0, quoteTimeBuffer: 0, fillDeadlineBuffer: 0 }
  const isOpen = (sourcePaused: boolean, paused: boolean, accountIsContract: boolean, accountHasCode: boolean) => {
    const source = { paused: sourcePaused, allowance: 0n, clocks, accountIsContract }
    return catchErrorCode(() => requireBridgeAvailable(source, { paused, time: 0, accountHasCode })) === undefined
  }

  test('while the source pool takes deposits and the destination pool fills them', () => {
    for (const atSource of BOTH) {
      for (const there of BOTH) expect(isOpen(atSource, there, false, false)).toBe(!atSource && !there)
    }
  })

  test('for an account without code, and for a contract that exists on the destination', () => {
    for (const isContract of BOTH) {
      for (const hasCode of BOTH) expect(isOpen(false, false, isContract, hasCode)).toBe(!isContract || hasCode)
    }
  })
})

test.for<[from: number, to: number, input: bigint, output: bigint, fee: bigint]>([
  [6, 6, 50_000_000n, 49_900_000n, 100_000n],
  [6, 18, 50_000_000n, 49_900_000n * 10n ** 12n, 100_000n],
  [18, 6, 50n * 10n ** 18n, 49_900_000n, 10n ** 17n],
  [18, 18, 50n * 10n ** 18n, 50n * 10n ** 18n, 0n],
])(
  'The fee is in the source token, with %i decimals on the source and %i on the destination',
  ([from, to, input, output, fee]) => {
    const end = { pool: HANDLER, handler: HANDLER, token: HANDLER }
    const route = {
      source: { ...end, chainId: ARBITRUM, decimals: from },
      destination: { ...end, chainId: BASE, decimals: to },
    }
    const times = { quoteTimestamp: 1_000, fillDeadline: 8_200 }
    const terms = { ...times, outputAmount: output, exclusiveRelayer: HANDLER, exclusivityParameter: 0 }
    const quote = { ...terms, expectedFillSeconds: 3, limits: { min: 0n, max: input } }
    const clocks = { source: 1_000, destination: 1_000, quoteTimeBuffer: 3_600, fillDeadlineBuffer: 21_600 }
    expect(describeQuote({ account: HANDLER, route, inputAmount: input }, terms, quote, clocks)).toEqual({
      ...{ inputAmount: input, outputAmount: output, feeTotal: fee, expectedFillSeconds: 3 },
      expiresAt: new Date(4_600_000),
    })
  },
)
