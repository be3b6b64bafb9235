import * as z from 'zod'
import type { Node } from '../nodes.ts'
import { type ActiveChange, buildControl, chainName, jsonOnly } from './control.ts'

type HostedChain = { readonly chainId: number; readonly hosts: readonly Node[] }

/** Returns controls that make the last imitated RPC node of a chain lag or lie. */
export function buildNodeControls(chains: readonly HostedChain[], Chain: z.ZodType<number>) {
  const on = new Map<number, { readonly kind: 'lag' | 'lie'; readonly what: string }>()
  const change = (
    chainId: number,
    kind: 'lag' | 'lie',
    what: string,
    changes: Parameters<Node['changeProfile']>[0],
  ) => {
    const hosts = chains.find((chain) => chain.chainId === chainId)?.hosts ?? []
    if (hosts.length < 2) throw new Error('The chain has one host only: start with NODES=plain,plain')
    hosts.at(-1)?.changeProfile(changes)
    on.set(chainId, { kind, what: `One of two hosts of ${chainName(chainId)} ${what}` })
  }
  const listOn = (kind: 'lag' | 'lie') => (): ActiveChange[] =>
    [...on].flatMap(([chainId, one]) =>
      one.kind === kind ? [{ what: one.what, end: { name: 'nodes/resume', body: { chainId } } }] : [],
    )
  return {
    'nodes/lag': buildControl(
      'One of the two hosts of a chain stays so many blocks behind. Responses follow the older block; too far behind, deposits get 503.',
      z.strictObject({ chainId: Chain, blocks: z.int().min(1).max(10_000) }),
      { chainId: 8453, blocks: 20 },
      ({ chainId, blocks }) => change(chainId, 'lag', `is ${blocks} blocks behind`, { behind: [blocks] }),
      listOn('lag'),
    ),
    'nodes/lie': buildControl(
      'One of the two hosts of a chain returns false amounts, blocks and events. Deposits get 503, and nothing of it is recorded.',
      z.strictObject({ chainId: Chain }),
      { chainId: 8453 },
      ({ chainId }) => change(chainId, 'lie', 'lies', { lies: true }),
      listOn('lie'),
    ),
    'nodes/resume': jsonOnly(
      buildControl(
        'The hosts of a chain, or of all, work as before.',
        z.strictObject({ chainId: Chain.optional() }),
        {},
        ({ chainId }) => {
          for (const chain of chains) {
            if (chainId !== undefined && chain.chainId !== chainId) continue
            chain.hosts.at(-1)?.changeProfile({})
            on.delete(chain.chainId)
          }
        },
      ),
    ),
  }
}
