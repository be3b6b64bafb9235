import { endpoint } from '../../../lib/frame/endpoint.ts'
import { cache, goldRush, now, solanaNfts, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { listNfts } from './nfts.ts'

export const handler = endpoint(contract, { users, cache, goldRush, solanaNfts, now }, listNfts)
