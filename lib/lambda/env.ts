import * as z from 'zod'
import { RpcUrls } from '../chain/readers.ts'

/** The environment of a function that asks who calls. */
export const ClientsEnv = z.object({ CLIENTS_TABLE: z.string().min(1) })

/** The environment of a function that keeps or reads what was recorded of vaults and deposits. */
export const DepositsEnv = z.object({ DEPOSITS_TABLE: z.string().min(1) })

/** The environment of a function that reads chains: the ARN of the secret with its configuration. */
export const ChainsEnv = z.object({ CONFIG_SECRET: z.string().min(1) })

/** The content of that secret: what configures a stage and must not be seen. */
export const Config = z.object({ rpcUrls: RpcUrls.default({}) })
