// List prices in US dollars, without free tier and taxes. The prices are those of the first tier, and of us-east-1 if they depend on the
// region. They were compiled on one day, in part from copies and excerpts of the named pages. Verify a price on its page before you rely on
// it.

/** Day on which all prices were compiled. */
export const COMPILED_ON = '2026-11-23'

/** Prices of AWS in dollars, and the web pages that list them. */
export const AWS_PRICES = {
  pages: [
    'https://aws.amazon.com/api-gateway/pricing/',
    'https://aws.amazon.com/lambda/pricing/',
    'https://aws.amazon.com/dynamodb/pricing/on-demand/',
    'https://aws.amazon.com/secrets-manager/pricing/',
    'https://aws.amazon.com/sqs/pricing/',
    'https://aws.amazon.com/cloudwatch/pricing/',
    'https://aws.amazon.com/eventbridge/pricing/',
    'https://aws.amazon.com/ec2/pricing/on-demand/#Data_Transfer',
    'https://aws.amazon.com/cloudfront/pricing/',
    'https://aws.amazon.com/waf/pricing/',
  ],
  /** Price of a request to an API Gateway HTTP API, for each started 512 KB (`gatewayBytes`) of data. */
  gatewayRequest: 1 / 1e6,
  gatewayBytes: 512 * 1024,
  lambdaRequest: 0.2 / 1e6,
  /** Price of Lambda on arm64 per second and per GB of memory. The start of a container costs the same. */
  lambdaGbSecond: 0.0000133334,
  readUnit: 0.125 / 1e6,
  writeUnit: 0.625 / 1e6,
  secretsRequest: 0.05 / 1e4,
  secretMonth: 0.4,
  // The price includes $0.10 per million requests for messages with a message group id (fair queues).
  queueRequest: 0.5 / 1e6,
  scheduledRun: 1 / 1e6,
  /** Price per GB of traffic from AWS to the internet, for the first 10 TB of a month. */
  egressGb: 0.09,
  logGb: 0.5,
  alarmMetricMonth: 0.1,
  compositeAlarmMonth: 0.5,
  ownMetricMonth: 0.3,
  dashboardMonth: 3,
  /** Price of a Contributor Insights rule per month. A million matching log lines cost $0.02 more. */
  insightRuleMonth: 0.5,
  /** Price of an HTTPS request to CloudFront, for callers in North America and Europe. */
  edgeRequest: 1 / 1e6,
  edgeEgressGb: 0.085,
  firewallMonth: 5,
  firewallRuleMonth: 1,
  firewallRequest: 0.6 / 1e6,
} as const

/** Prices of Alchemy, which serves as an example of a node host. */
export const RPC_PRICES = {
  pages: ['https://www.alchemy.com/pricing', 'https://www.alchemy.com/docs/reference/compute-unit-costs'],
  /**
   * Price in dollars of a compute unit, the unit in which Alchemy bills calls. It is the pay-as-you-go price of the
   * first 300 million units of a month.
   */
  computeUnit: 0.45 / 1e6,
  /**
   * Compute units that Alchemy bills for a call, by JSON-RPC method. The numbers for Solana's methods are those of
   * small requests.
   */
  units: {
    eth_chainId: 0,
    eth_blockNumber: 10,
    eth_call: 26,
    eth_getBalance: 20,
    eth_getBlockByNumber: 20,
    eth_getBlockReceipts: 20,
    eth_getCode: 20,
    eth_getLogs: 60,
    eth_getStorageAt: 20,
    eth_getTransactionByHash: 20,
    eth_getTransactionCount: 20,
    eth_getTransactionReceipt: 20,
    eth_simulateV1: 40,
    getAssetsByOwner: 480,
    getBalance: 10,
    getMinimumBalanceForRentExemption: 10,
    getMultipleAccounts: 20,
    getTokenAccountsByOwner: 20,
  },
} as const

/** Prices of external services, in dollars for each request beyond a plan's quota. */
export const SOURCE_PRICES = {
  /**
   * GoldRush's plan Professional, $250 for 300,000 credits a month. Reading a wallet's balances on one chain costs one
   * credit, and so does reading its NFTs.
   */
  goldrush: {
    page: 'https://goldrush.dev/pricing/',
    request: 0.00077,
  },
  /** CoinGecko's plan Analyst, $129 for 500,000 requests a month. */
  coingecko: {
    page: 'https://www.coingecko.com/en/api/pricing',
    request: 0.0005,
  },
  defillama: { page: 'https://defillama.com/pricing', request: 0 },
  lifi: { page: 'https://docs.li.fi/', request: 0 },
  merkl: { page: 'https://developers.merkl.xyz/integrate-merkl/auth', request: 0 },
  /** Prices of the bridge's API. The counts of requests in docs/cost.json name this API `api`. */
  api: { page: 'https://docs.across.to/', request: 0 },
} as const

/** Alchemy's compute units for a request about one wallet on one chain. Source: the pages of RPC_PRICES. */
export const INDEX_UNITS = {
  /** Compute units of a request `alchemy_getTokenBalances`, which returns a page of 100 tokens. */
  tokens: 20,
  /** Compute units of a request `alchemy_getTokenMetadata`, which is sent for each token that is new in the wallet. */
  newToken: 10,
  /** Compute units of a request `getNFTsForOwner`, which returns a page of 100 NFTs. */
  nfts: 480,
} as const

/**
 * Limit of a service or plan: the maximum (`most`), and the name of the service or plan that sets it (`whose`). Maxima
 * are per second, except for concurrent functions and for the bytes of an item.
 */
export type Limit = { readonly most: number; readonly whose: string }

/**
 * Limits of new AWS accounts and of data providers' plans. AWS raises limits of an account on request, but not those of
 * a key or an item.
 */
export const LIMITS = {
  gateway: { most: 10_000, whose: 'API Gateway' },
  functions: { most: 1_000, whose: 'Lambda; a new account has 10' },
  readUnits: { most: 12_000, whose: 'one new table' },
  writeUnits: { most: 4_000, whose: 'one new table' },
  nodes: { most: 20_000, whose: 'two hosts of 10,000' },
  freeNodes: { most: 1_000, whose: 'free plans of two hosts, 500 each' },
  keyReadUnits: { most: 3_000, whose: 'one key of a table' },
  keyWriteUnits: { most: 1_000, whose: 'one key of a table' },
  itemBytes: { most: 400_000, whose: 'one item of a table' },
  goldrush: { most: 50, whose: 'Professional' },
  merkl: { most: 10, whose: 'Merkl, without a key' },
} as const satisfies Readonly<Record<string, Limit>>
