import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware'
import middy from '@middy/core'
import type * as z from 'zod'
import { logger } from '../core/logger.ts'
import { once } from '../core/once.ts'
import { type BuiltServices, container, type Providers, readEnv, readSecretVersions } from './container.ts'
import type { JobContract } from './contract.ts'

type Run<C extends JobContract> = (
  event: z.output<C['event']>,
  time: { readonly remainingMs: () => number },
) => Promise<z.output<C['report']>>

/**
 * Builds a Lambda handler for scheduled runs from a job's contract and its work. Logs and returns the run's report.
 * Logs and rethrows a failure, so that the scheduler retries and the alarm sees it.
 */
export function job<const C extends JobContract, P extends Providers<C>>(
  contract: C,
  services: P,
  work: (services: BuiltServices<P>) => Run<C>,
) {
  const start = container(
    once(() => readEnv(contract, process.env)),
    services,
    work,
    readSecretVersions,
  )
  return middy<unknown, unknown>()
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .before(({ context }) => logger.appendKeys({ version: context.functionVersion }))
    .onError(({ error }) => logger.error('run failed', { error }))
    .handler(async (event, context) => {
      const run = await start()
      const parsed = contract.event.parse(event)
      // The cast is right: the contract's own schema parsed it.
      const done = await run(parsed as z.output<C['event']>, {
        remainingMs: () => context.getRemainingTimeInMillis(),
      })
      const report = contract.report.encode(done)
      logger.info('report', { report })
      return report
    })
}
