import fc from 'fast-check'

const mostly = fc.integer({ min: 0, max: 9 }).map((number) => number > 0)
const seldom = fc.integer({ min: 0, max: 4 }).map((number) => number === 0)
const pick = fc.nat(999)
const kind = <const Kind extends string>(name: Kind) => fc.constant(name)

const STEP = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: kind('mine'), pick }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: kind('reorganise'), picks: fc.array(pick, { minLength: 1, maxLength: 4 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: kind('publish'), isRead: mostly, isNamed: mostly }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: kind('deliver'), pick, isLocked: seldom, isRepeated: seldom, isLost: seldom }),
  },
)

/**
 * Random steps of deposits, withdrawals and webhooks: mined blocks, chain reorganisations, published events, and deliveries of
 * waiting events. Some events lack the entry's fields or its id. Some deliveries find the receiver's table locked, arrive late
 * or never arrive.
 */
export const HISTORY_STEPS = fc.array(STEP, { minLength: 10, maxLength: 80 })
/** One step of a random history. */
export type Step = typeof STEP extends fc.Arbitrary<infer Of> ? Of : never

/** Deposit or withdrawal. `change` is a number that grows with each change of any entry. */
export type Entry = {
  readonly status: string
  readonly change: number
  readonly depositId?: string
  readonly withdrawalId?: string
}

/** Published webhook event, reduced to the fields that tests read. */
export type PublishedEvent = {
  readonly id: string
  readonly type: string
  readonly sequence: number
  readonly final: boolean
}

type Change = { readonly id: string; readonly entry: Entry }
type Early = { readonly eventId: string; readonly isNamed: boolean }

const NEXT: Readonly<Record<string, string>> = { pending: 'claimable', claimable: 'completed' }
const ENTRIES = 4
const FINAL_DEPTH = 5

/**
 * Creates an empty simulated chain, and the log of webhook events about its deposits and withdrawals. `name` is the prefix of
 * all ids.
 */
export function createHistory(name: string, userAddress: string) {
  let blocks: Change[][] = [[]]
  let [changes, finalBlock] = [0, 0]
  const log: PublishedEvent[] = []
  const early = new Map<Change, Early>()
  /**
   * Ids of deposits and withdrawals whose `reverted` event was published without the id. A webhook receiver cannot tell
   * which entry such an event reverts.
   */
  const unclear = new Set<string>()

  const head = () => blocks.length - 1
  const between = (after: number, to: number) => blocks.slice(after + 1, to + 1).flat()
  const stateAt = (block: number) => new Map(between(-1, block).map(({ id, entry }) => [id, entry]))
  const kindOf = (id: string) => (id.includes('deposit') ? 'deposit' : 'withdrawal')

  const idOf = (id: string, value: string | null = id) => ({ [`${kindOf(id)}Id`]: value })

  function append(type: string, final: boolean, data: object): string {
    const sequence = log.length + 1
    const id = `evt_${name}_${sequence}`
    const where = { chainId: 8453, vaultAddress: `0x${'a'.repeat(40)}`, userAddress }
    const event = { id, type, timestamp: new Date().toISOString(), sequence, final, data: { ...where, ...data } }
    log.push(event)
    return id
  }

  return {
    log,
    unclear,
    /**
     * Adds a block to the chain. `number` selects the deposit or withdrawal that changes in this block. Without it,
     * nothing changes.
     */
    mine(number?: number): void {
      if (number === undefined) return void blocks.push([])
      const id = `${name}-${number % 2 === 0 ? 'deposit' : 'withdrawal'}-${number % ENTRIES}`
      changes += 1
      const status = NEXT[stateAt(head()).get(id)?.status ?? ''] ?? 'pending'
      blocks.push([{ id, entry: { ...idOf(id), status, change: changes } }])
    },
    /**
     * Replaces the last blocks by new ones, as a chain reorganisation does. Each number stands for one block: an even number
     * changes a deposit or withdrawal there, an odd number changes nothing.
     */
    reorganise(numbers: readonly number[]): void {
      const replaced = numbers.slice(0, head() - finalBlock)
      blocks = blocks.slice(0, blocks.length - replaced.length)
      for (const number of replaced) this.mine(number % 2 === 0 ? number / 2 : undefined)
    },
    /**
     * Publishes events of reverted changes, then of changes in blocks that are not final, then of final changes. With
     * `isRead` false, the events lack the deposit or withdrawal. With `isNamed` false, they also lack its id.
     */
    publish(isRead: boolean, isNamed: boolean): void {
      const lastFinal = finalBlock
      finalBlock = Math.max(lastFinal, head() - FINAL_DEPTH)
      const about = (id: string, block: number, named: boolean) => ({
        ...idOf(id, named ? id : null),
        entry: named ? (stateAt(block).get(id) ?? null) : null,
      })
      const canonical = new Set(blocks.flat())
      for (const [change, { eventId, isNamed: wasNamed }] of early) {
        if (canonical.has(change)) continue
        early.delete(change)
        if (!wasNamed) unclear.add(change.id)
        const data = { ...about(change.id, head(), wasNamed), eventId, version: head() }
        append(`${kindOf(change.id)}.reverted`, false, data)
      }
      const report = ({ id, entry }: Change, block: number, final: boolean) => {
        const state = about(id, block, isNamed)
        const data = { ...state, ...(!isRead && { entry: null }), version: block }
        return append(`${kindOf(id)}.${entry.status}`, final, data)
      }
      for (const change of between(finalBlock, head())) {
        if (!early.has(change)) early.set(change, { eventId: report(change, head(), false), isNamed })
      }
      for (const change of between(lastFinal, finalBlock)) {
        early.delete(change)
        report(change, finalBlock, true)
      }
    },
    /** Returns the deposits or withdrawals as the API lists them: only those in final blocks. */
    list: (kind: 'deposit' | 'withdrawal') =>
      [...stateAt(finalBlock)].flatMap(([id, entry]) => (kindOf(id) === kind ? [entry] : [])),
    /** Mines and publishes until every change is final. Returns all deposits and withdrawals. */
    end(): Entry[] {
      for (let count = 0; count < FINAL_DEPTH; count += 1) this.mine()
      this.publish(true, true)
      return [...stateAt(head()).values()]
    },
  }
}
