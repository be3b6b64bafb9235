import { AppError } from '../../../lib/errors.ts'
import type { EndpointContract, Request } from '../../../lib/lambda/contract.ts'
import { endpoint } from '../../../lib/lambda/endpoint.ts'
import { endpoints } from '../../contracts.ts'
import { contract } from './contract.ts'

const ROUTES = Object.values<EndpointContract>(endpoints)
  .filter(({ path }) => path !== '$default')
  .flatMap(({ method, path, aliases = [] }) => [path, ...aliases].map((template) => ({ method, path: template })))

async function refuse({ http }: Request<typeof contract>): Promise<never> {
  const allow = ROUTES.filter(({ path }) => matches(path, http.path)).map(({ method }) => method)
  if (allow.length === 0) throw new AppError('not_found')
  throw new AppError('method_not_allowed', { headers: { allow: allow.join(', ') } })
}

/** Whether a request's path fits a route's template, as API Gateway fits them. */
function matches(template: string, path: string): boolean {
  const places = template.split('/')
  const parts = path.split('/')
  return (
    places.length === parts.length &&
    places.every((place, i) => (place.startsWith('{') ? parts[i] !== '' : place === parts[i]))
  )
}

export const handler = endpoint(contract, () => refuse)
