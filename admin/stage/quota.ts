/** Minimum concurrent executions: each chain has a job each minute. A new account has ten. */
export const FEW_EXECUTIONS = 100

/** Command that requests more. */
export const RAISE_EXECUTIONS =
  'aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000'
