import { createHash } from 'node:crypto'
import type { Provider } from '../fake.ts'

/**
 * AWS Secrets Manager's GetSecretValue and PutSecretValue, with these secrets as JSON, which it changes
 * (https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html).
 */
export function fakeSecretsManager(secrets: Record<string, unknown>): Provider {
  return async ({ method, url, headers, body }) => {
    if (method !== 'POST' || url.pathname !== '/') return undefined
    const { SecretId, SecretString } = JSON.parse(body || '{}')
    const [, action] = String(headers['x-amz-target']).split('.')
    const isKnown = Object.hasOwn(secrets, SecretId)
    if (isKnown && action === 'PutSecretValue') secrets[SecretId] = JSON.parse(SecretString)
    const text = JSON.stringify(secrets[SecretId]) ?? ''
    const VersionId = createHash('sha256').update(text).digest('hex').slice(0, 32)
    const [status, answer] =
      isKnown && (action === 'GetSecretValue' || action === 'PutSecretValue')
        ? [200, { Name: SecretId, ...(action === 'GetSecretValue' && { SecretString: text, VersionId }) }]
        : [400, { __type: 'ResourceNotFoundException', Message: "Secrets Manager can't find the specified secret." }]
    return { status, body: answer, contentType: 'application/x-amz-json-1.1' }
  }
}
