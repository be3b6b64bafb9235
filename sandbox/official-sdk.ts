import { fetchVault } from '@lagoon-protocol/v0-viem'
import type { Address, Client } from 'viem'

// TypeScript cannot resolve the files named in the package's own declarations.
declare module '@lagoon-protocol/v0-viem' {
  /** Reads a vault; rejects if it cannot. */
  export function fetchVault(address: Address, client: Client): Promise<unknown>
}

/** Reads vaults through Lagoon's official SDK, with two calls each; rejects if one fails. */
export async function readByOfficialSdk(client: Client, vaults: readonly Address[]): Promise<void> {
  await Promise.all(vaults.map((address) => fetchVault(address, client)))
}
