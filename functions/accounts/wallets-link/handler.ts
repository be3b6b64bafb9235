import { endpoint } from '../../../lib/frame/endpoint.ts'
import { getAgreedReader, limitTries, now, users } from '../../../lib/services.ts'
import { completeLink } from './complete-link.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { users, limitTries, getReader: getAgreedReader, now }, completeLink)
