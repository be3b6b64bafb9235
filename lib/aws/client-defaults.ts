/** Time-outs and retries of every AWS client: one second to connect, two seconds to respond, and one retry. */
export const CLIENT_DEFAULTS = {
  maxAttempts: 2,
  // Without throwOnRequestTimeout the AWS SDK only logs a warning after the time-out, and continues to wait.
  requestHandler: { connectionTimeout: 1000, requestTimeout: 2000, throwOnRequestTimeout: true },
}
