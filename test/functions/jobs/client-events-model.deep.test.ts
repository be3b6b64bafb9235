import * as fc from 'fast-check'
import { expect } from 'vitest'
import { callRpc } from '../../../sandbox/rpc.ts'
import { applyReceivedEvents, listEntriesOf, listEvents, type ReceivedEvent } from '../../support/received-events.ts'
import { finalizeBlocks, recordAllBlocks, runRefreshChain } from '../../support/records.ts'
import { scaleSampleCount } from '../../support/runs.ts'
import { type Service, test, USERS } from '../../support/service.ts'
import { openAsyncVault, openLagoonVault, openYieldVault, ROLES } from '../../support/vaults.ts'
import type { RecordingProxy } from '../../support/wire.ts'

/**
 * This test makes random histories of two users in vaults of three clients. Some runs of the job are killed, run in
 * parallel or meet reorganisations. Each client's webhook events must match a plain list of what happened.
 */
const BASE = 8453
const ACCOUNTS = USERS.slice(0, 2).map(({ address }) => address)

type Happened = { readonly type: string; readonly user: number; readonly amount: bigint }

const commands = fc.array(
  fc.record({
    what: fc.constantFrom(
      ...([
        'request',
        'request',
        'cancel',
        'settle',
        'settle',
        'claim',
        'redeem',
        'take',
        'deposit',
        'withdraw',
      ] as const),
      ...(['ask', 'fulfil', 'run', 'run', 'kill', 'kill', 'lose chain', 'twice', 'reorganise'] as const),
    ),
    user: fc.nat(1),
    part: fc.integer({ min: 1, max: 40 }),
  }),
  { minLength: 20, maxLength: 20 },
)

