import fc from 'fast-check'
import {
  type Address,
  decodeFunctionData,
  encodeFunctionData,
  getAddress,
  type Hex,
  numberToHex,
  pad,
  parseAbi,
} from 'viem'
import { describe, expect, test } from 'vitest'
import { preparationOf, verifyTransactions } from '../../client/src/verify.ts'
import { createWitness } from '../../client/src/witness.ts'
import { toReply } from '../../lib/prepare/reply.ts'
import { TransactionsReply } from '../../lib/prepare/transactions-reply.ts'
import { encodeClaim } from '../../lib/rewards/distributor.ts'
import { scaleSampleCount } from '../support/runs.ts'

const BASE = 8453
const DISTRIBUTOR = '0x3Ef3D8bA38EBe18DB133cEc108f4D14CE00Dd9Ae'
const abi = parseAbi(['function claim(address[] users, address[] tokens, uint256[] amounts, bytes32[][] proofs)'])
const MAX_TOTAL = 2n ** 208n - 1n

const addressOf = (number: bigint): Address => getAddress(pad(numberToHex(number), { size: 20 }))
const [ALICE, BOB] = [addressOf(0xa11cen), addressOf(0xb0bn)]

type Claimed = {
  readonly token: Address
  readonly total: bigint
  readonly paid: bigint
  readonly proof: readonly Hex[]
}
type Transaction = { readonly chainId: number; readonly to: string; readonly data: string; readonly value: string }

/**
 * Generates up to five rewards in different tokens. Each has the total earned, the amount that a claim pays, and a Merkle
 * proof.
 */
const claims = fc.uniqueArray(
  fc
    .tuple(
      fc.bigInt({ min: 1n, max: 2n ** 160n - 1n }),
      fc.bigInt({ min: 1n, max: MAX_TOTAL }),
      fc.bigInt({ min: 0n, max: MAX_TOTAL }),
      fc.array(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), { maxLength: 4 }),
    )
    .map(([token, total, before, proof]): Claimed => {
      const hashes = proof.map((hash) => numberToHex(hash, { size: 32 }))
      return { token: addressOf(token), total, paid: total - (before % total), proof: hashes }
    }),
  { minLength: 1, maxLength: 5, selector: ({ token }) => token },
)

function responseTo(claimed: readonly Claimed[]) {
  const operation = encodeClaim(
    ALICE,
    claimed.map(({ token, total: amount, proof }) => ({ token, amount, proof: [...proof] })),
  )
  const untried = { estimatedGas: 1n, simulation: { status: 'unavailable' }, evidence: [] } as const
  const reply = toReply({ protocol: 'merkl', chainId: BASE }, ALICE, {
    ...{ ...untried, evidence: [] },
    ...{ approval: [], operations: [operation] },
  })
  return {
    ...TransactionsReply.encode(reply),
    rewards: claimed.map(({ token, paid }) => ({ token: token as string, amount: `${paid}` })),
    leftOut: [],
  }
}
type Response = ReturnType<typeof responseTo>

function withOperations(response: object, ...operations: readonly Transaction[]) {
  const calls = operations.map(({ to, data, value }) => ({ to, data, value: numberToHex(BigInt(value)) }))
  const form = { version: '2.0.0', chainId: numberToHex(BASE), from: ALICE, atomicRequired: calls.length > 1, calls }
  return { ...response, operations, calls: form }
}

const buildTransaction = (data: string, changed: Partial<Transaction> = {}): Transaction => ({
  ...{ chainId: BASE, to: DISTRIBUTOR, data, value: '0' },
  ...changed,
})

const input = { userAddress: ALICE, chainId: BASE }
const isAccepted = (response: object, change: object = {}) =>
  verifyTransactions('rewards', { ...input, ...change }, response).ok

function claimOf(claimed: readonly Claimed[], changed: { readonly users?: readonly Address[] } = {}) {
  const users = changed.users ?? claimed.map(() => ALICE)
  const lists = [claimed.map(({ token }) => token), claimed.map(({ total }) => total)] as const
  return encodeFunctionData({ abi, args: [users, ...lists, claimed.map(({ proof }) => proof)] })
}

const ONE: Claimed = { token: addressOf(1n), total: 70n, paid: 20n, proof: [pad('0x1'), pad('0x2')] }
const TWO: Claimed = { token: addressOf(2n), total: 9n, paid: 9n, proof: [] }

