import { DeleteCommand, type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { conditionHeld, putNew, updateItem } from '../aws/dynamo.ts'
import { EpochSeconds, Timestamp } from '../codecs.ts'
import { CredentialChallenge, LoginChallenge, Recovery, Registration, WalletChallenge } from './challenges.ts'
import { type Expiring, type ExpiringType, expiringKey, getExpiring } from './expiring.ts'
import { Session } from './session.ts'
import { type Access, User } from './user.ts'
import type { Wallet } from './wallet.ts'

/** Who has taken a credential's id. */
const Claim = z.object({
  /** The user's id. */
  claimedBy: z.string(),
  clientId: z.string(),
  email: z.string(),
  claimedAt: Timestamp,
  writeId: z.string().optional(),
})
type Claim = z.output<typeof Claim>

/** Users are found by their client and their e-mail address. */
type UserKey = Pick<User, 'clientId' | 'email'>

/**
 * The table of users. A user is one item with all credentials and wallets, so that one conditional put registers.
 * Every method throws when the table cannot be reached or an item does not parse.
 */
export function usersStore(documentClient: DynamoDBDocumentClient, tableName: string) {
  const TableName = tableName
  const get = async (Key: Record<string, string>) =>
    (await documentClient.send(new GetCommand({ TableName, Key, ConsistentRead: true }))).Item
  const put = (item: Parameters<typeof putNew>[2]) => putNew(documentClient, TableName, item)
  /** Changes an item; false where the condition does not hold. */
  const update = async (change: Parameters<typeof updateItem>[2]) =>
    (await updateItem(documentClient, TableName, change)) !== null

  /** Items of one type that are found by the hash of a secret and end by themselves. */
  function expiringItems<Schema extends Expiring>(type: ExpiringType, schema: Schema) {
    return {
      put: async (hash: string, value: z.output<Schema>): Promise<void> => {
        await put({ ...expiringKey(type, hash), ...schema.encode(value) })
      },
      get: (hash: string) => getExpiring({ client: documentClient, TableName, type, schema }, hash),
      /** Uses the item up and gives it; null when it has ended or somebody else has used it up. Its end deletes it. */
      take: async (hash: string, now: Date): Promise<z.output<Schema> | null> => {
        const taken = await updateItem(documentClient, TableName, {
          key: expiringKey(type, hash),
          set: ['isTaken = :true'],
          condition: 'expiresAt > :now AND attribute_not_exists(isTaken)',
          ExpressionAttributeValues: { ':now': EpochSeconds.encode(now), ':true': true },
          ReturnValues: 'ALL_NEW',
        })
        return taken && schema.parse(taken)
      },
      delete: async (hash: string): Promise<void> => {
        await documentClient.send(new DeleteCommand({ TableName, Key: expiringKey(type, hash) }))
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

    /** Adds a user; false when the client has one with this e-mail address. */
    create(user: User): Promise<boolean> {
      return put({ ...userKey(user), ...User.encode(user) })
    },

    /** The client's user with this e-mail address; null when there is none. */
    async get(key: UserKey): Promise<User | null> {
      const item = await get(userKey(key))
      return item ? User.parse(item) : null
    },

    /** The client's user who has the credential with this id; null when nobody has. */
    async find(clientId: string, credentialId: string): Promise<User | null> {
      const claim = await this.getClaim(credentialId)
      return claim?.clientId === clientId ? this.get(claim) : null
    },

    /** Takes a credential's id for a user; false when it is taken. */
    claimCredential(id: string, { clientId, email, userId }: User, claimedAt: Date): Promise<boolean> {
      return put({ ...credentialKey(id), ...Claim.encode({ claimedBy: userId, clientId, email, claimedAt }) })
    },

    /** Who has taken a credential's id; null when nobody has. */
    async getClaim(id: string): Promise<Claim | null> {
      const item = await get(credentialKey(id))
      return item ? Claim.parse(item) : null
    },

    /** Gives back an id that is claimed so. */
    async releaseCredential(id: string, { claimedBy, writeId }: Pick<Claim, 'claimedBy' | 'writeId'>): Promise<void> {
      await conditionHeld(
        documentClient.send(
          new DeleteCommand({
            TableName,
            Key: credentialKey(id),
            ConditionExpression: `claimedBy = :user${writeId === undefined ? '' : ' AND writeId = :writeId'}`,
            ExpressionAttributeValues: { ':user': claimedBy, ':writeId': writeId },
          }),
        ),
      )
    },

    /**
     * Replaces what opens an account, where it is still of the version that was read; false when somebody else has changed
     * it since.
     */
    putAccess(user: User, access: Access): Promise<boolean> {
      const { credentials, sessions, version } = User.pick({ credentials: true, sessions: true, version: true }).encode(
        {
          ...access,
          version: user.version + 1,
        },
      )
      return update({
        key: userKey(user),
        set: ['credentials = :credentials', 'sessions = :sessions', 'version = :version'],
        condition: 'version = :before AND userId = :user',
        ExpressionAttributeValues: {
          ':credentials': credentials,
          ':sessions': sessions,
          ':version': version,
          ':before': user.version,
          ':user': user.userId,
        },
      })
    },

    /** Deletes a user of this version; false when somebody has changed it since. */
    deleteUser(user: User): Promise<boolean> {
      return conditionHeld(
        documentClient.send(
          new DeleteCommand({
            TableName,
            Key: userKey(user),
            ConditionExpression: 'version = :before AND userId = :user',
            ExpressionAttributeValues: { ':before': user.version, ':user': user.userId },
          }),
        ),
      )
    },

    /** Sets what an operator decides of a user; false when there is no such user. */
    decide(key: UserKey, decisions: Partial<Pick<User, 'kyc' | 'smartGas'>>): Promise<boolean> {
      const entries = Object.entries(decisions).filter(([, value]) => value !== undefined)
      return update({
        key: userKey(key),
        set: entries.map(([field]) => `${field} = :${field}`),
        condition: 'attribute_exists(pk)',
        ExpressionAttributeValues: Object.fromEntries(entries.map(([field, value]) => [`:${field}`, value])),
      })
    },

    /**
     * Adds a wallet to the user of a session who has fewer than `max`; false when the session has ended, or the user has the
     * wallet already, or too many.
     */
    linkWallet(session: Session, { address, chain, linkedAt }: Wallet, max: number): Promise<boolean> {
      return update({
        key: userKeyOf(session),
        set: ['wallets.#address = :wallet'],
        condition: `${HAS_SESSION} AND attribute_not_exists(wallets.#address) AND size(wallets) < :max`,
        ExpressionAttributeNames: { '#address': address, '#session': session.id },
        ExpressionAttributeValues: {
          ':wallet': { chain, linkedAt: Timestamp.encode(linkedAt) },
          ':max': max,
          ':user': session.user.id,
        },
      })
    },

    /** Takes a wallet from the user of a session; false when the session has ended, or the user does not have the wallet. */
    unlinkWallet(session: Session, address: string): Promise<boolean> {
      return update({
        key: userKeyOf(session),
        remove: ['wallets.#address'],
        condition: `${HAS_SESSION} AND attribute_exists(wallets.#address)`,
        ExpressionAttributeNames: { '#address': address, '#session': session.id },
        ExpressionAttributeValues: { ':user': session.user.id },
      })
    },

    /** Counts a try under this key until the moment is over; false, without counting, when `max` others are counted. */
    countTry(key: string, tryId: string, { max, until }: { max: number; until: Date }): Promise<boolean> {
      return conditionHeld(
        documentClient.send(
          new UpdateCommand({
            TableName,
            Key: limitKey(key),
            UpdateExpression: 'ADD tries :tries SET expiresAt = :end',
            ConditionExpression: 'attribute_not_exists(tries) OR size(tries) < :max OR contains(tries, :try)',
            ExpressionAttributeValues: {
              ':tries': new Set([tryId]),
              ':try': tryId,
              ':end': EpochSeconds.encode(until),
              ':max': max,
            },
          }),
        ),
      )
    },

    /** Counts a try no more. */
    async takeTryBack(key: string, tryId: string): Promise<void> {
      await conditionHeld(
        documentClient.send(
          new UpdateCommand({
            TableName,
            Key: limitKey(key),
            UpdateExpression: 'DELETE tries :tries',
            ConditionExpression: 'attribute_exists(pk)',
            ExpressionAttributeValues: { ':tries': new Set([tryId]) },
          }),
        ),
      )
    },
  }
}

/** The store of users. */
export type UsersStore = ReturnType<typeof usersStore>

function userKey({ clientId, email }: UserKey) {
  return { pk: `USER#${clientId}#${email}`, sk: 'USER' }
}

function userKeyOf({ clientId, user }: Session) {
  return userKey({ clientId, email: user.email })
}

/** Of a user's item: that it is this user's, with this session. */
const HAS_SESSION = 'userId = :user AND attribute_exists(sessions.#session)'

function limitKey(key: string) {
  return { pk: `LIMIT#${key}`, sk: 'LIMIT' }
}

function credentialKey(id: string) {
  return { pk: `CREDENTIAL#${id}`, sk: 'CREDENTIAL' }
}
