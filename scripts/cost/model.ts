import type { endpoints } from '../../functions/contracts.ts'

/** Assumptions that one machine cannot measure. */
export const ASSUMED = {
  /** Milliseconds of one outgoing request; concurrent requests count once. */
  waitMs: { aws: 5, rpc: 60, sources: 250 },
  /** CPU milliseconds of a request: fixed, per KB of its response, and per chain call. */
  cpuMs: { request: 3, answerKb: 0.05, rpcCall: 0.5 },
  /** Extra milliseconds of a container's first request. */
  startMs: 300,
  /** Share of requests that are a container's first, which read their client and secrets. */
  coldShare: 0.01,
  /** Share of GET requests that repeat a recent one. */
  againShare: 0.5,
  /** Minimum requests of a key that a container allows for each that it leases from the table. */
  requestsPerLease: 6,
  /** New tokens of a wallet on all chains, each time that an index is called. */
  newTokens: 5,
  /** Share of calls to the first index that fail, so that the second is called. */
  indexFailures: 0.01,
  /** Bytes of our log line and Lambda's lines per request. */
  logBytes: 1_100,
} as const

/** Times a registered user opens the wallet in a month: one in ten does on a day, three times. */
export const OPENS_PER_MONTH = 9

/** Times a user opens the wallet in the busiest second: a day's opens within eight hours, doubled. */
export const APP_OPENS_IN_PEAK_SECOND = (OPENS_PER_MONTH / 30 / (8 * 3600)) * 2

/** Requests per opening of the wallet; an endpoint that is missing here is called too rarely to count. */
export const PER_OPEN: Readonly<Partial<Record<keyof typeof endpoints, number>>> = {
  'accounts/login-init': 0.1,
  'accounts/login': 0.1,
  'accounts/wallets-list': 0.5,
  'accounts/credentials-list': 0.02,
  'accounts/sessions-list': 0.02,
  'accounts/register-init': 0.005,
  'accounts/register': 0.005,
  'accounts/wallets-init': 0.005,
  'accounts/wallets-link': 0.005,
  'accounts/logout': 0.01,
  'portfolio/all-balances': 1,
  'portfolio/nfts': 0.3,
  'portfolio/token-chart-by-id': 0.2,
  'portfolio/token-chart-by-address': 0.2,
  'markets/coins': 1,
  'markets/top-gainers-losers': 0.3,
  'markets/coin': 0.2,
  'markets/search': 0.1,
  'vaults/list': 1,
  'vaults/vault': 0.3,
  'vaults/history': 0.1,
  'vaults/deposit': 0.03,
  'vaults/deposit-status': 0.2,
  'vaults/claim': 0.02,
  'vaults/claim-rewards': 0.01,
  'vaults/cancel': 0.001,
  'vaults/withdraw': 0.02,
  'vaults/withdraw-status': 0.1,
  'vaults/cross-chain-status': 0.05,
  'activity/positions': 1,
  'activity/position': 0.3,
  'activity/deposits': 0.2,
  'activity/withdrawals': 0.1,
  'activity/rewards': 0.3,
}

/** Webhook events of a client per opening of the wallet. */
export const EVENTS_PER_OPEN = 0.05
