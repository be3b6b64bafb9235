import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createClient, http, zeroHash } from 'viem'
import { mnemonicToAccount, privateKeyToAddress } from 'viem/accounts'
import { getBalance, getBlock, getChainId, getCode, multicall, readContract } from 'viem/actions'
import { describe, expect, test } from 'vitest'
import { ACCOUNTS, TEST_MNEMONIC } from '../../sandbox/accounts.ts'
import { startBackends } from '../../sandbox/backends.ts'
import { deployLocalWorld } from '../../sandbox/chains/world.ts'
import { MULTICALL3, startChain } from '../../sandbox/chains.ts'
import { compiledContract } from '../../sandbox/contracts.ts'
import { DISTRIBUTOR, distributorAbi } from '../../sandbox/rewards.ts'
import { callRpc } from '../../sandbox/rpc.ts'
import { confirmTransactions, sendTransactions, transact } from '../../sandbox/transactions.ts'
import { TOKEN_ABI, VAULT_ABI } from '../support/oracles.ts'

const answers = (rpcUrl: string) =>
  callRpc({ rpcUrl }, [{ method: 'eth_chainId', params: [] }]).then(
    () => true,
    () => false,
  )

describe('a local chain', () => {
  test('answers with its id, Multicall3 at its real address, funded accounts and the present time', async () => {
    const chain = await startChain({ chainId: 8453 })
    try {
      const client = createClient({ transport: http(chain.rpcUrl) })
      expect(await getChainId(client)).toBe(8453)
      const { deployedBytecode } = await compiledContract('Multicall3')
      expect(await getCode(client, { address: MULTICALL3 })).toBe(deployedBytecode)
      expect(await getBalance(client, { address: ACCOUNTS.users[0].address })).toBe(10_000n * 10n ** 18n)
      const { timestamp } = await getBlock(client)
      expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(5)
    } finally {
      await chain.stop()
    }
    expect(await answers(chain.rpcUrl)).toBe(false)
  })

  test('ends with the process that started it, even when that is killed', async () => {
    const source = `import { startChain } from '${join(import.meta.dirname, '../../sandbox/chains.ts')}'
      console.log((await startChain({ chainId: 1 })).rpcUrl)`
    const parent = spawn(process.execPath, ['--input-type=module-typescript', '-e', source], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const rpcUrl = await firstLine(parent)
    expect(await answers(rpcUrl)).toBe(true)
    parent.kill('SIGKILL')
    await expect.poll(() => answers(rpcUrl)).toBe(false)
  })
})

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  if (!stdout) throw new Error('No output to read')
  const [text] = await once(stdout, 'data')
  return String(text).trim()
}

test('the local accounts derive from the mnemonic', () => {
  const { admin, safe, valuationManager, feeReceiver, users, anchor, relayer, smart, states } = ACCOUNTS
  const accounts = [admin, safe, valuationManager, feeReceiver, ...users, anchor, relayer, smart, ...states]
  for (const [addressIndex, { address, privateKey }] of accounts.entries()) {
    expect(mnemonicToAccount(TEST_MNEMONIC, { addressIndex }).address).toBe(address)
    expect(privateKeyToAddress(privateKey)).toBe(address)
  }
})

