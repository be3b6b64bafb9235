import { chainName } from '../chains.ts'
import type { Portfolio } from '../use-portfolio.ts'

/** Names the chains that are missing from a sum, such as "without Base". Renders nothing if no chain is missing. */
export function MissingChains({ portfolio: { missingChains } }: { portfolio: Pick<Portfolio, 'missingChains'> }) {
  if (missingChains.length === 0) return null
  return <span className="chip warn">without {missingChains.map(chainName).join(' and ')}</span>
}
