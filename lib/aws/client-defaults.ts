/**
 * Connections close after five unused seconds, as those of Node's default agent. After a container was frozen, its older
 * connections may be dead, and the one retry of a request could get another dead one.
 */
const AGENT = { timeout: 5000 }

/** Time-outs and retries of every AWS client: one second to connect, two seconds to respond, and one retry. */
export const CLIENT_DEFAULTS = {
  maxAttempts: 2,
  requestHandler: {
    connectionTimeout: 1000,
    requestTimeout: 2000,
    // Without it the AWS SDK only logs a warning after the time-out, and continues to wait.
    throwOnRequestTimeout: true,
    httpAgent: AGENT,
    httpsAgent: AGENT,
  },
}
