/** How every AWS client waits: at most one second to connect and two to answer, and one retry. */
export const CLIENT_DEFAULTS = {
  maxAttempts: 2,
  // Without throwOnRequestTimeout the SDK only logs a warning and goes on waiting.
  requestHandler: { connectionTimeout: 1000, requestTimeout: 2000, throwOnRequestTimeout: true },
}
