import { formatUnits, numberToHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { listRewards, orThrow, prepareRewardsClaim, toViem } from '../../client/src/index.ts'
import { verifyTransactions } from '../../client/src/verify.ts'
import { callRpc } from '../rpc.ts'
import type { VaultDemoContext } from './vaults.ts'

const [BASE, ARBITRUM] = [8453, 42161] as const
const COIN = 10n ** 18n

/** Grants rewards to a new account, lists these rewards, and claims the claimable part. */
export async function playRewards(stage: VaultDemoContext): Promise<void> {
  const { state, client, say, heading } = stage
  // Each demo uses a new account, because the API reads an account's rewards at most once in five minutes.
  const privateKey = generatePrivateKey()
  const { address: userAddress } = privateKeyToAccount(privateKey)
  const chain = state.chains.find(({ chainId }) => chainId === BASE)
  if (!chain) throw new Error('Base is not there.')
  await callRpc(chain, [{ method: 'anvil_setBalance', params: [userAddress, numberToHex(COIN)] }])

  heading('Campaigns pay a new account on two chains')
  await grant(stage, { chainId: BASE, account: userAddress, amount: `${12n * COIN}` })
  await grant(stage, { chainId: ARBITRUM, account: userAddress, amount: `${3n * COIN}`, inDisputePeriod: true })
  await show(stage, userAddress)

  heading('The claim on Base')
  const request = { userAddress, chainId: BASE }
  const prepared = orThrow(await prepareRewardsClaim(client, request))
  const verdict = verifyTransactions('rewards', request, prepared)
  if (!verdict.ok) throw new Error(verdict.message)
  for (const { does } of verdict.steps) say(`POST rewards/claim: it ${does}`)
  for (const operation of prepared.operations) {
    await stage.send(BASE, 'claim', toViem(operation), { address: userAddress, privateKey })
  }
  await show(stage, userAddress)
}

async function grant({ state, say }: VaultDemoContext, body: object): Promise<void> {
  const reply = await fetch(`${state.controlsUrl}/rewards/grant`, { method: 'POST', body: JSON.stringify(body) })
  if (!reply.ok) throw new Error(await reply.text())
  say(`POST ${new URL(reply.url).pathname} ${JSON.stringify(body)}`)
}

async function show({ client, say }: VaultDemoContext, userAddress: `0x${string}`): Promise<void> {
  const { rewards, errors = {} } = orThrow(await listRewards(client, { userAddress }))
  if (rewards.length === 0) say('GET rewards: none')
  for (const { chainId, symbol, decimals, amount, pending, claimableAt, usd } of rewards) {
    const [now, later] = [amount, pending].map((units) => formatUnits(BigInt(units), decimals ?? 0))
    const worth = usd === null ? 'without a price' : `worth $${usd.toFixed(2)}`
    const when = claimableAt ? `from ${claimableAt}` : 'later'
    say(`GET rewards: on chain ${chainId} ${now} ${symbol} now, ${worth}; ${later} ${when}`)
  }
  for (const [chainId, why] of Object.entries(errors)) say(`GET rewards: on chain ${chainId} ${why}`)
}
