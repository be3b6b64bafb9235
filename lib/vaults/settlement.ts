/** When to ask again for a settlement: curators settle every few hours or days, so this is soon enough and costs little. */
export const SETTLEMENT_POLL_MS = 30_000
