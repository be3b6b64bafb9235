import { Logger } from '@aws-lambda-powertools/logger'

/** The only logger: structured JSON, one line per event. Log codes, counts and durations; never headers, bodies, keys or URLs. */
export const logger = new Logger({ serviceName: 'vaultline' })
