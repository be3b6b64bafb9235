import type { endpoints } from '../../functions/contracts.ts'

/** What is taken for granted where nothing can be counted on one machine. */
export const ASSUMED = {
  /** Milliseconds of one request that goes out, those side by side together. */
  waitMs: { aws: 5, rpc: 60, sources: 250 },
  /** CPU of one request: for itself, for each KB of its answer and for each call of a chain. */
  cpuMs: { request: 3, answerKb: 0.05, rpcCall: 0.5 },
  /** More that a container takes for its first request. */
  startMs: 300,
  /** The share of requests that are a container's first, which read its client and its secrets. */
  coldShare: 0.01,
  /** The share of GET requests that ask what was asked a moment before. */
  againShare: 0.5,
  /** Requests of a key that a container lets through for each that it takes out of the table, at least. */
  requestsPerLease: 6,
  /** New tokens of a wallet in all, each time that an index is asked about its chains. */
  newTokens: 5,
  /** The share of questions to the first index that fail, so that the second is asked. */
  indexFailures: 0.01,
  /** Our line about a request and what Lambda writes of it, in bytes. */
  logBytes: 1_100,
} as const

/** How often a registered user opens the wallet in a month: one in ten does on a day, three times. */
export const OPENS_PER_MONTH = 9

/** How often in the busiest second: the opens of a day in eight hours, and then twice as many. */
export const OPENS_IN_BUSIEST_SECOND = (OPENS_PER_MONTH / 30 / (8 * 3600)) * 2

/** What a wallet asks each time that it is opened; an endpoint that is not here is asked for too seldom to count. */
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

/** Events that a client's webhooks are sent, for each time that a wallet is opened. */
export const EVENTS_PER_OPEN = 0.05
