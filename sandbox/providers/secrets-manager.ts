import type { Provider } from '../fake.ts'

/**
 * AWS Secrets Manager's GetSecretValue, with these secrets as JSON
 * (https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html).
 */
export function fakeSecretsManager(secrets: Readonly<Record<string, unknown>>): Provider {
  return async ({ method, url, headers, body }) => {
    if (method !== 'POST' || url.pathname !== '/') return undefined
    const { SecretId } = JSON.parse(body || '{}')
    const isKnown = headers['x-amz-target'] === 'secretsmanager.GetSecretValue' && Object.hasOwn(secrets, SecretId)
    const [status, answer] = isKnown
      ? [200, { Name: SecretId, SecretString: JSON.stringify(secrets[SecretId]) }]
      : [400, { __type: 'ResourceNotFoundException', Message: "Secrets Manager can't find the specified secret." }]
    return { status, body: answer, contentType: 'application/x-amz-json-1.1' }
  }
}
