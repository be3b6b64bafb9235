import * as z from 'zod'
import { EpochSeconds } from '../core/codecs.ts'
import { Platform } from './relying-party.ts'
import { WalletChain } from './wallet.ts'

const LIFETIME_SECONDS = 10 * 60

/** A registration in progress, found by the token that the client received. */
export const Registration = z.object({
  email: z.string(),
  platform: Platform,
  userId: z.string(),
  challenge: z.string(),
  expiresAt: EpochSeconds,
})

/**
 * A recovery in progress, found by the token that the client received. It also exists for unknown e-mail addresses, so
 * as not to reveal them.
 */
export const Recovery = z.object({
  clientId: z.string(),
  email: z.string(),
  platform: Platform,
  /** WebAuthn's user handle of the new passkeys. */
  userHandle: z.string(),
  challenge: z.string(),
  expiresAt: EpochSeconds,
})

/** A login in progress. Without an e-mail address the passkey identifies the user. */
export const LoginChallenge = z.object({
  clientId: z.string(),
  email: z.string().optional(),
  challenge: z.string(),
  expiresAt: EpochSeconds,
})

/** The addition of a credential in progress, with the challenge that an existing credential signs to confirm it. */
export const CredentialChallenge = z.object({
  userId: z.string(),
  platform: Platform,
  challenge: z.string(),
  expiresAt: EpochSeconds,
})

/** The linking of a wallet in progress, with the values of the message that the wallet signs. */
export const WalletChallenge = z.object({
  userId: z.string(),
  address: z.string(),
  chain: WalletChain,
  chainId: z.number().int(),
  expiresAt: EpochSeconds,
})
export type WalletChallenge = z.output<typeof WalletChallenge>

/** Returns the end of a challenge issued at `now` (epoch milliseconds): ten minutes later. */
export function challengeEnd(now: number): Date {
  return secondsFrom(now, LIFETIME_SECONDS)
}

/** Returns the whole second this many seconds after `now` (epoch milliseconds). */
export function secondsFrom(now: number, seconds: number): Date {
  return new Date((Math.floor(now / 1000) + seconds) * 1000)
}
