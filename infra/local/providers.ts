import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The services outside that cannot be had on this machine, as one local server. */
export type Providers = { readonly url: string; stop(): Promise<void> }

/**
 * Starts the local providers on a free port. So far: AWS Secrets Manager's GetSecretValue, with these secrets as JSON
 * (https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html).
 */
export async function startProviders({ secrets }: { secrets: Readonly<Record<string, unknown>> }): Promise<Providers> {
  const server = createServer((request, response) => {
    answerSecretsManager(request, response, secrets).catch(() => response.writeHead(500).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

async function answerSecretsManager(
  request: IncomingMessage,
  response: ServerResponse,
  secrets: Readonly<Record<string, unknown>>,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const { SecretId } = JSON.parse(Buffer.concat(chunks).toString() || '{}')
  const isKnown =
    request.headers['x-amz-target'] === 'secretsmanager.GetSecretValue' && Object.hasOwn(secrets, SecretId)
  const [status, body] = isKnown
    ? [200, { Name: SecretId, SecretString: JSON.stringify(secrets[SecretId]) }]
    : [400, { __type: 'ResourceNotFoundException', Message: "Secrets Manager can't find the specified secret." }]
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body))
}
