import * as z from 'zod'

/** Report of one run of the scheduled job over vaults of a chain. */
export const RunReport = z.object({
  vaults: z.number().int(),
  through: z
    .number()
    .int()
    .nullable()
    .describe('Last recorded block of the most advanced vaults; null before the first'),
  behind: z.number().int().describe('Number of vaults recorded less far, such as those whose history is still read'),
  lagSeconds: z
    .number()
    .describe("Seconds the records lag: behind the chain's last block, or behind now minus finality if larger"),
  entries: z.number().int(),
  prices: z.number().int(),
  states: z.number().int(),
  changedVaults: z
    .number()
    .int()
    .describe('Vaults with stopped deposits, because they changed since an operator confirmed them'),
  unreportedVaults: z
    .number()
    .int()
    .describe('Vaults and transfers with events that the service could not send to clients'),
})
export type RunReport = z.output<typeof RunReport>
