import type { VaultKey } from '../vaults/vault.ts'

/** A vault by one reading of its past; without a generation, its number, the first. */
export type Reading = VaultKey & { readonly generation?: number | undefined }

/** A generation as text in sort keys, where those of earlier readings come before those of later ones; the first is 0. */
export function generationText(generation = 0): string {
  return generation.toString().padStart(15, '0')
}
