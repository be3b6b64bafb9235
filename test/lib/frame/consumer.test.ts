import type { SQSEvent } from 'aws-lambda'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import * as z from 'zod'
import { Amount } from '../../../lib/core/codecs.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { consumer, handleEach } from '../../../lib/frame/consumer.ts'
import type { QueueContract } from '../../../lib/frame/contract.ts'
import { version } from '../../../lib/services.ts'
import { someContext } from '../../support/lambda.ts'
import { captureLogs } from '../../support/logs.ts'

const contract = {
  summary: 'Does something when it is told.',
  uses: { version: true },
  queue: 'deliveryQueue',
  message: z.object({ of: Amount }),
  report: z.object({ done: Amount }),
  timeoutSeconds: 30,
  maxConcurrency: 2,
  impact: 'Nothing.',
} as const satisfies QueueContract

beforeEach(() => {
  vi.stubEnv('SERVICE_VERSION', '1.2.3')
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
})

function someMessages(...bodies: string[]): SQSEvent {
  return {
    Records: bodies.map((body, index) => ({
      ...{ messageId: `m${index}`, receiptHandle: '', body, md5OfBody: '', messageAttributes: {} },
      attributes: {
        ...{ ApproximateReceiveCount: '2', SentTimestamp: '', SenderId: '', ApproximateFirstReceiveTimestamp: '' },
      },
      ...{ eventSource: 'aws:sqs', eventSourceARN: '', awsRegion: '' },
    })),
  }
}

describe('A batch of messages', () => {
  test('is processed in parallel, each message parsed by the contract, and each report logged', async () => {
    const { lines } = captureLogs()
    const together = Promise.withResolvers<void>()
    const begun: bigint[] = []
    const handler = consumer(contract, { version }, () =>
      handleEach(async ({ of }: { of: bigint }) => {
        begun.push(of)
        if (begun.length === 2) together.resolve()
        await together.promise
        return { done: of, hunter2: 'hunter2' }
      }),
    )
    const context = someContext()
    const event = someMessages('{"of":"1","more":"hunter2"}', '{"of":"2"}')
    expect(await handler(event, context)).toEqual({ batchItemFailures: [] })
    expect(begun).toEqual([1n, 2n])
    expect(lines).toMatchObject([
      { message: 'report', report: { done: '1' }, function_request_id: context.awsRequestId },
      { message: 'report', report: { done: '2' } },
    ])
    expect(JSON.stringify(lines)).not.toContain('hunter2')
  })

  test('returns all failed messages, and logs their reasons', async () => {
    const { lines, text } = captureLogs()
    const handler = consumer(contract, { version }, () =>
      handleEach(async ({ of }: { of: bigint }) => {
        if (of % 2n === 0n) return { done: of }
        throw new AppError('upstream_unavailable', { cause: new Error(`the very reason of ${of}`) })
      }),
    )
    const event = someMessages('{"of":"1"}', '{"of":"2"}', '{"of":"3"}')
    expect(await handler(event, someContext())).toEqual({
      batchItemFailures: [{ itemIdentifier: 'm0' }, { itemIdentifier: 'm2' }],
    })
    expect(lines.filter(({ level }) => level === 'ERROR')).toMatchObject([
      { message: 'message failed', messageId: 'm0', receives: 2 },
      { message: 'message failed', messageId: 'm2', receives: 2 },
    ])
    for (const of of [1, 3]) expect(text()).toContain(`the very reason of ${of}`)
  })

  test.for(['hunter2', '', 'null', '{}', '{"of":"-hunter2"}', '[]'])(
    'with the message %j fails only for that message, which is not logged',
    async (body) => {
      const { text } = captureLogs()
      const run = vi.fn(async ({ of }: { of: bigint }) => ({ done: of }))
      const handler = consumer(contract, { version }, () => handleEach(run))
      expect(await handler(someMessages(body, '{"of":"2"}'), someContext())).toEqual({
        batchItemFailures: [{ itemIdentifier: 'm0' }],
      })
      expect(run).toHaveBeenCalledOnce()
      expect(text()).not.toContain('hunter2')
    },
  )

  test('fails if its report does not match the contract', async () => {
    const { lines } = captureLogs()
    const handler = consumer(contract, { version }, () => handleEach(async () => ({ done: -1n })))
    await expect(handler(someMessages('{"of":"2"}'), someContext())).rejects.toThrow()
    expect(lines).toMatchObject([{ level: 'ERROR', message: 'batch failed' }])
  })

  test('returns messages that the work wants again, and no error is logged', async () => {
    const { lines } = captureLogs()
    const handler = consumer(contract, { version }, () => async (batch) => ({
      reports: [],
      again: batch.filter(({ message }) => message.of === 2n),
    }))
    expect(await handler(someMessages('{"of":"1"}', '{"of":"2"}'), someContext())).toEqual({
      batchItemFailures: [{ itemIdentifier: 'm1' }],
    })
    expect(lines).toEqual([])
  })

  test('of a misconfigured function fails as a whole, and the next works after the repair', async () => {
    const { lines } = captureLogs()
    vi.stubEnv('SERVICE_VERSION', undefined)
    const handler = consumer(contract, { version }, () => handleEach(async ({ of }: { of: bigint }) => ({ done: of })))
    await expect(handler(someMessages('{"of":"2"}'), someContext())).rejects.toThrow('SERVICE_VERSION')
    expect(lines).toMatchObject([{ level: 'ERROR', message: 'batch failed' }])
    vi.stubEnv('SERVICE_VERSION', '1.2.3')
    expect(await handler(someMessages('{"of":"2"}'), someContext())).toEqual({ batchItemFailures: [] })
  })
})
