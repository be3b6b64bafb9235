/** What a caller is told of one kind of failure. */
export type ErrorDefinition = {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 429 | 500 | 502 | 503 | 504
  /** The stable text that callers match on. */
  readonly error: string
  /** What the caller can do about it. */
  readonly message: string
  /** How long to wait before the next try; sent as Retry-After. */
  readonly retryAfterSeconds?: number
}

/** Every failure we mean: its HTTP status, its stable text and what the caller can do. */
export const ERRORS = {
  // The request itself
  invalid_json: {
    status: 400,
    error: 'Invalid JSON body',
    message: 'Send a JSON object with Content-Type: application/json.',
  },
  unknown_field: { status: 400, error: 'Unknown field', message: 'Remove or correct the fields named in details.' },
  not_found: { status: 404, error: 'Not found', message: 'No such route. GET /openapi.json lists them all.' },
  method_not_allowed: {
    status: 405,
    error: 'Method not allowed',
    message: 'The route exists, but not with this method; see the Allow header.',
  },
  invalid_content_digest: {
    status: 400,
    error: 'Invalid Content-Digest',
    message: 'Send Content-Digest: sha-256=:<base64 of the SHA-256 of the body>:, or leave it out.',
  },
  invalid_path: {
    status: 400,
    error: 'Invalid path',
    message: 'Send the path with letters, digits and / . _ ~ - alone, none of them percent-encoded.',
  },
  payload_too_large: { status: 413, error: 'Payload too large', message: 'Send at most 16 KiB.' },

  // Who calls
  missing_api_key: { status: 401, error: 'Missing API key', message: 'Send your API key in the x-join-key header.' },
  invalid_api_key: {
    status: 401,
    error: 'Invalid API key',
    message: 'The API key was not recognised, has expired or was revoked.',
  },

  missing_session: {
    status: 401,
    error: 'Missing session',
    message: 'Log in and send the session as Authorization: Bearer <token>.',
  },
  invalid_session: {
    status: 401,
    error: 'Invalid session',
    message: 'The session has expired, was logged out or is of another client. Log in again.',
  },
  insufficient_scope: {
    status: 403,
    error: 'Insufficient scope',
    message: 'Your API key does not open this area. Ask your operator for its scope.',
  },
  chain_not_allowed: {
    status: 403,
    error: 'Chain not allowed',
    message: 'Your API key is for other chains. Give one of them, or ask your operator for this one.',
  },
  vault_not_allowed: {
    status: 403,
    error: 'Vault not allowed',
    message: 'Your API key is for certain vaults, and this is none of them. GET /defi-vaults/v1/vaults lists them.',
  },
  deposit_limit_exceeded: {
    status: 403,
    error: 'Deposit limit exceeded',
    message: 'Your API key does not deposit so much of this asset at once; details tell how much it does.',
  },
  rate_limit_exceeded: {
    status: 429,
    error: 'Rate limit exceeded',
    message: 'Your API key has made all requests of this window. Wait as long as Retry-After says.',
    // The usual window; the reply says what is left of it.
    retryAfterSeconds: 60,
  },
  too_many_requests: {
    status: 429,
    error: 'Too many requests',
    message: 'Wait as long as Retry-After says.',
    // The window of the limits; the reply says what is left of it.
    retryAfterSeconds: 600,
  },

  // Accounts
  missing_or_invalid_platform: {
    status: 400,
    error: 'Missing or invalid platform',
    message: 'Send web, ios or android in the platform header.',
  },
  missing_or_invalid_email: { status: 400, error: 'Missing or invalid email', message: 'Give an e-mail address.' },
  missing_or_invalid_temporary_authentication_token: {
    status: 400,
    error: 'Missing or invalid temporaryAuthenticationToken',
    message: 'Give the token that came with the options, in the body or as Authorization: Bearer <token>.',
  },
  missing_or_invalid_first_factor_credential: {
    status: 400,
    error: 'Missing or invalid firstFactorCredential',
    message: 'Give a credential of a kind that supportedCredentialKinds lists as a first factor.',
  },
  missing_or_invalid_second_factor_credential: {
    status: 400,
    error: 'Missing or invalid secondFactorCredential',
    message:
      'Give a credential of a kind that supportedCredentialKinds lists as a second factor; a password needs one.',
  },
  missing_or_invalid_recovery_credential: {
    status: 400,
    error: 'Missing or invalid recoveryCredential',
    message: 'Give a credential of the kind RecoveryKey, or leave it out.',
  },
  invalid_credential: {
    status: 400,
    error: 'Invalid credential',
    message: 'Start anew, with a new challenge; details name the checks that failed.',
  },
  registration_expired_or_used: {
    status: 401,
    error: 'Registration expired or already used',
    message: 'Start anew: each registration or recovery is good for one try within ten minutes.',
  },
  user_already_registered: {
    status: 409,
    error: 'User already registered',
    message: 'A user with this e-mail address exists. Log in instead.',
  },
  credential_already_registered: {
    status: 409,
    error: 'Credential already registered',
    message: 'Start anew, with new credentials.',
  },
  missing_or_invalid_challenge_identifier: {
    status: 400,
    error: 'Missing or invalid challengeIdentifier',
    message: 'Give the challengeIdentifier of POST /auth/login/init.',
  },
  missing_or_invalid_first_factor: {
    status: 400,
    error: 'Missing or invalid firstFactor',
    message: 'Give what the credential made of the challenge, in the form of its kind.',
  },
  missing_or_invalid_second_factor: {
    status: 400,
    error: 'Missing or invalid secondFactor',
    message: 'Give what the credential made of the challenge, in the form of its kind, or leave it out.',
  },
  missing_or_invalid_recovery: {
    status: 400,
    error: 'Missing or invalid recovery',
    message: 'Give what the recovery key made of newCredentials, with the kind RecoveryKey.',
  },
  invalid_credential_id: {
    status: 400,
    error: 'Invalid credentialId',
    message: 'Give the id of the recovery key, which is 32 bytes in base64url, or leave it out.',
  },
  recovery_failed: {
    status: 401,
    error: 'Recovery failed',
    message: 'Start a new recovery: each is good for one try.',
  },
  login_failed: { status: 401, error: 'Login failed', message: 'Start a new login: each is good for one try.' },
  confirmation_failed: {
    status: 401,
    error: 'Confirmation failed',
    message: 'Start anew: sign with a first factor that the user has, and a second one where the user has any.',
  },
  too_many_credentials: {
    status: 409,
    error: 'Too many credentials',
    message: 'A user can have 8 credentials; remove one.',
  },
  credential_not_found: {
    status: 404,
    error: 'Credential not found',
    message: 'The user has no credential with this id; GET /auth/credentials lists them.',
  },
  last_first_factor: {
    status: 409,
    error: 'Last first factor',
    message: 'Nobody could log in without it. Add another one first.',
  },
  last_second_factor: {
    status: 409,
    error: 'Last second factor',
    message: 'The password needs it. Add another one first, or remove the password.',
  },
  missing_or_invalid_address: {
    status: 400,
    error: 'Missing or invalid address',
    message: 'Give an address of the chain; a mixed-case EVM address needs its correct checksum.',
  },
  missing_or_invalid_chain: { status: 400, error: 'Missing or invalid chain', message: 'Give evm or solana.' },
  missing_or_invalid_message: {
    status: 400,
    error: 'Missing or invalid message',
    message: 'Give the message of POST /auth/wallets/init as it is.',
  },
  invalid_signature: {
    status: 400,
    error: 'Invalid signature',
    message: "Sign the message with the wallet's own key: hexadecimal for EVM, base58 for Solana.",
  },
  challenge_expired_or_used: {
    status: 401,
    error: 'Challenge expired or already used',
    message: 'Ask for a new one: each is good once, within ten minutes, for the user who asked for it.',
  },
  wallet_already_linked: {
    status: 409,
    error: 'Wallet already linked',
    message: 'The user has linked this wallet before.',
  },
  too_many_wallets: { status: 409, error: 'Too many wallets', message: 'A user can link 20 wallets; unlink one.' },
  session_not_found: {
    status: 404,
    error: 'Session not found',
    message: 'The user has no session with this id; it may have ended.',
  },
  fresh_login_required: {
    status: 403,
    error: 'Fresh login required',
    message: 'Log in again: this takes a session that is not older than ten minutes.',
  },
  wallet_not_found: {
    status: 404,
    error: 'Wallet not found',
    message: 'The user has linked no wallet with this address.',
  },

  // Vaults
  missing_or_invalid_vault_address: {
    status: 400,
    error: 'Missing or invalid vaultAddress',
    message: 'Give the vault contract address; a mixed-case address needs its correct checksum.',
  },
  missing_or_invalid_amount: {
    status: 400,
    error: 'Missing or invalid amount',
    message: "Give a positive amount in the token's smallest unit, as a string of digits.",
  },
  missing_or_invalid_user_address: {
    status: 400,
    error: 'Missing or invalid userAddress',
    message: 'Give the wallet address of the user; a mixed-case address needs its correct checksum.',
  },
  missing_or_invalid_chain_id: {
    status: 400,
    error: 'Missing or invalid chainId',
    message: 'Give the id of a supported chain, or leave it out.',
  },
  missing_or_invalid_src_chain_id: {
    status: 400,
    error: 'Missing or invalid srcChainId',
    message: 'Give srcChainId and srcToken together, or neither.',
  },
  missing_or_invalid_src_token: {
    status: 400,
    error: 'Missing or invalid srcToken',
    message: 'Give srcChainId and srcToken together, or neither.',
  },
  missing_or_invalid_dst_chain_id: {
    status: 400,
    error: 'Missing or invalid dstChainId',
    message: 'Give dstChainId and dstToken together, or neither; the claim of a deposit takes neither.',
  },
  missing_or_invalid_dst_token: {
    status: 400,
    error: 'Missing or invalid dstToken',
    message: 'Give dstChainId and dstToken together, or neither; the claim of a deposit takes neither.',
  },
  unsupported_source_chain: {
    status: 400,
    error: 'Unsupported source chain',
    message: 'Deposits into this vault cannot start on that chain.',
  },
  unsupported_source_token: {
    status: 400,
    error: 'Unsupported source token',
    message: "Give the token of that chain that is the same asset as the vault's.",
  },
  unsupported_destination_chain: {
    status: 400,
    error: 'Unsupported destination chain',
    message: 'Withdrawals from this vault cannot go to that chain.',
  },
  unsupported_destination_token: {
    status: 400,
    error: 'Unsupported destination token',
    message: "Give the token of that chain that is the same asset as the vault's.",
  },
  amount_too_low_for_bridge: {
    status: 400,
    error: 'Amount too low for bridge',
    message:
      'The bridge does not take so little, or its fee would be more than a tenth of it; try a larger amount: details tell one where it is known.',
  },
  amount_too_high_for_bridge: {
    status: 400,
    error: 'Amount too high for bridge',
    message:
      'The amount is above what the bridge can move now; try a smaller one: details tell the largest where it is known.',
  },
  cross_chain_not_available: {
    status: 409,
    error: 'Cross-chain deposit not available for this vault',
    message:
      "Deposit from the vault's own chain, or withdraw to it, instead: leave out the other chain and its token. A withdrawal can go to another chain only where the vault pays at once; where it pays later, its claim can.",
  },
  amount_exceeds_balance: {
    status: 400,
    error: 'Amount exceeds balance',
    message: 'The user does not have so much in this vault; details tell what is there.',
  },
  ambiguous_vault_address: {
    status: 400,
    error: 'Ambiguous vaultAddress',
    message: 'You have a vault with this address on more than one chain: give chainId.',
  },
  vault_not_found: {
    status: 404,
    error: 'Vault not found',
    message: 'No vault with this address is configured for your account, or not on that chain.',
  },
  no_vaults_configured: {
    status: 404,
    error: 'No vaults configured',
    message: 'No vault is configured for your account yet.',
  },
  depositor_not_allowed: {
    status: 403,
    error: 'Depositor not allowed',
    message: "The vault's access list does not admit this wallet.",
  },
  vault_has_changed: {
    status: 409,
    error: 'Vault has changed',
    message:
      "The vault's code is not the one that an operator confirmed, or its price jumped. Try again once it is confirmed; claims and withdrawals go on.",
  },
  vault_is_paused: { status: 409, error: 'Vault is paused', message: 'Try again when the vault is no longer paused.' },
  vault_is_closed: {
    status: 409,
    error: 'Vault is closed',
    message: 'The vault is closing or closed and takes no more deposits.',
  },
  vault_is_closing: {
    status: 409,
    error: 'Vault is closing',
    message:
      'A closing vault takes no requests; what is claimable can be claimed, the rest withdrawn once it is closed.',
  },
  deposits_are_not_open: {
    status: 409,
    error: 'Deposits are not open',
    message: 'The vault accepts no deposits at the moment.',
  },
  unsupported_vault_version: {
    status: 409,
    error: 'Unsupported vault version',
    message: 'The vault runs a version that this service does not know; deposits and withdrawals wait until it does.',
  },
  previous_deposit_request_not_settled: {
    status: 409,
    error: 'Previous deposit request not settled',
    message: 'Wait until the earlier request of this wallet is settled.',
  },
  previous_withdrawal_request_not_settled: {
    status: 409,
    error: 'Previous withdrawal request not settled',
    message: 'Wait until the earlier request for this wallet is settled; anybody can make one for it.',
  },
  not_enough_liquidity: {
    status: 409,
    error: 'Not enough liquidity',
    message:
      'The vault cannot pay so much now; details tell how much where it says so. Try a smaller amount, or later: some vaults pay after a waiting time or through a queue of their own.',
  },
  withdrawal_refused: {
    status: 409,
    error: 'Withdrawal refused by the vault',
    message:
      'Details give the reason of its contract. Try another amount, or later: some vaults pay after a waiting time or through a queue of their own.',
  },
  vault_cap_reached: {
    status: 409,
    error: 'Vault cap reached',
    message:
      'The amount would take the vault above its cap; try a smaller one: details tell the largest where it is known.',
  },
  no_claimable_deposit: {
    status: 400,
    error: 'No claimable deposit found for this user',
    message: 'There is nothing to claim, or the deposit is not settled yet.',
  },
  no_claimable_withdrawal: {
    status: 404,
    error: 'No claimable withdrawal',
    message: 'There is nothing to claim, or the withdrawal is not settled yet.',
  },
  claim_not_applicable: {
    status: 400,
    error: 'Claim deposit is only applicable to async vaults',
    message: 'This vault gives shares and assets at once; there is nothing to claim.',
  },
  no_pending_request: {
    status: 404,
    error: 'No pending request',
    message: 'The user has no request of this kind that is not settled.',
  },
  request_can_no_longer_be_cancelled: {
    status: 409,
    error: 'Request can no longer be cancelled',
    message:
      'Its settlement has begun, it is being cancelled already, or the vault does not take such requests back. Ask again, or wait until it is settled.',
  },
  cancel_not_applicable: {
    status: 400,
    error: 'Cancel is only applicable to async vaults',
    message: 'This vault gives shares and assets at once; there is nothing to take back.',
  },
  invalid_asset: {
    status: 400,
    error: 'Invalid asset',
    message: 'Give the address of a token, or leave it out; a mixed-case address needs its correct checksum.',
  },
  invalid_type: { status: 400, error: 'Invalid type', message: 'Give async or sync, or leave it out.' },
  invalid_kind: { status: 400, error: 'Invalid kind', message: 'Give deposit or withdrawal, or leave it out.' },
  deposit_status_not_applicable: {
    status: 400,
    error: 'Deposit status is only applicable to async vaults',
    message: 'Deposits into this vault need no settlement.',
  },
  withdraw_status_not_applicable: {
    status: 400,
    error: 'Withdraw status is only applicable to async vaults',
    message: 'Withdrawals from this vault need no settlement.',
  },

  // Deposits from another chain
  missing_tx_hash: {
    status: 400,
    error: 'Missing required parameter: txHash',
    message: 'Give the hash of the source transaction in the path.',
  },
  invalid_tx_hash: {
    status: 400,
    error: 'Invalid txHash',
    message: 'A transaction hash is 0x and 64 hexadecimal digits.',
  },
  missing_src_chain_id: {
    status: 400,
    error: 'Missing required query parameter: srcChainId',
    message: 'Give the id of the chain of the source transaction.',
  },
  invalid_src_chain_id: {
    status: 400,
    error: 'Invalid srcChainId',
    message: 'Give the id of the chain of the source transaction, a number.',
  },
  unsupported_src_chain_id: {
    status: 400,
    error: 'Unsupported srcChainId',
    message: 'No transfers can come from that chain.',
  },
  invalid_index: {
    status: 400,
    error: 'Invalid index',
    message: 'Give which of the transfers in the transaction is meant: a whole number from 0 to 49.',
  },

  // What users have
  position_not_found: {
    status: 404,
    error: 'Position not found',
    message: 'The user never had anything in this vault.',
  },
  invalid_limit: { status: 400, error: 'Invalid limit', message: 'Give a number from 1 to 100.' },
  invalid_cursor: {
    status: 400,
    error: 'Invalid cursor',
    message: 'Give the nextCursor of the page before, with the same filters.',
  },
  invalid_status: { status: 400, error: 'Invalid status', message: 'Give pending, claimable, completed or cancelled.' },

  // Webhooks
  missing_or_invalid_url: {
    status: 400,
    error: 'Missing or invalid url',
    message: 'Give an https URL with a public name, on port 443; details tell what is wrong with it.',
  },
  invalid_types: {
    status: 400,
    error: 'Invalid types',
    message: 'Give types of events, which `details` lists, or leave them out for all.',
  },
  invalid_finality: { status: 400, error: 'Invalid finality', message: 'Give final or latest, or leave it out.' },
  invalid_after: {
    status: 400,
    error: 'Invalid after',
    message: 'Give the sequence of the last event that you have, or leave it out.',
  },
  webhook_not_found: {
    status: 404,
    error: 'Webhook not found',
    message: 'There is no webhook with this id; it may have been removed.',
  },
  webhook_already_registered: {
    status: 409,
    error: 'Webhook already registered',
    message: 'There is a webhook at this URL. Ask for a new secret of it, or remove it first.',
  },
  too_many_webhooks: { status: 409, error: 'Too many webhooks', message: 'There can be 10 webhooks; remove one.' },

  // Portfolio and markets
  unsupported_currency: {
    status: 400,
    error: 'Unsupported currency',
    message: 'Give a currency such as USD, EUR, GBP, CHF or JPY, or leave it out.',
  },
  invalid_days: { status: 400, error: 'Invalid days', message: 'Give a whole number of days from 1 up, or max.' },
  unsupported_network: {
    status: 400,
    error: 'Unsupported network',
    message: 'Give a chain by its key, such as base-mainnet, by its id, or by its CoinGecko platform.',
  },
  token_not_found: { status: 404, error: 'Token not found', message: 'Nobody knows a price of such a token.' },
  coin_not_found: {
    status: 404,
    error: 'Coin not found',
    message: 'Give the id of a coin, as the search tells it.',
  },
  invalid_search: {
    status: 400,
    error: 'Search must contain at least 3 characters',
    message: 'Give a part of the name or of the symbol of a coin.',
  },
  search_too_long: {
    status: 400,
    error: 'Search must contain at most 100 characters',
    message: 'Give a part of the name or of the symbol of a coin.',
  },

  // Trouble elsewhere
  upstream_bad_answer: {
    status: 502,
    error: 'Upstream unavailable',
    message: 'A chain or service that we need gave an answer that cannot be used. Try again.',
  },
  upstream_unavailable: {
    status: 503,
    error: 'Upstream unavailable',
    message: 'A chain or service that we need cannot be reached at the moment. Try again shortly.',
    retryAfterSeconds: 5,
  },
  upstream_timeout: {
    status: 504,
    error: 'Upstream unavailable',
    message: 'A chain or service that we need took too long to answer. Try again.',
  },
  nodes_disagree: {
    status: 503,
    error: 'Nodes disagree',
    message: 'Two nodes of a chain contradict each other: there is nothing safe to sign. Try again shortly.',
    retryAfterSeconds: 5,
  },
  second_node_silent: {
    status: 503,
    error: 'Nodes disagree',
    message: 'One of two nodes that must agree is silent: there is nothing safe to sign. Try again shortly.',
    retryAfterSeconds: 5,
  },

  // Trouble here
  service_unavailable: {
    status: 503,
    error: 'Service unavailable',
    message: 'We cannot answer at the moment. Try again shortly.',
    retryAfterSeconds: 5,
  },
  timed_out: { status: 504, error: 'Request timed out', message: 'The request took too long. Try again.' },
  internal: {
    status: 500,
    error: 'Internal server error',
    message: 'Something went wrong on our side. Quote the requestId when you report it.',
  },
} as const satisfies Record<string, ErrorDefinition>

