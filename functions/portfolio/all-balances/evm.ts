import { type Address, type Hex, isAddress, isHex } from 'viem'
import { buildCall, type ContractCall, decodeReturnValues } from '../../../lib/chain/call.ts'
import { erc20Abi } from '../../../lib/chain/erc20.ts'
import { decodeAggregate, encodeAggregate, MULTICALL3, multicall3Abi } from '../../../lib/chain/multicall.ts'
import type { ChainReader } from '../../../lib/chain/reader.ts'
import type { RpcOutcome, RpcRequest } from '../../../lib/chain/rpc.ts'
import { badResponse } from '../../../lib/core/errors.ts'
import type { ListedToken } from '../../../lib/markets/coin.ts'
import type { UndatedBalances } from '../../../lib/portfolio/wallet-balances.ts'
import { vaultAbi } from '../../../lib/protocols/abi.ts'
import type { Vault } from '../../../lib/vaults/vault.ts'

/**
 * Reads the balances of several wallets on one EVM chain in one round trip: the native coin, the listed tokens, and
 * these vaults' shares. Each wallet has its own eth_call because nodes limit the gas of a call. Each vault also has its
 * own eth_call, so a vault that burns all gas affects no other. Throws AppError `upstream_*` if the chain cannot be
 * read.
 */
export async function readEvmBalances(
  reader: Pick<ChainReader, 'request'>,
  wallets: readonly Address[],
  listed: readonly ListedToken[],
  vaults: readonly Vault[],
): Promise<UndatedBalances[]> {
  // Two vaults can have the same share token. Its balance must count only once.
  const vaultOf = new Map(vaults.map((vault) => [vault.shareToken, vault]))
  const tokens = [...new Set(listed.map(({ address }) => address).filter((address) => isAddress(address)))]

  const ofWallets = wallets.map((wallet) => [
    buildCall(MULTICALL3, multicall3Abi, 'getEthBalance', [wallet]),
    ...buildBalanceCalls(wallet, tokens),
  ])
  const ofVaults = [...vaultOf].map(([share, { address, shareDecimals }]) => ({
    share,
    balances: wallets.flatMap((wallet) => buildBalanceCalls(wallet, [share])),
    symbol: buildCall(share, erc20Abi, 'symbol', []),
    price: buildCall(address, vaultAbi, 'convertToAssets', [10n ** BigInt(shareDecimals)]),
  }))
  const vaultCalls = ofVaults.map(({ balances, symbol, price }) => [...balances, symbol, price])
  const outcomes = (await reader.request([...ofWallets, ...vaultCalls].map(aggregate))).map(returnedBy)

  const reports = ofVaults.map(({ share, balances, symbol, price }, index) => {
    const returned = outcomes[wallets.length + index] ?? []
    return {
      share,
      balances: decodeReturnValues(balances, returned),
      symbol: decodeReturnValues([symbol], returned.slice(balances.length))[0] ?? '',
      price: decodeReturnValues([price], returned.slice(balances.length + 1))[0] ?? null,
    }
  })
  return ofWallets.map((calls, index) => {
    const returned = outcomes[index]
    if (returned === undefined) throw badResponse('not the return data of aggregate3')
    const [native, ...amounts] = decodeReturnValues(calls, returned)
    if (native === undefined) throw badResponse('native balance missing')
    const shares = reports.map(({ balances, ...share }) => ({ ...share, balance: balances[index] }))
    const held = tokens.map((token, position) => ({ token, balance: amounts[position] }))
    return {
      native,
      tokens: Object.fromEntries(
        held.flatMap(({ token, balance = 0n }) => (balance > 0n ? [[token, { balance }] as const] : [])),
      ),
      shares: Object.fromEntries(
        shares.flatMap(({ share, balance, symbol, price }) =>
          balance === undefined ? [] : [[share, { balance, symbol, price }] as const],
        ),
      ),
      unread: [
        ...held.flatMap(({ token, balance }) => (balance === undefined ? [token] : [])),
        ...shares.flatMap(({ share, balance }) => (balance === undefined ? [share] : [])),
      ],
    }
  })
}

/** Builds calls that read a wallet's balance of each token. The calldata is the same for all tokens, so it is encoded once. */
function buildBalanceCalls(wallet: Address, tokens: readonly Address[]): ContractCall<bigint>[] {
  const { data, decode } = buildCall(MULTICALL3, erc20Abi, 'balanceOf', [wallet])
  return tokens.map((to) => ({ to, data, decode }))
}

function aggregate(calls: readonly ContractCall<unknown>[]): RpcRequest {
  return { method: 'eth_call', params: [{ to: MULTICALL3, data: encodeAggregate(calls) }, 'latest'] }
}

/** Returns the return data of each call of a multicall. Returns undefined if the whole multicall failed. */
function returnedBy(outcome: RpcOutcome | undefined): (Hex | undefined)[] | undefined {
  if (!outcome || !('result' in outcome) || !isHex(outcome.result)) return undefined
  try {
    return decodeAggregate(outcome.result)
  } catch {
    return undefined
  }
}
