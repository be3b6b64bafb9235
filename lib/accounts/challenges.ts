import * as z from 'zod'
import { EpochSeconds } from '../core/codecs.ts'
import { Platform } from './relying-party.ts'
import { WalletChain } from './wallet.ts'

const LIFETIME_SECONDS = 10 * 60

/** A registration in progress, stored by the hash of the temporary token that the client received. */
export const Registration = z.object({
  email: z.string(),
  platform: Platform,
  userId: z.string(),
  challenge: z.string(),
  expiresAt: EpochSeconds,
})

/**
 * An account recovery in progress, stored by the hash of the temporary token that the client received. It is also
 * stored for an unknown e-mail address, so that the API does not reveal which addresses are known.
 */
export const Recovery = z.object({
  clientId: z.string(),
  email: z.string(),
  platform: Platform,
  /** WebAuthn's user handle for the passkeys that replace the user's credentials. */
  userHandle: z.string(),
  challenge: z.string(),
  expiresAt: EpochSeconds,
})

/** A login in progress. A login without an e-mail address identifies the user by the passkey's id. */
export const LoginChallenge = z.object({
  clientId: z.string(),
  email: z.string().optional(),
  challenge: z.string(),
  expiresAt: EpochSeconds,
})

/** The addition of a credential in progress. An existing credential of the user signs its challenge to confirm the addition. */
export const CredentialChallenge = z.object({
  userId: z.string(),
  platform: Platform,
  challenge: z.string(),
  expiresAt: EpochSeconds,
})

/** The linking of a wallet in progress, with values from the message that the wallet must sign. */
export const WalletChallenge = z.object({
  userId: z.string(),
  address: z.string(),
  chain: WalletChain,
  chainId: z.number().int(),
  expiresAt: EpochSeconds,
})
export type WalletChallenge = z.output<typeof WalletChallenge>

/** Returns the time at which a challenge issued at `now` (epoch milliseconds) expires: ten minutes later. */
export function getChallengeExpiry(now: number): Date {
  return addSeconds(now, LIFETIME_SECONDS)
}

/** Returns the time `seconds` after `now` (epoch milliseconds), rounded down to a whole second. */
export function addSeconds(now: number, seconds: number): Date {
  return new Date((Math.floor(now / 1000) + seconds) * 1000)
}
