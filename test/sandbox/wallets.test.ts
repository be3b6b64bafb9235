import { createPrivateKey, createPublicKey } from 'node:crypto'
import { type Address, encodeFunctionData, type Hex, hexToBytes, parseAbi, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readEvmBalances } from '../../functions/portfolio/all-balances/evm.ts'
import { readSolanaBalances } from '../../functions/portfolio/all-balances/solana.ts'
import { decodeBase58 } from '../../lib/accounts/base58.ts'
import { createRpc } from '../../lib/chain/nodes.ts'
import { chainReader } from '../../lib/chain/reader.ts'
import { EVM_CHAINS } from '../../lib/chain/registry.ts'
import { createUpstream } from '../../lib/http.ts'
import { goldRush } from '../../lib/portfolio/goldrush.ts'
import { solanaNfts } from '../../lib/portfolio/solana-nfts.ts'
import { ACCOUNTS, SOLANA_WALLET } from '../../sandbox/accounts.ts'
import { type Backends, startBackends } from '../../sandbox/backends.ts'
import { callRpc } from '../../sandbox/rpc.ts'
import { transact } from '../../sandbox/transactions.ts'

const [ALICE, BOB] = ACCOUNTS.users.map(({ address }) => address) as [Address, Address]
const environment = { fetch, random: Math.random, now: () => performance.now() }

let backends: Backends
beforeAll(async () => {
  backends = await startBackends()
})
afterAll(() => backends.stop())

function upstreamAt(path: string, key?: string) {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
  return createUpstream({ name: path, url: `${backends.providers.url}${path}`, headers }, environment)
}

describe('The local index of wallets', () => {
  test('takes its key alone', async () => {
    for (const key of [undefined, 'other']) {
      await expect(goldRush(upstreamAt('/goldrush', key)).fetchTokens('base-mainnet', ALICE)).rejects.toMatchObject({
        code: 'upstream_unavailable',
      })
    }
  })

  test.for(['base-mainnet', 'arbitrum-mainnet'])('tells the unlisted tokens of %s as they are there', async (chain) => {
    const tokens = await goldRush(upstreamAt('/goldrush', 'local')).fetchTokens(chain, ALICE)
    expect(tokens).toMatchObject([
      { symbol: 'HARBOR', decimals: 18, balance: 1250n * 10n ** 18n },
      { symbol: 'USDC-DROP.XYZ', decimals: 6, balance: 1_250_000_000n },
    ])
    expect(await goldRush(upstreamAt('/goldrush', 'local')).fetchTokens(chain, zeroAddress)).toEqual([])
  })

  test('has nothing on the other chains, and knows no chain that is none', async () => {
    const { fetchTokens, fetchNfts } = goldRush(upstreamAt('/goldrush', 'local'))
    expect(await fetchTokens('eth-mainnet', ALICE)).toEqual([])
    expect(await fetchTokens('solana-mainnet', SOLANA_WALLET.address)).toEqual([])
    expect(await fetchNfts('no-such-net', ALICE)).toEqual([])
  })

  test('follows an NFT to who has it', async () => {
    const [chain] = backends.chains
    const collection = chain?.collectibles
    if (!chain || !collection) throw new Error('There is no collection.')
    const { fetchNfts } = goldRush(upstreamAt('/goldrush', 'local'))
    expect(await fetchNfts('base-mainnet', ALICE)).toMatchObject([
      {
        contract_address: collection,
        contract_name: 'Harbor Lanterns',
        contract_ticker_symbol: 'LANTERN',
        supports_erc: ['erc721'],
        balance: 3n,
        nft_data: [
          {
            token_id: '1',
            original_owner: ALICE,
            current_owner: ALICE,
            external_data: {
              name: 'Lantern #1',
              image: expect.stringMatching(/^data:image\/svg\+xml;base64,/),
              attributes: [
                { trait_type: 'Number', value: '1' },
                { trait_type: 'Light', value: 'flashing' },
              ],
            },
          },
          { token_id: '2' },
          { token_id: '3' },
        ],
      },
    ])
    const abi = parseAbi(['function transferFrom(address from, address to, uint256 tokenId)'])
    const data = encodeFunctionData({ abi, functionName: 'transferFrom', args: [ALICE, BOB, 2n] })
    await transact(chain, [{ label: 'transfer', from: ALICE, to: collection, data }])
    expect(await fetchNfts('base-mainnet', BOB)).toMatchObject([
      { balance: 1n, nft_data: [{ token_id: '2', original_owner: ALICE, current_owner: BOB }] },
    ])
    expect(await fetchNfts('base-mainnet', ALICE)).toMatchObject([{ balance: 2n }])
  })
})

describe('The local Solana node', () => {
  const rpc = () => createRpc([`${backends.providers.url}/solana`], environment)

  test('knows what the local wallet has, in both token programs', async () => {
    const { native, tokens, rent, unread } = await readSolanaBalances(rpc(), [SOLANA_WALLET.address])
    expect({ native, rent, unread }).toEqual({ native: 12_500_000_000n, rent: 650_240n, unread: [] })
    expect([...tokens.values()].map(({ amount }) => amount)).toEqual([1_250_000_000n, 340_250_000n, 75_000_000n])
    expect(await solanaNfts(upstreamAt('/solana')).fetchNfts(SOLANA_WALLET.address)).toMatchObject([
      { contract_name: 'Harbor Beacons', balance: 2n },
    ])
  })

  test('makes up something small for any other, the same every time', async () => {
    const read = (wallet: string) => readSolanaBalances(rpc(), [wallet])
    const [one, again, other] = await Promise.all(['One', 'One', 'Other'].map(read))
    expect(one).toEqual(again)
    expect(one).not.toEqual(other)
    expect(await solanaNfts(upstreamAt('/solana')).fetchNfts('One')).toEqual([])
  })

  test('refuses what it does not know', async () => {
    expect(await rpc()([{ method: 'getEpochInfo', params: [] }])).toMatchObject([{ error: { code: -32601 } }])
  })

  test('has a wallet whose key is the one that is written down', () => {
    const prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
    const key = Buffer.concat([prefix, hexToBytes(SOLANA_WALLET.privateKey)])
    const { x = '' } = createPublicKey(createPrivateKey({ key, format: 'der', type: 'pkcs8' })).export({
      format: 'jwk',
    })
    expect(Buffer.from(x, 'base64url')).toEqual(Buffer.from(decodeBase58(SOLANA_WALLET.address, 32) ?? []))
  })
})

describe('A chain that is not on this machine', () => {
  test.for(EVM_CHAINS)('has blocks, and nothing of anybody: $key', async (chain) => {
    const url = `${backends.providers.url}/idle/${chain.id}`
    const reader = chainReader(chain, createRpc([url], environment))
    const token: Address = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
    const listed = [
      { chain: '', address: token, symbol: '', name: '', decimals: 6, coinKey: '', logoUrl: '', coinGeckoId: '' },
    ]
    const { native, tokens, unread } = await readEvmBalances(reader, [ALICE], listed, [])
    expect({ native, tokens, unread }).toEqual({ native: 0n, tokens: new Map([[token, 0n]]), unread: [] })

    const { block } = await reader.read([])
    expect(Math.abs(Number(block.timestamp) - Date.now() / 1000)).toBeLessThan(10)
    const [id, head] = await callRpc({ rpcUrl: url }, [
      { method: 'eth_chainId', params: [] },
      { method: 'eth_blockNumber', params: [] },
    ])
    expect(Number(id as Hex)).toBe(chain.id)
    expect(BigInt(head as Hex)).toBeGreaterThanOrEqual(block.number)
  })
})
