import type { Address } from './api.ts'
import { parseJson, parseKeys, parseVaults } from './command.ts'
import type { ServerOptions } from './mcp.ts'
import { createWitness } from './witness.ts'

const VARIABLES = {
  VAULTLINE_URL: 'URL of the API, such as https://api.example.com',
  VAULTLINE_KEY: 'Your API key; give it the scopes vaults and markets only',
  VAULTLINE_SIGNING_KEYS: 'Public keys that sign responses, from your operator: JSON, or the path of a file',
  VAULTLINE_VAULTS:
    'Optional: the vaults that may be used, as { chainId, address, protocol, asset, shareToken? }: JSON, or a path',
  VAULTLINE_ACCOUNT:
    "Recommended: the user's wallet, the default of userAddress; transactions for another one are refused",
  VAULTLINE_RPC: 'Optional: your own node, which dry-runs transactions: a URL, or JSON with a URL for each chain id',
} as const

/** Help text of the command `vaultline-mcp`. */
export const USAGE = `Usage: vaultline-mcp

Serves the tools of Vaultline to an MCP host over stdin and stdout. It signs and sends nothing. It reads these variables:

${Object.entries(VARIABLES)
  .map(([name, meaning]) => `  ${name}\n      ${meaning}`)
  .join('\n')}
`

/** Reads the server's options from environment variables. Throws with the name of a variable that is missing or has the wrong format. */
export function readOptions(
  variables: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
): ServerOptions {
  const find = (name: keyof typeof VARIABLES) => variables[name]?.trim() || undefined
  const need = (name: keyof typeof VARIABLES) => {
    const value = find(name)
    if (value === undefined) throw new Error(`${name} is missing. ${VARIABLES[name]}.`)
    return value
  }
  const text = (value: string) => (isJson(value) ? value : readFile(value))
  const client = { url: need('VAULTLINE_URL'), key: need('VAULTLINE_KEY') }
  const keys = parseKeys(text(need('VAULTLINE_SIGNING_KEYS')), 'VAULTLINE_SIGNING_KEYS')
  const [vaults, rpc, account] = [find('VAULTLINE_VAULTS'), find('VAULTLINE_RPC'), find('VAULTLINE_ACCOUNT')]
  if (account !== undefined && !isAddress(account)) throw new Error('VAULTLINE_ACCOUNT is no address.')
  return {
    client,
    account,
    trust: {
      keys,
      vaults: vaults === undefined ? undefined : parseVaults(text(vaults), 'VAULTLINE_VAULTS'),
      witness: rpc === undefined ? undefined : createWitness({ url: parseNodes(rpc) }),
    },
  }
}

/** Parses the URL of a blockchain node, or one URL for each chain id. The error does not contain the URL, since a URL may contain a key. */
function parseNodes(text: string): string | Readonly<Record<number, string>> {
  const nodes = isJson(text) ? parseJson<Readonly<Record<number, string>>>(text, 'VAULTLINE_RPC') : text
  const urls = typeof nodes === 'string' ? [nodes] : Object.values(nodes)
  if (!urls.every((url) => /^https?:\/\//.test(url)))
    throw new Error('VAULTLINE_RPC has a URL that is not http or https.')
  return nodes
}

function isAddress(text: string): text is Address {
  return /^0x[0-9a-f]{40}$/i.test(text)
}

function isJson(text: string): boolean {
  return /^[[{]/.test(text)
}
