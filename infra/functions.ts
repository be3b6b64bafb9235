import { dirname } from 'node:path/posix'
import { consumers, endpoints, jobs } from '../functions/contracts.ts'
import type { EndpointContract, JobContract, QueueContract } from '../lib/frame/contract.ts'
import type { TablePermission } from '../lib/frame/resources.ts'
import { type Stage, stackName } from './environments.ts'
import type { TABLES, TableKey } from './tables.ts'

/** Name of a function: the path of its folder in `functions/`, such as `vaults/list`. */
export type FunctionName = keyof typeof endpoints | keyof typeof jobs | keyof typeof consumers

type IndexOf<Table extends TableKey> = (typeof TABLES)[Table]['indexes'][number]['name']

/** Access that a function may have to a table. A query may name only an index of that table. */
type AccessTo<Table extends TableKey> = Exclude<TablePermission, `Query ${string}`> | `Query ${IndexOf<Table>}`
type AllowedAccess = { readonly uses: { readonly [Table in TableKey]?: readonly AccessTo<Table>[] } }

const endpointsByName: Readonly<Record<keyof typeof endpoints, EndpointContract & AllowedAccess>> = endpoints
const jobsByName: Readonly<Record<keyof typeof jobs, JobContract & AllowedAccess>> = jobs
const consumersByName: Readonly<Record<keyof typeof consumers, QueueContract & AllowedAccess>> = consumers

/** All endpoints: the name of each function, with its contract (route, schemas and permissions). */
export const ENDPOINTS = Object.entries(endpointsByName) as readonly (readonly [
  keyof typeof endpoints,
  EndpointContract,
])[]

/** All scheduled jobs: the name of each function, with its contract (inputs, interval and permissions). */
export const JOBS = Object.entries(jobsByName) as readonly (readonly [keyof typeof jobs, JobContract])[]

/** All functions that consume a queue: the name of each function, with its contract (queue and permissions). */
export const CONSUMERS = Object.entries(consumersByName) as readonly (readonly [
  keyof typeof consumers,
  QueueContract,
])[]

/** Returns the name of a stage's function in AWS. */
export function functionName(stage: string, name: FunctionName): string {
  return `vaultline-${stage}-${name.replace('/', '-')}`
}

/** Lists the names of all stacks that a stage can have. */
export function stackNames(stage: Stage): string[] {
  const areas = new Set(ENDPOINTS.map(([name]) => dirname(name)))
  return ['shared', ...areas, 'jobs', 'queues', 'api', 'edge', 'deployer', 'sites'].map((one) => stackName(stage, one))
}
