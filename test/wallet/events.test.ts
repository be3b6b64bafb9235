import { expect, test } from 'vitest'
import { type Arrival, listNews } from '../../wallet/src/events.ts'

const ALICE = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'
const BOB = '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc'
const VAULT = '0xF2ea27c7b2e586B61af27223A7707356F685F718'
const HASH = `0x${'aa'.repeat(32)}`
const owner = { accounts: new Set([ALICE]), transfers: new Set([HASH]) }
const HARBOR = { name: 'Harbor', asset: { symbol: 'USDC', decimals: 6 }, shareDecimals: 18 }
const findVault = (_: number, address: string) => (address === VAULT ? HARBOR : undefined)

const movement = {
  ...{ chainId: 8453, vaultAddress: VAULT, userAddress: ALICE, transactionHash: HASH, blockNumber: 7 },
  ...{ depositId: '8453-0xaa-1', entry: null, assets: '25000000', shares: null },
}

type Told = { type: string; final?: boolean; data?: object }

/** Events as they arrived, the newest first, as the wallet has them. */
function arrivals(...events: readonly Told[]): Arrival[] {
  const list = events.map(({ data, ...event }, index) => ({
    ...{ number: index + 1, attempt: 1, isVerified: true, isTaken: true, status: 204, delayMs: 1000 },
    ...{ receivedAt: '2026-11-01T00:00:02.000Z', id: `evt_${index + 1}` },
    event: {
      ...{ id: `evt_${index + 1}`, timestamp: '2026-11-01T00:00:00.000Z', sequence: index + 1, final: false },
      ...{ data: { ...movement, ...data }, ...event },
    },
  }))
  // Just what the test is about, in the form of the service.
  return list.toReversed() as unknown as Arrival[]
}

test('What was told before it was final, and again when it was, is one piece of news', () => {
  const first = { type: 'deposit.claimable' }
  expect(listNews(arrivals(first), owner, findVault)).toMatchObject([
    { text: 'Your deposit of 25 USDC into Harbor can be claimed', state: 'may change' },
  ])
  const news = listNews(arrivals(first, { ...first, final: true }), owner, findVault)
  expect(news).toMatchObject([{ text: 'Your deposit of 25 USDC into Harbor can be claimed', state: 'final' }])
})

test('What a reorganisation has undone says so', () => {
  const undone = { type: 'deposit.reverted', data: { eventId: 'evt_1' } }
  expect(listNews(arrivals({ type: 'deposit.completed' }, undone), owner, findVault)).toMatchObject([
    { state: 'undone' },
  ])
})

test('A deposit that waits is told with how long settlements take, where that is known', () => {
  const pending = (estimatedSettlement: object | null) => ({ type: 'deposit.pending', data: { estimatedSettlement } })
  const told = listNews(arrivals(pending({ p50: 600, p90: 7200 })), owner, findVault)
  expect(told[0]?.text).toBe('Your deposit of 25 USDC into Harbor is waiting, usually less than 2 h')
  expect(listNews(arrivals(pending(null)), owner, findVault)[0]?.text).not.toContain('usually')
})

test('An amount is told in shares where the assets are not known, and left out where nothing is', () => {
  const withdrawal = (amounts: object) => {
    const [arrival] = arrivals({ type: 'withdrawal.pending', data: { withdrawalId: '8453-0xaa-2', ...amounts } })
    return JSON.parse(JSON.stringify([arrival], (name, value) => (name === 'depositId' ? undefined : value)))
  }
  const textOf = (amounts: object) => listNews(withdrawal(amounts), owner, findVault)[0]?.text
  const shares = { assets: null, shares: '1500000000000000000' }
  expect(textOf(shares)).toBe('Your withdrawal of 1.5 shares from Harbor is waiting')
  expect(textOf({ assets: null })).toBe('Your withdrawal from Harbor is waiting')
  const elsewhere = { ...shares, vaultAddress: BOB }
  expect(textOf(elsewhere)).toBe('Your withdrawal from a vault is waiting')
})

test('What was claimed since is not said to be claimable, unless the claim is undone or of another request', () => {
  const settled = { type: 'deposit.claimable', final: true }
  const claim = { type: 'deposit.completed', data: { transactionHash: `0x${'bb'.repeat(32)}` } }
  const textOf = (...more: readonly Told[]) => listNews(arrivals(settled, ...more), owner, findVault).at(-1)?.text
  expect(textOf(claim)).toBe('Your deposit of 25 USDC into Harbor was settled and claimed')
  const undone = { type: 'deposit.reverted', data: { eventId: 'evt_2' } }
  expect(textOf(claim, undone)).toContain('can be claimed')
  expect(textOf({ ...claim, data: { ...claim.data, depositId: '8453-0xbb-1' } })).toContain('can be claimed')
})

