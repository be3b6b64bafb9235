import type { endpoints } from '../../functions/contracts.ts'

/** Assumptions of the cost model that cannot be measured on one machine. */
export const ASSUMPTIONS = {
  /**
   * Milliseconds that a function waits for one response, by kind of the called service. Concurrent requests count once.
   */
  waitMs: { aws: 5, rpc: 60, sources: 250 },
  /** CPU milliseconds that a function uses: per request, per KB of its response, and per JSON-RPC call. */
  cpuMs: { request: 3, answerKb: 0.05, rpcCall: 0.5 },
  /** Extra milliseconds of the first request in a Lambda container. */
  startMs: 300,
  /**
   * Share of requests that are the first in their Lambda container. Such a request also reads the secrets and the
   * caller's API client.
   */
  coldShare: 0.01,
  /** Share of GET requests that repeat a recent GET request. Their cost follows from the counts named `again`. */
  againShare: 0.5,
  /**
   * Assumed number of requests with an API key per write to the table of rate limits. One write reserves (leases) units
   * of the rate limit for several requests.
   */
  requestsPerLease: 6,
  /**
   * Number of tokens that are new in a wallet, on all chains together, at each call of an endpoint. It concerns
   * endpoints that query a wallet index (an API that lists a wallet's tokens).
   */
  newTokens: 5,
  /** Share of calls to the first wallet index (an API that lists a wallet's tokens) that fail, so that the service calls the second one. */
  indexFailures: 0.01,
  /** Bytes of the log lines of one request: the service's own line and Lambda's lines. */
  logBytes: 1_100,
} as const

/** Number of times that an average user opens the wallet in a month. On each day one user in ten opens it three times. */
export const OPENS_PER_MONTH = 9

/**
 * Number of times that an average user opens the wallet in the busiest second. A day's opens fall into eight hours; the busiest second has
 * twice their average.
 */
export const APP_OPENS_IN_PEAK_SECOND = (OPENS_PER_MONTH / 30 / (8 * 3600)) * 2

/** Requests per opening of the wallet, by endpoint. Absent endpoints are called too rarely to matter for the cost. */
export const REQUESTS_PER_OPEN: Readonly<Partial<Record<keyof typeof endpoints, number>>> = {
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

/** Number of webhook events that an API client gets per opening of the wallet by one of its users. */
export const EVENTS_PER_OPEN = 0.05
