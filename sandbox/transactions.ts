import { setTimeout } from 'node:timers/promises'
import { type Address, type Hash, type Hex, isHex, numberToHex } from 'viem'
import * as z from 'zod'
import { callRpc } from './rpc.ts'

/** Transaction to send from an account of a local chain; errors contain `label`. */
export type LocalTransaction = {
  readonly label: string
  readonly from: Address
  readonly to?: Address
  readonly data: Hex
}

type Endpoint = { readonly rpcUrl: string; readonly blockSeconds?: number | undefined }

// Gas limit of every transaction, more than any needs. A gas estimate would fail for a transaction that depends on a pending transaction.
const GAS = numberToHex(10_000_000)
// Milliseconds between polls for a receipt.
const POLL_MS = 5

const Quantity = z.string().transform(Number)
const TransactionHash = z.custom<Hash>(isHex)
const Receipt = z.object({ status: z.enum(['0x0', '0x1']), transactionHash: TransactionHash })

/** Returns each account's next nonce, which counts the account's pending transactions. */
export async function readNonces(chain: Endpoint, accounts: readonly Address[]): Promise<number[]> {
  const calls = accounts.map((account) => ({ method: 'eth_getTransactionCount', params: [account, 'pending'] }))
  return (await callRpc(chain, calls)).map((nonce) => Quantity.parse(nonce))
}

/** Sends transactions in order and returns their hashes; some may still be pending. */
export async function sendTransactions(
  chain: Endpoint,
  transactions: readonly LocalTransaction[],
): Promise<readonly Hash[]> {
  const senders = [...new Set(transactions.map(({ from }) => from))]
  const nonces = await readNonces(chain, senders)
  const hashes: Hash[] = []
  // Each transaction is a request of its own: anvil runs the calls of a batch in parallel and may reorder them.
  for (const { from, to, data } of transactions) {
    const sender = senders.indexOf(from)
    const nonce = nonces[sender] ?? 0
    nonces[sender] = nonce + 1
    const transaction = { from, to, data, gas: GAS, nonce: numberToHex(nonce) }
    const [hash] = await callRpc(chain, [{ method: 'eth_sendTransaction', params: [transaction] }])
    hashes.push(TransactionHash.parse(hash))
  }
  return hashes
}

/**
 * Sends transactions in order and returns their hashes once all are mined. If the chain mines a block per transaction, each transaction
 * waits until the previous one is mined. Throws an Error with the label of the first transaction that reverted or disappeared.
 */
export async function transact(chain: Endpoint, transactions: readonly LocalTransaction[]): Promise<readonly Hash[]> {
  if (chain.blockSeconds !== undefined) {
    const hashes = await sendTransactions(chain, transactions)
    await confirmTransactions(chain, transactions, hashes)
    return hashes
  }
  const hashes: Hash[] = []
  for (const { label, from, to, data } of transactions) {
    const params = [{ from, to, data, gas: GAS }]
    const [receipt] = await callRpc(chain, [{ method: 'eth_sendTransactionSync', params }])
    const { status, transactionHash } = Receipt.parse(receipt)
    if (status === '0x0') throw new Error(`Reverted: ${label} in ${transactionHash}`)
    hashes.push(transactionHash)
  }
  return hashes
}

/** Waits until all transactions are mined. Throws an Error with the label of the first transaction that reverted or disappeared. */
export async function confirmTransactions(
  chain: Endpoint,
  transactions: readonly LocalTransaction[],
  hashes: readonly Hash[],
): Promise<void> {
  const calls = hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
  for (;;) {
    const receipts = (await callRpc(chain, calls)).map((receipt) => Receipt.nullable().parse(receipt))
    const reverted = receipts.findIndex((receipt) => receipt?.status === '0x0')
    if (reverted >= 0) throw new Error(`Reverted: ${transactions[reverted]?.label} in ${hashes[reverted]}`)
    const waiting = hashes.filter((_, index) => receipts[index] === null)
    if (waiting.length === 0) return
    const results = await callRpc(
      chain,
      waiting.map((hash) => ({ method: 'eth_getTransactionByHash', params: [hash] })),
    )
    const dropped = waiting[results.indexOf(null)]
    // The node no longer knows this transaction, because a reorganisation removed the transaction's block.
    if (dropped) throw new Error(`Dropped: ${transactions[hashes.indexOf(dropped)]?.label} in ${dropped}`)
    await setTimeout(POLL_MS)
  }
}
