import fc from 'fast-check'
import { type Address, numberToHex } from 'viem'
import { describe, expect } from 'vitest'
import { createAgreementOf, type GetReader, type RunAgreed } from '../../../lib/chain/agree.ts'
import { createRpc } from '../../../lib/chain/nodes.ts'
import { createChainReader } from '../../../lib/chain/reader.ts'
import { type EvmChain, evmChain } from '../../../lib/chain/registry.ts'
import type { Rpc, RpcOutcome, RpcRequest } from '../../../lib/chain/rpc.ts'
import { max } from '../../../lib/core/bigint.ts'
import { toResult } from '../../../lib/core/result.ts'
import { prepareClaim } from '../../../lib/prepare/claim.ts'
import { prepareDeposit } from '../../../lib/prepare/deposit.ts'
import { agreeOnReply, toReply } from '../../../lib/prepare/reply.ts'
import { prepareWithdrawal } from '../../../lib/prepare/withdraw.ts'
import { describeVault } from '../../../lib/protocols/describe.ts'
import type { Vault } from '../../../lib/vaults/vault.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { scaleSampleCount } from '../../support/runs.ts'
import { test as base, type Service, USERS } from '../../support/service.ts'
import { openLagoonVault, openYieldVault } from '../../support/vaults.ts'

const [ALICE] = USERS
const BASE = evmChain(8453) as EvmChain
const environment = { fetch, random: () => 0, now: () => performance.now() }

type Reply = ReturnType<typeof toReply>
type Work = (getReader: GetReader) => Promise<Reply>

/**
 * Prepares one request of each kind that returns transactions on a single chain. `honest` is a host that caches the
 * chain's responses.
 */
async function prepare(service: Service) {
  const lagoon = await openLagoonVault(service, { generation: '0.5' })
  const units = lagoon.units
  await lagoon.request(ALICE.address, units('500'))
  await lagoon.settle()
  await lagoon.act(ALICE.address, 'deposit', units('300'), ALICE.address, ALICE.address)
  await lagoon.act(ALICE.address, 'requestRedeem', 50n * 10n ** 18n, ALICE.address, ALICE.address)
  await lagoon.settle()
  const savings = await openYieldVault(service)
  await savings.mint(ALICE.address, units('100'))
  await savings.approve(ALICE.address, units('100'))
  await savings.act(ALICE.address, 'deposit', units('60'), ALICE.address)

  // A host may be some seconds behind, or claim to be. 64 blocks are mined, so that it still has all data.
  await callRpc(lagoon.chain, [{ method: 'anvil_mine', params: ['0x40', '0x1'] }])
  const url = lagoon.chain.rpcUrl
  const node = createRpc([url], environment)
  const recordOf = async (address: Address): Promise<Vault> => {
    const described = await describeVault({ reader: createChainReader(BASE, node), archive: node }, address)
    const shown = { poolId: 'p', description: '', logoUrl: '', riskProfile: '', riskProtocol: '', addedAt: new Date(0) }
    return { ...described, ...shown, firstBlock: 0 } as Vault
  }
  const [async, sync] = [await recordOf(lagoon.address), await recordOf(savings.address)]
  const account = ALICE.address
  const bridge = {
    integratorId: undefined,
    fetchQuote: async () => {
      throw new Error('Nothing goes to another chain here.')
    },
  }
  const depositOf =
    (vault: Vault): Work =>
    async (getReader) => {
      const order = { vault, pin: undefined, account, amount: 1_000_000n }
      return toReply(vault, account, await prepareDeposit(getReader(8453), order))
    }
  const withdrawalOf =
    (vault: Vault, amount: Parameters<typeof prepareWithdrawal>[1]['amount']): Work =>
    async (getReader) => {
      const order = { vault, account, amount, destination: undefined }
      const prepared = await prepareWithdrawal({ getReader, ...bridge }, order)
      return { ...toReply(vault, account, prepared), withdrawal: prepared.withdrawal }
    }
  const claimOf =
    (kind: 'deposit' | 'withdrawal'): Work =>
    async (getReader) => {
      const prepared = await prepareClaim(
        { getReader, ...bridge },
        { vault: async, account, kind, destination: undefined },
      )
      return { ...toReply(async, account, prepared), claimable: prepared.claimable }
    }
  const works: readonly Work[] = [
    depositOf(async),
    depositOf(sync),
    withdrawalOf(async, { shares: 10n ** 18n }),
    withdrawalOf(async, 'max'),
    withdrawalOf(sync, { assets: 20_000_000n }),
    withdrawalOf(sync, { shares: 10n ** 18n }),
    withdrawalOf(sync, 'max'),
    claimOf('deposit'),
    claimOf('withdrawal'),
    // The withdrawal exceeds the balance, so the service must refuse it.
    withdrawalOf(sync, { assets: 200_000_000n }),
  ]

  const said = new Map<string, Promise<RpcOutcome[]>>()
  const honest: Rpc = async (requests) => {
    const outcomes = requests.map((request) => {
      const key = JSON.stringify(request)
      const outcome = said.get(key) ?? node([request])
      said.set(key, outcome)
      return outcome
    })
    return (await Promise.all(outcomes)).flat()
  }
  const agreeAmong = (...rpcs: Rpc[]): RunAgreed => createAgreementOf(() => ({ chain: BASE, rpcs }))
  const truth = await Promise.all(works.map((work) => toResult(agreeAmong(honest)([8453], work, agreeOnReply))))
  return { works, honest, agreeAmong, truth }
}