test('Each client receives every event of its vaults once and in order, and nothing else', {
  timeout: scaleSampleCount(120_000),
}, async ({ service }) => {
  const lagoon = await openLagoonVault(service, { generation: '0.6' })
  const sync = await openYieldVault(service)
  const async = await openAsyncVault(service, { make: 'aggregated' })
  const { chain } = lagoon
  for (const user of ACCOUNTS) {
    for (const vault of [sync, async]) {
      await vault.mint(user, 10n ** 15n)
      await vault.approve(user, 10n ** 15n)
    }
  }
  const place = ({ address }: { readonly address: typeof lagoon.address }) => ({ chainId: BASE, address })
  const keys = {
    all: await service.createClient([lagoon, sync, async].map(place)),
    some: await service.createClient([sync].map(place)),
    early: lagoon.key,
  }
  const webhook = { url: 'https://127.0.0.1:9/', finality: 'latest' }
  expect((await service.call('POST', '/webhooks', { key: keys.early, body: webhook })).status).toBe(201)
  await recordAllBlocks(chain)

  await service.restore('model', async () => undefined)
  await fc.assert(
    fc.asyncProperty(commands, async (steps) => {
      await service.restore('model', async () => undefined)
      const happened = new Map<string, Happened[]>([lagoon, sync, async].map(({ address }) => [address, []]))
      const note = (vault: { readonly address: string }, type: string, user: number, amount: bigint) =>
        happened.get(vault.address)?.push({ type, user, amount })
      // The lists have one item per user. `deposits` and `redemptions` belong to the Lagoon vault, `requested` to the
      // ERC-7540 vault.
      const deposits = ACCOUNTS.map(() => ({ pending: [] as bigint[], claimable: 0n }))
      const redemptions = ACCOUNTS.map(() => ({ pending: [] as bigint[], claimable: 0n }))
      const requested = ACCOUNTS.map(() => [] as bigint[])

      for (const { what, user: index, part } of steps) {
        const user = ACCOUNTS[index] as (typeof ACCOUNTS)[number]
        const amount = BigInt(part) * 1_000_000n
        const [deposit, redemption, waiting] = [deposits[index], redemptions[index], requested[index]]
        if (!deposit || !redemption || !waiting) continue
        if (what === 'request') {
          await lagoon.request(user, amount)
          if (deposit.claimable > 0n) note(lagoon, 'deposit.completed', index, deposit.claimable)
          deposit.claimable = 0n
          note(lagoon, 'deposit.pending', index, amount)
          deposit.pending.push(amount)
        } else if (what === 'cancel' && deposit.pending.length > 0) {
          await lagoon.act(user, 'cancelRequestDeposit')
          note(
            lagoon,
            'deposit.cancelled',
            index,
            deposit.pending.reduce((sum, of) => sum + of, 0n),
          )
          deposit.pending = []
        } else if (what === 'settle') {
          await lagoon.settle()
          for (const [kind, requests] of [
            ['deposit', deposits],
            ['withdrawal', redemptions],
          ] as const) {
            for (const [of, request] of requests.entries()) {
              for (const settled of request.pending) note(lagoon, `${kind}.claimable`, of, settled)
              request.claimable += request.pending.reduce((sum, one) => sum + one, 0n)
              request.pending = []
            }
          }
        } else if (what === 'claim' && deposit.claimable > 0n) {
          await lagoon.act(user, 'deposit', deposit.claimable, user, user)
          note(lagoon, 'deposit.completed', index, deposit.claimable)
          deposit.claimable = 0n
        } else if (what === 'redeem' && redemption.claimable === 0n) {
          const shares = (await lagoon.read('balanceOf', user)) / 3n
          if (shares < 10n ** 15n) continue
          await lagoon.act(user, 'requestRedeem', shares, user, user)
          note(lagoon, 'withdrawal.pending', index, shares)
          redemption.pending.push(shares)
        } else if (what === 'take' && redemption.claimable > 0n) {
          await lagoon.act(user, 'redeem', redemption.claimable, user, user)
          note(lagoon, 'withdrawal.completed', index, redemption.claimable)
          redemption.claimable = 0n
        } else if (what === 'deposit') {
          await sync.act(user, 'deposit', amount, user)
          note(sync, 'deposit.completed', index, amount)
        } else if (what === 'withdraw') {
          const shares = (await sync.read('balanceOf', user)) / 2n
          if (shares < 1_000_000n) continue
          await sync.act(user, 'redeem', shares, user, user)
          note(sync, 'withdrawal.completed', index, shares)
        } else if (what === 'ask') {
          await async.act(user, 'requestDeposit', amount, user, user)
          note(async, 'deposit.pending', index, amount)
          waiting.push(amount)
        } else if (what === 'fulfil' && waiting.length > 0) {
          const whole = waiting.reduce((sum, of) => sum + of, 0n)
          const settled = part > 20 ? whole : (whole + 1n) / 2n
          await async.act(ROLES.safe, 'fulfillDeposit', 0n, user, settled, settled)
          for (let rest = settled; rest > 0n; ) {
            const of = waiting.shift() ?? 0n
            note(async, 'deposit.claimable', index, of < rest ? of : rest)
            if (of > rest) waiting.unshift(of - rest)
            rest -= of < rest ? of : rest
          }
          // The job reads the vault's new state now. It then runs again after the block of that read is final. The
          // user's next request must come after both.
          await recordAllBlocks(chain)
          await recordAllBlocks(chain)
        } else if (what === 'run') {
          if (part > 10) await finalizeBlocks(chain)
          await runRefreshChain(BASE)
        } else if (what === 'kill') {
          if (part > 10) await finalizeBlocks(chain)
          await killAt(service, part)
        } else if (what === 'lose chain') {
          const wire = service.rpc[BASE] as RecordingProxy
          let requests = 0
          wire.rewrite = (answer) => (++requests > part % 5 ? 'no answer' : answer)
          await finalizeBlocks(chain)
          await runRefreshChain(BASE).catch(() => undefined)
          wire.reset()
        } else if (what === 'twice') {
          await finalizeBlocks(chain)
          await Promise.all([runRefreshChain(BASE), runRefreshChain(BASE)])
          await service.consume()
        } else if (what === 'reorganise') {
          const [snapshot] = await callRpc(chain, [{ method: 'evm_snapshot', params: [] }])
          await lagoon.request(user, 77_000_000n)
          await sync.act(user, 'deposit', 77_000_000n, user)
          await runRefreshChain(BASE)
          await callRpc(chain, [{ method: 'evm_revert', params: [snapshot] }])
        }
      }
      for (let run = 0; run < 3; run += 1) await recordAllBlocks(chain)

      for (const [key, vaults] of [
        [keys.all, [lagoon, sync, async]],
        [keys.some, [sync]],
        [keys.early, [lagoon]],
      ] as const) {
        const events = await listEvents(service, key)
        expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1))
        expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
        const addresses: unknown[] = vaults.map(({ address }) => address)
        expect(events.filter(({ data }) => !addresses.includes(data['vaultAddress']))).toEqual([])
        for (const { address } of vaults) {
          const ofVault = events.filter(({ data, final }) => final && data['vaultAddress'] === address)
          const expected = happened.get(address) ?? []
          expect(listInOrder(listHappened(ofVault), address === async.address)).toEqual(
            listInOrder(expected, address === async.address),
          )
        }
        const early = events.filter(({ final, type }) => !final && !type.endsWith('.reverted'))
        if (key !== keys.early) expect(early).toEqual([])
        const reverted = events.flatMap(({ type, data }) => (type.endsWith('.reverted') ? [data['eventId']] : []))
        for (const one of early) {
          const isSo = events.some(({ final, type, data }) => final && type === one.type && isSame(data, one.data))
          expect(reverted.filter((id) => id === one.id)).toHaveLength(isSo ? 0 : 1)
        }
        // The webhook events must contain the same deposits and withdrawals as the API. Entries that the job could
        // not read are excluded.
        const ofId = new Map(events.map(({ id, data }) => [id, idOf(data)]))
        const unread = new Set(
          events.flatMap(({ type, data }) =>
            isUnread(type, data) ? [ofId.get(String(data['eventId'])) ?? idOf(data)] : [],
          ),
        )
        if (!steps.some(({ what }) => what === 'kill' || what === 'lose chain')) expect(unread).toEqual(new Set())
        const stored = [...applyReceivedEvents(events)].flatMap(([id, { entry }]) =>
          entry ? [[id, entry] as const] : [],
        )
        const shown = await Promise.all(ACCOUNTS.map((account) => listEntriesOf(service, key, account)))
        const isRead = ([id]: readonly [string, unknown]) => !unread.has(id)
        expect(withoutLeft(stored.filter(isRead))).toEqual(withoutLeft(shown.flatMap((of) => [...of]).filter(isRead)))
      }
    }),
    { numRuns: scaleSampleCount(2), endOnFailure: true },
  )
})

