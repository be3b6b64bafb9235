import * as z from 'zod'
import { addElements, all, any, exists, is, missing, remove, removeElements, set, sizeIs } from '../aws/conditions.ts'
import type { Table } from '../aws/table.ts'
import { EpochSeconds, Timestamp } from '../core/codecs.ts'
import { CredentialChallenge, LoginChallenge, Recovery, Registration, WalletChallenge } from './challenges.ts'
import { type ExpiringItemSchema, type ExpiringItemType, expiringKey, getExpiringItem } from './expiring.ts'
import { Session } from './session.ts'
import { type Access, User } from './user.ts'
import type { Wallet } from './wallet.ts'

/** Reservation of a passkey id for one user. */
export const PasskeyIdClaim = z.object({
  claimedBy: z.string(),
  clientId: z.string(),
  email: z.string(),
  claimedAt: Timestamp,
  writeId: z.string().optional(),
})
type Claim = z.output<typeof PasskeyIdClaim>

type UserKey = Pick<User, 'clientId' | 'email'>

/**
 * Store of users. A user is one item with all credentials and wallets, so one conditional put registers a user. Methods
 * throw if the table cannot be reached or an item does not match its schema.
 */
export function usersStore(table: Table) {
  function expiringItems<Schema extends ExpiringItemSchema>(type: ExpiringItemType, schema: Schema) {
    return {
      put: async (hash: string, value: z.output<Schema>): Promise<void> => {
        await table.add(schema, expiringKey(type, hash), value)
      },
      get: (hash: string) => getExpiringItem({ table, type, schema }, hash),
      /** Marks the item as used and returns it. Returns null if the item does not exist, has expired or is already used. */
      take: async (hash: string, now: Date): Promise<z.output<Schema> | null> => {
        const taken = await table.change(schema, expiringKey(type, hash), {
          changes: [set('isTaken', true)],
          when: all(is('expiresAt', '>', EpochSeconds.encode(now)), missing('isTaken')),
        })
        return taken ?? null
      },
      delete: async (hash: string): Promise<void> => {
        await table.delete(expiringKey(type, hash))
      },
    }
  }

  return {
    registrations: expiringItems('REGISTRATION', Registration),
    recoveries: expiringItems('RECOVERY', Recovery),
    loginChallenges: expiringItems('LOGIN', LoginChallenge),
    sessions: expiringItems('SESSION', Session),
    credentialChallenges: expiringItems('ENROLMENT', CredentialChallenge),
    walletChallenges: expiringItems('WALLET', WalletChallenge),

    /** Adds a user. Returns false if the client already has a user with this e-mail address. */
    create: (user: User): Promise<boolean> => table.add(User, userKey(user), user),

    /** Returns the client's user with this e-mail address; null if there is none. */
    get: async (key: UserKey): Promise<User | null> => (await table.get(User, userKey(key))) ?? null,

    /** Returns the client's user who has reserved this passkey id; null if there is none. */
    async find(clientId: string, credentialId: string): Promise<User | null> {
      const claim = await this.getClaim(credentialId)
      return claim?.clientId === clientId ? this.get(claim) : null
    },

    /** Reserves a passkey id for a user. Returns false if the id is already reserved. */
    claimCredential: (id: string, { clientId, email, userId }: User, claimedAt: Date): Promise<boolean> =>
      table.add(PasskeyIdClaim, credentialKey(id), { claimedBy: userId, clientId, email, claimedAt }),

    /** Returns the reservation of a passkey id; null if there is none. */
    getClaim: async (id: string): Promise<Claim | null> => (await table.get(PasskeyIdClaim, credentialKey(id))) ?? null,

    /** Deletes the reservation of a passkey id. Does nothing if another user or a later write has replaced the reservation. */
    async releaseCredential(id: string, { claimedBy, writeId }: Pick<Claim, 'claimedBy' | 'writeId'>): Promise<void> {
      const isOwn = is('claimedBy', '=', claimedBy)
      await table.delete(credentialKey(id), writeId === undefined ? isOwn : all(isOwn, is('writeId', '=', writeId)))
    },

    /** Replaces a user's credentials and sessions. Returns false if the user has changed since it was read. */
    putAccess(user: User, access: Access): Promise<boolean> {
      const { credentials, sessions, version } = User.pick({ credentials: true, sessions: true, version: true }).encode(
        { ...access, version: user.version + 1 },
      )
      return table.update(userKey(user), {
        changes: [set('credentials', credentials), set('sessions', sessions), set('version', version)],
        when: isUnchanged(user),
      })
    },

    /** Deletes a user. Returns false if the user has changed since it was read. */
    deleteUser: (user: User): Promise<boolean> => table.delete(userKey(user), isUnchanged(user)),

    /** Sets fields of a user that only an operator may set. Returns false if the user does not exist. */
    decide(key: UserKey, decisions: Partial<Pick<User, 'kyc' | 'smartGas'>>): Promise<boolean> {
      const decided = Object.entries(decisions).filter(([, value]) => value !== undefined)
      return table.update(userKey(key), {
        changes: decided.map(([field, value]) => set(field, value)),
        when: exists('pk'),
      })
    },

    /**
     * Adds a wallet to the user of a session. Returns false if the session has ended, the wallet is already linked, or
     * the user has `max` wallets.
     */
    linkWallet(session: Session, { address, chain, linkedAt }: Wallet, max: number): Promise<boolean> {
      return table.update(userKeyOf(session), {
        changes: [set(['wallets', address], { chain, linkedAt: Timestamp.encode(linkedAt) })],
        when: all(hasSession(session), missing(['wallets', address]), sizeIs('wallets', '<', max)),
      })
    },

    /** Removes a wallet from the user of a session. Returns false if the session or the wallet no longer exists. */
    unlinkWallet(session: Session, address: string): Promise<boolean> {
      return table.update(userKeyOf(session), {
        changes: [remove(['wallets', address])],
        when: all(hasSession(session), exists(['wallets', address])),
      })
    },

    /** Counts an attempt under `key` until the time `until`. Returns false and counts nothing if `max` attempts are already counted. */
    countTry(key: string, tryId: string, { max, until }: { max: number; until: Date }): Promise<boolean> {
      return table.update(limitKey(key), {
        changes: [addElements('tries', tryId), set('expiresAt', EpochSeconds.encode(until))],
        when: any(missing('tries'), sizeIs('tries', '<', max)),
      })
    },

    /** Cancels the count of an attempt, for example after a successful login. */
    async refundTry(key: string, tryId: string): Promise<void> {
      await table.update(limitKey(key), { changes: [removeElements('tries', tryId)], when: exists('pk') })
    },
  }
}

/** Store of users, as `usersStore` builds it. */
export type UsersStore = ReturnType<typeof usersStore>

function userKey({ clientId, email }: UserKey) {
  return { pk: `USER#${clientId}#${email}`, sk: 'USER' }
}

function userKeyOf({ clientId, user }: Session) {
  return userKey({ clientId, email: user.email })
}

function isUnchanged({ version, userId }: User) {
  return all(is('version', '=', version), is('userId', '=', userId))
}

function hasSession({ id, user }: Session) {
  return all(is('userId', '=', user.id), exists(['sessions', id]))
}

function limitKey(key: string) {
  return { pk: `LIMIT#${key}`, sk: 'LIMIT' }
}

function credentialKey(id: string) {
  return { pk: `CREDENTIAL#${id}`, sk: 'CREDENTIAL' }
}
