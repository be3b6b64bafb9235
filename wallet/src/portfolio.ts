import type {
  ChainKey,
  GetDepositStatusResponse,
  GetTransferStatusResponse,
  GetWithdrawalStatusResponse,
  ListBalancesResponse,
  ListCoinsResponse,
  Position,
  Vault,
} from '@vaultline/client'
import { formatUnits } from 'viem'

/** The chain that an answer about a portfolio calls by this key. */
export const CHAIN_OF_KEY: Readonly<Record<ChainKey, number>> = {
  'eth-mainnet': 1,
  'optimism-mainnet': 10,
  'bsc-mainnet': 56,
  'gnosis-mainnet': 100,
  'matic-mainnet': 137,
  'base-mainnet': 8453,
  'arbitrum-mainnet': 42161,
  'solana-mainnet': 1151111081099710,
}

/** What something is worth in the chosen currency. */
export type Worth = {
  /** Null where no price is known. */
  readonly value: number | null
  /** What the same was worth a day ago; null where it is not known. */
  readonly valueBefore: number | null
}

/** What a user holds of one token on one chain. */
export type Holding = Worth & {
  readonly chainId: number
  readonly address: string
  readonly symbol: string
  readonly name: string
  readonly logoUrl: string
  readonly units: bigint
  readonly decimals: number
  readonly isSpam: boolean
  /** Whether it is shares of a vault, whose past is in no market. */
  readonly isShare: boolean
  /** Of one whole token; null where it is not known. */
  readonly price: number | null
  /** Of which moment it is, where its chain cannot be read now. */
  readonly asOf: string | undefined
}

/** A position with its worth and, where the vault's asset is known, the token that it is in. */
export type ValuedPosition = Position & Worth & { readonly asset: string | undefined }

/** How amounts of a token are written. */
type Unit = { readonly symbol: string; readonly decimals: number }

/** A transfer between chains that this browser has started. */
export type StartedTransfer = {
  readonly hash: `0x${string}`
  readonly srcChainId: number
  /** What it is for. */
  readonly kind: 'deposit' | 'withdrawal'
  readonly vault: { readonly chainId: number; readonly address: `0x${string}`; readonly name: string }
  readonly account: `0x${string}`
  /** In the smallest unit of what is sent. */
  readonly amount: string
  /** What is sent, and what arrives; on another chain it can have other decimals. */
  readonly from: Unit
  readonly to: Unit
  readonly startedAt: number
  /** Whether it has arrived, or its owner has seen how it ended: nobody needs to be told of it. */
  readonly isClosed?: boolean
}

/** A transfer between chains with how far it is and its worth. */
export type ValuedTransfer = Worth & { readonly started: StartedTransfer; readonly progress: GetTransferStatusResponse }

/** A sum, of what has a price. */
export type Total = {
  readonly value: number
  /** Of what has a price of both days, in the currency and in percent; null where nothing has. */
  readonly change: { readonly value: number; readonly percent: number } | null
}

/** What a user can do in a vault, or waits for there, in the vault's asset. */
export type VaultRequest = {
  readonly position: ValuedPosition
  readonly kind: 'claim deposit' | 'claim withdrawal' | 'take back deposit' | 'take back withdrawal' | 'wait'
  readonly units: bigint
}

/** A token's name that is the same wherever it is written. */
export function keyOfToken(chainId: number, address: string): string {
  return `${chainId} ${address.toLowerCase()}`
}

/**
 * The tokens held, the most valuable first. What is `counted` elsewhere, by its token's key, is left out: shares of a vault are
 * a balance and a part of a position.
 */
export function listHoldings(
  { tokens, errors = {}, updated_at }: ListBalancesResponse,
  counted: ReadonlySet<string>,
): readonly Holding[] {
  return Object.entries(tokens)
    .flatMap(([key, balances]) =>
      balances.map((balance): Holding => {
        const isPriced = balance.price_available
        const isPricedBefore = isPriced && balance.quote_rate_24h > 0
        return {
          // The service calls its chains by these keys alone.
          chainId: CHAIN_OF_KEY[key as ChainKey],
          address: balance.contract_address,
          symbol: balance.contract_ticker_symbol,
          name: balance.contract_name,
          logoUrl: balance.logo_url,
          units: BigInt(balance.balance),
          decimals: balance.contract_decimals,
          isSpam: balance.is_spam,
          isShare: balance.defi,
          price: isPriced ? balance.quote_rate : null,
          value: isPriced ? balance.quote : null,
          valueBefore: isPricedBefore ? balance.quote_24h : null,
          asOf: errors[key] ? updated_at[key] : undefined,
        }
      }),
    )
    .filter(({ units, chainId, address }) => units > 0n && !counted.has(keyOfToken(chainId, address)))
    .toSorted((left, right) => (right.value ?? -1) - (left.value ?? -1))
}

/** The positions by the prices of their vaults' assets, the most valuable first. */
export function valuePositions(
  positions: readonly Position[],
  vaults: readonly Vault[],
  coins: ListCoinsResponse,
): readonly ValuedPosition[] {
  return positions
    .map((position) => {
      const asset = findVault(vaults, position)?.depositTokenAddress
      const coin = asset ? findCoin(coins, position.chainId, asset) : undefined
      return { ...position, asset, ...worthOf(position.currentValue, position.assetDecimals, coin) }
    })
    .toSorted((left, right) => (right.value ?? -1) - (left.value ?? -1))
}

