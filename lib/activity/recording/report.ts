import * as z from 'zod'

/** What a run over vaults of a chain says that it did. */
export const RunReport = z.object({
  vaults: z.number().int(),
  through: z
    .number()
    .int()
    .nullable()
    .describe('The last recorded block of the vaults that are recorded furthest; null before'),
  behind: z
    .number()
    .int()
    .describe('Vaults that are recorded less far, as those whose past is still being read, or read again'),
  lagSeconds: z
    .number()
    .describe("How much older that block is than the chain's last one, or than now less what finality takes"),
  entries: z.number().int(),
  prices: z.number().int(),
  states: z.number().int(),
  changedVaults: z
    .number()
    .int()
    .describe('Vaults whose deposits are stopped, because they are not what an operator confirmed'),
  untoldVaults: z
    .number()
    .int()
    .describe('Vaults in which something happened that clients could not be told, and transfers that ended so'),
})
export type RunReport = z.output<typeof RunReport>
