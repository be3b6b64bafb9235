import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import {
  type AbiEvent,
  createClient,
  erc20Abi,
  formatEther,
  http,
  parseAbi,
  parseEventLogs,
  type TransactionReceipt,
} from 'viem'
import {
  getBalance,
  getBlock,
  getCode,
  getTransaction,
  getTransactionCount,
  getTransactionReceipt,
  readContract,
} from 'viem/actions'
import { Link } from 'wouter'
import { chainName } from '../chains.ts'
import { useAppContext } from '../context.ts'
import { formatDateTime, LOCALE } from '../format.ts'
import { type Fact, Facts } from '../parts/facts.tsx'
import { Amount } from '../parts/figures.tsx'
import { EmptyNotice, ProblemNotice } from '../parts/notices.tsx'
import { SkeletonRows } from '../parts/skeletons.tsx'
import { Address, ChainBadge } from '../parts/tokens.tsx'
import { findCoin } from '../portfolio.ts'
import { useCoins } from '../prices.ts'

type Hex = `0x${string}`

const POLL_MS = 1000

const EVENTS: readonly AbiEvent[] = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Approval(address indexed owner, address indexed spender, uint256 value)',
  'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
  'event Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares)',
  'event DepositRequest(address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 assets)',
  'event RedeemRequest(address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 shares)',
  'event Paused(address account)',
  'event Unpaused(address account)',
])

/** Page that shows a transaction on one of the sandbox's chains. */
export function TransactionPage({ chainId, hash }: { chainId: number; hash: Hex }) {
  const client = useChain(chainId)
  const { data, error, refetch } = useQuery({
    queryKey: ['explorer', chainId, hash],
    queryFn: async () => {
      const transaction = await getTransaction(client, { hash }).catch(nullIfMissing)
      const receipt = transaction && (await getTransactionReceipt(client, { hash }).catch(nullIfMissing))
      const block = receipt && (await getBlock(client, { blockNumber: receipt.blockNumber }))
      return { transaction, receipt, block }
    },
    refetchInterval: POLL_MS,
  })
  if (!data) return <Loading title="Transaction" error={error} onRetry={() => void refetch()} />
  const { transaction, receipt, block } = data
  if (!transaction) {
    return (
      <Frame title="Transaction">
        <EmptyNotice title="This chain does not know the transaction">
          It was never sent here, or a reorganisation has removed it.
        </EmptyNotice>
      </Frame>
    )
  }
  const status = receipt?.status === 'success' ? 'good' : receipt ? 'bad' : 'warn'
  return (
    <Frame title="Transaction">
      <section className="card">
        <Facts
          facts={[
            ['Status', <span className={`chip ${status}`}>{receipt?.status ?? 'waiting to be mined'}</span>],
            ['Chain', <ChainBadge chainId={chainId} />],
            ['Hash', <Address value={hash} what="the hash" />],
            ['Block', block ? `${block.number}` : '–'],
            ['Time', block ? formatDateTime(Number(block.timestamp) * 1000) : '–'],
            ['From', <Address chainId={chainId} value={transaction.from} what="the address" />],
            [
              'To',
              transaction.to ? (
                <Address chainId={chainId} value={transaction.to} what="the address" />
              ) : (
                'A new contract'
              ),
            ],
            ['Value', `${formatEther(transaction.value)} ETH`],
            ['Gas', receipt ? receipt.gasUsed.toLocaleString(LOCALE) : '–'],
          ]}
        />
      </section>
      {receipt && <Logs chainId={chainId} logs={receipt.logs} />}
    </Frame>
  )
}

