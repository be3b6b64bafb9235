import { type Address, getAddress, type Hash, type Hex, pad, toEventSelector } from 'viem'
import { decodeLog } from '../chain/decode.ts'
import { erc20Abi } from '../chain/erc20.ts'
import type { Log, LogFilter } from '../chain/logs.ts'
import type { VaultEvent } from '../protocols/books.ts'
import { getProtocol, PROTOCOLS } from '../protocols/protocols.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'

const EVENTS = new Map(
  [erc20Abi, ...Object.values(PROTOCOLS).map(({ abi }) => abi)]
    .flat()
    .filter((item) => item.type === 'event')
    .map((event) => [toEventSelector(event), event]),
)
const EVENT_ABI = [...EVENTS.values()]

/**
 * Event name for transfers of tokens other than the vault's shares. Some vault protocols need such transfers for their
 * accounting.
 */
const HEARD = 'HeardTransfer'
const EVENT_NAMES = new Set([...EVENT_ABI.map(({ name }) => name), HEARD])

/** Returns true if this version of the software can process events of this name. */
export function isKnownEvent(name: string): boolean {
  return EVENT_NAMES.has(name)
}

/** Maximum distance, in blocks, between the last recorded blocks of two vaults whose events are read in the same requests. */
export const MAX_BLOCKS_PER_BATCH = 10_000

/** First topics (hashes of the event signatures) of all vault events. */
export const VAULT_EVENT_TOPICS: readonly Hash[] = [...EVENTS.keys()]

/** First topic of transfers of a token's shares, including mints and burns. */
export const TRANSFER_TOPIC: Hash = toEventSelector('Transfer(address,address,uint256)')

/** Returns the first topics of the events that can change a vault's share price, except mints and burns. */
export function priceEventTopics(vault: VaultOnChain): Hash[] {
  const { repricing } = getProtocol(vault).books
  return [...EVENTS].flatMap(([topic, { name }]) => (repricing.has(name) ? [topic] : []))
}

/** Returns the contracts that emit these vaults' events: the vaults and their share tokens. */
export function eventAddresses(vaults: readonly VaultOnChain[]): Address[] {
  return [...new Set(vaults.flatMap(({ address, shareToken }) => [address, shareToken]))]
}

/**
 * Builds the filter for transfers of tokens other than shares that these vaults' accounting needs; empty if no vault
 * needs any. `to` is the receiver as a topic, or null for all receivers.
 */
export function buildForeignTransferFilters(vaults: readonly VaultOnChain[], to: Hex | null = null): LogFilter[] {
  const heard = vaults.flatMap((vault) => heardBy(vault) ?? [])
  if (heard.length === 0) return []
  const tokens = new Set(heard.map(({ token }) => token))
  const senders = new Set(heard.map(({ from }) => pad(from, { size: 32 })))
  return [{ address: [...tokens], topics: [[TRANSFER_TOPIC], [...senders], ...(to ? [to] : [])] }]
}

function heardBy(vault: VaultOnChain) {
  return getProtocol(vault).books.findForeignTransferSource?.(vault)
}

/**
 * Decodes logs of one chain into events of these vaults, in order. Transfers are logs of a vault's share token, or of a
 * token that the vault's accounting needs. All other events are logs of the vault. `timestampOf` returns a log's time
 * in seconds since 1970. `logs` must be all logs of their transactions, or only those that name `ofAccount`.
 */
export function parseVaultEvents(
  vaults: readonly VaultOnChain[],
  logs: readonly Log[],
  timestampOf: (log: Log) => bigint,
  ofAccount?: Address,
): VaultEvent[] {
  const [ofVaults, ofShares] = [
    Map.groupBy(vaults, ({ address }) => address),
    Map.groupBy(vaults, ({ shareToken }) => shareToken),
  ]
  const hearing = vaults.flatMap((vault) => {
    const heard = heardBy(vault)
    return heard ? [{ vault, heard }] : []
  })
  const events = logs.flatMap((log) => {
    // A log with the same first topic but other indexed parameters cannot be decoded, so it is left out.
    const decoded = decodeLog(EVENT_ABI, log)
    if (!decoded) return []
    const { blockNumber, logIndex, transactionHash, blockHash } = log
    const token = getAddress(log.address)
    const concerned = (log.topics[0] === TRANSFER_TOPIC ? ofShares : ofVaults).get(token) ?? []
    const eventOf = ({ chainId, address }: VaultOnChain) => {
      const location = { chainId, blockNumber, logIndex, transactionHash, blockHash, timestamp: timestampOf(log) }
      return { ...decoded, vault: address, location }
    }
    const isHeard = ({ heard }: (typeof hearing)[number]) =>
      log.topics[0] === TRANSFER_TOPIC &&
      heard.token === token &&
      'from' in decoded.args &&
      heard.from === decoded.args.from
    const heardEvents = hearing.filter(isHeard).map(({ vault }) => ({ ...eventOf(vault), eventName: HEARD }))
    return [...concerned.map(eventOf), ...heardEvents]
  })
  return standardizeEvents(vaults, events, ofAccount)
}

/**
 * Puts the accounts in events' arguments into the order of the ERC standard, because some vaults swap two accounts.
 * `events` must be all events of their transactions, or only those that name `ofAccount`.
 */
export function standardizeEvents(
  vaults: readonly VaultOnChain[],
  events: readonly VaultEvent[],
  ofAccount?: Address,
): VaultEvent[] {
  const standard = new Map(vaults.map((vault) => [vault.address, getProtocol(vault).books.normalizeEvents]))
  const transactions = Map.groupBy(events, ({ vault, location }) => `${vault} ${location.transactionHash}`)
  const replacements = new Map<VaultEvent, VaultEvent | undefined>()
  for (const transaction of transactions.values()) {
    const [first] = transaction
    const standardized = first && standard.get(first.vault)?.(transaction, ofAccount)
    if (standardized) for (const [index, event] of transaction.entries()) replacements.set(event, standardized[index])
  }
  return events.map((event) => replacements.get(event) ?? event)
}
