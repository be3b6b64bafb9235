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

/** Chain ids by the names that portfolio responses use for chains. */
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

type Worth = {
  /** Present value in the chosen currency; null if no price is known. */
  readonly value: number | null
  /** Value of the same holding a day ago, in the chosen currency; null if unknown. */
  readonly valueBefore: number | null
}

/** Balance of one token on one chain. */
export type Holding = Worth & {
  readonly chainId: number
  readonly address: string
  readonly symbol: string
  readonly name: string
  readonly logoUrl: string
  readonly units: bigint
  readonly decimals: number
  readonly isSpam: boolean
  /** True for shares of a vault, which have no past market prices. */
  readonly isShare: boolean
  /** Price of one whole token; null if unknown. */
  readonly price: number | null
  /** Time of the last known balance, if the chain cannot be read now. */
  readonly asOf: string | undefined
}

/** Coin held in the user's wallets, on one chain or on several. */
export type CoinHolding = Worth & {
  readonly key: string
  /** Balances of the coin, one for each chain, the most valuable first. */
  readonly holdings: readonly [Holding, ...Holding[]]
  /** Sum of the balances on all chains, with `decimals` decimals: the highest number of decimals on any of the chains. */
  readonly units: bigint
  readonly decimals: number
}

/** Position with its value, and the asset's address if the vault is known. */
export type ValuedPosition = Position & Worth & { readonly asset: string | undefined }

type Unit = { readonly symbol: string; readonly decimals: number }

/** Transfer between chains that this browser started. */
export type StartedTransfer = {
  readonly hash: `0x${string}`
  readonly srcChainId: number
  /** Vault operation that this transfer is a part of. */
  readonly kind: 'deposit' | 'withdrawal'
  readonly vault: { readonly chainId: number; readonly address: `0x${string}`; readonly name: string }
  readonly account: `0x${string}`
  /** Amount in the smallest unit of the token that is sent. */
  readonly amount: string
  /** Token that is sent. `to` is the token that arrives: the same coin, but on another chain it can have other decimals. */
  readonly from: Unit
  readonly to: Unit
  readonly startedAt: number
  /** Hash of the withdrawal whose payment this transfer forwards to another chain; absent for deposits. */
  readonly withdrawalHash?: `0x${string}` | undefined
  /** True once the transfer has arrived, or the user has seen its failure. Then no page mentions the transfer. */
  readonly isClosed?: boolean
}

/** Transfer between chains with its progress and value. */
export type ValuedTransfer = Worth & { readonly started: StartedTransfer; readonly progress: GetTransferStatusResponse }

/** Sum of the values of those holdings, positions and transfers that have a price. */
type Total = {
  readonly value: number
  /** Change within 24 hours, in the currency and in percent. It covers only holdings with a known earlier value; null if there are none. */
  readonly change: { readonly value: number; readonly percent: number } | null
}

/**
 * Open request in a vault, with its amount in the vault's asset. A request of kind `wait` is still pending; any other needs the user's
 * action.
 */
export type RequestAction = {
  readonly position: ValuedPosition
  readonly kind: 'claim deposit' | 'claim withdrawal' | 'take back deposit' | 'take back withdrawal' | 'wait'
  readonly units: bigint
}

/** Returns a key for a token on a chain. The case of the address does not matter. */
export function keyOfToken(chainId: number, address: string): string {
  return `${chainId} ${address.toLowerCase()}`
}

/**
 * Lists the tokens in the user's wallets, the most valuable first. It leaves out tokens whose key is in `counted`.
 * These are vault shares whose value a position already contains.
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
          // The cast is safe because the service names its chains by these keys only.
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

/**
 * Lists the chains whose balances or positions are missing from a total. Outdated balances do not count as missing.
 * They include vault shares, so they also replace the chain's missing positions if `isWhole` is true. `isWhole` means
 * that the balances cover all accounts with positions.
 */
export function listMissingChains(
  balances: ListBalancesResponse | undefined,
  holdings: readonly Holding[],
  positionErrors: Readonly<Record<string, string>>,
  isWhole: boolean,
): readonly number[] {
  const old = new Set(holdings.flatMap(({ chainId, asOf }) => (asOf ? [chainId] : [])))
  // The cast is safe because the service names its chains by these keys only.
  const unread = Object.keys(balances?.errors ?? {}).map((key) => CHAIN_OF_KEY[key as ChainKey])
  const unreadVaults = Object.keys(positionErrors).map(Number)
  return [
    ...new Set([
      ...unread.filter((chainId) => !old.has(chainId)),
      ...unreadVaults.filter((chainId) => !(isWhole && old.has(chainId))),
    ]),
  ]
}

