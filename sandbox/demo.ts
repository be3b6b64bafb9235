import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, type Hex, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { getTransactionReceipt, sendTransaction } from 'viem/actions'
import type { Call } from '../client/src/index.ts'
import type { LocalAccount } from './accounts.ts'
import { runAccountDemo } from './demos/account.ts'
import { playEvents, printEvents } from './demos/events.ts'
import { playPortfolio } from './demos/portfolio.ts'
import { playRewards } from './demos/rewards.ts'
import { printStates } from './demos/states.ts'
import { playCrossChain, playSameChain, playWithdrawals, type VaultDemoContext } from './demos/vaults.ts'
import { type LocalState, readState } from './state.ts'

const DEMOS: Record<string, (stage: VaultDemoContext, user: LocalAccount) => Promise<void>> = {
  'same-chain': playSameChain,
  'cross-chain': playCrossChain,
  withdraw: playWithdrawals,
  rewards: playRewards,
  account: runAccountDemo,
  portfolio: playPortfolio,
  states: ({ state, say }) => printStates(state, say, process.argv[3]),
  events: ({ state, say }) => playEvents(state, say),
}
const startedAt = Date.now()

try {
  await play(await readState())
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}

async function play(state: LocalState): Promise<void> {
  const name = process.argv[2] ?? 'same-chain'
  const demo = DEMOS[name]
  if (!demo) throw new Error(`There is no demo ${name}; there is ${Object.keys(DEMOS).join(', ')}.`)
  const [user] = state.accounts
  if (!user) throw new Error('There is no funded account.')

  const events = await printEvents(state, user.address, say)
  const stage: VaultDemoContext = {
    state,
    user: user.address,
    client: { url: state.baseUrl, key: state.apiKey },
    async send(chainId, what, call, account = user) {
      const hash = await send(state, account, chainId, what, call)
      if (what === 'operation') events.expect(hash)
      return hash
    },
    heading,
    say,
  }
  try {
    await demo(stage, user)
    await events.waitForExpected()
  } finally {
    await events.end()
  }
  say('Done.')
}

async function send(
  { chains }: LocalState,
  { privateKey }: LocalAccount,
  chainId: number,
  what: string,
  call: Call,
): Promise<Hex> {
  const rpcUrl = chains.find((chain) => chain.chainId === chainId)?.rpcUrl
  const wallet = createClient({ account: privateKeyToAccount(privateKey), transport: http(rpcUrl) })
  const hash = await sendTransaction(wallet, { ...call, chain: null })
  let receipt = await getTransactionReceipt(wallet, { hash }).catch(() => undefined)
  while (!receipt) {
    await sleep(100)
    receipt = await getTransactionReceipt(wallet, { hash }).catch(() => undefined)
  }
  if (receipt.status === 'reverted') throw new Error(`The ${what} ${hash} reverted.`)
  say(`Sent the ${what}: mined in block ${receipt.blockNumber}, ${receipt.gasUsed} gas`)
  return hash
}

function heading(text: string): void {
  process.stdout.write(`\n${text}\n`)
}

function say(text: string): void {
  process.stdout.write(`${((Date.now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${text}\n`)
}
