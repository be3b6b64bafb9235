import { endpoint } from '../../../lib/frame/endpoint.ts'
import { budgets, cache, getReader, goldRush, now, solana, users } from '../../../lib/services.ts'
import { readAllBalances } from './all-balances.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { users, budgets, cache, getReader, solana, goldRush, now }, readAllBalances)