/** The stable, snake_case word of a failure. */
export type ErrorCode = keyof typeof ERRORS

/**
 * One problem of an input, as it is on the wire: which field, and what is wrong with it. `atLeast` and `atMost` are amounts
 * that work, in the smallest unit of what the field counts; of a field that takes none, in that of the vault's asset.
 */
export type ErrorDetail = {
  readonly field: string
  readonly issue: string
  readonly atLeast?: string
  readonly atMost?: string
}

/** The detail of a field whose amount is too large: the most that works. */
export function mustBeAtMost(field: string, most: bigint): ErrorDetail {
  return { field, issue: `must be at most ${most}`, atMost: `${most}` }
}

type AppErrorOptions = {
  readonly details?: readonly ErrorDetail[]
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

/** A failure that we mean: it reaches the caller as its code's status and text. `cause` is for the log alone. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: readonly ErrorDetail[] | undefined
  /** Headers that the reply needs besides, such as Allow. */
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ErrorCode, { details, headers = {}, cause }: AppErrorOptions = {}) {
    super(ERRORS[code].error, { cause })
    this.name = 'AppError'
    this.code = code
    this.details = details
    this.headers = headers
  }
}

/** The error for an answer of an upstream that cannot be right; why is for the log alone. */
export function badAnswer(why: string, cause?: unknown): AppError {
  return new AppError('upstream_bad_answer', { cause: new Error(why, { cause }) })
}

/**
 * The code of whatever was thrown. A table or secret that cannot be reached is trouble that passes; anything else that we do
 * not mean is our mistake.
 */
export function codeOf(error: unknown): ErrorCode {
  if (error instanceof AppError) return error.code
  return error instanceof Error && '$metadata' in error ? 'service_unavailable' : 'internal'
}

/** What may go wrong with an upstream. */
export const UPSTREAM_ERRORS = [
  'upstream_bad_answer',
  'upstream_unavailable',
  'upstream_timeout',
] as const satisfies readonly ErrorCode[]
export type UpstreamError = (typeof UPSTREAM_ERRORS)[number]

/** Why two hosts tell nothing together, where one may still tell something. */
export const UNWITNESSED = ['nodes_disagree', 'second_node_silent'] as const satisfies readonly ErrorCode[]

/** What may go wrong where two nodes must agree. */
export const WITNESS_ERRORS = [...UNWITNESSED, ...UPSTREAM_ERRORS] as const satisfies readonly ErrorCode[]
