import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware'
import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import type * as z from 'zod'
import type { Aged } from '../cache/cache.ts'
import { AppError } from '../errors.ts'
import { logger } from '../logger.ts'
import { once } from '../once.ts'
import type { Caller, EndpointContract, Env, Reply, Request } from './contract.ts'
import { errorReplies, requestLog } from './middlewares.ts'
import { jsonReply } from './replies.ts'
import { parseRequest } from './request.ts'

/** What a contract's implementation does with one request. */
type Implementation<C extends EndpointContract> = (request: Request<C>) => Promise<Reply<C>>

/** Finds out who calls from the request's headers, or throws. */
type Identify<C extends EndpointContract> = (env: Env<C>) => (headers: Headers) => Promise<Caller<C>>
type Headers = Readonly<Record<string, string | undefined>>

/**
 * Turns a contract and its implementation into a Lambda handler for API Gateway's HTTP API (payload version 2).
 * `build` runs once per container, beside the first look-up of a caller, so it may open nothing and ask no chain. A contract with a `caller` other than anyone must say how the caller is found.
 */
export function endpoint<const C extends EndpointContract>(
  contract: C,
  build: (env: Env<C>) => Implementation<C> | Promise<Implementation<C>>,
  ...identify: C['caller'] extends 'anyone' ? [] : [Identify<C>]
) {
  const env = once(() => contract.env.parse(process.env) as Env<C>)
  const identified = once(async () => identify[0]?.(await env()))
  const built = once(async () => build(await env()))

  // The first middleware in is the last one out: the logger must still hold its keys when the others write.
  return middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>({
    timeoutEarlyInMillis: 500,
    timeoutEarlyResponse: () => {
      throw new AppError('timed_out')
    },
  })
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(requestLog(Date.now))
    .use(errorReplies())
    .handler(async (event) => {
      // Beside finding out who calls, which in a new container takes as long. Only who is known learns how it went.
      const building = built()
      building.catch(() => {})
      const caller = await (await identified())?.(event.headers)
      const { method, path, sourceIp } = event.requestContext.http
      const http = { method, path, sourceIp }
      const request = Object.assign(parseRequest(contract, event), { http }, caller) as Request<C>
      const run = await building
      const { reply, headers } = withAge(contract, await run(request), Date.now())
      const body = contract.response.encode(reply)
      return jsonReply(contract.status ?? 200, body, { 'cache-control': contract.cacheControl, ...headers })
    })
}

/** The reply itself, and the headers that tell how old it is, of a contract whose replies can be. */
function withAge<C extends EndpointContract>(contract: C, reply: Reply<C>, now: number) {
  // Both casts: `aged` decides which of the two a Reply is, which the compiler cannot follow while C is open.
  if (!contract.aged) return { reply: reply as z.output<C['response']> }
  const { value, asOf, isStale } = reply as Aged<z.output<C['response']>>
  const age = Math.max(0, Math.floor((now - asOf.getTime()) / 1000))
  return { reply: value, headers: { age: age.toString(), ...(isStale && { 'x-stale': 'true' }) } }
}
