import { type Address, type Hex, isAddress, isHex } from 'viem'
import { type Call, call, decodeAnswers } from '../../../lib/chain/call.ts'
import { erc20Abi } from '../../../lib/chain/erc20.ts'
import { decodeAggregate, encodeAggregate, MULTICALL3, multicall3Abi } from '../../../lib/chain/multicall.ts'
import type { ChainReader } from '../../../lib/chain/reader.ts'
import type { RpcOutcome, RpcRequest } from '../../../lib/chain/rpc.ts'
import { MAX_UINT256 } from '../../../lib/codecs.ts'
import { badAnswer } from '../../../lib/errors.ts'
import type { ListedToken } from '../../../lib/markets/coin.ts'
import { vaultAbi } from '../../../lib/protocols/abi.ts'
import type { Vault } from '../../../lib/vaults/vault.ts'

/** What wallets hold together on one EVM chain, in smallest units. */
export type EvmBalances = {
  readonly native: bigint
  /** By contract, of listed tokens and of vaults' shares; zero where nothing is held. */
  readonly tokens: ReadonlyMap<string, bigint>
  /** What one whole share is worth in the asset's smallest unit, by the contract of the shares, where the vault tells it. */
  readonly sharePrices: ReadonlyMap<string, bigint>
  /** By the contract of the shares, where it tells it. */
  readonly shareSymbols: ReadonlyMap<string, string>
  /** The contracts that did not tell what each wallet holds: unknown is not zero. */
  readonly unread: readonly Address[]
}

/**
 * What these wallets hold on one EVM chain: its own coin, the listed tokens, and the shares of these vaults of that chain.
 * One round trip: an eth_call for each wallet, because nodes limit the gas of one, and one for each vault, so that one
 * that burns all gas takes nothing along. Throws AppError `upstream_*` when the chain cannot be read.
 */
export async function readEvmBalances(
  reader: Pick<ChainReader, 'request'>,
  wallets: readonly Address[],
  listed: readonly ListedToken[],
  vaults: readonly Vault[],
): Promise<EvmBalances> {
  // Two vaults can have one token of shares, which counts once; so does a listed one.
  const vaultOf = new Map(vaults.map((vault) => [vault.shareToken, vault]))
  const shares = [...vaultOf.keys()]
  const contracts = listed.map(({ address }) => address).filter((address) => isAddress(address))
  const tokens = [...new Set(contracts)].filter((address) => !vaultOf.has(address))

  const ofWallets = wallets.map((wallet) => [
    call(MULTICALL3, multicall3Abi, 'getEthBalance', [wallet]),
    ...buildBalanceCalls(wallet, tokens),
  ])
  const ofVaults = [...vaultOf].map(([share, { address, shareDecimals }]) => ({
    balances: wallets.flatMap((wallet) => buildBalanceCalls(wallet, [share])),
    symbol: call(share, erc20Abi, 'symbol', []),
    price: call(address, vaultAbi, 'convertToAssets', [10n ** BigInt(shareDecimals)]),
  }))
  const vaultCalls = ofVaults.map(({ balances, symbol, price }) => [...balances, symbol, price])
  const outcomes = (await reader.request([...ofWallets, ...vaultCalls].map(aggregate))).map(returnedBy)

  const [native, ...held] = sums(
    ofWallets.map((calls, index) => {
      const returned = outcomes[index]
      if (returned === undefined) throw badAnswer('not the return data of aggregate3')
      return decodeAnswers(calls, returned)
    }),
  )
  if (native === undefined) throw badAnswer('the native coin of a wallet is not told')
  const told = ofVaults.map(({ balances, symbol, price }, index) => {
    const returned = outcomes[wallets.length + index] ?? []
    return {
      balance: sumOf(decodeAnswers(balances, returned)),
      symbol: decodeAnswers([symbol], returned.slice(balances.length))[0],
      price: decodeAnswers([price], returned.slice(balances.length + 1))[0],
    }
  })
  const symbols = told.map(({ symbol }) => symbol)
  const prices = told.map(({ price }) => price)
  const balances = byContract([...tokens, ...shares], [...held, ...told.map(({ balance }) => balance)])
  return {
    native,
    tokens: balances,
    sharePrices: byContract(shares, prices),
    shareSymbols: byContract(shares, symbols),
    unread: [...tokens, ...shares].filter((contract) => !balances.has(contract)),
  }
}

/** The balances of one wallet; encoded once, because every token is asked the same. */
function buildBalanceCalls(wallet: Address, tokens: readonly Address[]): Call<bigint>[] {
  const { data, decode } = call(MULTICALL3, erc20Abi, 'balanceOf', [wallet])
  return tokens.map((to) => ({ to, data, decode }))
}

function aggregate(calls: readonly Call<unknown>[]): RpcRequest {
  return { method: 'eth_call', params: [{ to: MULTICALL3, data: encodeAggregate(calls) }, 'latest'] }
}

/** What each call of an aggregate returned; undefined when the aggregate as a whole failed. */
function returnedBy(outcome: RpcOutcome | undefined): (Hex | undefined)[] | undefined {
  if (!outcome || !('result' in outcome) || !isHex(outcome.result)) return undefined
  try {
    return decodeAggregate(outcome.result)
  } catch {
    // Something else than aggregate3 returns.
    return undefined
  }
}

/** The sums of several lists, index by index. */
function sums(lists: readonly (readonly (bigint | undefined)[])[]): (bigint | undefined)[] {
  const [first = []] = lists
  return first.map((_, index) => sumOf(lists.map((list) => list[index])))
}

/** The sum; undefined where an amount is, or where no token has so much. */
function sumOf(amounts: readonly (bigint | undefined)[]): bigint | undefined {
  const sum = amounts.reduce((total, amount) =>
    total === undefined || amount === undefined ? undefined : total + amount,
  )
  return sum !== undefined && sum <= MAX_UINT256 ? sum : undefined
}

function byContract<T>(contracts: readonly string[], values: readonly (T | undefined)[]): Map<string, T> {
  const entries = contracts.map((contract, index) => [contract, values[index]] as const)
  return new Map(entries.filter((entry): entry is [string, T & {}] => entry[1] !== undefined))
}
