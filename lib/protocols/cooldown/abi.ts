import { parseAbi } from 'viem'
import { vaultAbi } from '../abi.ts'

/** ABI of ERC-4626 vaults with the cooldown of Ethena's StakedUSDeV2. */
export const cooldownAbi = [
  ...vaultAbi,
  ...parseAbi([
    'function cooldownDuration() view returns (uint24)',
    'function silo() view returns (address)',
    'function cooldowns(address user) view returns (uint104 cooldownEnd, uint152 underlyingAmount)',
  ]),
] as const