function Logs({ chainId, logs }: { chainId: number; logs: TransactionReceipt['logs'] }) {
  const coins = useCoins().data?.data ?? []
  const decodedLogs = new Map(parseEventLogs({ abi: EVENTS, logs }).map((log) => [log.logIndex, log]))
  return (
    <section className="card" aria-labelledby="logs">
      <h2 id="logs">Events ({logs.length})</h2>
      <ul className="controls">
        {logs.map((log) => {
          const decoded = decodedLogs.get(log.logIndex)
          const coin = findCoin(coins, chainId, log.address)
          return (
            <li key={log.logIndex} className="stack">
              <p className="row">
                <strong>{decoded?.eventName ?? 'Unknown event'}</strong>
                <Address chainId={chainId} value={log.address} what="the address" />
                {coin && <span className="chip">{coin.contract_ticker_symbol}</span>}
              </p>
              <Facts
                facts={
                  decoded
                    ? Object.entries(decoded.args as Record<string, unknown>).map(([name, value]) => [
                        name,
                        typeof value === 'bigint' && coin ? (
                          <Amount
                            units={value}
                            decimals={coin.contract_decimals}
                            symbol={coin.contract_ticker_symbol}
                          />
                        ) : typeof value === 'string' ? (
                          <Address chainId={chainId} value={value as Hex} what="the address" />
                        ) : (
                          String(value)
                        ),
                      ])
                    : [...log.topics.map((topic, index): Fact => [`topic\u00a0${index}`, topic]), ['data', log.data]]
                }
              />
            </li>
          )
        })}
      </ul>
    </section>
  )
}

/** Page that shows an account or a contract on one of the sandbox's chains. */
export function AddressPage({ chainId, address }: { chainId: number; address: Hex }) {
  const client = useChain(chainId)
  const coins = (useCoins().data?.data ?? []).filter((coin) => coin.chainId === chainId)
  const { data, error, refetch } = useQuery({
    queryKey: ['explorer', chainId, address],
    queryFn: async () => {
      const [balance, code, sent] = await Promise.all([
        getBalance(client, { address }),
        getCode(client, { address }),
        getTransactionCount(client, { address }),
      ])
      return { balance, code, sent }
    },
    refetchInterval: POLL_MS,
  })
  const tokens = useQuery({
    queryKey: ['explorer tokens', chainId, address, coins.length],
    queryFn: () =>
      Promise.all(
        coins.map(async (coin) => {
          const token = { address: coin.contract_address as Hex, abi: erc20Abi } as const
          const call = readContract(client, { ...token, functionName: 'balanceOf', args: [address] })
          // The list also has the chain's native coin, which is no contract, so its call fails and counts as 0.
          return { coin, units: await call.catch(() => 0n) }
        }),
      ),
    enabled: coins.length > 0,
  })
  if (!data) return <Loading title="Address" error={error} onRetry={() => void refetch()} />
  const balances = tokens.data?.filter(({ units }) => units > 0n) ?? []
  return (
    <Frame title={data.code ? 'Contract' : 'Account'}>
      <section className="card">
        <Facts
          facts={[
            ['Chain', <ChainBadge chainId={chainId} />],
            ['Address', <Address value={address} what="the address" />],
            ['Balance', <Amount key="balance" units={data.balance} decimals={18} symbol="ETH" />],
            ['Transactions sent', `${data.sent}`],
            ['Code', data.code ? `${(data.code.length - 2) / 2} bytes` : 'None'],
          ]}
        />
      </section>
      <section className="card" aria-labelledby="tokens">
        <h2 id="tokens">Tokens</h2>
        {tokens.data && balances.length === 0 && <p className="fine">None of the tokens that the wallet knows.</p>}
        <Facts
          facts={balances.map(({ coin: { contract_ticker_symbol: symbol, contract_decimals: decimals }, units }) => [
            symbol,
            <Amount key={symbol} units={units} decimals={decimals} symbol={symbol} />,
          ])}
        />
      </section>
    </Frame>
  )
}

function Frame({ title, children }: { title: string; children: ReactNode }) {
  return (
    <>
      <header className="top">
        <Link href="/sandbox" className="brand">
          Control room
        </Link>
        <span className="fine">Explorer of the sandbox</span>
      </header>
      <main className="page narrow">
        <title>{`${title} · Vaultline`}</title>
        <h1>{title}</h1>
        {children}
      </main>
    </>
  )
}

function Loading({ title, error, onRetry }: { title: string; error: unknown; onRetry: () => void }) {
  return (
    <Frame title={title}>
      {error ? <ProblemNotice error={error} onRetry={onRetry} /> : <SkeletonRows count={3} />}
    </Frame>
  )
}

function useChain(chainId: number) {
  const { chains } = useAppContext().config
  const chain = chains.find((candidate) => candidate.chainId === chainId)
  if (!chain) throw new Error(`The sandbox has no chain ${chainName(chainId)}.`)
  return createClient({ transport: http(chain.rpcUrl) })
}

function nullIfMissing(error: Error): null {
  if (error.name.endsWith('NotFoundError')) return null
  throw error
}
