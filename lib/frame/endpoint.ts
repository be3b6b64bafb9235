import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware'
import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda'
import { AppError } from '../errors.ts'
import { logger } from '../logger.ts'
import { once } from '../once.ts'
import { signerIn } from '../signing/secret.ts'
import { type Identify, identifyCaller } from './callers.ts'
import { type Built, container, type Providers, readEnv, readSecretVersions } from './container.ts'
import { type EndpointContract, type EnvOf, isSigned, type Reply, type Request } from './contract.ts'
import { edgeVerification, readEdge } from './edge.ts'
import {
  admittedReplies,
  callerIdentification,
  errorReplies,
  type FindSigner,
  headReplies,
  rateLimitHeaders,
  replyEncoding,
  requestLog,
  requestValidation,
  signedReplies,
} from './middlewares.ts'
import type { Env } from './resources.ts'

/** What an endpoint does with a request, by what it is given to work with. */
type Work<C extends EndpointContract, P> = (services: Built<P>) => Respond<C>

type Respond<C extends EndpointContract> = (request: Request<C>) => Promise<Reply<C>>

/** The context of a request whose container is being made ready. */
type Ready<C extends EndpointContract> = Context & { readonly building: Promise<Respond<C>> }

/** The contract of something that the service says of itself, to anyone. */
type OpenContract = EndpointContract & { readonly caller: 'anyone'; readonly tag: 'System' }

/** Who calls and what signs, by what a function finds in its environment. */
type Frame<C extends EndpointContract> = {
  readonly identify: (env: EnvOf<C>) => Identify
  readonly findSigner: (env: EnvOf<C>) => FindSigner
  readonly readVersion: (env: EnvOf<C>) => Promise<unknown>
}

/**
 * Turns an endpoint's contract and its work into a Lambda handler for API Gateway's HTTP API (payload version 2). The
 * services are built once per container, beside the first look-up of a caller, so that they may open nothing and ask no
 * chain.
 */
export function endpoint<const C extends EndpointContract, P extends Providers<C>>(
  contract: C,
  services: P,
  work: Work<C, P>,
) {
  return createHandler(contract, services, work, {
    identify: (env) => identifyCaller(contract, env),
    // A contract whose answers are signed has the secret (`listUses`).
    findSigner: (env) => (isSigned(contract) ? signerIn((env as Env<'signing'>).signing) : findNoSigner),
    readVersion: readSecretVersions,
  })
}

/** The same for what the service says of itself; its bundle knows neither clients nor sessions, and signs nothing. */
export function openEndpoint<const C extends OpenContract, P extends Providers<C>>(
  contract: C,
  services: P,
  work: Work<C, P>,
) {
  return createHandler(contract, services, work, {
    identify: () => async () => ({}),
    findSigner: () => findNoSigner,
    readVersion: async () => undefined,
  })
}

const findNoSigner: FindSigner = async () => undefined

function createHandler<const C extends EndpointContract, P extends Providers<C>>(
  contract: C,
  services: P,
  work: Work<C, P>,
  frame: Frame<C>,
) {
  const env = once(() => readEnv(contract, process.env))
  const run = container(env, services, work, frame.readVersion)
  const signer = once(async () => frame.findSigner(await env()))
  const answer = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Error, Ready<C>>()
    // Before what puts the contract's headers in the place of the request's.
    .use(replyEncoding(contract, Date.now))
    .use(
      callerIdentification(
        contract,
        once(async () => frame.identify(await env())),
      ),
    )
    .use(requestValidation(contract))
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
    .before(({ context }) => logger.appendKeys({ version: context.functionVersion }))
    .use(requestLog(Date.now))
    .use(edgeVerification(once(() => readEdge(process.env))))
    .use(rateLimitHeaders())
    .use(signedReplies(async () => await (await signer())(), Date.now))
    .use(headReplies())
    .use(errorReplies())
    .use(admittedReplies())
    .handler(async (event, context) => {
      // Built in parallel with the caller's look-up; a failure is told only to an identified caller.
      const building = run()
      building.catch(() => {})
      return await answer(event, Object.assign(context, { building }))
    })
}
