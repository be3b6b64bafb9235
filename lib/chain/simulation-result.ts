import * as z from 'zod'

/** Result of a simulation of transactions on the chain's latest state. */
export const SimulationResult = z
  .discriminatedUnion('status', [
    z.object({ status: z.literal('success') }),
    z.object({
      status: z.literal('unavailable').describe('The chain cannot simulate; estimatedGas is an upper estimate'),
    }),
    z.object({
      status: z.literal('reverted').describe('The transactions would fail now; estimatedGas is an upper estimate'),
      reason: z
        .string()
        .describe(
          "The contract's own error, such as ERC20InsufficientBalance; InsufficientBalance for the chain's coin",
        ),
    }),
  ])
  .meta({ id: 'Simulation', description: 'Result of a dry run of the transactions on the latest state' })
export type SimulationResult = z.output<typeof SimulationResult>
