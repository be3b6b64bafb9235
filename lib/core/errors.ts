type Status = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 429 | 500 | 502 | 503 | 504

/** Public definition of an error that the API returns. */
export type ErrorDefinition = {
  readonly status: Status
  /** Stable text of the error. Callers may compare it, so it must not change. */
  readonly error: string
  /** Instruction to the caller how to proceed. */
  readonly message: string
  /** Seconds that the caller should wait before a retry, sent as the header Retry-After. */
  readonly retryAfterSeconds?: number
}

/**
 * Every error that the API returns, by its code. A row is `HTTP status | stable text | instruction to the caller`.
 * Some rows end with `| seconds` for the header Retry-After.
 */
export const ERRORS = {
  // Errors of malformed requests
  invalid_json: '400 | Invalid JSON body | Send a JSON object with Content-Type: application/json.',
  unknown_field: '400 | Unknown field | Remove or correct the fields in details.',
  not_found: '404 | Not found | Use a route from GET /openapi.json.',
  method_not_allowed: '405 | Method not allowed | Use a method from the Allow header.',
  invalid_content_digest:
    '400 | Invalid Content-Digest | Send Content-Digest: sha-256=:<base64 of the SHA-256 of the body>:, or leave it out.',
  invalid_path: '400 | Invalid path | Send a path of letters, digits and / . _ ~ - only, without percent-encoding.',
  payload_too_large: '413 | Payload too large | Send at most 16 KiB.',

  // Errors about the caller's API key, session and rate limits
  missing_api_key: '401 | Missing API key | Send your API key in the x-join-key header.',
  invalid_api_key: '401 | Invalid API key | The API key was not recognised, has expired or was revoked.',
  missing_session: '401 | Missing session | Log in and send the session as Authorization: Bearer <token>.',
  invalid_session:
    '401 | Invalid session | Log in again. The session has expired, was logged out or belongs to another client.',
  insufficient_scope: '403 | Insufficient scope | Ask your operator for the scope. Your API key does not have it.',
  chain_not_allowed: '403 | Chain not allowed | Send a chain of your API key, or ask your operator for this one.',
  vault_not_allowed:
    '403 | Vault not allowed | Send a vault from GET /defi-vaults/v1/vaults. Your API key does not include this one.',
  deposit_limit_exceeded:
    '403 | Deposit limit exceeded | Deposit less, or another asset. Details give the limit of your API key.',
  // 60 seconds is the default length of an API key's rate-limit window. In a response, Retry-After has the seconds
  // until the window ends.
  rate_limit_exceeded:
    '429 | Rate limit exceeded | Wait for the seconds in Retry-After. Your API key has used all requests of this window. | 60',
  // 600 seconds is the length of most time windows in which attempts are counted. In a response, Retry-After has the
  // seconds until the window ends.
  too_many_requests: '429 | Too many requests | Wait for the seconds in Retry-After. | 600',

  // Errors of user accounts
  missing_or_invalid_platform: '400 | Missing or invalid platform | Send web, ios or android in the platform header.',
  missing_or_invalid_email: '400 | Missing or invalid email | Send an e-mail address.',
  missing_or_invalid_temporary_authentication_token:
    '400 | Missing or invalid temporaryAuthenticationToken | Send the token that came with the options, in the body or as Authorization: Bearer <token>.',
  missing_or_invalid_first_factor_credential:
    '400 | Missing or invalid firstFactorCredential | Send a credential of a kind that supportedCredentialKinds lists as first factor.',
  missing_or_invalid_second_factor_credential:
    '400 | Missing or invalid secondFactorCredential | Send a credential of a kind that supportedCredentialKinds lists as second factor. A password needs one.',
  missing_or_invalid_recovery_credential:
    '400 | Missing or invalid recoveryCredential | Send a credential of the kind RecoveryKey, or leave it out.',
  invalid_credential: '400 | Invalid credential | Start again with a new challenge. Details name the failed checks.',
  registration_expired_or_used:
    '401 | Registration expired or already used | Start again. Each registration or recovery allows one try within ten minutes.',
  user_already_registered: '409 | User already registered | Log in instead. A user with this e-mail address exists.',
  credential_already_registered: '409 | Credential already registered | Start again with new credentials.',
  missing_or_invalid_challenge_identifier:
    '400 | Missing or invalid challengeIdentifier | Send the challengeIdentifier of POST /auth/login/init.',
  missing_or_invalid_first_factor:
    "400 | Missing or invalid firstFactor | Send the credential's response to the challenge, in the form of its kind.",
  missing_or_invalid_second_factor:
    "400 | Missing or invalid secondFactor | Send the credential's response to the challenge, in the form of its kind, or leave it out.",
  missing_or_invalid_recovery:
    "400 | Missing or invalid recovery | Send the recovery key's signature over newCredentials, with the kind RecoveryKey.",
  invalid_credential_id:
    '400 | Invalid credentialId | Send the id of the recovery key (32 bytes in base64url), or leave it out.',
  recovery_failed: '401 | Recovery failed | Start a new recovery. Each allows one try.',
  login_failed: '401 | Login failed | Start a new login. Each allows one try.',
  confirmation_failed:
    "401 | Confirmation failed | Start again. Sign with one of the user's first factors, and with a second factor if the user has one.",
  too_many_credentials: '409 | Too many credentials | Remove a credential first. A user can have 8.',
  credential_not_found:
    '404 | Credential not found | Send an id from GET /auth/credentials. The user has no credential with this one.',
  last_first_factor: '409 | Last first factor | Add another first factor first. Without one the user cannot log in.',
  last_second_factor:
    '409 | Last second factor | Add another second factor first, or remove the password, which needs one.',
  missing_or_invalid_address:
    '400 | Missing or invalid address | Send an address of the chain. A mixed-case EVM address needs a correct checksum.',
  missing_or_invalid_chain: '400 | Missing or invalid chain | Send evm or solana.',
  missing_or_invalid_message:
    '400 | Missing or invalid message | Send the message of POST /auth/wallets/init unchanged.',
  invalid_signature:
    "400 | Invalid signature | Sign the message with the wallet's own key: hexadecimal for EVM, base58 for Solana.",
  challenge_expired_or_used:
    '401 | Challenge expired or already used | Get a new challenge. Each works once, within ten minutes, for the user who got it.',
  wallet_already_linked: '409 | Wallet already linked | Nothing to do: the user has already linked this wallet.',
  too_many_wallets: '409 | Too many wallets | Unlink a wallet first. A user can link 20.',
  session_not_found: '404 | Session not found | Send an id from GET /auth/sessions. The session may have ended.',
  fresh_login_required: '403 | Fresh login required | Log in again. This needs a login of the last ten minutes.',
  wallet_not_found:
    '404 | Wallet not found | Send an address from GET /auth/wallets. The user has not linked this one.',

  // Errors of vaults
  missing_or_invalid_vault_address:
    '400 | Missing or invalid vaultAddress | Send the vault contract address. A mixed-case address needs a correct checksum.',
  missing_or_invalid_amount:
    "400 | Missing or invalid amount | Send a positive amount in the token's smallest unit, as a string of digits.",
  missing_or_invalid_user_address:
    '400 | Missing or invalid userAddress | Send the wallet address of the user, not one of a token, a vault or the bridge. A mixed-case address needs a correct checksum.',
  missing_or_invalid_chain_id:
    '400 | Missing or invalid chainId | Send the id of a supported chain. Leave it out only where it is optional.',
  missing_or_invalid_src_chain_id:
    '400 | Missing or invalid srcChainId | Send srcChainId and srcToken together, or neither.',
  missing_or_invalid_src_token:
    '400 | Missing or invalid srcToken | Send srcChainId and srcToken together, or neither.',
  missing_or_invalid_dst_chain_id:
    '400 | Missing or invalid dstChainId | Send dstChainId and dstToken together, or neither. The claim of a deposit takes neither.',
  missing_or_invalid_dst_token:
    '400 | Missing or invalid dstToken | Send dstChainId and dstToken together, or neither. The claim of a deposit takes neither.',
  unsupported_source_chain:
    '400 | Unsupported source chain | Choose another source chain. Deposits into this vault cannot start on this one.',
  unsupported_source_token:
    "400 | Unsupported source token | Send the token of that chain that is the same asset as the vault's.",
  unsupported_destination_chain:
    '400 | Unsupported destination chain | Choose another destination chain. Withdrawals from this vault cannot go to this one.',
  unsupported_destination_token:
    "400 | Unsupported destination token | Send the token of that chain that is the same asset as the vault's.",
  amount_too_low_for_bridge:
    '400 | Amount too low for bridge | Try a larger amount; details give one if known. The bridge refuses this one, or its fee exceeds a tenth of it.',
  amount_too_high_for_bridge:
    '400 | Amount too high for bridge | Try a smaller amount; details give the largest if known. The bridge cannot move this much now.',
  cross_chain_not_available:
    "409 | Cross-chain deposit not available for this vault | Leave out the other chain and its token: deposit from the vault's chain, or withdraw to it. Withdrawals to other chains need a vault that pays instantly. For other vaults, send the claim to the other chain.",
  amount_exceeds_balance:
    "400 | Amount exceeds balance | Withdraw less. Details give the user's balance in this vault.",
  ambiguous_vault_address:
    '400 | Ambiguous vaultAddress | Send chainId: you have a vault with this address on several chains.',
  vault_not_found:
    '404 | Vault not found | Send a vault from GET /defi-vaults/v1/vaults, with its chain. Your account has no vault with this address there.',
  no_vaults_configured: '404 | No vaults configured | Ask your operator to configure vaults for your account.',
  depositor_not_allowed:
    "403 | Depositor not allowed | Use another wallet. The vault's access list does not admit this one.",
  vault_has_changed:
    '409 | Vault has changed | Try again once an operator confirms the vault: its code changed or its price jumped. Claims and withdrawals still work.',
  vault_is_paused: '409 | Vault is paused | Try again when the vault is no longer paused.',
  vault_is_closed: '409 | Vault is closed | Use another vault. This one is closing or closed and takes no deposits.',
  vault_is_closing:
    '409 | Vault is closing | Claim what is claimable. Withdraw the rest once the vault is closed: a closing vault takes no requests.',
  deposits_are_not_open: '409 | Deposits are not open | Try again later. The vault accepts no deposits now.',
  unsupported_vault_version:
    '409 | Unsupported vault version | Try again later. The service does not support this version of the vault yet.',
  previous_deposit_request_not_settled:
    "409 | Previous deposit request not settled | Wait until the wallet's earlier request is settled.",
  previous_withdrawal_request_not_settled:
    "409 | Previous withdrawal request not settled | Wait until the wallet's earlier request is settled. Other accounts can make requests for it too.",
  not_enough_liquidity:
    '409 | Not enough liquidity | Try a smaller amount, or try later. Details give the amount that the vault can pay now, if known. Some vaults pay after a waiting time or through their own queue.',
  withdrawal_refused:
    '409 | Withdrawal refused by the vault | Try another amount, or try later. Details give the reason of the contract. Some vaults pay after a waiting time or through their own queue. If `terms.exit` is `none`, the vault paid nothing when an operator tried it.',
  vault_cap_reached:
    "409 | Vault cap reached | Try a smaller amount; details give the largest if known. This one would exceed the vault's cap.",
  no_claimable_deposit:
    '400 | No claimable deposit found for this user | Wait for the settlement, then claim. There is nothing to claim now.',
  no_claimable_withdrawal:
    '404 | No claimable withdrawal | Wait for the settlement or the cooldown, then claim. Details give the end of a cooldown.',
  no_claimable_rewards:
    '404 | No claimable rewards | Nothing can be claimed now. If rewards are left out, details say why.',
  claim_not_applicable:
    '400 | Claim deposit is only applicable to async vaults | Nothing to claim: the vault has no requests or cooldown of this kind.',
  no_pending_request: '404 | No pending request | Nothing to cancel: the user has no unsettled request of this kind.',
  request_can_no_longer_be_cancelled:
    '409 | Request can no longer be cancelled | Try again, or wait for the settlement. The settlement or a cancellation has started, or the vault does not cancel such requests.',
  cancel_not_applicable:
    '400 | Cancel is only applicable to async vaults | Nothing to cancel: the vault has no requests of this kind. A cooldown cannot be cancelled.',
  invalid_asset:
    '400 | Invalid asset | Send the address of a token, or leave it out. A mixed-case address needs a correct checksum.',
  invalid_tokens: '400 | Invalid tokens | Send 1 to 50 addresses of tokens, or leave them out for all rewards.',
  invalid_type: '400 | Invalid type | Send async or sync, or leave it out.',
  invalid_sort: '400 | Invalid sort | Send annualYield, totalAssetsUsd or name, or leave it out.',
  invalid_order: '400 | Invalid order | Send asc or desc, or leave it out.',
  invalid_min_total_assets_usd:
    '400 | Invalid minTotalAssetsUsd | Send a decimal number of at least 0, without exponent, or leave it out.',
  invalid_range: '400 | Invalid range | Send 30d, 90d, 1y or all, or leave it out.',
  invalid_kind: '400 | Invalid kind | Send deposit or withdrawal, or leave it out.',
  deposit_status_not_applicable:
    '400 | Deposit status is only applicable to async vaults | Nothing to wait for: deposits into this vault need no settlement.',
  withdraw_status_not_applicable:
    '400 | Withdraw status is only applicable to async vaults | Nothing to wait for: withdrawals from this vault need no settlement and no cooldown.',

  // Errors of deposits from another chain
  missing_tx_hash: '400 | Missing required parameter: txHash | Send the hash of the source transaction in the path.',
  invalid_tx_hash: '400 | Invalid txHash | Send a transaction hash of 0x and 64 hexadecimal digits.',
  missing_src_chain_id:
    '400 | Missing required query parameter: srcChainId | Send the id of the chain of the source transaction.',
  invalid_src_chain_id: '400 | Invalid srcChainId | Send the id of the chain of the source transaction, a number.',
  unsupported_src_chain_id:
    '400 | Unsupported srcChainId | Choose another source chain. Transfers cannot come from this one.',
  invalid_index:
    '400 | Invalid index | Send the index of the transfer in the transaction, a whole number from 0 to 49.',

  // Errors of users' positions and transactions
  position_not_found: '404 | Position not found | Choose another vault. The user never had a position in this one.',
  invalid_limit: '400 | Invalid limit | Send a number from 1 to 100.',
  invalid_cursor: '400 | Invalid cursor | Send the nextCursor of the previous page, with the same filters.',
  invalid_status: '400 | Invalid status | Send pending, claimable, completed or cancelled.',

  // Errors of webhooks
  missing_or_invalid_url:
    '400 | Missing or invalid url | Send an https URL with a public name, on port 443. Details explain the problem.',
  invalid_types: '400 | Invalid types | Send types of events from `details`, or leave them out for all.',
  invalid_finality: '400 | Invalid finality | Send final or latest, or leave it out.',
  invalid_after: '400 | Invalid after | Send the sequence of your last event, or leave it out.',
  webhook_not_found: '404 | Webhook not found | Send an id from GET /webhooks. The webhook may have been removed.',
  webhook_already_registered:
    '409 | Webhook already registered | Get a new secret of the existing webhook at this URL, or remove it first.',
  too_many_webhooks: '409 | Too many webhooks | Remove a webhook first. There can be 10.',

  // Errors of portfolios and markets
  unsupported_currency:
    '400 | Unsupported currency | Send a currency such as USD, EUR, GBP, CHF or JPY, or leave it out.',
  invalid_days: '400 | Invalid days | Send a whole number of days, at least 1, or max.',
  unsupported_network:
    '400 | Unsupported network | Send a chain by its key, such as base-mainnet, by its id, or by its CoinGecko platform.',
  token_not_found: '404 | Token not found | Choose another token. No source has a price for this one.',
  coin_not_found: '404 | Coin not found | Send a coin id from the search.',
  invalid_search: '400 | Search must contain at least 3 characters | Send part of the name or symbol of a coin.',
  search_too_long: '400 | Search must contain at most 100 characters | Send part of the name or symbol of a coin.',

  // Failures of other services
  upstream_bad_answer: '502 | Upstream unavailable | Try again. A chain or service returned an unusable response.',
  upstream_unavailable: '503 | Upstream unavailable | Try again shortly. A chain or service cannot be reached. | 5',
  upstream_timeout: '504 | Upstream unavailable | Try again. A chain or service took too long to respond.',
  nodes_disagree:
    '503 | Nodes disagree | Try again shortly. Two nodes of a chain disagree, so nothing is safe to sign. | 5',
  second_node_silent:
    '503 | Nodes disagree | Try again shortly. One of two nodes that must agree is silent, so nothing is safe to sign. | 5',

  // Failures of this service itself
  service_unavailable: '503 | Service unavailable | Try again shortly. The service cannot respond now. | 5',
  timed_out: '504 | Request timed out | Try again. The request took too long.',
  internal: '500 | Internal server error | Report the requestId to your operator. Something went wrong on our side.',
} as const satisfies Record<string, `${Status} | ${string} | ${string}`>

/** Code of an error that the API returns, in snake_case. It never changes. */
export type ErrorCode = keyof typeof ERRORS

/** Lists the public definition of every error with its code. */
export function listErrorDefinitions(): (ErrorDefinition & { readonly code: ErrorCode })[] {
  // The cast is right: the table has no other keys.
  return (Object.keys(ERRORS) as ErrorCode[]).map((code) => ({ code, ...getErrorDefinition(code) }))
}

/** Returns the public definition of the error with this code. */
export function getErrorDefinition(code: ErrorCode): ErrorDefinition {
  const [status, error = '', message = '', seconds] = ERRORS[code].split(' | ')
  // The cast is right: each row begins with a status of this type.
  return { status: Number(status) as Status, error, message, ...(seconds && { retryAfterSeconds: Number(seconds) }) }
}

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
export function buildTooLargeDetail(field: string, most: bigint): ErrorDetail {
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
    super(getErrorDefinition(code).error, { cause })
    this.name = 'AppError'
    this.code = code
    this.details = details
    this.headers = headers
  }
}

/** Returns the error for an unusable response of an external service or chain. `why` is only logged. */
export function badResponse(why: string, cause?: unknown): AppError {
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