/**
 * Runs the job and kills it at its `count`-th write to the table. That write succeeds, but only half of it if it is a
 * batch. All later requests fail.
 */
async function killAt(service: Service, count: number): Promise<void> {
  const { table } = service
  table.killAt(count)
  await runRefreshChain(BASE).catch(() => undefined)
  table.reset()
}

const erc7540Commands = fc.array(
  fc.record({
    what: fc.constantFrom(
      ...(['request', 'request', 'fulfil', 'fulfil', 'claim', 'cancel', 'look', 'look', 'look'] as const),
      ...(['finalize', 'kill', 'undo'] as const),
      // A third party requests a deposit for the user, or claims for the user if the vault allows it.
      ...(['dust', 'dust', 'claim for'] as const),
    ),
    part: fc.integer({ min: 1, max: 12 }),
  }),
  { minLength: 24, maxLength: 24 },
)

test('Each settled part is reported once, final and in time, whatever third parties do, although no event shows it', {
  timeout: scaleSampleCount(120_000),
}, async ({ service }) => {
  const [user, stranger] = ACCOUNTS as [(typeof ACCOUNTS)[number], (typeof ACCOUNTS)[number]]
  const body = { url: 'https://127.0.0.1:9/', finality: 'latest' }
  const open = async () => {
    const opened = await openAsyncVault(service, { make: 'aggregated' })
    for (const one of [user, stranger]) {
      await opened.mint(one, 10n ** 15n)
      await opened.approve(one, 10n ** 15n)
    }
    await opened.act(user, 'setOperator', stranger, true)
    expect((await service.call('POST', '/webhooks', { key: opened.key, body })).status).toBe(201)
    await recordAllBlocks(opened.chain)
    return opened
  }
  const vault = await service.restore('asked model', open)
  const { chain, key } = vault
  await fc.assert(
    fc.asyncProperty(erc7540Commands, async (steps) => {
      await service.restore('asked model', open)
      const fulfil = async (part: number) => {
        const pending = await vault.read('pendingDepositRequest', 0n, user)
        const settled = (pending * BigInt(part) + 11n) / 12n
        if (settled > 0n) await vault.act(ROLES.safe, 'fulfillDeposit', 0n, user, settled, settled)
        return settled
      }
      const requestDust = (amount: number) => vault.act(stranger, 'requestDeposit', BigInt(amount), user, stranger)
      const claimFor = async (amount: bigint) => {
        const claimable = await vault.read('claimableDepositRequest', 0n, user)
        if (claimable >= amount) await vault.act(stranger, 'deposit', amount, stranger, user)
      }
      let fulfilled = 0n
      for (const { what, part } of steps) {
        if (what === 'dust') await requestDust(part)
        else if (what === 'claim for') await claimFor(BigInt(part))
        else if (what === 'request') await vault.act(user, 'requestDeposit', BigInt(part) * 1_000_000n, user, user)
        else if (what === 'fulfil') fulfilled += await fulfil(part)
        else if (what === 'claim') {
          const claimable = await vault.read('claimableDepositRequest', 0n, user)
          if (claimable > 0n) await vault.act(user, 'deposit', claimable, user, user)
        } else if (what === 'cancel') {
          const pending = await vault.read('pendingDepositRequest', 0n, user)
          if (part > 3 || pending === 0n) continue
          await vault.act(user, 'cancelDepositRequest', 0n, user)
          await vault.act(ROLES.safe, 'fulfillCancelDeposit', 0n, user)
          await vault.act(user, 'claimCancelDepositRequest', 0n, user, user)
        } else if (what === 'look') await runRefreshChain(BASE)
        else if (what === 'finalize') await recordAllBlocks(chain)
        else if (what === 'kill') await killAt(service, part)
        else if (what === 'undo') {
          const [snapshot] = await callRpc(chain, [{ method: 'evm_snapshot', params: [] }])
          await fulfil(part)
          await runRefreshChain(BASE)
          await callRpc(chain, [{ method: 'evm_revert', params: [snapshot] }])
          await callRpc(chain, [{ method: 'anvil_mine', params: ['0x4'] }])
        }
      }
      // The job may have stored a snapshot of a block that a reorganisation removed. It must then store another one, so
      // it needs several runs until the block of the last snapshot is final.
      const runs = 6
      const due = fulfilled
      for (let run = 0; run < runs; run += 1) {
        await requestDust(1)
        await claimFor(1n)
        await runRefreshChain(BASE)
        await finalizeBlocks(chain)
      }
      const claimableOf = async () =>
        (await listEvents(service, key)).filter(({ type }) => type === 'deposit.claimable')
      expect(sumOf(await claimableOf())).toBe(due)
      for (let run = 0; run < 3; run += 1) await recordAllBlocks(chain)

      const events = await claimableOf()
      expect(events.filter(({ final }) => !final)).toEqual([])
      expect(sumOf(events)).toBe(due)
      // The job must report each amount as claimable before it reports the claim.
      let unclaimed = 0n
      for (const { type, final, data } of await listEvents(service, key)) {
        if (!final) continue
        if (type === 'deposit.claimable') unclaimed += BigInt(String(data['assets']))
        if (type === 'deposit.completed') unclaimed -= BigInt(String(data['assets']))
        expect(unclaimed).toBeGreaterThanOrEqual(0n)
      }
    }),
    { numRuns: scaleSampleCount(3), endOnFailure: true },
  )
})

