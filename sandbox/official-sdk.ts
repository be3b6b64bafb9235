import { fetchVault } from '@lagoon-protocol/v0-viem'
import type { Address, Client } from 'viem'

// The package is declared here, because TypeScript cannot resolve the files that the package's own declarations name.
declare module '@lagoon-protocol/v0-viem' {
  /** Reads a vault from the chain; rejects if it cannot. */
  export function fetchVault(address: Address, client: Client): Promise<unknown>
}

/** Reads vaults through Lagoon's official SDK, with two calls for each vault; rejects if one fails. */
export async function readByOfficialSdk(client: Client, vaults: readonly Address[]): Promise<void> {
  await Promise.all(vaults.map((address) => fetchVault(address, client)))
}
