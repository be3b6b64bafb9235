import { buildCall } from '../../chain/call.ts'
import { buildReadPlan, joinReadPlans, mapReadPlan, type ReadPlan } from '../../chain/reader.ts'
import { readErc4626DepositTerms, UNOWNED_ACCOUNT } from '../erc4626/deposit.ts'
import { shareValue } from '../erc4626/price.ts'
import { readErc4626Overview } from '../erc4626/protocol.ts'
import type { Protocol, VaultCandidate } from '../protocol.ts'
import type { ContractTerms } from '../terms.ts'
import { cooldownAbi } from './abi.ts'
import { readCooldownAccount } from './account.ts'
import { cooldownBooks } from './ledger.ts'
import { readCooldownClaimTerms, readCooldownOpenRequest } from './requests.ts'
import type { CooldownVault } from './vault.ts'
import { readCooldownWithdrawalTerms } from './withdrawal.ts'

type Target = Pick<CooldownVault, 'address' | 'shareDecimals'>

/** Reads the duration of a cooldown begun now, in seconds; undefined if the vault does not report it. */
function durationOf({ address }: Target): ReadPlan<number | undefined> {
  const calls = { duration: buildCall(address, cooldownAbi, 'cooldownDuration', []) }
  return buildReadPlan({ address, slots: {}, calls }, ({ answers }) => answers.duration)
}

/** Changes the terms of a vault whose cooldown is not 0 seconds: such a vault pays nothing immediately. */
function withCooldown<T extends { readonly terms: ContractTerms }>([read, seconds]: readonly [
  T,
  number | undefined,
]): T {
  if (seconds === 0) return read
  const liquidity = seconds === undefined ? undefined : 0n
  return { ...read, terms: { ...read.terms, exit: 'cooldown', liquidity, cooldownSeconds: seconds } }
}

/**
 * Reads the functions that only cooldown vaults have. Returns the silo, which holds assets during a cooldown; undefined
 * for other contracts.
 */
function interfaceOf({ address }: VaultCandidate) {
  const calls = {
    duration: buildCall(address, cooldownAbi, 'cooldownDuration', []),
    silo: buildCall(address, cooldownAbi, 'silo', []),
    cooldown: buildCall(address, cooldownAbi, 'cooldowns', [UNOWNED_ACCOUNT]),
  }
  return buildReadPlan({ address, slots: {}, calls }, ({ answers: { duration, silo, cooldown } }) =>
    duration === undefined || cooldown === undefined ? undefined : silo,
  )
}

/** Protocol of synchronous vaults with the cooldown of Ethena's StakedUSDeV2. */
export const cooldown: Protocol<CooldownVault> = {
  abi: cooldownAbi,
  describe: (vault) =>
    mapReadPlan(joinReadPlans(interfaceOf(vault), readErc4626Overview(vault)), ([silo, { hasCap = false }]) =>
      silo === undefined || vault.isAsync
        ? 'no cooldown vault: it does not report its cooldown and its silo'
        : { protocol: 'cooldown', silo, hasCap, version: null },
    ),
  overview: (vault) => mapReadPlan(joinReadPlans(readErc4626Overview(vault), durationOf(vault)), withCooldown),
  shareValue,
  account: readCooldownAccount,
  depositTerms: (vault, account, amount) =>
    mapReadPlan(joinReadPlans(readErc4626DepositTerms(vault, account, amount), durationOf(vault)), withCooldown),
  withdrawalTerms: readCooldownWithdrawalTerms,
  claimTerms: readCooldownClaimTerms,
  openRequest: readCooldownOpenRequest,
  books: cooldownBooks,
}
