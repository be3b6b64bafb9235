import { Logger } from '@aws-lambda-powertools/logger'

/**
 * Logger of the whole service: structured JSON, one line per entry. Log codes, counts and durations, but never headers,
 * bodies, keys or URLs.
 */
export const logger = new Logger({ serviceName: 'vaultline' })
