import type { EstimatedSettlement } from '@vaultline/client'
import { formatDuration, formatTime } from './format.ts'

/** Statuses of a request of which a part waits, can be claimed, or can be claimed back. */
export type OpenStatus = 'pending' | 'claimable' | 'cancelled'

type OpenRequest = {
  readonly status: OpenStatus
  readonly estimate: EstimatedSettlement | null
  readonly claimableAt: string | null
}

/** Describes what a request waits for, or what the user can do. */
export function describeRequest({ status, estimate, claimableAt }: OpenRequest): string {
  if (status === 'claimable') return 'You can claim it at any time.'
  if (status === 'cancelled') return 'Cancelled. You can claim it back to your wallet.'
  if (claimableAt !== null) return `You can claim it from ${formatTime(claimableAt)}.`
  const usually = estimate ? ` (usually ${formatDuration(estimate.p50 * 1000)})` : ''
  return `Waiting for the vault’s settlement${usually}. Its manager decides when.`
}
