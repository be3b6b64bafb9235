import type { EndpointContract, JobContract } from '../lib/lambda/contract.ts'
import { contract as refreshChain } from './jobs/refresh-chain/contract.ts'
import { contract as health } from './system/health/contract.ts'
import { contract as openapi } from './system/openapi/contract.ts'
import { contract as unknownRoute } from './system/unknown-route/contract.ts'
import { contract as userDeposits } from './users/deposits/contract.ts'
import { contract as userPosition } from './users/position/contract.ts'
import { contract as userPositions } from './users/positions/contract.ts'
import { contract as claim } from './vaults/claim/contract.ts'
import { contract as crossChainStatus } from './vaults/cross-chain-status/contract.ts'
import { contract as deposit } from './vaults/deposit/contract.ts'
import { contract as depositStatus } from './vaults/deposit-status/contract.ts'
import { contract as list } from './vaults/list/contract.ts'

/** Every endpoint of the service, by its folder in `functions/`. */
export const endpoints = {
  'vaults/list': list,
  'vaults/deposit': deposit,
  'vaults/claim': claim,
  'vaults/deposit-status': depositStatus,
  'vaults/cross-chain-status': crossChainStatus,
  'users/positions': userPositions,
  'users/position': userPosition,
  'users/deposits': userDeposits,
  'system/health': health,
  'system/openapi': openapi,
  'system/unknown-route': unknownRoute,
} as const satisfies Record<string, EndpointContract>

/** Every scheduled job of the service, by its folder in `functions/`. */
export const jobs = {
  'jobs/refresh-chain': refreshChain,
} as const satisfies Record<string, JobContract>
