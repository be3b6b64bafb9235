import { env } from 'node:process'

/**
 * Replaces the AWS SDK's default credential provider in a bundle. Returns a provider that reads the environment variables of every Lambda
 * function, and throws an Error if these are missing. The SDK's provider also supports profiles, SSO, web identities and instance metadata.
 * Lambda functions have none of them, and the code for them takes a quarter of a bundle.
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
