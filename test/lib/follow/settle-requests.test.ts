import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { OpenRequest } from '../../../lib/activity/open-requests.ts'
import {
  areRequestsEnded,
  findClaimedRequests,
  findUnreportedAmounts,
  hasReportableAmounts,
  settleRequest,
} from '../../../lib/follow/settle-requests.ts'
import type { LedgerEntry } from '../../../lib/protocols/ledger-entry.ts'
import type { OpenAmounts } from '../../../lib/protocols/protocol.ts'
import { locateEntries as inPlaces, ledgerPosition, type UnlocatedEntry } from '../../support/ledger-entries.ts'

const { account, timestamp } = ledgerPosition(0)
const WAITING: OpenRequest = { kind: 'deposit', requestId: 0n, account, timestamp }
const inOrder = (entries: readonly UnlocatedEntry[]) =>
  inPlaces(entries).map((entry, logIndex) => ({ ...entry, logIndex }))
const request = (assets: bigint): UnlocatedEntry => ({ kind: 'deposit', requestId: 0n, assets, shares: null })
const claim = (assets: bigint): UnlocatedEntry => ({ kind: 'claim', assets, shares: assets })

/**
 * A block with at most one ledger entry of the account. `amounts` are the open amounts after the block. `settled` is
 * the total settled so far.
 */
type Block = {
  readonly hash: number
  readonly entry: UnlocatedEntry | undefined
  readonly amounts: OpenAmounts
  readonly settled: bigint
}
type Report = { readonly key: string; readonly claimable: bigint; readonly completed: bigint }

const START: Block = { hash: 0, entry: undefined, amounts: { pending: 0n, claimable: 0n, cancelled: 0n }, settled: 0n }

const commands = fc.array(
  fc.record({
    what: fc.constantFrom(
      ...(['request', 'request', 'settle', 'settle', 'claim', 'claim', 'cancel', 'take back'] as const),
      ...(['run', 'run', 'run', 'finalize', 'finalize', 'kill', 'kill', 'reorganise'] as const),
    ),
    part: fc.bigInt({ min: 1n, max: 12n }),
  }),
  { maxLength: 60 },
)
type Command = Parameters<Parameters<typeof commands.map>[0]>[0][number]

function mine(chain: readonly Block[], { what, part }: Command): readonly Block[] {
  const { amounts, settled } = chain.at(-1) ?? START
  const { pending, claimable, cancelled } = amounts
  const add = (entry: UnlocatedEntry | undefined, changed: Partial<OpenAmounts>, more = 0n) => [
    ...chain,
    { hash: Math.random(), entry, amounts: { ...amounts, ...changed }, settled: settled + more },
  ]
  const some = (whole: bigint) => (whole * part + 11n) / 12n
  switch (what) {
    case 'request':
      return add(request(part * 7n), { pending: pending + part * 7n })
    case 'settle':
      return add(undefined, { pending: pending - some(pending), claimable: claimable + some(pending) }, some(pending))
    case 'claim':
      return claimable > 0n ? add(claim(some(claimable)), { claimable: claimable - some(claimable) }) : chain
    case 'cancel':
      return add(undefined, { pending: 0n, cancelled: cancelled + pending })
    case 'take back':
      return cancelled > 0n ? add({ kind: 'cancel', requestId: 0n, assets: cancelled }, { cancelled: 0n }) : chain
    default:
      return chain
  }
}

/**
 * Builds a model of the job for one account. The model keeps the job's stored state and its reports to clients.
 * Repeated reports with the same key count once.
 */
