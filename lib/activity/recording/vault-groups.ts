import type { Address } from 'viem'
import * as z from 'zod'

/** The most vaults that one run records. */
export const MOST_IN_GROUP = 1_000
/** The bits of an address. */
const BITS = 160

/** The vaults of a chain whose addresses begin with these bits; all of them where there are none. */
export const VaultGroup = z.string().regex(/^[01]{0,160}$/)
export type VaultGroup = z.output<typeof VaultGroup>

/** All vaults of a chain. */
export const ALL_VAULTS: VaultGroup = ''

/**
 * The groups of these vaults, in the order of their addresses. Splits by the next address bit until no group exceeds `most`; so
 * a vault that is added changes no group but its own.
 */
export function divide(
  vaults: readonly { readonly address: Address }[],
  most = MOST_IN_GROUP,
  group: VaultGroup = ALL_VAULTS,
): VaultGroup[] {
  if (vaults.length === 0) return []
  if (vaults.length <= most || group.length === BITS) return [group]
  return ['0', '1'].flatMap((bit) => {
    const half = `${group}${bit}`
    return divide(
      vaults.filter(({ address }) => bitsOf(address).startsWith(half)),
      most,
      half,
    )
  })
}

/** The lowest and the highest address of a group. */
export function addressesOf(group: VaultGroup): { readonly from: Address; readonly to: Address } {
  return { from: toAddress(group.padEnd(BITS, '0')), to: toAddress(group.padEnd(BITS, '1')) }
}

/** The vault's group of so many bits. */
export function groupOf(address: Address, bits: number): VaultGroup {
  return bitsOf(address).slice(0, bits)
}

/** Whether a vault can be in both groups. */
export function overlap(one: VaultGroup, other: VaultGroup): boolean {
  return one.startsWith(other) || other.startsWith(one)
}

function bitsOf(address: Address): string {
  return BigInt(address).toString(2).padStart(BITS, '0')
}

function toAddress(bits: string): Address {
  return `0x${BigInt(`0b${bits}`)
    .toString(16)
    .padStart(BITS / 4, '0')}`
}
