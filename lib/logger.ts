import { Logger } from '@aws-lambda-powertools/logger'

/** The one logger: structured JSON, one line per event. Give it codes, counts and durations; never headers, bodies, keys or URLs. */
export const logger = new Logger({ serviceName: 'vaultline' })
