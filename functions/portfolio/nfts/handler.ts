import { endpoint } from '../../../lib/frame/endpoint.ts'
import { budgets, cache, goldRush, now, solanaNfts, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { listNfts } from './nfts.ts'

export const handler = endpoint(contract, { users, budgets, cache, goldRush, solanaNfts, now }, listNfts)
