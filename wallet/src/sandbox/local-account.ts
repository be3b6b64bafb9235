import { encodeFunctionData, type Hex, parseAbi, toHex } from 'viem'
import type { Config } from '../config.ts'

class ProviderError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

type RequestArguments = { readonly method: string; readonly params?: readonly unknown[] }

type Announced = { readonly name: string; readonly account: Hex | undefined; readonly isSmart?: boolean }

const INVALID_PARAMS = -32602
const UNSUPPORTED_METHOD = 4200
const UNKNOWN_CHAIN = 4902
const UNKNOWN_BUNDLE = 5730

/**
 * Announces the funded accounts of the sandbox's local chains as browser wallets (EIP-6963). The local chain nodes sign for these accounts,
 * so the page has no key.
 */
export function announceLocalAccounts({ chains, sandbox }: Config): void {
  const accounts: readonly Announced[] = sandbox?.shown
    ? [sandbox.shown]
    : [
        { name: 'Local account with a past', account: sandbox?.accounts[0] },
        { name: 'Fresh local account', account: sandbox?.accounts.at(-1) },
        { name: 'Local smart account', account: sandbox?.smartAccount, isSmart: true },
      ]
  // A prepared state offers only its own account, which is connected without a click.
  if (sandbox?.shown) sessionStorage.setItem(storedName(sandbox.shown.account), 'connected')
  const details = accounts.flatMap(({ name, account, isSmart = false }, index) =>
    account
      ? {
          info: {
            uuid: `00000000-0000-4000-8000-00000000000${index}`,
            name,
            icon: ICON,
            rdns: `local.vaultline.${index}`,
          },
          provider: createLocalAccount(account, chains, isSmart),
        }
      : [],
  )
  const announce = () => {
    for (const detail of details) {
      window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze(detail) }))
    }
  }
  window.addEventListener('eip6963:requestProvider', announce)
  announce()
}

type Batch = {
  readonly version: string
  readonly chainId: Hex
  readonly calls: readonly { readonly to: Hex; readonly data?: Hex; readonly value?: Hex }[]
}

const EXECUTE = parseAbi([
  'function execute(Call[] calls) payable',
  'struct Call { address to; uint256 value; bytes data; }',
])

/**
 * Number of characters of a transaction hash. A batch's id is its transaction hash, followed by the id of its chain.
 */
const HASH_LENGTH = 66

function createLocalAccount(account: Hex, chains: Config['chains'], isSmart: boolean) {
  const listeners = new Map<string, Set<(value: unknown) => void>>()
  const name = storedName(account)
  let chainId = chains[0]?.chainId ?? 0

  const emit = (event: string, value: unknown) => {
    for (const listener of listeners.get(event) ?? []) listener(value)
  }
  const switchTo = (wanted: number) => {
    if (!chains.some((chain) => chain.chainId === wanted))
      throw new ProviderError(UNKNOWN_CHAIN, 'No such local chain.')
    chainId = wanted
    emit('chainChanged', toHex(wanted))
    return null
  }

  const rpcUrlOf = (id: number) => chains.find((chain) => chain.chainId === id)?.rpcUrl ?? ''

  async function sendCalls({ version, chainId: batchChainId, calls }: Batch) {
    if (version !== '2.0.0') throw new ProviderError(INVALID_PARAMS, 'Only version 2.0.0 is supported.')
    const args = [calls.map(({ to, data = '0x', value = '0x0' }) => ({ to, data, value: BigInt(value) }))] as const
    const value = toHex(args[0].reduce((sum, call) => sum + call.value, 0n))
    const transaction = { from: account, to: account, value, data: encodeFunctionData({ abi: EXECUTE, args }) }
    const send = { method: 'eth_sendTransaction', params: [transaction] }
    return { id: `${await forward(rpcUrlOf(Number(batchChainId)), send)}${batchChainId.slice(2)}` }
  }

  async function getCallsStatus(id: string) {
    const batchChainId: Hex = `0x${id.slice(HASH_LENGTH)}`
    const readFromChain = (method: string) =>
      forward(rpcUrlOf(Number(batchChainId)), { method, params: [id.slice(0, HASH_LENGTH)] })
    // The cast assumes the form of a receipt that the JSON-RPC method returns.
    const receipt = (await readFromChain('eth_getTransactionReceipt')) as { readonly status: Hex } | null
    if (!receipt && !(await readFromChain('eth_getTransactionByHash')))
      throw new ProviderError(UNKNOWN_BUNDLE, 'No such batch.')
    const status = !receipt ? 100 : receipt.status === '0x1' ? 200 : 500
    return { version: '2.0.0', id, chainId: batchChainId, status, atomic: true, receipts: receipt ? [receipt] : [] }
  }

  function batch({ method, params: [first] = [] }: RequestArguments): unknown {
    switch (method) {
      case 'wallet_getCapabilities':
        return Object.fromEntries(chains.map((chain) => [toHex(chain.chainId), { atomic: { status: 'supported' } }]))
      case 'wallet_sendCalls':
        return sendCalls(first as Batch)
      case 'wallet_getCallsStatus':
        return getCallsStatus(String(first))
      default:
        return undefined
    }
  }

  const request = ({ method, params = [] }: RequestArguments): unknown => {
    const batched = isSmart && batch({ method, params })
    if (batched) return batched
    switch (method) {
      case 'eth_requestAccounts':
        sessionStorage.setItem(name, 'connected')
        return [account]
      case 'eth_accounts':
        // Like every wallet, this one reports no account before the user connects it.
        return sessionStorage.getItem(name) ? [account] : []
      case 'eth_chainId':
        return toHex(chainId)
      case 'wallet_switchEthereumChain':
        return switchTo(Number((params[0] as { chainId: string }).chainId))
      case 'wallet_revokePermissions':
        sessionStorage.removeItem(name)
        return null
      default:
        if (!/^(eth|net|web3|personal)_/.test(method)) throw new ProviderError(UNSUPPORTED_METHOD, `No ${method} here.`)
        return forward(rpcUrlOf(chainId), { method, params })
    }
  }

  return {
    request: async (args: RequestArguments) => request(args),
    on(event: string, listener: (value: unknown) => void) {
      listeners.set(event, (listeners.get(event) ?? new Set()).add(listener))
    },
    removeListener(event: string, listener: (value: unknown) => void) {
      listeners.get(event)?.delete(listener)
    },
  }
}

function storedName(account: string): string {
  return `vaultline.local.${account}`
}

async function forward(url: string, { method, params }: RequestArguments): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const { result, error } = await response.json()
  if (error) throw new ProviderError(error.code, error.message)
  return result
}

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%230f7a5c'/%3E%3Cpath d='M8 12h16v10H8z' fill='none' stroke='white' stroke-width='2'/%3E%3Ccircle cx='20' cy='17' r='1.6' fill='white'/%3E%3C/svg%3E"
