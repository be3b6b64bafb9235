import { fetchVault } from '@lagoon-protocol/v0-viem'
import type { Address, Client } from 'viem'

// The package is declared here, because TypeScript cannot resolve the files that the package's own declarations name.
declare module '@lagoon-protocol/v0-viem' {
  /** Reads a vault from the chain. Rejects if a read fails. */
  export function fetchVault(address: Address, client: Client): Promise<unknown>
}

/** Reads vaults with Lagoon's official SDK, which makes two calls per vault. Rejects if a call fails. */
export async function readByOfficialSdk(client: Client, vaults: readonly Address[]): Promise<void> {
  await Promise.all(vaults.map((address) => fetchVault(address, client)))
}
