/** Limits of every AWS client: one second to connect, two to respond, and one retry. */
export const CLIENT_DEFAULTS = {
  maxAttempts: 2,
  // Without throwOnRequestTimeout the SDK only logs a warning and goes on waiting.
  requestHandler: { connectionTimeout: 1000, requestTimeout: 2000, throwOnRequestTimeout: true },
}
