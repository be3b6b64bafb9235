import { AppError } from '../../../lib/core/errors.ts'
import { type EndpointContract, methodsOf, type Request } from '../../../lib/frame/contract.ts'
import { openEndpoint } from '../../../lib/frame/endpoint.ts'
import { parseRequest } from '../../../lib/frame/request.ts'
import { endpoints } from '../../contracts.ts'
import { contract } from './contract.ts'

const ROUTES = Object.values<EndpointContract>(endpoints)
  .filter(({ path }) => path !== '$default')
  .flatMap((promised) => [promised.path, ...(promised.aliases ?? [])].map((path) => ({ promised, path })))

async function refuse({ requestContext: { http }, query }: Request<typeof contract>): Promise<never> {
  const routes = ROUTES.filter(({ path }) => fits(path, http.path))
  if (routes.length === 0) throw new AppError('not_found')
  const route = routes.find(({ promised }) => methodsOf(promised).some((method) => method === http.method))
  if (!route) {
    const allow = routes.flatMap(({ promised }) => methodsOf(promised))
    throw new AppError('method_not_allowed', { headers: { allow: allow.join(', ') } })
  }
  // API Gateway matches no route for a path with an empty segment. So the request is parsed here, to report the missing
  // path parameter.
  const pathParameters = parametersOf(route.path, http.path)
  parseRequest(route.promised, { pathParameters, queryStringParameters: query })
  throw new AppError('not_found')
}

/** Returns true if a path matches a route's template. An empty path segment also matches a parameter. */
function fits(template: string, path: string): boolean {
  const places = template.split('/')
  const parts = path.split('/')
  return places.length === parts.length && places.every((place, i) => place.startsWith('{') || place === parts[i])
}

function parametersOf(template: string, path: string): Record<string, string> {
  const parts = path.split('/')
  const parameters = template
    .split('/')
    .flatMap((place, i) => (place.startsWith('{') ? [[place.slice(1, -1), parts[i] ?? ''] as const] : []))
  return Object.fromEntries(parameters)
}

export const handler = openEndpoint(contract, {}, () => refuse)
