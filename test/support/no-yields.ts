import type { Yields } from '../../lib/vaults/apy.ts'

/** Yields of a vault without a stored share price: all are unknown. */
export const NO_YIELDS: Yields = {
  annualYield: null,
  annualYields: { '7d': null, '30d': null, '90d': null },
  growth: null,
}
