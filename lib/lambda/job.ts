import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware'
import middy from '@middy/core'
import type * as z from 'zod'
import { logger } from '../logger.ts'
import { once } from '../once.ts'
import type { Env, JobContract } from './contract.ts'

/** One run of a job. */
type Run<C extends JobContract> = (event: z.output<C['event']>) => Promise<z.output<C['report']>>

/**
 * Turns a job's contract and its implementation into a Lambda handler for scheduled runs.
 * The run's report is logged and returned; a failure is logged and thrown on, so that the scheduler retries and the
 * alarm sees it.
 */
export function job<const C extends JobContract>(contract: C, build: (env: Env<C>) => Run<C> | Promise<Run<C>>) {
  const start = once(() => build(contract.env.parse(process.env) as Env<C>))
  return middy<unknown, unknown>()
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .onError(({ error }) => logger.error('run failed', { error }))
    .handler(async (event) => {
      const run = await start()
      const report = contract.report.encode(await run(contract.event.parse(event) as z.output<C['event']>))
      logger.info('report', { report: report as Record<string, unknown> })
      return report
    })
}
