import { endpoints, jobs } from '../functions/contracts.ts'
import type { EndpointContract, JobContract } from '../lib/frame/contract.ts'
import type { TABLES, TableKey } from './tables.ts'

type Contracts = typeof endpoints & typeof jobs

/** The folder of one function in `functions/`. */
export type FunctionName = keyof Contracts

/** Every endpoint's contract, with its folder. */
export const ENDPOINTS = Object.entries(endpoints) as readonly (readonly [keyof typeof endpoints, EndpointContract])[]

/** Every job's contract, with its folder. */
export const JOBS = Object.entries(jobs) as readonly (readonly [keyof typeof jobs, JobContract])[]

/** The environment variables that one function's contract asks for. */
type VariableOf<Name extends FunctionName> = keyof Contracts[Name]['env']['shape']

/** Every environment variable that any contract asks for. */
export type Variable = { [Name in FunctionName]: VariableOf<Name> }[FunctionName]

/** The tables whose names one function's contract asks for, by the names of their variables. */
type TableOf<Name extends FunctionName> = {
  [Table in TableKey]: `${Uppercase<Table>}_TABLE` extends VariableOf<Name> ? Table : never
}[TableKey]

type IndexOf<Table extends TableKey> = (typeof TABLES)[Table]['indexes'][number]['name']

/** What a function may do with a table: a DynamoDB action on the table itself, or a query on one of its indexes. */
export type Access<Table extends TableKey = TableKey> =
  | 'Query'
  | 'GetItem'
  | 'BatchGetItem'
  | 'BatchWriteItem'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | `Query ${IndexOf<Table>}`

/** Exactly the tables that a contract asks for. */
type Grants<Name extends FunctionName> = {
  readonly [Table in TableOf<Name>]: readonly [Access<Table>, ...Access<Table>[]]
} & { readonly [Table in Exclude<TableKey, TableOf<Name>>]?: never }

/** What each function does with the tables that its contract asks for, and so may do. */
export const GRANTS = {
  // Whoever asks who calls needs one query of the client's partition.
  'vaults/list': { clients: ['Query'], deposits: ['BatchGetItem', 'GetItem'] },
  'vaults/deposit': { clients: ['Query'] },
  'vaults/claim': { clients: ['Query'] },
  'vaults/deposit-status': { clients: ['Query'] },
  'vaults/cross-chain-status': { clients: ['Query'], deposits: ['GetItem', 'PutItem'] },
  // Limits are counted with updates, challenges are put, and taken with deletes; a session is one item.
  'accounts/register-init': { users: ['UpdateItem', 'PutItem'] },
  'accounts/register': { clients: ['Query'], users: ['DeleteItem', 'PutItem'] },
  'accounts/login-init': { clients: ['Query'], users: ['UpdateItem', 'PutItem', 'GetItem'] },
  'accounts/login': {
    clients: ['Query'],
    users: ['DeleteItem', 'GetItem', 'Query byUserId', 'UpdateItem', 'PutItem'],
  },
  'accounts/logout': { clients: ['Query'], users: ['GetItem', 'DeleteItem'] },
  'accounts/wallets-init': { clients: ['Query'], users: ['GetItem', 'UpdateItem', 'PutItem'] },
  'accounts/wallets-link': { clients: ['Query'], users: ['GetItem', 'DeleteItem', 'UpdateItem'] },
  'accounts/wallets-list': { clients: ['Query'], users: ['GetItem'] },
  'accounts/wallets-unlink': { clients: ['Query'], users: ['GetItem', 'UpdateItem'] },
  'system/apple-app-site-association': {},
  'system/assetlinks': {},
  // A user's ledger entries are two queries or more, a vault's prices one, the progress of vaults one batch, of old with their chain.
  'activity/positions': { clients: ['Query'], deposits: ['Query', 'BatchGetItem', 'GetItem'] },
  'activity/position': { clients: ['Query'], deposits: ['Query', 'BatchGetItem', 'GetItem'] },
  'activity/deposits': { clients: ['Query'], deposits: ['Query', 'BatchGetItem', 'GetItem'] },
  // What jobs keep is read in one go; what is asked for goes through the cache, by reads, rights to refresh and answers.
  'portfolio/all-balances': {
    clients: ['Query'],
    users: ['GetItem'],
    cache: ['BatchGetItem', 'GetItem', 'UpdateItem', 'PutItem'],
  },
  'portfolio/nfts': { clients: ['Query'], users: ['GetItem'], cache: ['GetItem', 'UpdateItem', 'PutItem'] },
  'portfolio/token-chart-by-id': { clients: ['Query'], cache: ['GetItem', 'UpdateItem', 'PutItem'] },
  'portfolio/token-chart-by-address': {
    clients: ['Query'],
    cache: ['BatchGetItem', 'GetItem', 'UpdateItem', 'PutItem'],
  },
  'markets/coins': { clients: ['Query'], cache: ['BatchGetItem'] },
  'markets/top-gainers-losers': { clients: ['Query'], cache: ['BatchGetItem'] },
  'markets/coin': { clients: ['Query'], cache: ['BatchGetItem', 'GetItem', 'UpdateItem', 'PutItem'] },
  'markets/search': { clients: ['Query'], cache: ['BatchGetItem', 'GetItem', 'UpdateItem', 'PutItem'] },
  'system/health': {},
  'system/openapi': {},
  'system/unknown-route': {},
  'jobs/refresh-chain': {
    clients: ['Query byChain'],
    deposits: [
      'Query',
      'Query followedTransfers',
      'GetItem',
      'BatchGetItem',
      'PutItem',
      'BatchWriteItem',
      'UpdateItem',
    ],
  },
  'jobs/refresh-tokens': { cache: ['BatchGetItem', 'PutItem'] },
  'jobs/refresh-market': { cache: ['BatchGetItem', 'PutItem'] },
} as const satisfies { readonly [Name in FunctionName]: Grants<Name> }
