import * as z from 'zod'
import { Amount, Timestamp } from '../core/codecs.ts'

const Entry = z.enum(['instant', 'request'])

const Exit = z.enum(['instant', 'request', 'cooldown', 'none'])

const Percent = z.string().nullable()

const VaultFees = z.object({
  management: Percent.describe('Part of the assets, a year'),
  performance: Percent.describe('Part of the profit'),
  entry: Percent.describe(
    'Part of a deposit, as the vault reports it; else as measured when an operator added the vault',
  ),
  exit: Percent.describe(
    'Part of a withdrawal, as the vault reports it; else as measured when an operator added the vault',
  ),
  haircut: Percent.describe('Part of an instant withdrawal, on top of the exit fee'),
})
type VaultFees = z.output<typeof VaultFees>

/** Terms of a vault: ways to deposit and to withdraw, fees, and the amounts that it takes and pays now. */
export const VaultTerms = z
  .object({
    entry: Entry.describe('Way from a deposit to shares now: instantly, or by a request that a settlement fulfils'),
    exit: Exit.describe(
      'Way from shares to assets now: instantly, by a request that a settlement fulfils, after a cooldown, or none',
    ),
    fees: VaultFees.describe('Fees in percent, two decimals; null if unknown'),
    room: Amount.nullable().describe(
      "Assets that the vault still takes, in the asset's smallest unit; null without a limit, or if `missing` names it",
    ),
    liquidity: Amount.nullable().describe(
      "Assets that the vault pays instantly, in the asset's smallest unit; null without a limit, or if `missing` names it",
    ),
    settlement: z
      .object({
        medianSeconds: z
          .number()
          .int()
          .describe('Median wait of deposit requests, or of withdrawals if only these are requests'),
        p90Seconds: z.number().int().describe('90th percentile of these waits'),
        samples: z.number().int().describe('Number of settlements behind these figures'),
      })
      .nullable()
      .describe('Time from a request to its settlement, from the last settlements; null below five'),
    valuation: z
      .object({
        at: Timestamp.nullable().describe('Time of the last valuation; null if the vault does not report it'),
        validUntil: Timestamp.nullable().describe(
          'Time until which it allows instant deposits; null if it allows none',
        ),
      })
      .nullable()
      .describe('Valuation of a vault whose assets are valued from time to time; null for other vaults'),
    cooldownSeconds: z.number().int().nullable().describe('Wait between a withdrawal and its claim; null without one'),
    missing: z
      .array(z.string())
      .describe(
        'Fields among `room`, `liquidity`, `valuation` and `cooldownSeconds` that could not be read, or that the vault does not report',
      ),
  })
  .meta({ id: 'VaultTerms', description: 'Terms on which money enters and leaves a vault, with their fees' })
export type VaultTerms = z.output<typeof VaultTerms>

/**
 * Terms read from a vault's contract. Undefined fields could not be read. Null means that there is no limit or that the contract has no
 * such value.
 */
export type ContractTerms = Pick<VaultTerms, 'entry' | 'exit'> & {
  readonly fees: { readonly [Name in keyof VaultFees]?: string | null | undefined }
  readonly room: bigint | null | undefined
  readonly liquidity: bigint | null | undefined
  readonly valuation?: VaultTerms['valuation'] | undefined
  readonly cooldownSeconds?: number | null | undefined
}

/** Ways to deposit and to withdraw, with fees in percent, as measured by a simulation when an operator added the vault. */
export const SimulatedRoundTrip = z.object({ entry: Entry, exit: Exit, entryFee: Percent, exitFee: Percent })
export type SimulatedRoundTrip = z.output<typeof SimulatedRoundTrip>

type Known = {
  readonly roundTrip: SimulatedRoundTrip | undefined
  readonly settlement: VaultTerms['settlement']
}

/** Builds a vault's terms. Fees that the vault reports take precedence over those measured by simulation. */
export function buildTerms(read: ContractTerms, { roundTrip, settlement }: Known): VaultTerms {
  const { entry, exit, fees, room, liquidity, valuation, cooldownSeconds } = read
  const named = {
    room,
    liquidity,
    ...('valuation' in read && { valuation }),
    ...('cooldownSeconds' in read && { cooldownSeconds }),
  }
  return {
    entry,
    exit: roundTrip?.exit === 'none' ? 'none' : exit,
    fees: {
      management: fees.management ?? null,
      performance: fees.performance ?? null,
      entry: fees.entry ?? roundTrip?.entryFee ?? null,
      exit: fees.exit ?? roundTrip?.exitFee ?? null,
      haircut: fees.haircut ?? null,
    },
    room: room ?? null,
    liquidity: liquidity ?? null,
    settlement,
    valuation: valuation ?? null,
    cooldownSeconds: cooldownSeconds ?? null,
    missing: Object.entries(named).flatMap(([name, value]) => (value === undefined ? [name] : [])),
  }
}

/** Formats a rate, which is in basis points, as a percentage with two decimals. */
export function formatPercent(rate: bigint): string {
  return `${rate / 100n}.${(rate % 100n).toString().padStart(2, '0')}`
}
