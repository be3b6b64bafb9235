/** What the status of a deposit or of a withdrawal is called. */
export const STATUSES = {
  pending: { text: 'Waiting', tone: 'warn' },
  claimable: { text: 'Ready to claim', tone: 'good' },
  completed: { text: 'Done', tone: '' },
  cancelled: { text: 'Cancelled', tone: '' },
} as const