const test = base.extend('stage', { scope: 'file' }, ({ sharedService }) => prepare(sharedService))

/** A false RPC result: digits of the honest result are changed, or the whole result is replaced. */
const anyLie = fc.record({
  place: fc.nat(20),
  kind: fc.constantFrom('digit', 'word', 'length', 'null', 'error', 'swap', 'gas', 'header', 'unsupported'),
  at: fc.nat(),
  digit: fc.nat(15),
  word: fc.constantFrom(0n, 1n, 2n ** 256n - 1n, 2n ** 255n, 10n ** 18n),
  isEach: fc.boolean(),
})
type TheLie = typeof anyLie extends fc.Arbitrary<infer T> ? T : never

function lying(honest: Rpc, { place, kind, at, digit, word, isEach }: TheLie): Rpc {
  const changeHex = (text: string): string => {
    const digits = text.slice(2)
    if (digits.length === 0) return '0x01'
    if (kind === 'word') {
      const start = (at % Math.max(1, Math.floor(digits.length / 64))) * 64
      return `0x${digits.slice(0, start)}${numberToHex(word, { size: 32 }).slice(2)}${digits.slice(start + 64)}`
    }
    if (kind === 'length') return `0x${digits.slice(0, at % digits.length)}`
    const index = at % digits.length
    return `0x${digits.slice(0, index)}${digit.toString(16)}${digits.slice(index + 1)}`
  }
  const changeAny = (value: unknown, steps: { left: number }): unknown => {
    if (typeof value === 'string' && value.startsWith('0x')) return steps.left-- === 0 ? changeHex(value) : value
    if (Array.isArray(value)) return value.map((one) => changeAny(one, steps))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, changeAny(one, steps)]))
  }
  const change = (outcome: RpcOutcome, { method }: RpcRequest, others: readonly RpcOutcome[]): RpcOutcome => {
    if (kind === 'null') return { result: null }
    if (kind === 'error') return { error: { code: -32_000 } }
    if (kind === 'unsupported') return { error: { code: -32_601, refusal: 'unsupported' } }
    if (kind === 'swap') return others[at % others.length] ?? outcome
    if (!('result' in outcome)) return { result: numberToHex(word) }
    if (kind === 'gas' && method !== 'eth_simulateV1') return outcome
    if (kind === 'header' && method !== 'eth_getBlockByNumber') return outcome
    const hexes = JSON.stringify(outcome.result).match(/"0x[0-9a-f]*"/gi)?.length ?? 1
    return { result: changeAny(outcome.result, { left: at % hexes }) }
  }
  return async (requests) => {
    const outcomes = await honest(requests)
    return outcomes.map((outcome, index) =>
      isEach || index === place % outcomes.length ? change(outcome, requests[index] as RpcRequest, outcomes) : outcome,
    )
  }
}

/** Removes the evidence and the gas estimate. A lying host must not be able to change anything else in a reply. */
const signedOf = ({ evidence: _, estimatedGas: __, ...signed }: Reply) => signed

const SAFE = ['nodes_disagree', 'second_node_silent', 'upstream_bad_answer', 'upstream_unavailable']

describe('One lying host', () => {
  test.for([2, 3])('of %i changes neither signed fields nor, beyond its limits, the gas', async (count, { stage }) => {
    const { works, honest, agreeAmong, truth } = stage
    let replies = 0
    await fc.assert(
      fc.asyncProperty(anyLie, fc.nat(works.length - 1), fc.nat(count - 1), async (lie, which, place) => {
        const hosts = Array.from({ length: count }, () => honest).with(place, lying(honest, lie))
        const expected = truth[which]
        const work = works[which] as Work
        const agreed = await toResult(agreeAmong(...hosts)([8453], work, agreeOnReply))
        if ('error' in agreed) {
          const own = expected && 'error' in expected ? [expected.error.code] : []
          expect([...SAFE, ...own]).toContain(agreed.error.code)
          return
        }
        replies += 1
        if (!expected || 'error' in expected) throw new Error('An honest chain hands nothing out.')
        const { withdrawal, ...signed } = signedOf(agreed.value) as Record<string, unknown>
        const { withdrawal: figures, ...own } = signedOf(expected.value) as Record<string, unknown>
        expect({ ...signed, simulation: own['simulation'] }).toEqual(own)
        expect(JSON.stringify(Object.keys(withdrawal ?? {}))).toBe(JSON.stringify(Object.keys(figures ?? {})))
        const gas = agreed.value.estimatedGas
        // A lying host can raise the gas estimate to at most twice the honest estimate. Without a dry run, the
        // documented 1,000,000 is allowed.
        const upper = max(expected.value.estimatedGas * 2n, 1_000_000n)
        expect(gas >= expected.value.estimatedGas && gas <= upper).toBe(true)
      }),
      { numRuns: scaleSampleCount(1_500) },
    )
    // Many lies change nothing that the service uses, so many requests must still succeed.
    expect(replies).toBeGreaterThan(100)
  })
})
