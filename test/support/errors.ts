import { expect } from 'vitest'
import { AppError, type ErrorCode } from '../../lib/core/errors.ts'
import type { HttpReply } from './service.ts'

/**
 * HTTP status and exact text that the documentation promises for each error code. Written by hand, independent of the service's
 * code.
 */
export const DOCUMENTED_ERRORS: Readonly<Record<ErrorCode, readonly [status: number, error: string]>> = {
  invalid_json: [400, 'Invalid JSON body'],
  unknown_field: [400, 'Unknown field'],
  invalid_content_digest: [400, 'Invalid Content-Digest'],
  invalid_path: [400, 'Invalid path'],
  not_found: [404, 'Not found'],
  method_not_allowed: [405, 'Method not allowed'],
  payload_too_large: [413, 'Payload too large'],
  missing_api_key: [401, 'Missing API key'],
  invalid_api_key: [401, 'Invalid API key'],
  missing_session: [401, 'Missing session'],
  invalid_session: [401, 'Invalid session'],
  insufficient_scope: [403, 'Insufficient scope'],
  chain_not_allowed: [403, 'Chain not allowed'],
  vault_not_allowed: [403, 'Vault not allowed'],
  deposit_limit_exceeded: [403, 'Deposit limit exceeded'],
  rate_limit_exceeded: [429, 'Rate limit exceeded'],
  too_many_requests: [429, 'Too many requests'],
  missing_or_invalid_platform: [400, 'Missing or invalid platform'],
  missing_or_invalid_email: [400, 'Missing or invalid email'],
  missing_or_invalid_temporary_authentication_token: [400, 'Missing or invalid temporaryAuthenticationToken'],
  missing_or_invalid_first_factor_credential: [400, 'Missing or invalid firstFactorCredential'],
  missing_or_invalid_second_factor_credential: [400, 'Missing or invalid secondFactorCredential'],
  missing_or_invalid_recovery_credential: [400, 'Missing or invalid recoveryCredential'],
  invalid_credential: [400, 'Invalid credential'],
  registration_expired_or_used: [401, 'Registration expired or already used'],
  user_already_registered: [409, 'User already registered'],
  credential_already_registered: [409, 'Credential already registered'],
  missing_or_invalid_challenge_identifier: [400, 'Missing or invalid challengeIdentifier'],
  missing_or_invalid_first_factor: [400, 'Missing or invalid firstFactor'],
  missing_or_invalid_second_factor: [400, 'Missing or invalid secondFactor'],
  login_failed: [401, 'Login failed'],
  missing_or_invalid_recovery: [400, 'Missing or invalid recovery'],
  invalid_credential_id: [400, 'Invalid credentialId'],
  recovery_failed: [401, 'Recovery failed'],
  confirmation_failed: [401, 'Confirmation failed'],
  too_many_credentials: [409, 'Too many credentials'],
  credential_not_found: [404, 'Credential not found'],
  last_first_factor: [409, 'Last first factor'],
  last_second_factor: [409, 'Last second factor'],
  missing_or_invalid_address: [400, 'Missing or invalid address'],
  missing_or_invalid_chain: [400, 'Missing or invalid chain'],
  missing_or_invalid_message: [400, 'Missing or invalid message'],
  invalid_signature: [400, 'Invalid signature'],
  challenge_expired_or_used: [401, 'Challenge expired or already used'],
  wallet_already_linked: [409, 'Wallet already linked'],
  too_many_wallets: [409, 'Too many wallets'],
  session_not_found: [404, 'Session not found'],
  fresh_login_required: [403, 'Fresh login required'],
  wallet_not_found: [404, 'Wallet not found'],
  missing_or_invalid_vault_address: [400, 'Missing or invalid vaultAddress'],
  missing_or_invalid_amount: [400, 'Missing or invalid amount'],
  missing_or_invalid_user_address: [400, 'Missing or invalid userAddress'],
  missing_or_invalid_chain_id: [400, 'Missing or invalid chainId'],
  missing_or_invalid_src_chain_id: [400, 'Missing or invalid srcChainId'],
  missing_or_invalid_src_token: [400, 'Missing or invalid srcToken'],
  missing_or_invalid_dst_chain_id: [400, 'Missing or invalid dstChainId'],
  missing_or_invalid_dst_token: [400, 'Missing or invalid dstToken'],
  unsupported_source_chain: [400, 'Unsupported source chain'],
  unsupported_source_token: [400, 'Unsupported source token'],
  unsupported_destination_chain: [400, 'Unsupported destination chain'],
  unsupported_destination_token: [400, 'Unsupported destination token'],
  amount_too_low_for_bridge: [400, 'Amount too low for bridge'],
  amount_too_high_for_bridge: [400, 'Amount too high for bridge'],
  cross_chain_not_available: [409, 'Cross-chain deposit not available for this vault'],
  ambiguous_vault_address: [400, 'Ambiguous vaultAddress'],
  vault_not_found: [404, 'Vault not found'],
  no_vaults_configured: [404, 'No vaults configured'],
  depositor_not_allowed: [403, 'Depositor not allowed'],
  vault_has_changed: [409, 'Vault has changed'],
  vault_is_paused: [409, 'Vault is paused'],
  vault_is_closed: [409, 'Vault is closed'],
  deposits_are_not_open: [409, 'Deposits are not open'],
  unsupported_vault_version: [409, 'Unsupported vault version'],
  previous_deposit_request_not_settled: [409, 'Previous deposit request not settled'],
  vault_cap_reached: [409, 'Vault cap reached'],
  amount_exceeds_balance: [400, 'Amount exceeds balance'],
  vault_is_closing: [409, 'Vault is closing'],
  previous_withdrawal_request_not_settled: [409, 'Previous withdrawal request not settled'],
  not_enough_liquidity: [409, 'Not enough liquidity'],
  withdrawal_refused: [409, 'Withdrawal refused by the vault'],
  no_claimable_deposit: [400, 'No claimable deposit found for this user'],
  claim_not_applicable: [400, 'Claim deposit is only applicable to async vaults'],
  no_claimable_withdrawal: [404, 'No claimable withdrawal'],
  no_claimable_rewards: [404, 'No claimable rewards'],
  no_pending_request: [404, 'No pending request'],
  request_can_no_longer_be_cancelled: [409, 'Request can no longer be cancelled'],
  cancel_not_applicable: [400, 'Cancel is only applicable to async vaults'],
  invalid_range: [400, 'Invalid range'],
  invalid_kind: [400, 'Invalid kind'],
  withdraw_status_not_applicable: [400, 'Withdraw status is only applicable to async vaults'],
  deposit_status_not_applicable: [400, 'Deposit status is only applicable to async vaults'],
  missing_tx_hash: [400, 'Missing required parameter: txHash'],
  invalid_tx_hash: [400, 'Invalid txHash'],
  missing_src_chain_id: [400, 'Missing required query parameter: srcChainId'],
  invalid_src_chain_id: [400, 'Invalid srcChainId'],
  unsupported_src_chain_id: [400, 'Unsupported srcChainId'],
  invalid_index: [400, 'Invalid index'],
  position_not_found: [404, 'Position not found'],
  invalid_asset: [400, 'Invalid asset'],
  invalid_tokens: [400, 'Invalid tokens'],
  invalid_type: [400, 'Invalid type'],
  invalid_sort: [400, 'Invalid sort'],
  invalid_order: [400, 'Invalid order'],
  invalid_min_total_assets_usd: [400, 'Invalid minTotalAssetsUsd'],
  invalid_limit: [400, 'Invalid limit'],
  invalid_cursor: [400, 'Invalid cursor'],
  invalid_status: [400, 'Invalid status'],
  missing_or_invalid_url: [400, 'Missing or invalid url'],
  invalid_types: [400, 'Invalid types'],
  invalid_finality: [400, 'Invalid finality'],
  invalid_after: [400, 'Invalid after'],
  webhook_not_found: [404, 'Webhook not found'],
  webhook_already_registered: [409, 'Webhook already registered'],
  too_many_webhooks: [409, 'Too many webhooks'],
  unsupported_currency: [400, 'Unsupported currency'],
  invalid_days: [400, 'Invalid days'],
  unsupported_network: [400, 'Unsupported network'],
  token_not_found: [404, 'Token not found'],
  coin_not_found: [404, 'Coin not found'],
  invalid_search: [400, 'Search must contain at least 3 characters'],
  search_too_long: [400, 'Search must contain at most 100 characters'],
  upstream_bad_answer: [502, 'Upstream unavailable'],
  upstream_unavailable: [503, 'Upstream unavailable'],
  upstream_timeout: [504, 'Upstream unavailable'],
  nodes_disagree: [503, 'Nodes disagree'],
  second_node_silent: [503, 'Nodes disagree'],
  timed_out: [504, 'Request timed out'],
  service_unavailable: [503, 'Service unavailable'],
  internal: [500, 'Internal server error'],
}

