import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware'
import middy from '@middy/core'
import type * as z from 'zod'
import { logger } from '../core/logger.ts'
import { once } from '../core/once.ts'
import { type BuiltServices, createServiceContainer, type Providers, readEnv, readSecretVersions } from './container.ts'
import type { JobContract } from './contract.ts'

type Run<C extends JobContract> = (
  event: z.output<C['event']>,
  time: { readonly remainingMs: () => number },
) => Promise<z.output<C['report']>>

/**
 * Builds the Lambda handler of a scheduled job from its contract. `buildRun` gets the services and
 * returns the run. Logs and returns the report
 * of each run. A failure is logged and thrown again, so the scheduler retries the run and the alarm counts the failure.
 */
export function job<const C extends JobContract, P extends Providers<C>>(
  contract: C,
  providers: P,
  buildRun: (services: BuiltServices<P>) => Run<C>,
) {
  const getRun = createServiceContainer(
    once(() => readEnv(contract, process.env)),
    providers,
    buildRun,
    readSecretVersions,
  )
  return middy<unknown, unknown>()
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .before(({ context }) => logger.appendKeys({ version: context.functionVersion }))
    .onError(({ error }) => logger.error('run failed', { error }))
    .handler(async (event, context) => {
      const run = await getRun()
      const parsed = contract.event.parse(event)
      // The cast is safe: the schema of the same contract has parsed the event.
      const done = await run(parsed as z.output<C['event']>, {
        remainingMs: () => context.getRemainingTimeInMillis(),
      })
      const report = contract.report.encode(done)
      logger.info('report', { report })
      return report
    })
}
