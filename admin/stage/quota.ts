/**
 * Minimum limit of concurrent Lambda executions that a stage needs, because a job runs for each chain each minute. A new AWS account has a
 * limit of ten.
 */
export const MIN_CONCURRENT_EXECUTIONS = 100

/** Command that requests a higher limit of concurrent executions. */
export const RAISE_EXECUTIONS_COMMAND =
  'aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000'
