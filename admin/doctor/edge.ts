import type { EdgeEnvironment } from '../../infra/stages.ts'
import { FailedTry, sendOnce } from '../../lib/core/http.ts'
import type { ClientKeys } from './clients.ts'
import { type Finding, guideSection, joinFirstNames } from './finding.ts'

type Environment = {
  readonly fetch: typeof fetch
  /** Time limit of one request to CloudFront or to the API, in milliseconds. */
  readonly questionMs: number
}

const REMEDY = guideSection('edge', 'Add it')

/**
 * Checks that the domain of a stage's CloudFront distribution leads to the API, with a valid certificate. Also checks that the API refuses
 * direct requests if the stage's settings require it. Sends two requests.
 */
export async function checkEdge(environment: Environment, edge: EdgeEnvironment): Promise<Finding[]> {
  return await Promise.all([checkDomain(environment, edge), checkWayAround(environment, edge)])
}

async function checkDomain(environment: Environment, { domain }: EdgeEnvironment): Promise<Finding> {
  const name = 'edge'
  const url = `https://${domain.name}/health`
  const { status, isCloudFront, failure } = await ask(environment, url)
  if (status === 200 && isCloudFront) return { mark: 'ok', name, result: `${domain.name} leads to the API` }
  const result = failure ?? (isCloudFront ? `answers HTTP status ${status}` : 'does not lead to CloudFront')
  return { mark: 'FAIL', name, result: `${url} ${result}`, remedy: `${REMEDY}, and docs/runbooks/failing-edge.md` }
}

async function checkWayAround(environment: Environment, { origin, isOnlyWay }: EdgeEnvironment): Promise<Finding> {
  const name = 'around the edge'
  const { status, failure } = await ask(environment, `${origin}/health`)
  if (failure) return { mark: 'FAIL', name, result: `${origin} ${failure}`, remedy: REMEDY }
  if (status === 404) return { mark: 'ok', name, result: 'finds nothing' }
  const result = `${origin} answers HTTP status ${status}`
  return isOnlyWay ? { mark: 'FAIL', name, result, remedy: REMEDY } : { mark: 'WARN', name, result, remedy: REMEDY }
}

/**
 * Warns of API keys whose rate limit allows more requests in a minute than the firewall's limit. A key's rate windows and the firewall's
 * minutes begin at different times. The check therefore counts one rate window more than fit into a minute.
 */
export function checkRates(clients: readonly ClientKeys[], { requestsPerMinute }: EdgeEnvironment): Finding[] {
  const slowed = clients.flatMap(({ clientId, keys }) =>
    keys
      .filter(({ limits: { rate } }) => rate.requests * (Math.max(1, 60 / rate.seconds) + 1) > requestsPerMinute.key)
      .map(({ keyId }) => `${keyId} of client ${clientId}`),
  )
  if (slowed.length === 0) return []
  const remedy = `Raise edge.requestsPerMinute.key to twice the rate of the largest: ${REMEDY}`
  return [{ mark: 'WARN', name: 'keys that the edge slows', result: joinFirstNames(slowed), remedy }]
}

async function ask({ fetch, questionMs }: Environment, url: string) {
  let isCloudFront = false
  const watched: typeof fetch = async (...request) => {
    const response = await fetch(...request)
    isCloudFront = response.headers.has('x-amz-cf-id')
    return response
  }
  try {
    const { status } = await sendOnce({ fetch: watched }, { url }, AbortSignal.timeout(questionMs))
    return { status, isCloudFront, failure: undefined }
  } catch (error) {
    if (!(error instanceof FailedTry)) throw error
    return { status: 0, isCloudFront, failure: `does not answer: ${error.message}` }
  }
}