test('News of a withdrawal speaks of no settlement: it may have waited for a cooldown', () => {
  const told = (type: string) => {
    const withdrawal = { withdrawalId: '8453-0xaa-2', depositId: undefined }
    return { type, data: { ...withdrawal, assets: '25000000', shares: '25' } }
  }
  const textsOf = (...events: readonly Told[]) => {
    const list: readonly Arrival[] = JSON.parse(JSON.stringify(arrivals(...events)))
    return listNews(list, owner, findVault).map(({ text }) => text)
  }
  const claim = { type: 'withdrawal.completed', data: { ...told('').data, transactionHash: `0x${'bb'.repeat(32)}` } }
  const part = { ...claim, data: { ...claim.data, shares: '20' } }
  expect(textsOf(told('withdrawal.pending'))).toEqual(['Your withdrawal of 25 USDC from Harbor is waiting'])
  expect(textsOf(told('withdrawal.claimable'), claim)).toContain('Your withdrawal of 25 USDC from Harbor was claimed')
  expect(textsOf(told('withdrawal.claimable'), part)).toContain(
    'A part of your withdrawal of 25 USDC from Harbor is still to be claimed',
  )
})

test('A settlement that was claimed in part is not said to be claimed', () => {
  const settled = { type: 'deposit.claimable', final: true }
  const claim = (hash: string, assets: string, final = true) => ({
    ...{ type: 'deposit.completed', final, data: { transactionHash: `0x${hash.repeat(32)}`, assets } },
  })
  const textOf = (...more: readonly Told[]) => listNews(arrivals(settled, ...more), owner, findVault).at(-1)?.text
  // The same claim, before it is final and after.
  const [early, first] = [claim('bb', '15000000', false), claim('bb', '15000000')]
  expect(textOf(early, first)).toBe('Your deposit of 25 USDC into Harbor was settled: a part is still to be claimed')
  expect(textOf(early, first, claim('cc', '10000000'))).toContain('was settled and claimed')
})

test('What waits no longer is left out: it was settled as a whole, or taken back', () => {
  const pending = { type: 'deposit.pending', data: { estimatedSettlement: { p50: 600, p90: 7200 } } }
  const waits = (...more: readonly Told[]) =>
    listNews(arrivals(pending, ...more), owner, findVault).some(({ text }) => text.includes('is waiting'))
  const hash = { transactionHash: `0x${'bb'.repeat(32)}` }
  expect(waits({ type: 'deposit.claimable', data: { ...hash, assets: '20000000' } })).toBe(true)
  expect(waits({ type: 'deposit.claimable', data: hash })).toBe(false)
  expect(waits({ type: 'deposit.completed', data: hash })).toBe(false)
  expect(waits({ type: 'deposit.cancelled', data: hash })).toBe(false)
  const undone = { type: 'deposit.reverted', data: { eventId: 'evt_2' } }
  expect(waits({ type: 'deposit.cancelled', data: hash }, undone)).toBe(true)
})

test('Others’ events, deliveries that were not taken, tests, and types that are new are no news', () => {
  const mine = { type: 'deposit.completed' }
  expect(listNews(arrivals({ ...mine, data: { userAddress: BOB } }), owner, findVault)).toEqual([])
  expect(listNews(arrivals({ type: 'deposit.blessed' }, { type: 'webhook.test' }), owner, findVault)).toEqual([])
  const dropped = arrivals(mine).map((arrival) => ({ ...arrival, isTaken: false }))
  expect(listNews(dropped, owner, findVault)).toEqual([])
})

test('A transfer is the news of whoever has sent it in this browser', () => {
  const sentAs = (source: string) => ({
    type: 'transfer.completed',
    data: {
      ...{
        userAddress: undefined,
        transactionHash: undefined,
        depositId: undefined,
        entry: undefined,
        transactions: { source },
      },
      ...{ srcChain: { id: 42161 }, inputAmount: '26000000', outputAmount: '25000000' },
    },
  })
  const strip = (list: readonly Arrival[]) => JSON.parse(JSON.stringify(list))
  expect(listNews(strip(arrivals(sentAs(HASH))), owner, findVault)).toMatchObject([
    { text: '25 USDC you sent between chains for Harbor has arrived', chainId: 8453 },
  ])
  const paidOut = JSON.parse(JSON.stringify(arrivals(sentAs(HASH))).replace('"id":42161', '"id":8453'))
  expect(listNews(paidOut, owner, findVault)[0]?.text).toBe('26 USDC you sent between chains has arrived')
  expect(listNews(strip(arrivals(sentAs(`0x${'bb'.repeat(32)}`))), owner, findVault)).toEqual([])
})
