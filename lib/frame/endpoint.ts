import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware'
import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda'
import { AppError } from '../core/errors.ts'
import { logger } from '../core/logger.ts'
import { once } from '../core/once.ts'
import { createSignerReader } from '../signing/secret.ts'
import { type CallerLookup, createCallerLookup } from './callers.ts'
import { type BuiltServices, createServiceContainer, type Providers, readEnv, readSecretVersions } from './container.ts'
import { type EndpointContract, type EnvOf, isSigned, type Reply, type Request } from './contract.ts'
import { edgeVerification, readEdgeSettings } from './edge.ts'
import {
  callerIdentification,
  chargeConfirmation,
  errorConversion,
  type FindSigner,
  headBodyRemoval,
  rateLimitHeaders,
  replyEncoding,
  replySigning,
  requestLog,
  requestValidation,
} from './middlewares.ts'
import type { Env } from './resources.ts'

type BuildRespond<C extends EndpointContract, P> = (services: BuiltServices<P>) => Respond<C>

type Respond<C extends EndpointContract> = (request: Request<C>) => Promise<Reply<C>>

type BuildingContext<C extends EndpointContract> = Context & { readonly building: Promise<Respond<C>> }

type OpenContract = EndpointContract & { readonly caller: 'anyone'; readonly tag: 'System' }

type Frame<C extends EndpointContract> = {
  readonly createCallerLookup: (env: EnvOf<C>) => CallerLookup
  readonly createFindSigner: (env: EnvOf<C>) => FindSigner
  readonly readVersion: (env: EnvOf<C>) => Promise<unknown>
}

/**
 * Builds the Lambda handler of an HTTP endpoint (API Gateway HTTP API, payload version 2) from its contract.
 * `buildRespond` gets the services that the providers build, and returns the function that responds to a request. The
 * services are built once per container and again after a secret changes, while the caller of its first request is looked up. This caller may be
 * unknown, so building services must not call a chain or an external service.
 */
export function endpoint<const C extends EndpointContract, P extends Providers<C>>(
  contract: C,
  providers: P,
  buildRespond: BuildRespond<C, P>,
) {
  return createHandler(contract, providers, buildRespond, {
    createCallerLookup: (env) => createCallerLookup(contract, env),
    // The cast is safe: `listUses` adds the signing secret to every contract with signed responses.
    createFindSigner: (env) =>
      isSigned(contract) ? createSignerReader((env as Env<'signing'>).signing) : findNoSigner,
    readVersion: readSecretVersions,
  })
}

/**
 * Builds the Lambda handler of a public document, such as openapi.json. It identifies no caller and signs nothing, so
 * its bundle stays small.
 */
export function openEndpoint<const C extends OpenContract, P extends Providers<C>>(
  contract: C,
  providers: P,
  buildRespond: BuildRespond<C, P>,
) {
  return createHandler(contract, providers, buildRespond, {
    createCallerLookup: () => async () => ({}),
    createFindSigner: () => findNoSigner,
    readVersion: async () => undefined,
  })
}

const findNoSigner: FindSigner = async () => undefined

function createHandler<const C extends EndpointContract, P extends Providers<C>>(
  contract: C,
  providers: P,
  buildRespond: BuildRespond<C, P>,
  frame: Frame<C>,
) {
  const env = once(() => readEnv(contract, process.env))
  const getRespond = createServiceContainer(env, providers, buildRespond, frame.readVersion)
  const getFindSigner = once(async () => frame.createFindSigner(await env()))
  const answer = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Error, BuildingContext<C>>()
    .use(replyEncoding(contract, Date.now))
    .use(
      callerIdentification(
        contract,
        once(async () => frame.createCallerLookup(await env())),
      ),
    )
    .use(requestValidation(contract))
    .handler(async (event, { building }) => {
      const respond = await building
      // The casts are safe: `requestValidation` has converted the event, and `replyEncoding` converts the reply.
      const reply: unknown = await respond(event as unknown as Request<C>)
      return reply as APIGatewayProxyStructuredResultV2
    })

  // Middlewares finish in reverse order. The logger comes first, so its log keys remain until all other middlewares
  // have logged. The time-out applies only to this handler, not to its middlewares. So `answer` runs inside it: the
  // identification of the caller, the validation and the response.
  return middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>({
    timeoutEarlyInMillis: 500,
    timeoutEarlyResponse: () => {
      throw new AppError('timed_out')
    },
  })
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .before(({ context }) => logger.appendKeys({ version: context.functionVersion }))
    .use(requestLog(Date.now))
    .use(edgeVerification(once(() => readEdgeSettings(process.env))))
    .use(rateLimitHeaders())
    .use(replySigning(async () => await (await getFindSigner())(), Date.now))
    .use(headBodyRemoval())
    .use(errorConversion())
    .use(chargeConfirmation())
    .handler(async (event, context) => {
      // Services are built while the caller is looked up. If the build fails, only an identified caller gets its error.
      const building = getRespond()
      building.catch(() => {})
      return await answer(event, Object.assign(context, { building }))
    })
}
