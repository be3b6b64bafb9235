import type { Config } from './config.ts'

/** An error as EIP-1193 has it. */
class ProviderError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

type RequestArguments = { readonly method: string; readonly params?: readonly unknown[] }

const UNSUPPORTED_METHOD = 4200
const UNKNOWN_CHAIN = 4902

/**
 * Announces the funded accounts of the local chains as wallets (EIP-6963), so that they stand beside those which the browser
 * has. Their chains sign for them: no key is in the page.
 */
export function announceLocalAccounts({ chains, sandbox }: Config): void {
  const accounts = [
    { name: 'Local account with a past', account: sandbox?.accounts[0] },
    { name: 'Fresh local account', account: sandbox?.accounts.at(-1) },
  ]
  const details = accounts.flatMap(({ name, account }, index) =>
    account
      ? {
          info: {
            uuid: `00000000-0000-4000-8000-00000000000${index}`,
            name,
            icon: ICON,
            rdns: `local.vaultline.${index}`,
          },
          provider: createLocalAccount(account, chains),
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

/** An account of the local chains as a wallet (EIP-1193). */
function createLocalAccount(account: `0x${string}`, chains: Config['chains']) {
  const listeners = new Map<string, Set<(value: unknown) => void>>()
  const name = `vaultline.local.${account}`
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

  const request = ({ method, params = [] }: RequestArguments): unknown => {
    switch (method) {
      case 'eth_requestAccounts':
        sessionStorage.setItem(name, 'connected')
        return [account]
      case 'eth_accounts':
        // Until somebody connects it, it says nothing, as every wallet does.
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
        return forward(chains.find((chain) => chain.chainId === chainId)?.rpcUrl ?? '', { method, params })
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

async function forward(url: string, { method, params }: RequestArguments): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const { result, error } = await response.json()
  if (error) throw new ProviderError(error.code, error.message)
  return result
}

function toHex(chainId: number): string {
  return `0x${chainId.toString(16)}`
}

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%230f7a5c'/%3E%3Cpath d='M8 12h16v10H8z' fill='none' stroke='white' stroke-width='2'/%3E%3Ccircle cx='20' cy='17' r='1.6' fill='white'/%3E%3C/svg%3E"