test('the local worlds have three generations and three tokens, and their description matches the chain', async () => {
  const chains = await Promise.all([startChain({ chainId: 8453 }), startChain({ chainId: 42161 })])
  try {
    const worlds = await Promise.all(chains.map((chain) => deployLocalWorld(chain)))
    const vaults = worlds.flatMap((world) => world.vaults)
    expect(new Set(vaults.map(({ version }) => version))).toEqual(new Set(['v0.4.0', 'v0.5.0', 'v0.6.0', undefined]))
    expect(new Set(vaults.map(({ address }) => address)).size).toBe(vaults.length)

    for (const [i, { tokens, vaults: described, rewardToken }] of worlds.entries()) {
      const client = createClient({ transport: http(chains[i]?.rpcUrl) })
      expect(new Set(described.filter(({ type }) => type === 'async').map(({ asset }) => asset))).toEqual(
        new Set(tokens.map(({ address }) => address)),
      )
      for (const { address, symbol, decimals } of tokens) {
        const contract = { address, abi: TOKEN_ABI } as const
        const user = ACCOUNTS.users[1].address
        const results = await multicall(client, {
          allowFailure: false,
          multicallAddress: MULTICALL3,
          contracts: [
            { ...contract, functionName: 'symbol' },
            { ...contract, functionName: 'decimals' },
            { ...contract, functionName: 'balanceOf', args: [user] },
          ],
        })
        expect(results).toEqual([symbol, decimals, 1_000_000n * 10n ** BigInt(decimals)])
      }
      const reward = { address: rewardToken?.address ?? DISTRIBUTOR, abi: TOKEN_ABI } as const
      expect(await readContract(client, { ...reward, functionName: 'symbol' })).toBe('MORPHO')
      const distributor = { address: DISTRIBUTOR, abi: distributorAbi } as const
      expect(await readContract(client, { ...distributor, functionName: 'getMerkleRoot' })).toBe(zeroHash)
      for (const { address, asset, name, version, protocol } of described) {
        const contract = { address, abi: VAULT_ABI } as const
        const hasSeparateShare = protocol === 'erc7540'
        const share = hasSeparateShare ? await readContract(client, { ...contract, functionName: 'share' }) : address
        expect(share !== address).toBe(hasSeparateShare)
        const [vaultName, vaultAsset, totalAssets, totalSupply, shareDecimals] = await multicall(client, {
          allowFailure: false,
          multicallAddress: MULTICALL3,
          contracts: [
            { ...contract, address: share, functionName: 'name' },
            { ...contract, functionName: 'asset' },
            { ...contract, functionName: 'totalAssets' },
            { ...contract, address: share, functionName: 'totalSupply' },
            { ...contract, address: share, functionName: 'decimals' },
          ],
        })
        expect([vaultName, vaultAsset]).toEqual([name, asset])
        const args = [10n ** BigInt(shareDecimals)] as const
        const price = await readContract(client, { ...contract, functionName: 'convertToAssets', args })
        const one = (totalAssets * args[0]) / totalSupply
        expect(price).toBeGreaterThanOrEqual(one - 1n)
        expect(price).toBeLessThanOrEqual(one + 1n)
        if (protocol === 'lagoon') {
          expect(await readContract(client, { ...contract, functionName: 'version' })).toBe(version)
        }
      }
    }
  } finally {
    await Promise.all(chains.map((chain) => chain.stop()))
  }
})

test('a chain makes a block every 0.2 s, so that about five share a timestamp', async ({ onTestFinished }) => {
  const chain = await startChain({ chainId: 8453, blockSeconds: 0.2 })
  onTestFinished(chain.stop)
  const client = createClient({ transport: http(chain.rpcUrl) })
  await expect.poll(async () => (await getBlock(client)).number).toBeGreaterThanOrEqual(12n)
  const blocks = await Promise.all(
    Array.from({ length: 11 }, (_, index) => getBlock(client, { blockNumber: BigInt(index + 2) })),
  )
  const times = blocks.map(({ timestamp }) => timestamp)
  // Eleven blocks of 0.2 s take two seconds, so many share a timestamp.
  expect(new Set(times).size).toBeLessThanOrEqual(5)
  expect([...times].sort()).toEqual(times)
})

test('a caller that waits for a transaction learns that a reorganisation dropped it and can send again', async ({
  onTestFinished,
}) => {
  const chain = await startChain({ chainId: 8453, blockSeconds: 0.2 })
  onTestFinished(chain.stop)
  const from = ACCOUNTS.relayer.address
  const transactions = [{ label: 'first', from, to: from, data: '0x' }] as const
  const hashes = await sendTransactions(chain, transactions)
  await confirmTransactions(chain, transactions, hashes)
  await callRpc(chain, [{ method: 'anvil_reorg', params: [1, []] }])
  await expect(confirmTransactions(chain, transactions, hashes)).rejects.toThrow(`Dropped: first in ${hashes[0]}`)
  await expect(transact(chain, [{ ...transactions[0], label: 'next' }])).resolves.toHaveLength(1)
})

test('the backends can stop while the relayer waits for a block', async () => {
  const backends = await startBackends({ chainIds: [8453], blockSeconds: 0.2 })
  const [chain] = backends.chains
  if (!chain) throw new Error('No chain has started')
  chain.hold(true)
  const paused = expect(backends.relayer.pause(chain.chainId, 'fills', true)).rejects.toThrow()
  const readPool = () => callRpc(chain, [{ method: 'txpool_status', params: [] }])
  await expect.poll(readPool).toMatchObject([{ pending: '0x1' }])
  await backends.stop()
  await paused
})
