import type { Address } from 'viem'
import * as z from 'zod'
import { field } from '../core/field.ts'

/** Address that stands for an EVM chain's own coin, such as ether, in requests and responses. */
export const COIN_ADDRESS: Address = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'

type NativeCoin = {
  readonly symbol: string
  readonly name: string
  readonly decimals: number
  readonly coinGeckoId: string
}

type ChainBase = {
  readonly id: number
  readonly key: string
  readonly name: string
  readonly nativeCoin: NativeCoin
  readonly coinGeckoPlatform: string
  /** Name of the chain that DefiLlama expects before a contract address. */
  readonly defiLlamaPrefix: string
  /** URL of the block explorer, without a slash at the end. */
  readonly explorerUrl: string
  /**
   * URLs of public RPC nodes for trials, the preferred one first. Public nodes have strict limits and change without
   * notice. A node that returns no events comes last.
   */
  readonly rpcUrls: readonly [string, ...string[]]
}

/**
 * Conditions for a final block. The block is at or before the block at the chain's `tag`, and at least `seconds` older
 * than the latest block. Rollup blocks are `safe` once they are written to Ethereum. With nodes that do not know tags,
 * only the age counts.
 */
type Finality = { readonly tag: 'safe' | 'finalized'; readonly seconds: number }

/** A chain whose vaults and balances are read over Ethereum JSON-RPC. */
export type EvmChain = ChainBase & {
  readonly kind: 'evm'
  /** Alchemy's name of the chain, which is the first label of its RPC host names. */
  readonly alchemyNetwork: string
  /**
   * Typical seconds between blocks, for searches by time, waiting times and limits of node lag. Real blocks may come
   * faster or slower.
   */
  readonly blockSeconds: number
  readonly finality: Finality
  /** Contracts of the bridge Across on this chain; null if Across does not support the chain. */
  readonly bridge: { readonly pool: Address; readonly multicallHandler: Address; readonly fromBlock: bigint } | null
}

type SolanaChain = ChainBase & { readonly kind: 'solana' }

const ETHER: NativeCoin = { symbol: 'ETH', name: 'Ether', decimals: 18, coinGeckoId: 'ethereum' }
/** Across's contract that runs calls after a transfer, at the same address on every chain. */
const multicallHandler: Address = '0x0F7Ae28dE1C8532170AD4ee566B5801485c13a0E'

/** Registry entry of Solana, which has token balances but no vaults. */
export const SOLANA = {
  kind: 'solana',
  // Solana has no numeric chain id. This number is the id that the aggregator LI.FI uses.
  id: 1151111081099710,
  key: 'solana-mainnet',
  name: 'Solana',
  nativeCoin: { symbol: 'SOL', name: 'Solana', decimals: 9, coinGeckoId: 'solana' },
  coinGeckoPlatform: 'solana',
  defiLlamaPrefix: 'solana',
  explorerUrl: 'https://solscan.io',
  rpcUrls: ['https://api.mainnet-beta.solana.com', 'https://solana-rpc.publicnode.com'],
} as const satisfies SolanaChain