describe('A claim of rewards', () => {
  test('is accepted as the service builds it, and says in words what it pays', () => {
    fc.assert(
      fc.property(claims, (claimed) => {
        const response = responseTo(claimed)
        const verdict = verifyTransactions('rewards', input, response)
        const words = claimed.map(({ token, paid }) => `${paid} of the token ${token}`).join(', ')
        const does = `has the contract ${DISTRIBUTOR.toLowerCase()} pay the rewards of ${ALICE}: ${words}`
        expect(verdict).toEqual({
          ok: true,
          steps: [{ chainId: BASE, to: DISTRIBUTOR, call: 'claim of rewards', amount: 0n, does }],
        })
      }),
      { numRuns: scaleSampleCount(300) },
    )
  })

  test('is expected from POST …/rewards/claim and from no other path', () => {
    const url = 'https://api.example/prod/defi-vaults/v1/defi/rewards/claim'
    expect(preparationOf({ method: 'POST', url })).toBe('rewards')
    expect(preparationOf({ method: 'GET', url })).toBeUndefined()
    expect(preparationOf({ method: 'POST', url: url.replace('/rewards/', '/vault/') })).toBe('claim')
    expect(preparationOf({ method: 'POST', url: url.replace('claim', 'deposit') })).toBeUndefined()
  })

  test('is refused for another user or chain, and for tokens that were not requested', () => {
    const response = responseTo([ONE, TWO])
    expect(isAccepted(response, { tokens: [TWO.token, ONE.token.toLowerCase(), BOB] })).toBe(true)
    expect(isAccepted(response, { tokens: null })).toBe(true)
    for (const change of [
      ...[{ userAddress: BOB }, { userAddress: undefined }, { chainId: 1 }, { chainId: undefined }],
      ...[{ tokens: [ONE.token] }, { tokens: [] }, { tokens: ONE.token }, { tokens: [BOB] }],
    ]) {
      expect(isAccepted(response, change), JSON.stringify(change)).toBe(false)
    }
  })

  test('is refused if one part differs from what the response says', () => {
    const response = responseTo([ONE, TWO])
    const data = claimOf([ONE, TWO])
    expect(isAccepted(withOperations(response, buildTransaction(data)))).toBe(true)
    const [users, zero] = [[ALICE, ALICE], addressOf(0n)] as const
    const other = { ...ONE, token: addressOf(3n) }
    const otherCalls = [
      ...[claimOf([ONE, TWO], { users: [ALICE, BOB] }), claimOf([ONE, TWO], { users: [BOB, ALICE] })],
      ...[claimOf([ONE, TWO], { users: [BOB, BOB] }), claimOf([ONE, TWO], { users: [zero, ALICE] })],
      ...[claimOf([TWO, ONE]), claimOf([ONE]), claimOf([]), claimOf([ONE, TWO, other]), claimOf([ONE, TWO, TWO])],
      ...[claimOf([ONE, other]), claimOf([ONE, ONE]), claimOf([ONE, TWO], { users: [...users, ALICE] })],
      ...[claimOf([{ ...ONE, total: 19n }, TWO]), claimOf([{ ...ONE, total: 0n }, TWO])],
      claimOf([{ ...ONE, total: MAX_TOTAL + 1n }, TWO]),
      // The contract decodes some of these calldata as the same claim, and cannot decode the others. The verifier
      // rejects all of these calldata.
      ...[`${data}00`, `${data}${'0'.repeat(64)}`, data.slice(0, -2), data.slice(0, -64)],
      ...[`0x${data.slice(2, 10)}`, `0x095ea7b3${data.slice(10)}`],
    ]
    for (const changed of otherCalls)
      expect(isAccepted(withOperations(response, buildTransaction(changed))), String(changed)).toBe(false)
    for (const changed of [{ to: BOB }, { value: '1' }, { chainId: 1 }]) {
      expect(isAccepted(withOperations(response, buildTransaction(data, changed))), JSON.stringify(changed)).toBe(false)
    }
    expect(isAccepted(withOperations(response, buildTransaction(data), buildTransaction(data)))).toBe(false)
    expect(isAccepted(withOperations(response))).toBe(false)
    const approve = buildTransaction(`0x095ea7b3${BOB.slice(2).padStart(64, '0')}${'f'.repeat(64)}`, { to: ONE.token })
    const approving = withOperations(response, approve, buildTransaction(data))
    expect(isAccepted({ ...approving, approval: [approve], operations: [buildTransaction(data)] })).toBe(false)
    for (const changed of [
      ...[{ chainId: 1 }, { protocol: 'erc4626' }, { isCrossChain: true }, { rewards: [] }, { rewards: undefined }],
      ...[{ rewards: response.rewards.slice(1) }, { rewards: response.rewards.toReversed() }],
      { rewards: response.rewards.map((reward) => ({ ...reward, amount: '0' })) },
      { calls: { ...response.calls, from: BOB } },
    ]) {
      expect(isAccepted({ ...response, ...changed }), JSON.stringify(changed)).toBe(false)
    }
  })

  test('that claims a token twice is refused, even if the response lists it twice', () => {
    const lower = { ...ONE, token: ONE.token.toLowerCase() as Address }
    expect(isAccepted(responseTo([ONE, TWO]))).toBe(true)
    expect(isAccepted(responseTo([ONE, lower]))).toBe(false)
    expect(isAccepted(responseTo([]))).toBe(false)
  })

  test('is refused after any change of its calldata, except of a proof or to a larger total', () => {
    const change = fc.constantFrom('digit', 'shorter', 'longer', 'swapped')
    let accepted = 0
    fc.assert(
      fc.property(claims, change, fc.nat(), fc.nat(), fc.integer({ min: 1, max: 15 }), (claimed, way, at, from, by) => {
        const response = responseTo(claimed)
        const [{ data }] = response.operations as [Transaction]
        const words: string[] = data.slice(10).match(/.{64}/g) ?? []
        const [one, other] = [at % words.length, from % words.length]
        const [left, right] = [words[one] ?? '', words[other] ?? '']
        const changed = {
          digit: () => words.with(one, flip(left, from % 64, by)),
          shorter: () => words.toSpliced(one, 1),
          longer: () => words.toSpliced(one, 0, right),
          swapped: () => words.with(one, right).with(other, left),
        }[way]()
        const text = `${data.slice(0, 10)}${changed.join('')}`
        fc.pre(text !== data)
        const expected = isSameClaim(text, response)
        expect(isAccepted(withOperations(response, buildTransaction(text)))).toBe(expected)
        accepted += Number(expected)
      }),
      { numRuns: scaleSampleCount(3000) },
    )
    expect(accepted).toBeGreaterThan(0)
  })

  test('is refused without an exception, whatever else the response is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(verifyTransactions('rewards', input, value).ok).toBe(false)
        expect(verifyTransactions('rewards', value, responseTo([ONE])).ok).toBe(false)
        expect(verifyTransactions('rewards', input, { ...responseTo([ONE]), rewards: value }).ok).toBe(false)
      }),
    )
  })
})