/** Transfers by the prices of their vaults' assets, which are the same coin on both chains. */
export function valueTransfers(
  transfers: readonly Pick<ValuedTransfer, 'started' | 'progress'>[],
  vaults: readonly Vault[],
  coins: ListCoinsResponse,
): readonly ValuedTransfer[] {
  return transfers.map((transfer) => {
    const { vault, amount, from } = transfer.started
    const asset = findVault(vaults, { chainId: vault.chainId, vaultAddress: vault.address })?.depositTokenAddress
    const coin = asset ? findCoin(coins, vault.chainId, asset) : undefined
    return { ...transfer, ...worthOf(amount, from.decimals, coin) }
  })
}

/** Whether the money of a transfer is in no wallet and in no vault; also while its refund is awaited. */
export function isBetweenChains({ status, reason, terminal, timestamps }: GetTransferStatusResponse): boolean {
  if (terminal || timestamps.bridged !== null) return false
  return status === 'bridging' || reason === 'expired'
}

function worthOf(units: string, decimals: number, coin: ListCoinsResponse[number] | undefined): Worth {
  const { current_price: price = null, price_change_percentage_24h: percent = null } = coin ?? {}
  const value = price === null ? null : toNumber(units, decimals) * price
  // What is worth nothing now does not say what it was worth.
  const valueBefore = value === null || percent === null || percent <= -100 ? null : value / (1 + percent / 100)
  return { value, valueBefore }
}

/** The vault of a position; undefined where the list does not have it. */
export function findVault(
  vaults: readonly Vault[],
  { chainId, vaultAddress }: Pick<Position, 'chainId' | 'vaultAddress'>,
): Vault | undefined {
  return vaults.find((vault) => vault.chainId === chainId && vault.poolAddress === vaultAddress)
}

/** The coin that a token is; undefined for one that the markets do not list. */
export function findCoin(coins: ListCoinsResponse, chainId: number, address: string) {
  const key = keyOfToken(chainId, address)
  return coins.find((coin) => keyOfToken(coin.chainId, coin.contract_address) === key)
}

/** The tokens of the shares that positions count, by their keys. */
export function sharesOf(positions: readonly Position[], vaults: readonly Vault[]): ReadonlySet<string> {
  return new Set(
    positions.map((position) => {
      // Where the list cannot be had: of nearly every vault, its own contract is the token of its shares.
      const token = findVault(vaults, position)?.yieldTokenAddress ?? position.vaultAddress
      return keyOfToken(position.chainId, token)
    }),
  )
}

/** Adds up what has a price. */
export function addUp(parts: readonly Worth[]): Total {
  const value = parts.reduce((sum, part) => sum + (part.value ?? 0), 0)
  let now = 0
  let before = 0
  for (const part of parts) {
    if (part.value === null || part.valueBefore === null) continue
    now += part.value
    before += part.valueBefore
  }
  return { value, change: before > 0 ? { value: now - before, percent: (now / before - 1) * 100 } : null }
}

/** What a user can do in a vault, or waits for there. Shares count at their price now. */
export function listRequests(
  position: ValuedPosition,
  shareDecimals: number,
  deposit: GetDepositStatusResponse | undefined,
  withdrawal: GetWithdrawalStatusResponse | undefined,
): readonly VaultRequest[] {
  const price = BigInt(position.sharePrice)
  const assetsOf = (shares = '0') => (BigInt(shares) * price) / 10n ** BigInt(shareDecimals)
  const [into, out] = [deposit?.amounts, withdrawal?.amounts]
  // Assets in a cooldown are fixed: their shares are burned.
  const leaving = out?.pendingAssets ?? assetsOf(out?.pendingRedeemShares)
  const waiting = BigInt(into?.pendingDeposit ?? 0) + BigInt(leaving)
  const requests = [
    { kind: 'claim deposit', units: assetsOf(into?.claimableShares) },
    { kind: 'claim withdrawal', units: BigInt(out?.claimableAssets ?? 0) },
    { kind: 'take back deposit', units: BigInt(into?.cancelledDeposit ?? 0) },
    { kind: 'take back withdrawal', units: assetsOf(out?.cancelledRedeemShares) },
    { kind: 'wait', units: waiting },
  ] as const
  return requests.filter(({ units }) => units > 0n).map((request) => ({ position, ...request }))
}

/** What these amounts were worth together, from the first moment at which all of their prices are known. */
export function sumHistories(
  parts: readonly { readonly amount: number; readonly prices: readonly (readonly [number, number])[] }[],
): readonly (readonly [number, number])[] {
  const start = Math.max(...parts.map(({ prices }) => prices[0]?.[0] ?? Number.POSITIVE_INFINITY))
  const longest = parts.reduce<readonly (readonly [number, number])[]>(
    (best, { prices }) => (prices.length > best.length ? prices : best),
    [],
  )
  const places = parts.map(() => 0)
  return longest
    .filter(([time]) => time >= start)
    .map(([time]) => {
      const sum = parts.reduce((before, { amount, prices }, index) => {
        let place = places[index] ?? 0
        while ((prices[place + 1]?.[0] ?? Number.POSITIVE_INFINITY) <= time) place += 1
        places[index] = place
        return before + amount * (prices[place]?.[1] ?? 0)
      }, 0)
      return [time, sum] as const
    })
}

/** An amount as a number, for what a price multiplies. */
export function toNumber(units: string | bigint, decimals: number): number {
  return Number(formatUnits(BigInt(units), decimals))
}
