import { networkOf } from '../network.ts'
import { sha256 } from '../sha256.ts'
import { MINUTE } from '../time.ts'
import type { Subject } from './meter.ts'

/** The direction of a quote: money goes into a vault or out of one. */
export type Direction = 'in' | 'out'

type Asker = { readonly clientId: string; readonly sourceIp: string; readonly direction: Direction }

const WINDOW_SECONDS = 10 * MINUTE

/** The field that asks for the other chain, and the words for the transfers. */
const DIRECTIONS = {
  in: { field: 'srcChainId', of: 'deposits' },
  out: { field: 'dstChainId', of: 'withdrawals and claims' },
} as const

/**
 * Returns the subjects that pay for a quote, the network first. Of the client's quotes in ten minutes, withdrawals and claims
 * have a third and deposits the rest. One network may spend a tenth of each share.
 */
export function quoteSubjects({ clientId, sourceIp, direction }: Asker, perClient: number): Subject[] {
  const { field, of } = DIRECTIONS[direction]
  const out = Math.floor(perClient / 3)
  const share = Math.max(1, direction === 'out' ? out : perClient - out)
  const name = `quotes-${direction}#${clientId}`
  const subjectOf = (who: 'network' | 'client', suffix: string, units: number): Subject => ({
    name: `${name}${suffix}`,
    limit: { units, seconds: WINDOW_SECONDS },
    detail: {
      field,
      issue: `must be left out for now: your ${who} has used its quotes for ${of} in these ten minutes`,
    },
  })
  return [
    // Only the network's hash is stored.
    subjectOf('network', `#${sha256(networkOf(sourceIp))}`, Math.max(1, Math.floor(share / 10))),
    subjectOf('client', '', share),
  ]
}
