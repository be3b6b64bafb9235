import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { EDGE_REGION } from '../../infra/environments.ts'
import { sendHttpRequest } from '../../sandbox/exchange.ts'
import { listen } from '../../sandbox/listen.ts'
import { type ControlPlane, regionOf, startControlPlane } from './control-plane.ts'

/** Subscription of an SNS topic. Until the subscription is confirmed, `arn` is the placeholder that SNS returns. */
type Subscription = { readonly arn: string; readonly protocol: string }

/** Simulated AWS account. All its services share one URL. */
export type AwsAccount = {
  readonly url: string
  readonly topics: Map<string, readonly Subscription[]>
  /** Secrets, by name, that replace the local service's secrets. Null means that the secret is missing. */
  readonly secrets: Map<string, string | null>
  /** Actions that AWS denies, such as `ListSubscriptionsByTopic` or `GetSecretValue vaultline/dev/config`. */
  readonly denied: Set<string>
  /** AWS error code that refuses every request, such as `ExpiredTokenException`. Undefined means valid credentials. */
  readonly credentials: { refusedAs: string | undefined }
  readonly requests: string[]
  readonly plane: ControlPlane
  stop(): Promise<void>
}

type Servers = { readonly dynamo: string; readonly secrets: string; readonly queues: string }
type Reply = { readonly status: number; readonly headers?: OutgoingHttpHeaders; readonly text: string }

/** Number of subscriptions per page of SNS. Real SNS returns 100; a small page makes clients fetch several pages. */
const PAGE = 2

/**
 * Starts a simulated AWS account that forwards requests to local servers. `tables` maps each stage to the name that replaces it
 * in local table names. The simulated SNS supports only ListSubscriptionsByTopic
 * (https://docs.aws.amazon.com/sns/latest/api/API_ListSubscriptionsByTopic.html).
 */
export async function startAwsAccount(servers: Servers, tables: Readonly<Record<string, string>>): Promise<AwsAccount> {
  const topics: AwsAccount['topics'] = new Map()
  const secrets: AwsAccount['secrets'] = new Map()
  const denied: AwsAccount['denied'] = new Set()
  const credentials: AwsAccount['credentials'] = { refusedAs: undefined }
  const requests: string[] = []
  const plane = await startControlPlane()

  const answer = async (path: string, headers: IncomingHttpHeaders, body: string): Promise<Reply> => {
    const [service = '', action = ''] = String(headers['x-amz-target'] ?? '').split('.')
    requests.push(action || 'another service')
    if (credentials.refusedAs)
      return jsonReply(400, { __type: credentials.refusedAs, message: 'The security token is no good' })
    const isSns = new URLSearchParams(body).get('Version') === '2010-03-31'
    if (!action && !isSns) {
      const { host: _, 'content-length': __, connection: ___, ...sent } = headers
      const response = await sendHttpRequest(`${plane.url}${path}`, {
        method: body ? 'POST' : 'GET',
        headers: sent,
        body,
      })
      return { status: response.status, headers: response.headers, text: response.text }
    }
    if (!action) return answerSns(new URLSearchParams(body), regionOf(headers))
    const isDynamo = service.startsWith('DynamoDB')
    const { SecretId } = JSON.parse(body)
    if (denied.has([action, SecretId].filter(Boolean).join(' '))) {
      return jsonReply(400, { __type: 'AccessDeniedException', Message: 'User is not authorized' })
    }
    const secret = secrets.get(SecretId)
    if (secret === null) return jsonReply(400, { __type: 'ResourceNotFoundException', Message: "It can't be found." })
    if (secret !== undefined) return jsonReply(200, { Name: SecretId, SecretString: secret, VersionId: 'some-version' })
    const [, stage = 'none'] = /vaultline[-/](dev|staging|prod)[-/]/.exec(body) ?? []
    const [own, local] = isDynamo
      ? [`vaultline-${stage}-`, `vaultline-${tables[stage]}-`]
      : [/vaultline([-/])\w+[-/]/g, 'vaultline$1local$1']
    const url = isDynamo ? servers.dynamo : SecretId ? servers.secrets : servers.queues
    const { host: _, 'content-length': __, connection: ___, ...sent } = headers
    const response = await sendHttpRequest(url, { headers: sent, body: body.replaceAll(own, local) })
    // DynamoDB's batch responses contain the local table name. The caller expects the table name of its stage.
    const text = isDynamo ? response.text.replaceAll(local, String(own)) : response.text
    const { 'content-length': ____, 'x-amz-crc32': _____, ...responseHeaders } = response.headers
    return { status: response.status, headers: responseHeaders, text }
  }

  const answerSns = (question: URLSearchParams, region: string): Reply => {
    const action = question.get('Action') ?? ''
    const topicArn = question.get('TopicArn') ?? ''
    const [name = ''] = topicArn.split(':').slice(-1)
    if (denied.has(action)) return snsError(403, 'AuthorizationError', 'User is not authorized')
    const subscriptions = topics.get(name)
    if (action !== 'ListSubscriptionsByTopic') return snsError(400, 'InvalidAction', `${action} is not known here`)
    if (topicArn.split(':')[3] !== region) return snsError(400, 'InvalidParameter', 'Invalid parameter: TopicArn')
    const isThere = region === (name.endsWith('-edge-alarms') ? EDGE_REGION : 'eu-west-1')
    if (!isThere || topicArn !== `arn:aws:sns:${region}:000000000000:${name}` || !subscriptions) {
      return snsError(404, 'NotFound', 'Topic does not exist')
    }
    const from = Number(question.get('NextToken') ?? 0)
    const members = subscriptions
      .slice(from, from + PAGE)
      .map(
        ({ arn, protocol }) =>
          `<member><TopicArn>${topicArn}</TopicArn><Protocol>${protocol}</Protocol><SubscriptionArn>${arn}</SubscriptionArn>` +
          '<Owner>000000000000</Owner><Endpoint>ops@operator.dev</Endpoint></member>',
      )
    const next = from + PAGE < subscriptions.length ? `<NextToken>${from + PAGE}</NextToken>` : ''
    const result = `<Subscriptions>${members.join('')}</Subscriptions>${next}`
    return snsReply(200, `${action}Response`, `<${action}Result>${result}</${action}Result>`)
  }

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const { status, headers, text } = await answer(request.url ?? '/', request.headers, body).catch(
      (error: unknown) => ({
        ...{ status: 500, headers: {}, text: String(error) },
      }),
    )
    response.writeHead(status, headers).end(text)
  }
  const server = await listen(serve)
  return {
    ...server,
    plane,
    stop: async () => {
      await Promise.all([server.stop(), plane.stop()])
    },
    topics,
    secrets,
    denied,
    credentials,
    requests,
  }
}

function jsonReply(status: number, body: object): Reply {
  return { status, headers: { 'content-type': 'application/x-amz-json-1.1' }, text: JSON.stringify(body) }
}

function snsError(status: number, code: string, message: string): Reply {
  const error = `<Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error>`
  return snsReply(status, 'ErrorResponse', error)
}

function snsReply(status: number, element: string, content: string): Reply {
  const requestId = '<ResponseMetadata><RequestId>made-up</RequestId></ResponseMetadata>'
  const text = `<${element} xmlns="http://sns.amazonaws.com/doc/2010-03-31/">${content}${requestId}</${element}>`
  return { status, headers: { 'content-type': 'text/xml' }, text }
}