function startJob() {
  const reports = new Map<string, Report>()
  let stored: {
    through: number
    waiting?: OpenRequest
    snapshot?: { number: number; hash: number; amounts: OpenAmounts }
  }
  stored = { through: -1 }

  /**
   * Runs the job on a chain whose blocks up to `final` are final. `killed` names the write before which the run is
   * killed.
   */
  function run(chain: readonly Block[], final: number, killed?: 'before the request' | 'before the progress'): void {
    const entries = inOrder(chain.slice(0, final + 1).map(({ entry }) => entry ?? request(0n)))
    const upTo = (number: number) => entries.filter(({ blockNumber }) => blockNumber <= number + 1)
    const isNew = ({ blockNumber }: LedgerEntry) => blockNumber > stored.through + 1
    if (entries.some((entry) => isNew(entry) && entry.kind === 'deposit' && entry.assets > 0n)) {
      stored.waiting = {
        ...WAITING,
        ...(stored.waiting?.reported !== undefined && { reported: stored.waiting.reported }),
      }
    }
    let { waiting } = stored
    let isOver = false
    const tell = (report: Report) => reports.has(report.key) || reports.set(report.key, report)
    for (let number = stored.through + 1; number <= final; number += 1) {
      const entry = entries[number] as LedgerEntry
      if (entry.kind === 'claim') {
        const taken = waiting ? findClaimedRequests('deposit', entry, upTo(number - 1)) : []
        for (const of of taken) {
          for (const { key, amount } of waiting ? findUnreportedAmounts(of, waiting) : []) {
            tell({ key, claimable: amount, completed: 0n })
          }
        }
        tell({ key: `claim ${chain[number]?.hash}`, claimable: 0n, completed: entry.assets })
      }
      const { snapshot } = stored
      if (waiting && snapshot?.number === number && snapshot.hash === chain[number]?.hash) {
        const settled = settleRequest(waiting, snapshot.amounts, upTo(number))
        for (const { key, amount } of settled.parts) tell({ key, claimable: amount, completed: 0n })
        // Claims after the snapshot's block are already in `entries`, and may have ended the request. This loop still
        // has to report those claims. So the request is removed only after the loop.
        isOver ||= areRequestsEnded(waiting, entries, { amounts: snapshot.amounts, number: BigInt(number) })
        waiting = settled.request
      }
    }
    if (isOver) waiting = undefined
    if (killed === 'before the request') return
    const { waiting: _, snapshot, ...progress } = stored
    stored = { ...progress, ...(waiting && { waiting }), ...(snapshot && { snapshot }) }
    if (killed) return
    const left = snapshot && snapshot.number > final ? snapshot : undefined
    const head = chain.length - 1
    const { amounts, hash } = chain.at(-1) ?? START
    const taken =
      waiting && head > final && hasReportableAmounts(waiting, amounts) ? { number: head, hash, amounts } : undefined
    const next = left ?? taken
    stored = { through: final, ...(waiting && { waiting }), ...(next && { snapshot: next }) }
  }

  return { run, list: () => [...reports.values()] }
}

describe('A settlement without an event', () => {
  test('is reported once, completely and before its claims, despite killed runs and reorganisations', () => {
    fc.assert(
      fc.property(commands, (steps) => {
        const job = startJob()
        let chain: readonly Block[] = [START]
        let final = 0
        for (const step of steps) {
          chain = mine(chain, step)
          if (step.what === 'finalize') final = chain.length - 1
          else if (step.what === 'run') job.run(chain, final)
          else if (step.what === 'kill') {
            job.run(chain, final, step.part > 6n ? 'before the request' : 'before the progress')
          } else if (step.what === 'reorganise') {
            const commonLength = Math.max(final + 1, chain.length - Number(step.part))
            const lost = chain.slice(commonLength)
            const before = chain[commonLength - 1] ?? START
            chain = [
              ...chain.slice(0, commonLength),
              ...lost.map(() => ({ ...before, entry: undefined, hash: Math.random() })),
            ]
          }
        }
        // The job may need one run to discard a snapshot of a block that a reorganisation removed. It needs another run
        // to use the next snapshot.
        for (let run = 0; run < 3; run += 1) {
          chain = [...chain, { ...(chain.at(-1) ?? START), entry: undefined, hash: Math.random() }]
          job.run(chain, final)
          final = chain.length - 1
        }
        const reports = job.list()
        const claimable = reports.reduce((sum, report) => sum + report.claimable, 0n)
        expect(claimable).toBe(chain.at(-1)?.settled)
        let unclaimed = 0n
        for (const { claimable, completed } of reports) {
          unclaimed += claimable - completed
          expect(unclaimed).toBeGreaterThanOrEqual(0n)
        }
      }),
      { numRuns: 2_000 },
    )
  })

  test('is reported for its requests, oldest first', () => {
    const entries = inOrder([request(4n), request(6n)])
    const ids = entries.map(({ chainId, transactionHash, logIndex }) => `${chainId}-${transactionHash}-${logIndex}`)
    const first = settleRequest(WAITING, { pending: 5n, claimable: 5n, cancelled: 0n }, entries)
    expect(first.parts.map(({ id, amount }) => [id, amount])).toEqual([
      [ids[0], 4n],
      [ids[1], 1n],
    ])
    const second = settleRequest(first.request, { pending: 0n, claimable: 10n, cancelled: 0n }, entries)
    expect(second.parts.map(({ id, amount }) => [id, amount])).toEqual([[ids[1], 5n]])
    expect(hasReportableAmounts(second.request, { pending: 0n, claimable: 10n, cancelled: 0n })).toBe(false)
  })

  test('is reported as far as it is claimable, and the rest later', () => {
    const entries = inOrder([request(9n)])
    const silent = settleRequest(WAITING, { pending: 0n, claimable: 0n, cancelled: 0n }, entries)
    expect(silent.parts).toEqual([])
    const some = settleRequest(silent.request, { pending: 0n, claimable: 2n, cancelled: 0n }, entries)
    const rest = settleRequest(some.request, { pending: 0n, claimable: 9n, cancelled: 0n }, entries)
    expect([some, rest].map(({ parts }) => parts.map(({ amount }) => amount))).toEqual([[2n], [7n]])
  })
})
