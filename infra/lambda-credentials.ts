import { env } from 'node:process'

/**
 * The AWS SDK's default credentials in a bundle: those that Lambda puts into the environment of every function.
 * The SDK's own default tries profiles, SSO, web identities and instance metadata too: ways that no function has, and a
 * quarter of its bundle.
 */
export function defaultProvider() {
  return async () => {
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = env
    if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) throw new Error('The environment has no AWS credentials.')
    return {
      accessKeyId: AWS_ACCESS_KEY_ID,
      secretAccessKey: AWS_SECRET_ACCESS_KEY,
      ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
    }
  }
}
