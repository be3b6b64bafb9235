/** Public definition of an error that the API returns. */
export type ErrorDefinition = {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 429 | 500 | 502 | 503 | 504
  /** Stable text of the error. Callers may compare it, so it must not change. */
  readonly error: string
  /** Instruction to the caller how to proceed. */
  readonly message: string
  /** Seconds that the caller should wait before a retry, sent as the header Retry-After. */
  readonly retryAfterSeconds?: number
}

/** Every error that the API returns, by its code. Each has an HTTP status, a stable text and an instruction for the caller. */
export const ERRORS = {
  // Errors of malformed requests
  invalid_json: {
    status: 400,
    error: 'Invalid JSON body',
    message: 'Send a JSON object with Content-Type: application/json.',
  },
  unknown_field: { status: 400, error: 'Unknown field', message: 'Remove or correct the fields in details.' },
  not_found: { status: 404, error: 'Not found', message: 'Use a route from GET /openapi.json.' },
  method_not_allowed: {
    status: 405,
    error: 'Method not allowed',
    message: 'Use a method from the Allow header.',
  },
  invalid_content_digest: {
    status: 400,
    error: 'Invalid Content-Digest',
    message: 'Send Content-Digest: sha-256=:<base64 of the SHA-256 of the body>:, or leave it out.',
  },
  invalid_path: {
    status: 400,
    error: 'Invalid path',
    message: 'Send a path of letters, digits and / . _ ~ - only, without percent-encoding.',
  },
  payload_too_large: { status: 413, error: 'Payload too large', message: 'Send at most 16 KiB.' },

  // Errors about the caller's API key, session and rate limits
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
    message: 'Log in again. The session has expired, was logged out or belongs to another client.',
  },
  insufficient_scope: {
    status: 403,
    error: 'Insufficient scope',
    message: 'Ask your operator for the scope. Your API key does not have it.',
  },
  chain_not_allowed: {
    status: 403,
    error: 'Chain not allowed',
    message: 'Send a chain of your API key, or ask your operator for this one.',
  },
  vault_not_allowed: {
    status: 403,
    error: 'Vault not allowed',
    message: 'Send a vault from GET /defi-vaults/v1/vaults. Your API key does not include this one.',
  },
  deposit_limit_exceeded: {
    status: 403,
    error: 'Deposit limit exceeded',
    message: 'Deposit less, or another asset. Details give the limit of your API key.',
  },
  rate_limit_exceeded: {
    status: 429,
    error: 'Rate limit exceeded',
    message: 'Wait for the seconds in Retry-After. Your API key has used all requests of this window.',
    // Default length of an API key's rate-limit window in seconds. The actual reply contains the seconds until the
    // current window ends.
    retryAfterSeconds: 60,
  },
  too_many_requests: {
    status: 429,
    error: 'Too many requests',
    message: 'Wait for the seconds in Retry-After.',
    // Length of the window of most attempt limits in seconds. The actual reply contains the seconds until the current
    // window ends.
    retryAfterSeconds: 600,
  },

  // Errors of user accounts
  missing_or_invalid_platform: {
    status: 400,
    error: 'Missing or invalid platform',
    message: 'Send web, ios or android in the platform header.',
  },
  missing_or_invalid_email: { status: 400, error: 'Missing or invalid email', message: 'Send an e-mail address.' },
  missing_or_invalid_temporary_authentication_token: {
    status: 400,
    error: 'Missing or invalid temporaryAuthenticationToken',
    message: 'Send the token that came with the options, in the body or as Authorization: Bearer <token>.',
  },
  missing_or_invalid_first_factor_credential: {
    status: 400,
    error: 'Missing or invalid firstFactorCredential',
    message: 'Send a credential of a kind that supportedCredentialKinds lists as first factor.',
  },
  missing_or_invalid_second_factor_credential: {
    status: 400,
    error: 'Missing or invalid secondFactorCredential',
    message: 'Send a credential of a kind that supportedCredentialKinds lists as second factor. A password needs one.',
  },
  missing_or_invalid_recovery_credential: {
    status: 400,
    error: 'Missing or invalid recoveryCredential',
    message: 'Send a credential of the kind RecoveryKey, or leave it out.',
  },
  invalid_credential: {
    status: 400,
    error: 'Invalid credential',
    message: 'Start again with a new challenge. Details name the failed checks.',
  },
  registration_expired_or_used: {
    status: 401,
    error: 'Registration expired or already used',
    message: 'Start again. Each registration or recovery allows one try within ten minutes.',
  },
  user_already_registered: {
    status: 409,
    error: 'User already registered',
    message: 'Log in instead. A user with this e-mail address exists.',
  },
  credential_already_registered: {
    status: 409,
    error: 'Credential already registered',
    message: 'Start again with new credentials.',
  },
  missing_or_invalid_challenge_identifier: {
    status: 400,
    error: 'Missing or invalid challengeIdentifier',
    message: 'Send the challengeIdentifier of POST /auth/login/init.',
  },
  missing_or_invalid_first_factor: {
    status: 400,
    error: 'Missing or invalid firstFactor',
    message: "Send the credential's response to the challenge, in the form of its kind.",
  },
  missing_or_invalid_second_factor: {
    status: 400,
    error: 'Missing or invalid secondFactor',
    message: "Send the credential's response to the challenge, in the form of its kind, or leave it out.",
  },
  missing_or_invalid_recovery: {
    status: 400,
    error: 'Missing or invalid recovery',
    message: "Send the recovery key's signature over newCredentials, with the kind RecoveryKey.",
  },
  invalid_credential_id: {
    status: 400,
    error: 'Invalid credentialId',
    message: 'Send the id of the recovery key (32 bytes in base64url), or leave it out.',
  },
  recovery_failed: {
    status: 401,
    error: 'Recovery failed',
    message: 'Start a new recovery. Each allows one try.',
  },
  login_failed: { status: 401, error: 'Login failed', message: 'Start a new login. Each allows one try.' },
  confirmation_failed: {
    status: 401,
    error: 'Confirmation failed',
    message: "Start again. Sign with one of the user's first factors, and with a second factor if the user has one.",
  },
  too_many_credentials: {
    status: 409,
    error: 'Too many credentials',
    message: 'Remove a credential first. A user can have 8.',
  },
  credential_not_found: {
    status: 404,
    error: 'Credential not found',
    message: 'Send an id from GET /auth/credentials. The user has no credential with this one.',
  },
  last_first_factor: {
    status: 409,
    error: 'Last first factor',
    message: 'Add another first factor first. Without one the user cannot log in.',
  },
  last_second_factor: {
    status: 409,
    error: 'Last second factor',
    message: 'Add another second factor first, or remove the password, which needs one.',
  },
  missing_or_invalid_address: {
    status: 400,
    error: 'Missing or invalid address',
    message: 'Send an address of the chain. A mixed-case EVM address needs a correct checksum.',
  },
  missing_or_invalid_chain: { status: 400, error: 'Missing or invalid chain', message: 'Send evm or solana.' },
  missing_or_invalid_message: {
    status: 400,
    error: 'Missing or invalid message',
    message: 'Send the message of POST /auth/wallets/init unchanged.',
  },
  invalid_signature: {
    status: 400,
    error: 'Invalid signature',
    message: "Sign the message with the wallet's own key: hexadecimal for EVM, base58 for Solana.",
  },
  challenge_expired_or_used: {
    status: 401,
    error: 'Challenge expired or already used',
    message: 'Get a new challenge. Each works once, within ten minutes, for the user who got it.',
  },
  wallet_already_linked: {
    status: 409,
    error: 'Wallet already linked',
    message: 'Nothing to do: the user has already linked this wallet.',
  },
  too_many_wallets: { status: 409, error: 'Too many wallets', message: 'Unlink a wallet first. A user can link 20.' },
  session_not_found: {
    status: 404,
    error: 'Session not found',
    message: 'Send an id from GET /auth/sessions. The session may have ended.',
  },
  fresh_login_required: {
    status: 403,
    error: 'Fresh login required',
    message: 'Log in again. This needs a login of the last ten minutes.',
  },
  wallet_not_found: {
    status: 404,
    error: 'Wallet not found',
    message: 'Send an address from GET /auth/wallets. The user has not linked this one.',
  },

  // Errors of vaults
  missing_or_invalid_vault_address: {
    status: 400,
    error: 'Missing or invalid vaultAddress',
    message: 'Send the vault contract address. A mixed-case address needs a correct checksum.',
  },
  missing_or_invalid_amount: {
    status: 400,
    error: 'Missing or invalid amount',
    message: "Send a positive amount in the token's smallest unit, as a string of digits.",
  },
  missing_or_invalid_user_address: {
    status: 400,
    error: 'Missing or invalid userAddress',
    message:
      'Send the wallet address of the user, not one of a token, a vault or the bridge. A mixed-case address needs a correct checksum.',
  },
  missing_or_invalid_chain_id: {
    status: 400,
    error: 'Missing or invalid chainId',
    message: 'Send the id of a supported chain. Leave it out only where it is optional.',
  },
  missing_or_invalid_src_chain_id: {
    status: 400,
    error: 'Missing or invalid srcChainId',
    message: 'Send srcChainId and srcToken together, or neither.',
  },
  missing_or_invalid_src_token: {
    status: 400,
    error: 'Missing or invalid srcToken',
    message: 'Send srcChainId and srcToken together, or neither.',
  },
  missing_or_invalid_dst_chain_id: {
    status: 400,
    error: 'Missing or invalid dstChainId',
    message: 'Send dstChainId and dstToken together, or neither. The claim of a deposit takes neither.',
  },
  missing_or_invalid_dst_token: {
    status: 400,
    error: 'Missing or invalid dstToken',
    message: 'Send dstChainId and dstToken together, or neither. The claim of a deposit takes neither.',
  },
  unsupported_source_chain: {
    status: 400,
    error: 'Unsupported source chain',
    message: 'Choose another source chain. Deposits into this vault cannot start on this one.',
  },
  unsupported_source_token: {
    status: 400,
    error: 'Unsupported source token',
    message: "Send the token of that chain that is the same asset as the vault's.",
  },
  unsupported_destination_chain: {
    status: 400,
    error: 'Unsupported destination chain',
    message: 'Choose another destination chain. Withdrawals from this vault cannot go to this one.',
  },
  unsupported_destination_token: {
    status: 400,
    error: 'Unsupported destination token',
    message: "Send the token of that chain that is the same asset as the vault's.",
  },
  amount_too_low_for_bridge: {
    status: 400,
    error: 'Amount too low for bridge',
    message:
      'Try a larger amount; details give one if known. The bridge refuses this one, or its fee exceeds a tenth of it.',
  },
  amount_too_high_for_bridge: {
    status: 400,
    error: 'Amount too high for bridge',
    message: 'Try a smaller amount; details give the largest if known. The bridge cannot move this much now.',
  },
  cross_chain_not_available: {
    status: 409,
    error: 'Cross-chain deposit not available for this vault',
    message:
      "Leave out the other chain and its token: deposit from the vault's chain, or withdraw to it. Withdrawals to other chains need a vault that pays instantly. For other vaults, send the claim to the other chain.",
  },
  amount_exceeds_balance: {
    status: 400,
    error: 'Amount exceeds balance',
    message: "Withdraw less. Details give the user's balance in this vault.",
  },
  ambiguous_vault_address: {
    status: 400,
    error: 'Ambiguous vaultAddress',
    message: 'Send chainId: you have a vault with this address on several chains.',
  },
  vault_not_found: {
    status: 404,
    error: 'Vault not found',
    message:
      'Send a vault from GET /defi-vaults/v1/vaults, with its chain. Your account has no vault with this address there.',
  },
  no_vaults_configured: {
    status: 404,
    error: 'No vaults configured',
    message: 'Ask your operator to configure vaults for your account.',
  },
  depositor_not_allowed: {
    status: 403,
    error: 'Depositor not allowed',
    message: "Use another wallet. The vault's access list does not admit this one.",
  },
  vault_has_changed: {
    status: 409,
    error: 'Vault has changed',
    message:
      'Try again once an operator confirms the vault: its code changed or its price jumped. Claims and withdrawals still work.',
  },
  vault_is_paused: { status: 409, error: 'Vault is paused', message: 'Try again when the vault is no longer paused.' },
  vault_is_closed: {
    status: 409,
    error: 'Vault is closed',
    message: 'Use another vault. This one is closing or closed and takes no deposits.',
  },
  vault_is_closing: {
    status: 409,
    error: 'Vault is closing',
    message: 'Claim what is claimable. Withdraw the rest once the vault is closed: a closing vault takes no requests.',
  },
  deposits_are_not_open: {
    status: 409,
    error: 'Deposits are not open',
    message: 'Try again later. The vault accepts no deposits now.',
  },
  unsupported_vault_version: {
    status: 409,
    error: 'Unsupported vault version',
    message: 'Try again later. The service does not support this version of the vault yet.',
  },
  previous_deposit_request_not_settled: {
    status: 409,
    error: 'Previous deposit request not settled',
    message: "Wait until the wallet's earlier request is settled.",
  },
  previous_withdrawal_request_not_settled: {
    status: 409,
    error: 'Previous withdrawal request not settled',
    message: "Wait until the wallet's earlier request is settled. Other accounts can make requests for it too.",
  },
  not_enough_liquidity: {
    status: 409,
    error: 'Not enough liquidity',
    message:
      'Try a smaller amount, or try later. Details give the amount that the vault can pay now, if known. Some vaults pay after a waiting time or through their own queue.',
  },
  withdrawal_refused: {
    status: 409,
    error: 'Withdrawal refused by the vault',
    message:
      'Try another amount, or try later. Details give the reason of the contract. Some vaults pay after a waiting time or through their own queue. If `terms.exit` is `none`, the vault paid nothing when an operator tried it.',
  },
  vault_cap_reached: {
    status: 409,
    error: 'Vault cap reached',
    message: "Try a smaller amount; details give the largest if known. This one would exceed the vault's cap.",
  },
  no_claimable_deposit: {
    status: 400,
    error: 'No claimable deposit found for this user',
    message: 'Wait for the settlement, then claim. There is nothing to claim now.',
  },
  no_claimable_withdrawal: {
    status: 404,
    error: 'No claimable withdrawal',
    message: 'Wait for the settlement or the cooldown, then claim. Details give the end of a cooldown.',
  },
  no_claimable_rewards: {
    status: 404,
    error: 'No claimable rewards',
    message: 'Nothing can be claimed now. If rewards are left out, details say why.',
  },
  claim_not_applicable: {
    status: 400,
    error: 'Claim deposit is only applicable to async vaults',
    message: 'Nothing to claim: the vault has no requests or cooldown of this kind.',
  },
  no_pending_request: {
    status: 404,
    error: 'No pending request',
    message: 'Nothing to cancel: the user has no unsettled request of this kind.',
  },
  request_can_no_longer_be_cancelled: {
    status: 409,
    error: 'Request can no longer be cancelled',
    message:
      'Try again, or wait for the settlement. The settlement or a cancellation has started, or the vault does not cancel such requests.',
  },
  cancel_not_applicable: {
    status: 400,
    error: 'Cancel is only applicable to async vaults',
    message: 'Nothing to cancel: the vault has no requests of this kind. A cooldown cannot be cancelled.',
  },
  invalid_asset: {
    status: 400,
    error: 'Invalid asset',
    message: 'Send the address of a token, or leave it out. A mixed-case address needs a correct checksum.',
  },
  invalid_tokens: {
    status: 400,
    error: 'Invalid tokens',
    message: 'Send 1 to 50 addresses of tokens, or leave them out for all rewards.',
  },
  invalid_type: { status: 400, error: 'Invalid type', message: 'Send async or sync, or leave it out.' },
  invalid_sort: {
    status: 400,
    error: 'Invalid sort',
    message: 'Send annualYield, totalAssetsUsd or name, or leave it out.',
  },
  invalid_order: { status: 400, error: 'Invalid order', message: 'Send asc or desc, or leave it out.' },
  invalid_min_total_assets_usd: {
    status: 400,
    error: 'Invalid minTotalAssetsUsd',
    message: 'Send a decimal number of at least 0, without exponent, or leave it out.',
  },
  invalid_range: { status: 400, error: 'Invalid range', message: 'Send 30d, 90d, 1y or all, or leave it out.' },
  invalid_kind: { status: 400, error: 'Invalid kind', message: 'Send deposit or withdrawal, or leave it out.' },
  deposit_status_not_applicable: {
    status: 400,
    error: 'Deposit status is only applicable to async vaults',
    message: 'Nothing to wait for: deposits into this vault need no settlement.',
  },
  withdraw_status_not_applicable: {
    status: 400,
    error: 'Withdraw status is only applicable to async vaults',
    message: 'Nothing to wait for: withdrawals from this vault need no settlement and no cooldown.',
  },

  // Errors of deposits from another chain
  missing_tx_hash: {
    status: 400,
    error: 'Missing required parameter: txHash',
    message: 'Send the hash of the source transaction in the path.',
  },
  invalid_tx_hash: {
    status: 400,
    error: 'Invalid txHash',
    message: 'Send a transaction hash of 0x and 64 hexadecimal digits.',
  },
  missing_src_chain_id: {
    status: 400,
    error: 'Missing required query parameter: srcChainId',
    message: 'Send the id of the chain of the source transaction.',
  },
  invalid_src_chain_id: {
    status: 400,
    error: 'Invalid srcChainId',
    message: 'Send the id of the chain of the source transaction, a number.',
  },
  unsupported_src_chain_id: {
    status: 400,
    error: 'Unsupported srcChainId',
    message: 'Choose another source chain. Transfers cannot come from this one.',
  },
  invalid_index: {
    status: 400,
    error: 'Invalid index',
    message: 'Send the index of the transfer in the transaction, a whole number from 0 to 49.',
  },

  // Errors of users' positions and transactions
  position_not_found: {
    status: 404,
    error: 'Position not found',
    message: 'Choose another vault. The user never had a position in this one.',
  },
  invalid_limit: { status: 400, error: 'Invalid limit', message: 'Send a number from 1 to 100.' },
  invalid_cursor: {
    status: 400,
    error: 'Invalid cursor',
    message: 'Send the nextCursor of the previous page, with the same filters.',
  },
  invalid_status: { status: 400, error: 'Invalid status', message: 'Send pending, claimable, completed or cancelled.' },

  // Errors of webhooks
  missing_or_invalid_url: {
    status: 400,
    error: 'Missing or invalid url',
    message: 'Send an https URL with a public name, on port 443. Details explain the problem.',
  },
  invalid_types: {
    status: 400,
    error: 'Invalid types',
    message: 'Send types of events from `details`, or leave them out for all.',
  },
  invalid_finality: { status: 400, error: 'Invalid finality', message: 'Send final or latest, or leave it out.' },
  invalid_after: {
    status: 400,
    error: 'Invalid after',
    message: 'Send the sequence of your last event, or leave it out.',
  },
  webhook_not_found: {
    status: 404,
    error: 'Webhook not found',
    message: 'Send an id from GET /webhooks. The webhook may have been removed.',
  },
  webhook_already_registered: {
    status: 409,
    error: 'Webhook already registered',
    message: 'Get a new secret of the existing webhook at this URL, or remove it first.',
  },
  too_many_webhooks: { status: 409, error: 'Too many webhooks', message: 'Remove a webhook first. There can be 10.' },

  // Errors of portfolios and markets
  unsupported_currency: {
    status: 400,
    error: 'Unsupported currency',
    message: 'Send a currency such as USD, EUR, GBP, CHF or JPY, or leave it out.',
  },
  invalid_days: { status: 400, error: 'Invalid days', message: 'Send a whole number of days, at least 1, or max.' },
  unsupported_network: {
    status: 400,
    error: 'Unsupported network',
    message: 'Send a chain by its key, such as base-mainnet, by its id, or by its CoinGecko platform.',
  },
  token_not_found: {
    status: 404,
    error: 'Token not found',
    message: 'Choose another token. No source has a price for this one.',
  },
  coin_not_found: {
    status: 404,
    error: 'Coin not found',
    message: 'Send a coin id from the search.',
  },
  invalid_search: {
    status: 400,
    error: 'Search must contain at least 3 characters',
    message: 'Send part of the name or symbol of a coin.',
  },
  search_too_long: {
    status: 400,
    error: 'Search must contain at most 100 characters',
    message: 'Send part of the name or symbol of a coin.',
  },

  // Failures of chains and other external services
  upstream_bad_answer: {
    status: 502,
    error: 'Upstream unavailable',
    message: 'Try again. A chain or service returned an unusable response.',
  },
  upstream_unavailable: {
    status: 503,
    error: 'Upstream unavailable',
    message: 'Try again shortly. A chain or service cannot be reached.',
    retryAfterSeconds: 5,
  },
  upstream_timeout: {
    status: 504,
    error: 'Upstream unavailable',
    message: 'Try again. A chain or service took too long to respond.',
  },
  nodes_disagree: {
    status: 503,
    error: 'Nodes disagree',
    message: 'Try again shortly. Two nodes of a chain disagree, so nothing is safe to sign.',
    retryAfterSeconds: 5,
  },
  second_node_silent: {
    status: 503,
    error: 'Nodes disagree',
    message: 'Try again shortly. One of two nodes that must agree is silent, so nothing is safe to sign.',
    retryAfterSeconds: 5,
  },

  // Failures of this service itself
  service_unavailable: {
    status: 503,
    error: 'Service unavailable',
    message: 'Try again shortly. The service cannot respond now.',
    retryAfterSeconds: 5,
  },
  timed_out: { status: 504, error: 'Request timed out', message: 'Try again. The request took too long.' },
  internal: {
    status: 500,
    error: 'Internal server error',
    message: 'Report the requestId to your operator. Something went wrong on our side.',
  },
} as const satisfies Record<string, ErrorDefinition>

