/** Texts for the statuses of deposits and withdrawals. */
export const STATUS_TEXTS = {
  pending: { text: 'Waiting', tone: 'warn' },
  claimable: { text: 'Ready to claim', tone: 'good' },
  completed: { text: 'Done', tone: '' },
  cancelled: { text: 'Cancelled', tone: '' },
} as const
