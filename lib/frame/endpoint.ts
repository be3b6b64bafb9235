import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware'
import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda'
import { AppError } from '../errors.ts'
import { logger } from '../logger.ts'
import { once } from '../once.ts'
import { type CallerContract, type Identify, identifyCaller } from './callers.ts'
import { type Built, container, type Providers, readEnv } from './container.ts'
import type { EndpointContract, EnvOf, Reply, Request } from './contract.ts'
import {
  callerIdentification,
  errorReplies,
  headReplies,
  replyEncoding,
  requestLog,
  requestValidation,
} from './middlewares.ts'

/** What an endpoint does with a request, by what it is given to work with. */
type Work<C extends EndpointContract, P> = (services: Built<P>) => Respond<C>

type Respond<C extends EndpointContract> = (request: Request<C>) => Promise<Reply<C>>

/** The context of a request whose container is being made ready. */
type Ready<C extends EndpointContract> = Context & { readonly building: Promise<Respond<C>> }

/** A contract that anyone may call. */
type OpenContract = EndpointContract & { readonly caller: 'anyone' }

/**
 * Turns the contract of an endpoint whose caller must be known, and its work, into a Lambda handler for API Gateway's
 * HTTP API (payload version 2). The services are built once per container, beside the first look-up of a caller, so that
 * they may open nothing and ask no chain.
 */
export function endpoint<const C extends CallerContract, P extends Providers<C>>(
  contract: C,
  services: P,
  work: Work<C, P>,
) {
  return createHandler(contract, services, work, (env) => identifyCaller(contract, env))
}

/** The same for an endpoint that anyone may call; its bundle knows neither clients nor sessions. */
export function openEndpoint<const C extends OpenContract, P extends Providers<C>>(
  contract: C,
  services: P,
  work: Work<C, P>,
) {
  return createHandler(contract, services, work, () => async () => ({}))
}

function createHandler<const C extends EndpointContract, P extends Providers<C>>(
  contract: C,
  services: P,
  work: Work<C, P>,
  identify: (env: EnvOf<C>) => Identify,
) {
  const env = once(() => readEnv(contract, process.env))
  const run = container(env, services, work)
  const answer = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Error, Ready<C>>()
    .use(callerIdentification(once(async () => identify(await env()))))
    .use(requestValidation(contract))
    .use(replyEncoding(contract, Date.now))
    .handler(async (event, { building }) => {
      const respond = await building
      // What the middlewares made of the event, and make of the reply, is what the contract says.
      const reply: unknown = await respond(event as unknown as Request<C>)
      return reply as APIGatewayProxyStructuredResultV2
    })

  // The first middleware in is the last one out: the logger must still hold its keys when the others write. The deadline
  // is that of the handler, which is therefore all of the rest.
  return middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>({
    timeoutEarlyInMillis: 500,
    timeoutEarlyResponse: () => {
      throw new AppError('timed_out')
    },
  })
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(requestLog(Date.now))
    .use(headReplies())
    .use(errorReplies())
    .handler(async (event, context) => {
      // Built in parallel with the caller's look-up; a failure is told only to an identified caller.
      const building = run()
      building.catch(() => {})
      return await answer(event, Object.assign(context, { building }))
    })
}
