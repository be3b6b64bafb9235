import { type Address, decodeEventLog, getAddress, type Hash, type Hex, parseAbi, toEventSelector } from 'viem'
import type { Log } from '../chain/logs.ts'

/** The events that move assets and shares in and out of vaults: ERC-20, ERC-4626, ERC-7540 and Lagoon, all versions. */
const vaultEvents = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
  'event Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares)',
  'event DepositRequest(address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 assets)',
  'event DepositRequestCanceled(uint256 indexed requestId, address indexed controller)',
  'event DepositSync(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
  'event RedeemRequest(address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 shares)',
  'event RedeemRequestCanceled(uint256 indexed requestId, address indexed controller, uint256 shares)',
  'event WithdrawSync(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares)',
  'event SettleDeposit(uint40 indexed epochId, uint40 indexed settledId, uint256 totalAssets, uint256 totalSupply, uint256 assetsDeposited, uint256 sharesMinted)',
  'event SettleRedeem(uint40 indexed epochId, uint40 indexed settledId, uint256 totalAssets, uint256 totalSupply, uint256 assetsWithdrawed, uint256 sharesBurned)',
  'event TotalAssetsUpdated(uint256 totalAssets)',
])

/** The first topics of those events. */
export const VAULT_EVENT_TOPICS: readonly Hash[] = vaultEvents.map(toEventSelector)

/** The first topic of transfers of shares, mints and burns included. */
export const TRANSFER_TOPIC: Hash = toEventSelector('Transfer(address,address,uint256)')

const PRICE_EVENTS: ReadonlySet<string> = new Set([
  'Deposit',
  'Withdraw',
  'DepositSync',
  'WithdrawSync',
  'SettleDeposit',
  'SettleRedeem',
  'TotalAssetsUpdated',
])

/** The first topics of the events that can move a price, apart from mints and burns. */
export const PRICE_EVENT_TOPICS: readonly Hash[] = vaultEvents
  .filter(({ name }) => PRICE_EVENTS.has(name))
  .map(toEventSelector)

/** Where an event stands on its chain; `timestamp` in seconds since 1970. */
type ChainPosition = {
  readonly chainId: number
  readonly blockNumber: bigint
  readonly logIndex: number
  readonly transactionHash: Hash
  readonly timestamp: bigint
}

type Decoded = ReturnType<typeof decodeEventLog<typeof vaultEvents>>

/** An event of a vault and where it stands. */
export type VaultEvent = Decoded & { readonly vault: Address; readonly position: ChainPosition }

/** The events of vaults among these logs, in order; `timestampOf` gives the time of a block in seconds since 1970. */
export function parseVaultEvents(
  chainId: number,
  logs: readonly Log[],
  timestampOf: (log: Log) => bigint,
): VaultEvent[] {
  return logs.flatMap((log) => {
    const decoded = decode(log)
    if (!decoded) return []
    const { blockNumber, logIndex, transactionHash } = log
    const position = { chainId, blockNumber, logIndex, transactionHash, timestamp: timestampOf(log) }
    return [{ ...decoded, vault: getAddress(log.address), position }]
  })
}

function decode({ topics, data }: Log): Decoded | undefined {
  try {
    return decodeEventLog({ abi: vaultEvents, topics: topics as [Hex, ...Hex[]], data })
  } catch {
    // The same first topic with other indexed parameters: not one of ours.
    return undefined
  }
}