/** Groups holdings of the same coin across chains. Spam is never grouped with a coin. */
export function groupByCoin(holdings: readonly Holding[], coins: ListCoinsResponse): readonly CoinHolding[] {
  const groups = new Map<string, [Holding, ...Holding[]]>()
  for (const holding of holdings) {
    const { chainId, address, isSpam } = holding
    // Holdings are not grouped by symbol, because an attacker can give a token the symbol of another.
    const key = (!isSpam && findCoin(coins, chainId, address)?.coinKey) || keyOfToken(chainId, address)
    const group = groups.get(key)
    if (group) group.push(holding)
    else groups.set(key, [holding])
  }
  return [...groups]
    .map(([key, group]): CoinHolding => {
      const decimals = Math.max(...group.map((holding) => holding.decimals))
      const units = group.reduce((sum, one) => sum + one.units * 10n ** BigInt(decimals - one.decimals), 0n)
      return {
        key,
        holdings: group,
        units,
        decimals,
        value: sumField(group, 'value'),
        valueBefore: sumField(group, 'valueBefore'),
      }
    })
    .toSorted((left, right) => (right.value ?? -1) - (left.value ?? -1))
}

function sumField(parts: readonly Worth[], of: keyof Worth): number | null {
  return parts.reduce<number | null>((sum, part) => {
    const partValue = part[of]
    return sum === null || partValue === null ? null : sum + partValue
  }, 0)
}

/** Adds a value to each position at the price of its vault's asset, and sorts the most valuable first. */
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

/** Adds a value to each transfer at the price of its vault's asset, which is the same coin on both chains. */
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

/** Returns true while a transfer's money is in no wallet and in no vault: until it arrives or is refunded. */
export function isBetweenChains({ status, reason, terminal, timestamps }: GetTransferStatusResponse): boolean {
  if (terminal || timestamps.bridged !== null) return false
  return status === 'bridging' || reason === 'expired'
}

function worthOf(units: string, decimals: number, coin: ListCoinsResponse[number] | undefined): Worth {
  const { current_price: price = null, price_change_percentage_24h: percent = null } = coin ?? {}
  const value = price === null ? null : toNumber(units, decimals) * price
  // After a fall of 100 % the present value is zero, so the earlier value cannot be computed.
  const valueBefore = value === null || percent === null || percent <= -100 ? null : value / (1 + percent / 100)
  return { value, valueBefore }
}

/** Returns the vault of a position; undefined if `vaults` lacks the vault. */
export function findVault(
  vaults: readonly Vault[],
  { chainId, vaultAddress }: Pick<Position, 'chainId' | 'vaultAddress'>,
): Vault | undefined {
  return vaults.find((vault) => vault.chainId === chainId && vault.poolAddress === vaultAddress)
}

/** Returns the vault that has this token as its share; undefined if `vaults` lacks the vault. */
export function findVaultOfShare(vaults: readonly Vault[], { chainId, address }: Holding): Vault | undefined {
  const key = keyOfToken(chainId, address)
  return vaults.find((vault) => keyOfToken(vault.chainId, vault.yieldTokenAddress ?? vault.poolAddress) === key)
}

/** Returns the coin of a token; undefined if the markets do not list it. */
export function findCoin(coins: ListCoinsResponse, chainId: number, address: string) {
  const key = keyOfToken(chainId, address)
  return coins.find((coin) => keyOfToken(coin.chainId, coin.contract_address) === key)
}

/** Returns the keys of share tokens whose value is already in these positions, in the form of `keyOfToken`. */
export function sharesOf(positions: readonly Position[], vaults: readonly Vault[]): ReadonlySet<string> {
  return new Set(
    positions.map((position) => {
      // While the vault is unknown, its address is taken for the share token's address. Nearly every vault is its own
      // share token.
      const token = findVault(vaults, position)?.yieldTokenAddress ?? position.vaultAddress
      return keyOfToken(position.chainId, token)
    }),
  )
}

/** Returns the sum of all known values, and its change within 24 hours. */
export function sumValues(parts: readonly Worth[]): Total {
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

/** Returns the yield of all positions at the vaults' current rates: percent a year, and the amount per month. Null if no rate is known. */
export function yieldOf(
  positions: readonly ValuedPosition[],
  vaults: readonly Vault[],
): { readonly percent: number; readonly monthly: number } | null {
  let value = 0
  let yearly = 0
  for (const position of positions) {
    const percent = findVault(vaults, position)?.annualYield?.percent
    if (percent === undefined || position.value === null) continue
    value += position.value
    yearly += (position.value * Number(percent)) / 100
  }
  return value > 0 ? { percent: (yearly / value) * 100, monthly: yearly / 12 } : null
}

/** Lists the open requests of a position. Requests in shares are valued at the present share price. */
export function listRequestActions(
  position: ValuedPosition,
  shareDecimals: number,
  deposit: GetDepositStatusResponse | undefined,
  withdrawal: GetWithdrawalStatusResponse | undefined,
): readonly RequestAction[] {
  const price = BigInt(position.sharePrice)
  const assetsOf = (shares = '0') => (BigInt(shares) * price) / 10n ** BigInt(shareDecimals)
  const [into, out] = [deposit?.amounts, withdrawal?.amounts]
  // The amount of assets in a cooldown is fixed, because the shares are already burned. So it is not computed from shares.
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

/**
 * Returns the summed value of several amounts over time, as pairs of time and value. The first pair is at the time from which all prices
 * are known.
 */
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

/** Converts an amount to a number of whole tokens, to multiply it by a price. */
export function toNumber(units: string | bigint, decimals: number): number {
  return Number(formatUnits(BigInt(units), decimals))
}