/** All chains that the API supports. */
export const CHAINS = [
  {
    kind: 'evm',
    id: 1,
    key: 'eth-mainnet',
    name: 'Ethereum',
    nativeCoin: ETHER,
    coinGeckoPlatform: 'ethereum',
    defiLlamaPrefix: 'ethereum',
    explorerUrl: 'https://etherscan.io',
    rpcUrls: ['https://ethereum-rpc.publicnode.com', 'https://eth.drpc.org'],
    alchemyNetwork: 'eth-mainnet',
    blockSeconds: 12,
    finality: { tag: 'finalized', seconds: 600 },
    bridge: { pool: '0x5c7BCd6E7De5423a257D81B442095A1a6ced35C5', multicallHandler, fromBlock: 22_967_417n },
  },
  {
    kind: 'evm',
    id: 10,
    key: 'optimism-mainnet',
    name: 'OP Mainnet',
    nativeCoin: ETHER,
    coinGeckoPlatform: 'optimistic-ethereum',
    defiLlamaPrefix: 'optimism',
    explorerUrl: 'https://optimistic.etherscan.io',
    rpcUrls: ['https://mainnet.optimism.io', 'https://optimism-rpc.publicnode.com', 'https://optimism.drpc.org'],
    alchemyNetwork: 'opt-mainnet',
    blockSeconds: 2,
    finality: { tag: 'safe', seconds: 120 },
    bridge: { pool: '0x6f26Bf09B1C792e3228e5467807a900A503c0281', multicallHandler, fromBlock: 138_622_548n },
  },
  {
    kind: 'evm',
    id: 56,
    key: 'bsc-mainnet',
    name: 'BNB Smart Chain',
    nativeCoin: { symbol: 'BNB', name: 'BNB', decimals: 18, coinGeckoId: 'binancecoin' },
    coinGeckoPlatform: 'binance-smart-chain',
    defiLlamaPrefix: 'bsc',
    explorerUrl: 'https://bscscan.com',
    rpcUrls: ['https://bsc-rpc.publicnode.com', 'https://bsc.drpc.org', 'https://bsc-dataseed.bnbchain.org'],
    alchemyNetwork: 'bnb-mainnet',
    blockSeconds: 0.45,
    finality: { tag: 'finalized', seconds: 60 },
    bridge: { pool: '0x4e8E101924eDE233C13e2D8622DC8aED2872d505', multicallHandler, fromBlock: 54_800_640n },
  },
  {
    kind: 'evm',
    id: 100,
    key: 'gnosis-mainnet',
    name: 'Gnosis',
    nativeCoin: { symbol: 'xDAI', name: 'xDAI', decimals: 18, coinGeckoId: 'xdai' },
    coinGeckoPlatform: 'xdai',
    defiLlamaPrefix: 'xdai',
    explorerUrl: 'https://gnosisscan.io',
    rpcUrls: ['https://rpc.gnosischain.com', 'https://gnosis-rpc.publicnode.com', 'https://gnosis.drpc.org'],
    alchemyNetwork: 'gnosis-mainnet',
    blockSeconds: 5,
    finality: { tag: 'finalized', seconds: 120 },
    bridge: null,
  },
  {
    kind: 'evm',
    id: 137,
    key: 'matic-mainnet',
    name: 'Polygon',
    nativeCoin: { symbol: 'POL', name: 'POL', decimals: 18, coinGeckoId: 'polygon-ecosystem-token' },
    coinGeckoPlatform: 'polygon-pos',
    defiLlamaPrefix: 'polygon',
    explorerUrl: 'https://polygonscan.com',
    rpcUrls: ['https://polygon-bor-rpc.publicnode.com', 'https://polygon.drpc.org'],
    alchemyNetwork: 'polygon-mainnet',
    blockSeconds: 2,
    finality: { tag: 'finalized', seconds: 256 },
    bridge: { pool: '0x9295ee1d8C5b022Be115A2AD3c30C72E34e7F096', multicallHandler, fromBlock: 74_229_464n },
  },
  {
    kind: 'evm',
    id: 8453,
    key: 'base-mainnet',
    name: 'Base',
    nativeCoin: ETHER,
    coinGeckoPlatform: 'base',
    defiLlamaPrefix: 'base',
    explorerUrl: 'https://basescan.org',
    rpcUrls: ['https://mainnet.base.org', 'https://base-rpc.publicnode.com', 'https://base.drpc.org'],
    alchemyNetwork: 'base-mainnet',
    blockSeconds: 0.2,
    finality: { tag: 'safe', seconds: 120 },
    bridge: { pool: '0x09aea4b2242abC8bb4BB78D537A67a245A7bEC64', multicallHandler, fromBlock: 33_154_505n },
  },
  {
    kind: 'evm',
    id: 42161,
    key: 'arbitrum-mainnet',
    name: 'Arbitrum One',
    nativeCoin: ETHER,
    coinGeckoPlatform: 'arbitrum-one',
    defiLlamaPrefix: 'arbitrum',
    explorerUrl: 'https://arbiscan.io',
    rpcUrls: ['https://arb1.arbitrum.io/rpc', 'https://arbitrum-one-rpc.publicnode.com', 'https://arbitrum.drpc.org'],
    alchemyNetwork: 'arb-mainnet',
    blockSeconds: 0.25,
    finality: { tag: 'safe', seconds: 120 },
    bridge: { pool: '0xe35e9842fceaCA96570B734083f4a58e8F7C5f2A', multicallHandler, fromBlock: 360_020_909n },
  },
  SOLANA,
] as const satisfies readonly (EvmChain | SolanaChain)[]

