import type { Address } from 'viem'
import { describe, expect } from 'vitest'
import { handler as depositHandler } from '../../../functions/vaults/deposit/handler.ts'
import { expectError } from '../../support/errors.ts'
import { someContext, someEvent } from '../../support/lambda.ts'
import { captureLogs } from '../../support/logs.ts'
import { test, USERS } from '../../support/service.ts'

const LIST = '/defi-vaults/v1/vaults'
const DEPOSIT = '/defi-vaults/v1/defi/vault/deposit'
const [{ address: USER }] = USERS
const EMAIL = 'alice.hunter2@example.com'
/** Request headers whose values must never appear in the log. */
const HEADERS = {
  authorization: 'Bearer session-hunter2',
  cookie: 'id=cookie-hunter2',
  'user-agent': 'agent-hunter2',
  'x-forwarded-for': '203.0.113.77',
  'x-other': 'other-hunter2',
}

describe('The log of a busy service', () => {
  test('has one line per request with its id, and neither keys, headers, URLs nor e-mail addresses', async ({
    coldService: service,
  }) => {
    const { lines, text } = captureLogs()
    const vaultAddress = service.backends.chains[0]?.vaults[0]?.address as Address
    const body = { vaultAddress, amount: '1000', userAddress: USER }
    const headers = HEADERS
    const otherKey = await service.createClient([])
    const wrongKey = `${service.apiKey.slice(0, -1)}!`

    const calm = [
      await service.call('GET', LIST, { headers }),
      await service.call('GET', LIST, { headers, key: otherKey }),
      await service.call('GET', LIST, { headers, key: wrongKey }),
      await service.call('GET', LIST, { headers, key: null }),
      await service.call('POST', DEPOSIT, { headers, body }),
      await service.call('POST', DEPOSIT, { headers, body: { ...body, amount: EMAIL } }),
      await service.call('POST', DEPOSIT, { headers, body: `{"email":"${EMAIL}",` }),
      await service.call('POST', DEPOSIT, { headers, body: EMAIL }),
      await service.call('POST', `${DEPOSIT}?email=${EMAIL}`, { headers, body }),
      await service.call('GET', `/nope/${EMAIL}`, { headers }),
      await service.call('PUT', DEPOSIT, { headers, body }),
      await service.call('GET', '/health', { headers }),
      await service.call('GET', '/openapi.json', { headers }),
    ]
    const storm = []
    const wires = Object.values(service.rpc)
    for (const behaviour of ['refuse connections', 'answer 500', 'answer HTML', 'refuse every call'] as const) {
      for (const wire of wires) wire.behaviour = behaviour
      storm.push(await service.call('GET', LIST, { headers }), await service.call('POST', DEPOSIT, { headers, body }))
    }
    service.table.fails = () => true
    // The service cannot look up the request's API key, because the table fails. The request is still logged.
    storm.push(
      await service.call('POST', '/defi-vaults/v1/defi/vault/claim', {
        headers,
        body: { vaultAddress, userAddress: USER },
      }),
    )
    expectError(storm.at(-1) as (typeof storm)[number], 'service_unavailable')

    const ids = [...calm, ...storm].map((reply) => reply.headers.get('x-request-id'))
    const logged = lines.filter(({ message }) => message === 'request').map((line) => line['requestId'])
    expect(logged.sort()).toEqual(ids.sort())

    const secrets = [
      service.apiKey,
      otherKey,
      wrongKey,
      service.apiKey.slice(-20),
      EMAIL,
      'hunter2',
      '203.0.113.77',
      'x-join-key',
    ]
    const urls = [...wires.map(({ url }) => url), ...service.backends.chains.map(({ rpcUrl }) => rpcUrl)]
    for (const secret of [...secrets, ...urls, ...urls.map((url) => new URL(url).host)])
      expect(text()).not.toContain(secret)
  })

  test('has one line for a request that a silent chain delays, and its caller gets an error in time', async ({
    service,
  }) => {
    const { lines } = captureLogs()
    const { apiKey, rpc, backends } = service
    const headers = { 'x-join-key': apiKey }
    const vaultAddress = backends.chains[0]?.vaults[0]?.address
    const body = JSON.stringify({ vaultAddress, amount: '1000', userAddress: USER })
    for (const wire of Object.values(rpc)) wire.behaviour = 'never answer'

    const event = someEvent('POST', DEPOSIT, { headers, body })
    const reply = await depositHandler(event, someContext({ remainingMs: 1200 }))
    const replied = { status: reply.statusCode ?? 0, headers: new Headers(reply.headers as Record<string, string>) }
    expectError({ ...replied, body: JSON.parse(reply.body ?? '') }, 'timed_out')
    const { requestId } = event.requestContext
    expect(lines.filter(({ message }) => message === 'request')).toMatchObject([{ requestId, status: 504 }])
  })
})