const sumOf = (events: readonly ReceivedEvent[]) =>
  events.reduce((sum, { data }) => sum + BigInt(String(data['assets'])), 0n)

const isSame = (left: ReceivedEvent['data'], right: ReceivedEvent['data']) =>
  ['userAddress', 'transactionHash', 'blockNumber'].every((name) => left[name] === right[name])

/**
 * Converts webhook events into a list of what happened. A claim or cancellation counts once, although it has an event
 * for each request.
 */
function listHappened(events: readonly ReceivedEvent[]): Happened[] {
  const happened = new Map<string, Happened>()
  for (const { id, type, data } of events) {
    const isDeposit = type.startsWith('deposit.')
    const user = ACCOUNTS.map(String).indexOf(String(data['userAddress']))
    const amount = BigInt(String(data[isDeposit ? 'assets' : 'shares']))
    const isWhole = type.endsWith('.claimable') || type.endsWith('.pending')
    const key = isWhole ? id : [type, user, data['transactionHash']].join(' ')
    happened.set(key, { type, user, amount: amount + (happened.get(key)?.amount ?? 0n) })
  }
  return [...happened.values()]
}

const idOf = (data: ReceivedEvent['data']) => data['depositId'] ?? data['withdrawalId']

function isUnread(type: string, data: ReceivedEvent['data']): boolean {
  return type.endsWith('.reverted') ? idOf(data) === null : data['entry'] === null
}

/**
 * Maps ids to deposits and withdrawals. `currentShares` and the vault's price are removed, because they change
 * without an event.
 */
function withoutLeft(entries: readonly (readonly [string, Readonly<Record<string, unknown>> | null])[]) {
  return new Map(
    entries.map(([id, entry]) => {
      const { vault: _, amounts, ...others } = entry ?? {}
      return [id, { ...others, amounts: { ...(amounts as object), currentShares: undefined } }]
    }),
  )
}

/**
 * Converts what happened into comparable texts. Neighbouring claimable amounts are sorted, because the job may report
 * them in another order. `isErc7540` puts them last, because the job reports those of an ERC-7540 vault later.
 */
function listInOrder(happened: readonly Happened[], isErc7540: boolean): string[] {
  const texts = happened.map(({ type, user, amount }) => `${type} ${user} ${amount}`)
  const isSettled = (text: string) => text.includes('.claimable')
  if (isErc7540) return [...texts.filter((text) => !isSettled(text)), ...texts.filter(isSettled).toSorted()]
  const groups: string[][] = []
  for (const text of texts) {
    const last = groups.at(-1)
    const [kind] = text.split(' ')
    if (last && isSettled(text) && last[0]?.startsWith(`${kind} `)) last.push(text)
    else groups.push([text])
  }
  return groups.flatMap((group) => group.toSorted())
}
