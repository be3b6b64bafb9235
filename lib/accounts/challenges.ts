import * as z from 'zod'
import { EpochSeconds } from '../codecs.ts'
import { Platform } from './relying-party.ts'
import { WalletChain } from './wallet.ts'

const LIFETIME_SECONDS = 10 * 60

/** A registration under way: what its token stands for. */
export const Registration = z.object({
  email: z.string(),
  platform: Platform,
  userId: z.string(),
  challenge: z.string(),
  expiresAt: EpochSeconds,
})

/** A recovery under way: what its token stands for, whether the e-mail address is known or not. */
export const Recovery = z.object({
  clientId: z.string(),
  email: z.string(),
  platform: Platform,
  /** WebAuthn's user handle of the passkeys that are made for it. */
  userHandle: z.string(),
  challenge: z.string(),
  expiresAt: EpochSeconds,
})

/** A login under way; without an e-mail address the passkey tells who logs in. */
export const LoginChallenge = z.object({
  clientId: z.string(),
  email: z.string().optional(),
  challenge: z.string(),
  expiresAt: EpochSeconds,
})

/** A new credential of a user's that is about to be made, and the challenge that an old one confirms it with. */
export const CredentialChallenge = z.object({
  userId: z.string(),
  platform: Platform,
  challenge: z.string(),
  expiresAt: EpochSeconds,
})

/** A wallet that is about to be linked: what the text to be signed stands for. */
export const WalletChallenge = z.object({
  userId: z.string(),
  address: z.string(),
  chain: WalletChain,
  chainId: z.number().int(),
  expiresAt: EpochSeconds,
})
export type WalletChallenge = z.output<typeof WalletChallenge>

/** When a challenge that is given out now ends: in ten minutes, in whole seconds. `now` is in epoch milliseconds. */
export function challengeEnd(now: number): Date {
  return secondsFrom(now, LIFETIME_SECONDS)
}

/** The moment this many seconds after `now`, which is in epoch milliseconds, in whole seconds. */
export function secondsFrom(now: number, seconds: number): Date {
  return new Date((Math.floor(now / 1000) + seconds) * 1000)
}
