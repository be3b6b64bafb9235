import { createHash } from 'node:crypto'
import type { RequestHandler } from '../fake.ts'

/** A secret's ARN consists of this prefix, the secret's name, and a suffix that AWS adds. */
const ARN = 'arn:aws:secretsmanager:eu-west-1:000000000000:secret:'
const ADDED = '-a1B2c3'

const EXISTS = {
  __type: 'ResourceExistsException',
  Message: 'The operation failed because the secret already exists.',
}
const ABSENT = {
  __type: 'ResourceNotFoundException',
  Message: "Secrets Manager can't find the specified secret.",
}

/** Returns the ARN of the secret with this name. */
export function secretArn(name: string): string {
  return `${ARN}${name}${ADDED}`
}

/**
 * Returns a fake of AWS Secrets Manager with CreateSecret, GetSecretValue and PutSecretValue. `secrets` has JSON values by name;
 * CreateSecret and PutSecretValue change this object. Source:
 * https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html
 */
export function fakeSecretsManager(secrets: Record<string, unknown>): RequestHandler {
  const describe = (Name: string) => ({ ARN: secretArn(Name), Name, VersionId: versionOf(secrets[Name]) })
  const store = (Name: string, text: string) => {
    secrets[Name] = JSON.parse(text)
    return describe(Name)
  }
  const read = (Name: string) => ({ ...describe(Name), SecretString: JSON.stringify(secrets[Name]) })

  return async ({ method, url, headers, body }) => {
    if (method !== 'POST' || url.pathname !== '/') return undefined
    const { SecretId, SecretString, Name = nameOf(SecretId) } = JSON.parse(body || '{}')
    const action = String(headers['x-amz-target']).split('.')[1]
    const isKnown = Object.hasOwn(secrets, Name)
    const answer = () => {
      if (action === 'CreateSecret') return isKnown ? undefined : store(Name, SecretString)
      if (!isKnown) return undefined
      return action === 'PutSecretValue' ? store(Name, SecretString) : read(Name)
    }
    const secretJson = answer()
    const contentType = 'application/x-amz-json-1.1'
    if (secretJson) return { status: 200, body: secretJson, contentType }
    const refusal = isKnown ? EXISTS : ABSENT
    return { status: 400, body: refusal, contentType }
  }
}

function versionOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32)
}

function nameOf(secretId = ''): string {
  return secretId.startsWith(ARN) ? secretId.slice(ARN.length, -ADDED.length) : secretId
}