/** Code of an error that the API returns, in snake_case. It never changes. */
export type ErrorCode = keyof typeof ERRORS

/**
 * Problem with one field of a request. `atLeast` and `atMost` are amounts that the service would accept, in the
 * smallest unit of the field's token. For a field that is not an amount the unit is that of the vault's asset.
 */
export type ErrorDetail = {
  readonly field: string
  readonly issue: string
  readonly atLeast?: string
  readonly atMost?: string
}

/** Builds the detail of a field whose amount is too large. `most` is the largest accepted amount. */
export function mustBeAtMost(field: string, most: bigint): ErrorDetail {
  return { field, issue: `must be at most ${most}`, atMost: `${most}` }
}

type AppErrorOptions = {
  readonly details?: readonly ErrorDetail[]
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

/** Expected failure. The caller receives the status and texts of its code. `cause` is only logged. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: readonly ErrorDetail[] | undefined
  /** Additional headers of the HTTP reply, such as Allow. */
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ErrorCode, { details, headers = {}, cause }: AppErrorOptions = {}) {
    super(ERRORS[code].error, { cause })
    this.name = 'AppError'
    this.code = code
    this.details = details
    this.headers = headers
  }
}

/** Returns the error for an unusable response of an external service or chain. `why` is only logged. */
export function badAnswer(why: string, cause?: unknown): AppError {
  return new AppError('upstream_bad_answer', { cause: new Error(why, { cause }) })
}

/**
 * Returns the error code for anything thrown. An AWS error means that a table or secret cannot be reached, which is
 * temporary. Any other unknown error is a bug of this service.
 */
export function codeOf(error: unknown): ErrorCode {
  if (error instanceof AppError) return error.code
  return error instanceof Error && '$metadata' in error ? 'service_unavailable' : 'internal'
}

/** Error codes for a failure of an external service or chain. */
export const UPSTREAM_ERRORS = [
  'upstream_bad_answer',
  'upstream_unavailable',
  'upstream_timeout',
] as const satisfies readonly ErrorCode[]
export type UpstreamError = (typeof UPSTREAM_ERRORS)[number]

/** Error codes for a chain read that two independent RPC hosts did not confirm: they disagree, or one of them is silent. */
export const NO_AGREEMENT = ['nodes_disagree', 'second_node_silent'] as const satisfies readonly ErrorCode[]

/** All error codes of a chain read that two independent RPC hosts must confirm. */
export const AGREEMENT_ERRORS = [...NO_AGREEMENT, ...UPSTREAM_ERRORS] as const satisfies readonly ErrorCode[]
