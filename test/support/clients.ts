import { randomBytes } from 'node:crypto'
import { createApiKey, randomBase62 } from '../../lib/clients/api-key.ts'
import type { ApiKey, Client } from '../../lib/clients/client.ts'
import { type KeyLimits, Scope } from '../../lib/clients/key-limits.ts'
import { sha256 } from '../../lib/core/sha256.ts'
import type { Vault } from '../../lib/vaults/vault.ts'

/** Creates an API client without vaults. Tests override the fields on which they depend. */
export function someClient(overrides: Partial<Client> = {}): Client {
  return {
    clientId: randomBase62(10, randomBytes),
    name: 'Some wallet',
    createdAt: new Date('2026-01-01T00:00:00.000Z'),
    vaults: [],
    ...overrides,
  }
}

/** Limits of an API key with all scopes and a request rate that no test exceeds. */
export const UNRESTRICTED_LIMITS: KeyLimits = { scopes: Scope.options, rate: { requests: 1_000_000, seconds: 60 } }

/** Creates an API key of a client. Returns the key's text and the record that the table stores. */
export function someKey(clientId: string, overrides: Partial<ApiKey> = {}): { text: string; key: ApiKey } {
  const text = createApiKey('test', clientId, randomBytes)
  const key: ApiKey = {
    keyId: randomBase62(10, randomBytes),
    name: 'some key',
    sha256: sha256(text),
    lastFour: text.slice(-4),
    createdAt: new Date('2026-01-01T00:00:00.000Z'),
    limits: UNRESTRICTED_LIMITS,
    ...overrides,
  }
  return { text, key }
}

type SyncVault = Extract<Vault, { protocol: 'erc4626' }>

/** Creates the configuration of a synchronous vault (ERC-4626). Tests override the fields on which they depend. */
export function someVault(overrides: Partial<SyncVault> = {}): SyncVault {
  return {
    poolId: 'some-vault',
    chainId: 8453,
    address: '0x00000000000000000000000000000000000000A1',
    protocol: 'erc4626',
    name: 'Some vault',
    description: '',
    logoUrl: '',
    riskProfile: '',
    riskProtocol: '',
    asset: '0x00000000000000000000000000000000000000b2',
    assetSymbol: 'USDC',
    assetDecimals: 6,
    shareToken: '0x00000000000000000000000000000000000000A1',
    shareDecimals: 18,
    hasCap: false,
    firstBlock: 0,
    addedAt: new Date('2026-01-01T00:00:00.000Z'),
    ...overrides,
  }
}