/** Matches internals that no response may contain: server addresses, stack traces, names of tools and libraries. */
const INSIDE = /https?:|localhost|127\.0\.0\.1|\bat .*:\d+|node_modules|\.ts\b|ECONN|Zod|viem|Dynamo|arn:|hunter2/i

type Detail = { readonly field: string; readonly issue: string; readonly atLeast?: string; readonly atMost?: string }

/** Returns the smallest and largest valid amount in the first detail of an error response. A missing limit is undefined. */
export function parseAmountLimits({ body }: HttpReply): {
  readonly atLeast: bigint | undefined
  readonly atMost: bigint | undefined
} {
  const [{ atLeast, atMost } = {}]: Partial<Detail>[] = body.details ?? []
  return {
    atLeast: atLeast === undefined ? undefined : BigInt(atLeast),
    atMost: atMost === undefined ? undefined : BigInt(atMost),
  }
}

/**
 * Asserts that a reply is exactly this error, with the documented body and headers. `fields` lists the request fields in its
 * details.
 */
export function expectError({ status, headers, body }: HttpReply, code: ErrorCode, fields?: readonly string[]): void {
  const [promisedStatus, error] = DOCUMENTED_ERRORS[code]
  expect(body).toEqual({
    success: false,
    statusCode: promisedStatus,
    error,
    code,
    message: expect.stringMatching(/^[A-Z].*[.]$/),
    requestId: expect.stringMatching(/./),
    ...(fields && {
      details: fields.map((field) => expect.objectContaining({ field, issue: expect.stringMatching(/./) })),
    }),
  })
  expect(status).toBe(promisedStatus)
  const details: Detail[] = body.details ?? []
  for (const { field: _, issue, atLeast, atMost, ...beyond } of details) {
    expect(beyond).toEqual({})
    for (const amount of [atLeast, atMost].filter((limit) => limit !== undefined)) {
      expect(amount).toMatch(/^[1-9]\d*$/)
      expect(issue).toContain(amount)
    }
  }
  const issues = details.map(({ issue }) => issue)
  for (const issue of issues) expect(issue.length).toBeLessThan(500)
  // The check excludes field names, because an unknown field's name comes from the caller.
  expect(JSON.stringify({ ...body, details: issues })).not.toMatch(INSIDE)
  expect(headers.get('x-request-id')).toBe(body.requestId)
  expect(headers.get('content-type')).toBe('application/json')
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('retry-after')).toEqual(
    status === 503 || status === 429 ? expect.stringMatching(/^[1-9]\d*$/) : null,
  )
  expect(headers.get('allow')).toEqual(status === 405 ? expect.stringMatching(/^[A-Z]+(, [A-Z]+)*$/) : null)
}

/** Returns the AppError with which the promise rejects. Fails the test if the promise resolves. */
export async function catchFailure(call: Promise<unknown>): Promise<AppError> {
  const thrown: unknown = await call.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(thrown).toBeInstanceOf(AppError)
  return thrown as AppError
}

/** Returns the AppError that `work` throws, or undefined if nothing is thrown. Rethrows any other error. */
export function catchError(work: () => unknown): AppError | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

/** Returns the code of the AppError that `work` throws, or undefined if nothing is thrown. */
export function catchErrorCode(work: () => unknown): ErrorCode | undefined {
  return catchError(work)?.code
}
