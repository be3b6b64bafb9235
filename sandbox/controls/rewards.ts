import * as z from 'zod'
import { ACCOUNTS } from '../accounts.ts'
import type { LocalWorld } from '../chains/world.ts'
import type { LocalChain } from '../chains.ts'
import type { RewardOperator } from '../rewards.ts'
import { Account, buildControl, type Control, chainName, Digits, requireToken, TokenAddress } from './control.ts'

/** Chain whose first vault has a reward campaign. */
export type CampaignChain = LocalChain & Pick<LocalWorld, 'vaults' | 'rewardToken'>

/** Returns controls of the campaigns' rewards and of the fake Merkl API that reports them. */
export function buildRewardControls(
  rewards: RewardOperator,
  chains: readonly CampaignChain[],
  Chain: z.ZodType<number>,
): Readonly<Record<string, Control>> {
  const disputed = new Set<number>()
  const { settings } = rewards
  const OneChain = z.strictObject({ chainId: Chain })
  const example = { chainId: 8453 }
  return {
    'rewards/grant': buildControl(
      'A campaign pays an account. The API shows it within five minutes; in its dispute period it cannot be claimed yet.',
      z.strictObject({
        token: TokenAddress.meta({ choices: 'rewardTokens' }).optional(),
        amount: Digits.meta({ format: 'amount' }),
        account: Account,
        inDisputePeriod: z.boolean().default(false).meta({ title: 'In its dispute period' }),
        chainId: Chain,
      }),
      { ...example, account: ACCOUNTS.users[0].address, amount: '1000000000000000000' },
      async ({ chainId, account, amount, inDisputePeriod, ...body }) => {
        const chain = chains.find((candidate) => candidate.chainId === chainId)
        const [vault] = chain?.vaults ?? []
        const token = body.token ?? chain?.rewardToken?.address
        if (!chain || !vault || !token) throw new Error(`There are no campaigns on chain ${chainId}`)
        await requireToken(chain, token)
        await rewards.grant(chainId, [{ account, token, vault: vault.address, amount }], { inDisputePeriod })
      },
    ),
    'rewards/dispute': buildControl(
      'Somebody disputes a tree in its dispute period. The tree before it pays until “Resolve”.',
      OneChain,
      { chainId: 42161 },
      async ({ chainId }) => {
        await rewards.dispute(chainId)
        disputed.add(chainId)
      },
      () =>
        [...disputed].map((chainId) => ({
          what: `The newest rewards on ${chainName(chainId)} are disputed`,
          end: { name: 'rewards/resolve', body: { chainId, isValid: false } },
        })),
    ),
    'rewards/resolve': buildControl(
      'A dispute ends. A valid one revokes the tree; after another one its dispute period begins anew.',
      z.strictObject({ chainId: Chain, isValid: z.boolean().meta({ title: 'Is valid' }) }),
      { chainId: 42161, isValid: true },
      async ({ chainId, isValid }) => {
        await rewards.resolve(chainId, isValid)
        disputed.delete(chainId)
      },
    ),
    'rewards/revoke': buildControl(
      'The newest tree is revoked. The tree before it pays, and later rewards are gone.',
      OneChain,
      example,
      ({ chainId }) => rewards.revoke(chainId),
    ),
    'rewards/source': buildControl(
      'The source shows the newest tree even in its dispute period, or only the tree that pays now.',
      z.strictObject({ shows: z.enum(['newest', 'effective']) }),
      { shows: 'effective' },
      ({ shows }) => {
        settings.shows = shows
      },
      () =>
        settings.shows === 'newest'
          ? []
          : [
              {
                what: 'The source shows only the rewards that are paid now',
                end: { name: 'rewards/source', body: { shows: 'newest' } },
              },
            ],
    ),
  }
}