describe("A wallet's own node", () => {
  const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  const transfer = (token: Address, to: Address, amount: bigint) => ({
    address: token,
    topics: [TRANSFER, pad(DISTRIBUTOR), pad(to)],
    data: numberToHex(amount, { size: 32 }),
  })
  /** Checks a reward claim at a node whose simulation emits these logs. Undefined means that the node cannot simulate. */
  const witnessOf = async (logs: readonly object[] | undefined) => {
    const fetch: typeof globalThis.fetch = async (_, init) => {
      const { method } = JSON.parse(String(init?.body))
      if (method === 'eth_chainId') return Response.json({ result: numberToHex(BASE) })
      if (method === 'eth_call') return Response.json({ result: '0x' })
      return Response.json(
        logs ? { result: [{ calls: [{ status: '0x1', returnData: '0x', logs }] }] } : { error: { code: -32_601 } },
      )
    }
    const answer = responseTo([ONE, TWO])
    const verdict = verifyTransactions('rewards', input, answer)
    if (!verdict.ok) throw new Error(verdict.message)
    return createWitness({ url: 'https://node.example', fetch })({
      ...{ preparation: 'rewards', input, answer },
      steps: verdict.steps,
    })
  }
  const paid = [transfer(ONE.token, ALICE, 20n), transfer(TWO.token, ALICE, 9n)]

  test('confirms a claim whose dry run pays each token; without a dry run it names the unchecked amounts', async () => {
    expect(await witnessOf(paid)).toEqual({ chainId: BASE, isSimulated: true, notes: [] })
    const { isSimulated, notes } = await witnessOf(undefined)
    expect(isSimulated).toBe(false)
    expect(notes).toContain('The amounts of the rewards are not checked.')
  })

  test('refuses a claim that pays less, pays another account, or takes a token', async () => {
    const wrong = { reason: 'wrong_amounts' }
    await expect(witnessOf([transfer(ONE.token, ALICE, 10n), transfer(TWO.token, ALICE, 9n)])).rejects.toMatchObject(
      wrong,
    )
    await expect(witnessOf([transfer(ONE.token, BOB, 20n), transfer(TWO.token, ALICE, 9n)])).rejects.toMatchObject(
      wrong,
    )
    const taken = { ...transfer(BOB, BOB, 5n), topics: [TRANSFER, pad(ALICE), pad(BOB)] }
    await expect(witnessOf([...paid, taken])).rejects.toMatchObject(wrong)
  })
})

function flip(text: string, position: number, by: number): string {
  return text.slice(0, position) + (parseInt(text[position] ?? '0', 16) ^ by).toString(16) + text.slice(position + 1)
}

/**
 * Returns true if the calldata is the canonical encoding of a claim of the response's rewards for Alice. The check uses viem's
 * decoder, not the verifier's own.
 */
function isSameClaim(text: string, { rewards }: Response): boolean {
  // The cast is safe: the text is a transaction's data.
  const data = text as Hex
  try {
    const { args } = decodeFunctionData({ abi, data })
    const [users, tokens, totals, proofs] = args
    return (
      encodeFunctionData({ abi, args }) === data &&
      [users, tokens, totals, proofs].every(({ length }) => length === rewards.length) &&
      users.every((user) => user === ALICE) &&
      rewards.every(({ token, amount }, index) => {
        const total = totals[index] ?? 0n
        return tokens[index] === token && total >= BigInt(amount) && total <= MAX_TOTAL
      })
    )
  } catch {
    return false
  }
}
