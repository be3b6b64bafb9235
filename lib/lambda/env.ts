import * as z from 'zod'

/** The environment of a function that asks who calls. */
export const ClientsEnv = z.object({ CLIENTS_TABLE: z.string().min(1) })

/** The environment of a function that keeps or reads what was recorded of vaults and deposits. */
export const DepositsEnv = z.object({ DEPOSITS_TABLE: z.string().min(1) })

/** The environment of a function that reads chains: the ARN of the secret with its configuration. */
export const ChainsEnv = z.object({ CONFIG_SECRET: z.string().min(1) })
