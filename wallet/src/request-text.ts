import type { EstimatedSettlement } from '@vaultline/client'
import { formatDateTime, formatDuration } from './format.ts'

/** Status of a request that waits, can be claimed, or was cancelled and can be claimed back. */
export type OpenRequestStatus = 'pending' | 'claimable' | 'cancelled'

type OpenRequest = {
  readonly status: OpenRequestStatus
  readonly estimate: EstimatedSettlement | null
  readonly claimableAt: string | null
}

/** Describes the event that a request waits for, or the action that the user can take. */
export function describeRequest({ status, estimate, claimableAt }: OpenRequest): string {
  if (status === 'claimable') return 'You can claim it at any time.'
  if (status === 'cancelled') return 'Cancelled. You can claim it back to your wallet.'
  if (claimableAt !== null) return `You can claim it from ${formatDateTime(claimableAt)}.`
  const usually = estimate ? ` (usually ${formatDuration(estimate.p50 * 1000)})` : ''
  return `Waiting for the vault’s settlement${usually}. Its manager decides when.`
}
