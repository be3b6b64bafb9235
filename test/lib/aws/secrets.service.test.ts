import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { readSecretJson } from '../../../lib/aws/secrets.ts'

const Config = z.strictObject({ rpcUrls: z.record(z.string(), z.array(z.url())) })
const requested: unknown[] = []
let server: Server
let reply: { status: number; body: unknown }

beforeAll(async () => {
  server = createServer(async (request, response) => {
    requested.push(JSON.parse(Buffer.concat(await request.toArray()).toString()))
    response.writeHead(reply.status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(reply.body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  vi.stubEnv('AWS_PROFILE', undefined)
  vi.stubEnv('AWS_REGION', 'eu-west-1')
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'any')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'any')
})

afterAll(() => {
  vi.unstubAllEnvs()
  server.closeAllConnections()
  server.close()
})

describe('A secret', () => {
  test('is read by its name or ARN and parsed', async () => {
    const secret = { rpcUrls: { '8453': ['https://rpc.example/key'] } }
    reply = { status: 200, body: { SecretString: JSON.stringify(secret) } }
    expect(await readSecretJson('vaultline/dev/config', Config)).toEqual(secret)
    expect(requested.at(-1)).toEqual({ SecretId: 'vaultline/dev/config' })
  })

  test.each([
    ['is not JSON', 'hunter2 is not JSON'],
    ['has another form', '{"rpcUrls":{"8453":["hunter2"]}}'],
    ['has a field too many', '{"rpcUrls":{},"hunter2":1}'],
    ['has no text', undefined],
  ])('that %s is refused with an error without its content', async (_, SecretString) => {
    reply = { status: 200, body: { SecretString } }
    const error: unknown = await readSecretJson('vaultline/dev/config', Config).catch((thrown: unknown) => thrown)
    expect(error).toEqual(new Error('The secret vaultline/dev/config does not have the expected form.'))
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('hunter2')
  })

  test('that does not exist is an error that names the reason', async () => {
    reply = { status: 400, body: { __type: 'ResourceNotFoundException', message: 'no such secret' } }
    await expect(readSecretJson('missing', Config)).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
  })
})
