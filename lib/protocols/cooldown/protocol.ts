import { call } from '../../chain/call.ts'
import { joinReadPlans, mapReadPlan, type ReadPlan, readPlan } from '../../chain/reader.ts'
import { ANYBODY, erc4626DepositTerms } from '../erc4626/deposit.ts'
import { shareValue } from '../erc4626/price.ts'
import { erc4626Overview } from '../erc4626/protocol.ts'
import type { Overview, Protocol, VaultCandidate } from '../protocol.ts'
import { cooldownAbi } from './abi.ts'
import { cooldownAccount } from './account.ts'
import { cooldownBooks } from './ledger.ts'
import { cooldownClaimTerms, cooldownOpenRequest } from './requests.ts'
import type { CooldownVault } from './vault.ts'
import { cooldownWithdrawalTerms } from './withdrawal.ts'

type Target = Pick<CooldownVault, 'address' | 'shareDecimals'>

/** What the list shows of a vault. While there is a cooldown, it pays nothing at once. */
function overview(vault: Target): ReadPlan<Overview> {
  const { address } = vault
  const calls = { duration: call(address, cooldownAbi, 'cooldownDuration', []) }
  const duration = readPlan({ address, slots: {}, calls }, ({ answers }) => answers.duration)
  return mapReadPlan(joinReadPlans(erc4626Overview(vault), duration), ([read, seconds]) => ({
    ...read,
    terms:
      seconds === 0
        ? read.terms
        : {
            ...read.terms,
            exit: 'cooldown',
            liquidity: seconds === undefined ? undefined : 0n,
            cooldownSeconds: seconds,
          },
  }))
}

/** Reads whether a vault has a cooldown, and where its assets wait. */
function interfaceOf({ address }: VaultCandidate) {
  const calls = {
    duration: call(address, cooldownAbi, 'cooldownDuration', []),
    silo: call(address, cooldownAbi, 'silo', []),
    cooldown: call(address, cooldownAbi, 'cooldowns', [ANYBODY]),
  }
  return readPlan({ address, slots: {}, calls }, ({ answers: { duration, silo, cooldown } }) =>
    duration === undefined || cooldown === undefined ? undefined : silo,
  )
}

/** Synchronous vaults that pay only after a cooldown, by the interface of Ethena's StakedUSDeV2. */
export const cooldown: Protocol<CooldownVault> = {
  abi: cooldownAbi,
  describe: (vault) =>
    mapReadPlan(joinReadPlans(interfaceOf(vault), erc4626Overview(vault)), ([silo, { hasCap = false }]) =>
      silo === undefined || vault.isAsync
        ? 'no cooldown vault: it does not tell its cooldown and its silo'
        : { protocol: 'cooldown', silo, hasCap, version: null },
    ),
  overview,
  shareValue,
  account: cooldownAccount,
  depositTerms: erc4626DepositTerms,
  withdrawalTerms: cooldownWithdrawalTerms,
  claimTerms: cooldownClaimTerms,
  openRequest: cooldownOpenRequest,
  books: cooldownBooks,
}