/** A chain of the registry. */
export type Chain = (typeof CHAINS)[number]

/** Key of a chain in portfolio responses. */
export const ChainKey = z
  .enum(CHAINS.map(({ key }) => key))
  .meta({ id: 'ChainKey', description: 'Chain key in the portfolio responses' })
export type ChainKey = z.output<typeof ChainKey>

/** EVM chains of the registry, the only chains with vaults. */
export const EVM_CHAINS: readonly EvmChain[] = CHAINS.filter((chain) => chain.kind === 'evm')

/** Returns the EVM chain with this id; undefined if the registry lacks it. */
export function evmChain(id: number): EvmChain | undefined {
  return EVM_CHAINS.find((chain) => chain.id === id)
}

/** Zod issue for a number that is not an allowed chain id. A field may map the issue to its own error code. */
const unsupported = (message: string) => ({ message, params: { unsupported: true } })
const NUMBER_TEXT = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/

const CHAIN_IDS = EVM_CHAINS.map(({ id }) => id)

/** Id of an EVM chain of the registry. */
export const ChainId = field(
  z
    .number()
    .int()
    .refine((id) => evmChain(id) !== undefined, 'must be the id of a supported chain'),
  'missing_or_invalid_chain_id',
).meta({ id: 'ChainId', description: 'Chain id', enum: CHAIN_IDS })

/** A ChainId as text, for query parameters. */
export const ChainIdText = field(
  z.codec(z.string().meta({ enum: CHAIN_IDS.map(String) }), ChainId, {
    // Text that is not a positive whole number becomes 0. No chain has the id 0, so the text is refused.
    decode: (text) => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0),
    encode: (id) => id.toString(),
  }),
  'missing_or_invalid_chain_id',
)

const WHERE_TWO = 'Chain of the vault; required if two chains have a vault with this address'
/** Id of a vault's chain. It is required only if the client has vaults on two chains at the same address. */
export const VaultChainId = ChainId.optional().describe(WHERE_TWO)
/** VaultChainId as text, for query parameters. */
export const VaultChainIdText = ChainIdText.optional().describe(WHERE_TWO)

const OtherChainId = z
  .number()
  .refine((id) => evmChain(id) !== undefined, unsupported('must be the id of a supported chain'))

/**
 * Id of the EVM chain that a deposit comes from. Any other number gives `unsupported_source_chain`; a non-number gives
 * `missing_or_invalid_src_chain_id`.
 */
export const SourceChainId = field(OtherChainId, {
  invalid: 'missing_or_invalid_src_chain_id',
  unsupported: 'unsupported_source_chain',
})

/**
 * Id of the EVM chain that a withdrawal goes to. Any other number gives `unsupported_destination_chain`; a non-number
 * gives `missing_or_invalid_dst_chain_id`.
 */
export const DestinationChainId = field(OtherChainId, {
  invalid: 'missing_or_invalid_dst_chain_id',
  unsupported: 'unsupported_destination_chain',
})

const BridgedChainId = z
  .number('must be a number')
  .refine((id) => evmChain(id)?.bridge, unsupported('must be the id of a chain from which deposits can come'))

/**
 * Id, as text, of a chain that the bridge supports. Any other number gives `unsupported_src_chain_id`; a non-number
 * gives `invalid_src_chain_id`.
 */
export const BridgedChainIdText = field(
  z.codec(z.string().meta({ pattern: NUMBER_TEXT.source }), BridgedChainId, {
    // A number too large for JavaScript becomes 0, which is no chain's id. The error is then `unsupported_src_chain_id`.
    decode: (text) => {
      if (!NUMBER_TEXT.test(text)) return Number.NaN
      return Number.isFinite(Number(text)) ? Number(text) : 0
    },
    encode: (id) => id.toString(),
  }),
  { missing: 'missing_src_chain_id', invalid: 'invalid_src_chain_id', unsupported: 'unsupported_src_chain_id' },
)
