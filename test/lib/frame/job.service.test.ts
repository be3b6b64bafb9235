import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import * as z from 'zod'
import { Amount } from '../../../lib/core/codecs.ts'
import { AppError } from '../../../lib/core/errors.ts'
import type { JobContract } from '../../../lib/frame/contract.ts'
import { job } from '../../../lib/frame/job.ts'
import { config, version } from '../../../lib/services.ts'
import { localCredentials } from '../../../sandbox/dynamo.ts'
import { startProviders } from '../../../sandbox/providers.ts'
import { createRelayer } from '../../../sandbox/relayer.ts'
import { someContext } from '../../support/lambda.ts'
import { captureLogs } from '../../support/logs.ts'

const contract = {
  summary: 'Does something now and then.',
  uses: { version: true },
  event: z.object({ from: Amount }),
  report: z.object({ done: Amount }),
  everyMinutes: 1,
  runs: [{ from: '1' }],
  impact: 'Nothing.',
} as const satisfies JobContract

beforeEach(() => {
  vi.stubEnv('SERVICE_VERSION', '1.2.3')
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
})

describe('A run', () => {
  test('gets its parsed input, and its report is returned and logged by the contract', async () => {
    const { lines } = captureLogs()
    const run = vi.fn(async ({ from }: { from: bigint }) => ({ done: from + 1n, hunter2: 'hunter2' }))
    const handler = job(contract, { version }, () => run)
    const context = someContext()
    expect(await handler({ from: '5', more: 'x' }, context)).toEqual({ done: '6' })
    expect(run).toHaveBeenCalledExactlyOnceWith({ from: 5n }, { remainingMs: expect.any(Function) })
    expect(lines).toMatchObject([
      { message: 'report', report: { done: '6' }, function_request_id: context.awsRequestId },
    ])
    expect(JSON.stringify(lines)).not.toContain('hunter2')
  })

  test('that fails throws its error unchanged, and logs the reason', async () => {
    const { lines, text } = captureLogs()
    const failure = new AppError('upstream_unavailable', { cause: new Error('the very reason') })
    const handler = job(contract, { version }, () => () => Promise.reject(failure))
    await expect(handler({ from: '5' }, someContext())).rejects.toBe(failure)
    expect(lines).toMatchObject([{ level: 'ERROR' }])
    expect(text()).toContain('the very reason')
  })

  test.for([[{}], [{ from: 5 }], [{ from: '-5' }], [null], [undefined], ['5']])(
    'with the input %j is refused',
    async ([event]) => {
      captureLogs()
      const run = vi.fn(async () => ({ done: 1n }))
      await expect(job(contract, { version }, () => run)(event, someContext())).rejects.toThrow()
      expect(run).not.toHaveBeenCalled()
    },
  )

  test('fails if its report does not match the contract', async () => {
    captureLogs()
    const handler = job(contract, { version }, () => async () => ({ done: -1n }))
    await expect(handler({ from: '5' }, someContext())).rejects.toThrow()
  })

  test('of a misconfigured function fails, and the next works after the repair', async () => {
    captureLogs()
    vi.stubEnv('SERVICE_VERSION', undefined)
    const build = vi.fn(() => async () => ({ done: 1n }))
    const handler = job(contract, { version }, build)
    await expect(handler({ from: '5' }, someContext())).rejects.toThrow()
    vi.stubEnv('SERVICE_VERSION', '1.2.3')
    expect(await handler({ from: '5' }, someContext())).toEqual({ done: '1' })
    await handler({ from: '5' }, someContext())
    expect(build).toHaveBeenCalledOnce()
  })
})

describe('The configuration', () => {
  const configured = { ...contract, uses: { config: true } } as const satisfies JobContract

  test('is reloaded within five minutes of a change, and an invalid one is ignored', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => {
      vi.useRealTimers()
    })
    const secrets: Record<string, unknown> = { stage: { rpcUrls: { '8453': ['https://one.example'] } } }
    const { url, stop } = await startProviders({ secrets, chains: [], relayer: createRelayer({ chains: [] }) })
    onTestFinished(stop)
    for (const [name, value] of Object.entries(localCredentials)) vi.stubEnv(name, value)
    vi.stubEnv('CONFIG_SECRET', 'stage')
    vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', url)
    const handler = job(configured, { config }, (services) => async () => {
      rpcUrls.push(services.config.rpcUrls[8453])
      return { done: 1n }
    })
    const rpcUrls: unknown[] = []
    const run = () => handler({ from: '1' }, someContext())

    await run()
    secrets['stage'] = { rpcUrls: { '8453': ['https://two.example'] } }
    await run()
    vi.setSystemTime(Date.now() + 5 * 60_000)
    await run()
    expect(rpcUrls).toEqual([['https://one.example'], ['https://one.example'], ['https://two.example']])

    const { lines } = captureLogs()
    secrets['stage'] = { rpcUrls: 'hunter2' }
    vi.setSystemTime(Date.now() + 5 * 60_000)
    await run()
    expect(rpcUrls.at(-1)).toEqual(['https://two.example'])
    expect(lines).toContainEqual(expect.objectContaining({ message: 'the changed configuration cannot be used' }))
    expect(JSON.stringify(lines)).not.toContain('hunter2')

    secrets['stage'] = { rpcUrls: { '8453': ['https://three.example'] } }
    vi.setSystemTime(Date.now() + 5 * 60_000)
    await run()
    expect(rpcUrls.at(-1)).toEqual(['https://three.example'])
  })
})
