import type { UsersStore } from '../lib/accounts/store.ts'
import type { RecordingStore } from '../lib/activity/store.ts'
import type { TransfersStore } from '../lib/bridge/store.ts'
import type { KeyEnvironment, RandomBytes } from '../lib/clients/api-key.ts'
import type { VaultDescription } from '../lib/protocols/describe.ts'
import type { SimulatedTrip } from '../lib/protocols/round-trip.ts'
import type { VaultOnChain } from '../lib/protocols/vault-on-chain.ts'
import type { Pin } from '../lib/vaults/pin.ts'
import type { PinStore } from '../lib/vaults/pin-store.ts'
import type { Vault } from '../lib/vaults/vault.ts'
import type { Nodes } from './check-nodes.ts'
import type { ClientsAdminStore } from './clients.ts'
import type { ConfigSecret } from './config-secret.ts'
import type { DeadLetters } from './dead-letters.ts'
import type { DoctorServices as ExaminedEnvironment } from './doctor.ts'
import type { EdgeKeysSecret } from './edge-keys.ts'
import type { createItemsRestorer } from './restore.ts'
import type { SigningKeysSecret } from './signing-keys.ts'
import type { WebhooksAdmin } from './webhooks.ts'

/** Services of one environment (a stage, or the local service) that an operator's commands use. */
export type Admin = {
  readonly clients: ClientsAdminStore
  readonly users: UsersStore
  readonly transfers: Pick<TransfersStore, 'getSent' | 'forget' | 'forgetSent'>
  readonly records: Pick<RecordingStore, 'getProgress' | 'putProgress'>
  readonly pinStore: Pick<PinStore, 'get' | 'add' | 'replace'>
  readonly webhooks: WebhooksAdmin
  readonly deadLetters: DeadLetters
  readonly config: ConfigSecret
  readonly signingKeys: SigningKeysSecret
  /** Secret with the keys by which functions recognize CloudFront; undefined for the local service, which has no CloudFront. */
  readonly edgeKeys: EdgeKeysSecret | undefined
  readonly restoreItems: ReturnType<typeof createItemsRestorer>
  readonly keyEnvironment: KeyEnvironment
  readonly randomBytes: RandomBytes
  /** Returns the present time in epoch milliseconds. */
  readonly now: () => number
  /** Reads a vault's description from its chain. */
  readonly describeVault: (chainId: number, address: Vault['address']) => Promise<VaultDescription>
  /**
   * Reads a vault's code addresses and price, to store them as confirmed by the operator (the pin). Also returns the number of node hosts
   * that gave this result, and their last common block.
   */
  readonly readPin: (
    vault: Omit<VaultOnChain, 'firstBlock'>,
  ) => Promise<Pick<Pin, 'code' | 'price'> & { readonly nodes: number; readonly block: bigint }>
  /** Simulates a deposit into this vault, and the withdrawal of that deposit. */
  readonly simulateRoundTrip: (vault: VaultOnChain) => Promise<SimulatedTrip>
  readonly nodes: Nodes
  readonly examined: ExaminedEnvironment
}

/** Error of a command that cannot do what the operator requested; the message gives the full reason. */
export class AdminError extends Error {}
