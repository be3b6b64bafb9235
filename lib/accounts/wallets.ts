import type { ChainReader } from '../chain/reader.ts'
import { type RandomBytes, randomBase62 } from '../clients/api-key.ts'
import { AppError } from '../errors.ts'
import { challengeEnd, type WalletChallenge } from './challenges.ts'
import type { Limiter } from './limits.ts'
import type { RelyingParty } from './relying-party.ts'
import type { Session } from './session.ts'
import type { UsersStore } from './store.ts'
import { hashToken } from './token.ts'
import type { User } from './user.ts'
import type { Wallet } from './wallet.ts'
import { walletMessage } from './wallet-message.ts'
import { isSignedBy } from './wallet-proof.ts'

const MAX_WALLETS = 20

/**
 * Starts the linking of a wallet: the text that it has to sign within ten minutes. `origin` is the page that asks, where
 * a page does: wallets compare it with the text. Throws `too_many_requests`.
 */
export function beginLink({
  users,
  limit,
  relyingParty,
  randomBytes,
  now,
}: {
  readonly users: UsersStore
  readonly limit: Limiter
  readonly relyingParty: RelyingParty
  readonly randomBytes: RandomBytes
  /** Epoch milliseconds. */
  readonly now: () => number
}) {
  return async (
    { user }: Session,
    wallet: Pick<WalletChallenge, 'address' | 'chain' | 'chainId'>,
    { origin, sourceIp }: { origin?: string | undefined; sourceIp: string },
  ): Promise<{ message: string; expiresAt: Date }> => {
    await limit('wallet', sourceIp, user.email)
    const uri = relyingParty.webOrigins.find((known) => known === origin) ?? `https://${relyingParty.id}`
    const challenge = { ...wallet, userId: user.id, expiresAt: challengeEnd(now()) }
    const nonce = randomBase62(32, randomBytes)
    const message = walletMessage(challenge, { uri, domain: new URL(uri).host, nonce, issuedAt: new Date(now()) })
    // What a text stands for is found by the text alone: one with another domain, nonce or chain stands for nothing.
    await users.walletChallenges.put(hashToken(message), challenge)
    return { message, expiresAt: challenge.expiresAt }
  }
}

/**
 * Links the wallet that signed a text of ours to the user who asked for it. Throws `challenge_expired_or_used`,
 * `invalid_signature`, `wallet_already_linked`, `too_many_wallets`, or `upstream_*`, after which the same text is still good.
 */
export function completeLink({
  users,
  readerOf,
  now,
}: {
  readonly users: UsersStore
  readonly readerOf: (chainId: number) => Pick<ChainReader, 'request'>
  /** Epoch milliseconds. */
  readonly now: () => number
}) {
  return async ({ clientId, user }: Session, message: string, signature: string): Promise<Wallet> => {
    const linkedAt = new Date(now())
    const challenge = await users.walletChallenges.get(hashToken(message))
    if (challenge?.userId !== user.id || challenge.expiresAt <= linkedAt) {
      throw new AppError('challenge_expired_or_used')
    }
    if (!(await isSignedBy(challenge, message, signature, readerOf))) throw new AppError('invalid_signature')
    const taken = await users.walletChallenges.take(hashToken(message), linkedAt)
    if (!taken) throw new AppError('challenge_expired_or_used')

    const wallet: Wallet = { address: taken.address, chain: taken.chain, linkedAt }
    const key = { clientId, email: user.email }
    if (!(await users.linkWallet(key, wallet, MAX_WALLETS))) {
      const wallets = walletsOf(await users.get(key))
      const isLinked = wallets.some(({ address }) => address === wallet.address)
      throw new AppError(isLinked ? 'wallet_already_linked' : 'too_many_wallets')
    }
    return wallet
  }
}

/** The wallets of a user, the first linked first; throws `invalid_session` where the user is no more. */
export function walletsOf(user: User | null): Wallet[] {
  if (!user) throw new AppError('invalid_session')
  const wallets = Object.entries(user.wallets).map(([address, wallet]) => ({ address, ...wallet }))
  return wallets.sort((left, right) => left.linkedAt.getTime() - right.linkedAt.getTime())
}
