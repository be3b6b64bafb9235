// List prices in US dollars, of us-east-1 where a price has a region, of the first tier, without the free tier and without
// taxes. They were compiled on one day, in part from copies and excerpts of the pages that are named: compare a price with its
// page before much depends on it.

/** The day on which all prices were compiled. */
export const COMPILED_ON = '2026-11-23'

/** Those of AWS, and where they stand. */
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
  /** A request of an HTTP API, for each 512 KB of it begun. */
  gatewayRequest: 1 / 1e6,
  gatewayBytes: 512 * 1024,
  lambdaRequest: 0.2 / 1e6,
  /** On arm64, for each GB that a function has and each second that it takes; the start of a container too. */
  lambdaGbSecond: 0.0000133334,
  readUnit: 0.125 / 1e6,
  writeUnit: 0.625 / 1e6,
  secretsRequest: 0.05 / 1e4,
  secretMonth: 0.4,
  // Messages with a group cost $0.10 more than others (fair queues).
  queueRequest: 0.5 / 1e6,
  scheduledRun: 1 / 1e6,
  /** What leaves AWS for the internet, of the first 10 TB of a month. */
  egressGb: 0.09,
  logGb: 0.5,
  alarmMetricMonth: 0.1,
  compositeAlarmMonth: 0.5,
  ownMetricMonth: 0.3,
  dashboardMonth: 3,
  /** A rule of Contributor Insights. A million lines that it counts are $0.02 more. */
  insightRuleMonth: 0.5,
  /** Of CloudFront, to callers in North America and Europe, over HTTPS. */
  edgeRequest: 1 / 1e6,
  edgeEgressGb: 0.085,
  firewallMonth: 5,
  firewallRuleMonth: 1,
  firewallRequest: 0.6 / 1e6,
} as const

/** Alchemy's, as one of the hosts of nodes. */
export const RPC_PRICES = {
  pages: ['https://www.alchemy.com/pricing', 'https://www.alchemy.com/docs/reference/compute-unit-costs'],
  /** Pay as you go, of the first 300 million units of a month. */
  computeUnit: 0.45 / 1e6,
  /** Of each method that is asked for; of Solana's, what such a host asks for a small one. */
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

/** What services outside cost for each request, once their plans' own requests are used up, and what those plans cost. */
export const SOURCE_PRICES = {
  /** Professional, with 300,000 credits; balances and NFTs of a wallet on a chain are one each. */
  goldrush: {
    page: 'https://goldrush.dev/pricing/',
    request: 0.00077,
    plan: 250,
    included: 300_000,
  },
  /** Analyst, with 500,000 requests. */
  coingecko: {
    page: 'https://www.coingecko.com/en/api/pricing',
    request: 0.0005,
    plan: 129,
    included: 500_000,
  },
  defillama: { page: 'https://defillama.com/pricing', request: 0, plan: 0, included: 0 },
  lifi: { page: 'https://docs.li.fi/', request: 0, plan: 0, included: 0 },
  merkl: { page: 'https://developers.merkl.xyz/integrate-merkl/auth', request: 0, plan: 0, included: 0 },
  /** The bridge's. */
  api: { page: 'https://docs.across.to/', request: 0, plan: 0, included: 0 },
} as const

/** Alchemy's compute units for a question about one wallet on one chain (the pages of RPC_PRICES). */
export const INDEX_UNITS = {
  /** `alchemy_getTokenBalances`, a page of 100 tokens. */
  tokens: 20,
  /** `alchemy_getTokenMetadata` of a token that the wallet did not have before. */
  newToken: 10,
  /** `getNFTsForOwner`, a page of 100 NFTs. */
  nfts: 480,
} as const

/** The most in a second, and whose limit it is. */
export type Limit = { readonly most: number; readonly whose: string }

/** The limits of new accounts and plans. All of AWS' are raised on request. */
export const LIMITS = {
  gateway: { most: 10_000, whose: 'API Gateway' },
  functions: { most: 1_000, whose: 'Lambda; a new account has 10' },
  readUnits: { most: 12_000, whose: 'one new table' },
  writeUnits: { most: 4_000, whose: 'one new table' },
  nodes: { most: 20_000, whose: 'two hosts of 10,000' },
  goldrush: { most: 50, whose: 'Professional' },
  merkl: { most: 10, whose: 'Merkl, without a key' },
} as const satisfies Readonly<Record<string, Limit>>
