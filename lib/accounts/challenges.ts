import * as z from 'zod'
import { EpochSeconds } from '../core/codecs.ts'
import { Platform } from './relying-party.ts'
import { WalletChain } from './wallet.ts'

const LIFETIME_SECONDS = 10 * 60

/** Registration in progress; its token finds it. */
export const Registration = z.object({
  email: z.string(),
  platform: Platform,
  userId: z.string(),
  challenge: z.string(),
  expiresAt: EpochSeconds,
})

/** Recovery in progress; its token finds it. It also exists for unknown e-mail addresses. */
export const Recovery = z.object({
  clientId: z.string(),
  email: z.string(),
  platform: Platform,
  /** WebAuthn's user handle of the new passkeys. */
  userHandle: z.string(),
  challenge: z.string(),
  expiresAt: EpochSeconds,
})

/** Login in progress. Without an e-mail address the passkey identifies the user. */
export const LoginChallenge = z.object({
  clientId: z.string(),
  email: z.string().optional(),
  challenge: z.string(),
  expiresAt: EpochSeconds,
})

/** New credential in progress, with the challenge that an existing one signs to confirm it. */
export const CredentialChallenge = z.object({
  userId: z.string(),
  platform: Platform,
  challenge: z.string(),
  expiresAt: EpochSeconds,
})

/** Wallet to be linked, with the values of the message that it signs. */
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
