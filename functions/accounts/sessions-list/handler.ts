import { endpoint } from '../../../lib/frame/endpoint.ts'
import { now, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { listSessions } from './list-sessions.ts'

export const handler = endpoint(contract, { users, now }, listSessions)
