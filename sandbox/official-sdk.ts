import { fetchVault } from '@lagoon-protocol/v0-viem'
import type { Address, Client } from 'viem'

// Its own declarations name files in a way that TypeScript does not resolve here.
declare module '@lagoon-protocol/v0-viem' {
  /** Reads a vault. Rejects where it cannot. */
  export function fetchVault(address: Address, client: Client): Promise<unknown>
}

/** Reads these vaults as Lagoon's official SDK does: two calls for each. Rejects where one cannot be read. */
export async function readByOfficialSdk(client: Client, vaults: readonly Address[]): Promise<void> {
  await Promise.all(vaults.map((address) => fetchVault(address, client)))
}
