import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import * as z from 'zod'
import { type HttpResponse, sendHttpRequest } from '../exchange.ts'
import { listen } from '../listen.ts'
import { secretArn } from '../providers/secrets-manager.ts'
import { arnOf } from './deployed.ts'
import { isAllowed, type Statement } from './policies.ts'

/** URLs of the local services that stand in for AWS. */
export type AwsServices = { readonly dynamodb: string; readonly sqs: string; readonly secretsmanager: string }

/** Caller of AWS services: a Lambda function with its role. `statements` are the role's policy statements. */
export type Principal = {
  readonly arn: string
  readonly sessionToken: string
  readonly statements: readonly Statement[]
}

/** Request to an AWS service: the ARNs of the caller and the resource, and the IAM action. */
export type AwsCall = { readonly principal: string; readonly action: string; readonly resource: string }

/** Imitated AWS account. All services share one URL, and a request's access key identifies the caller. */
export type Aws = {
  readonly url: string
  /** Callers by access key id. */
  readonly principals: Map<string, Principal>
  /** Returns the distinct requests so far, including denied ones. */
  readonly calls: () => AwsCall[]
  stop(): Promise<void>
}

const OperationInput = z.object({
  TableName: z.string().optional(),
  IndexName: z.string().optional(),
  RequestItems: z.record(z.string(), z.unknown()).default({}),
  TransactItems: z.array(z.record(z.string(), z.object({ TableName: z.string() }))).default([]),
  QueueUrl: z.string().default(''),
  SecretId: z.string().default(''),
})

const NEEDS: {
  readonly [service in keyof AwsServices]: (operation: string, input: z.output<typeof OperationInput>) => Needs
} = {
  dynamodb(operation, { TableName, IndexName, RequestItems, TransactItems }) {
    const index = IndexName ? `/index/${IndexName}` : ''
    const need = (action: string, table: string) => ({
      action: `dynamodb:${action}`,
      resource: arnOf('dynamodb', `table/${table}${index}`),
    })
    // A transaction needs the IAM permission for each of its writes, such as dynamodb:PutItem.
    const writes = TransactItems.flatMap((write) =>
      Object.entries(write).map(([kind, { TableName: table }]) => need(`${kind}Item`, table)),
    )
    const tables = TableName === undefined ? Object.keys(RequestItems) : [TableName]
    return [...writes, ...tables.map((table) => need(operation, table))]
  },
  // IAM has no actions for batches of messages. A batch needs the action for a single message, such as sqs:SendMessage.
  sqs: (operation, { QueueUrl }) => [
    {
      action: `sqs:${operation.replace(/Batch$/, '')}`,
      resource: arnOf('sqs', QueueUrl.slice(QueueUrl.lastIndexOf('/') + 1)),
    },
  ],
  secretsmanager: (operation, { SecretId }) => [
    {
      action: `secretsmanager:${operation}`,
      resource: SecretId.startsWith('arn:') ? SecretId : secretArn(SecretId),
    },
  ],
}
type Needs = readonly { readonly action: string; readonly resource: string }[]

/**
 * Starts a proxy in front of the local AWS services. Forwards a request if the caller's IAM policies allow it, or if it has the operator's
 * access key. Does not verify signatures.
 */
export async function startAws(services: AwsServices, operatorKey: string): Promise<Aws> {
  const principals = new Map<string, Principal>()
  const calls = new Map<string, AwsCall>()

  const answer = async (headers: IncomingHttpHeaders, body: string): Promise<HttpResponse> => {
    const [, accessKey = '', service = ''] =
      /Credential=([^/]+)\/\d+\/[^/]+\/(\w+)\/aws4_request/.exec(headers.authorization ?? '') ?? []
    if (!isService(service))
      return refusal('dynamodb', 'MissingAuthenticationToken', 'Request is missing Authentication Token')
    if (accessKey !== operatorKey) {
      const principal = principals.get(accessKey)
      if (!principal || headers['x-amz-security-token'] !== principal.sessionToken) {
        return refusal(service, 'UnrecognizedClientException', 'The security token included in the request is invalid.')
      }
      const operation = String(headers['x-amz-target']).split('.').at(-1) ?? ''
      const needs = NEEDS[service](operation, OperationInput.parse(JSON.parse(body)))
      for (const { action, resource } of needs) {
        calls.set(`${accessKey} ${action} ${resource}`, { principal: principal.arn, action, resource })
      }
      const refused = needs.find(({ action, resource }) => !isAllowed(principal.statements, action, resource))
      if (refused) return denial(service, principal.arn, refused.action, refused.resource)
      if (needs.length === 0) return denial(service, principal.arn, `${service}:${operation}`, 'undefined')
    }
    const { connection: _, 'transfer-encoding': __, ...passed } = headers
    return await sendHttpRequest(services[service], { headers: passed, body })
  }

  const serve = (request: IncomingMessage, response: ServerResponse) => {
    void buffer(request)
      .then((body) => answer(request.headers, body.toString()))
      .catch((error: unknown): HttpResponse => ({ status: 500, headers: {}, text: String(error) }))
      .then(({ status, headers, text }) => {
        const { connection: _, 'transfer-encoding': __, 'keep-alive': ___, ...passed } = headers
        response.writeHead(status, passed).end(text)
      })
  }
  return {
    ...(await listen(serve)),
    principals,
    calls: () => [...calls.values()],
  }
}

function isService(text: string): text is keyof AwsServices {
  return Object.hasOwn(NEEDS, text)
}

/** Returns AWS's response to a request without permission. SQS writes the action in lower case. */
function denial(service: keyof AwsServices, principal: string, action: string, resource: string): HttpResponse {
  const deniedAction = service === 'sqs' ? action.toLowerCase() : action
  const message =
    `User: ${principal} is not authorized to perform: ${deniedAction} on resource: ${resource} ` +
    `because no identity-based policy allows the ${deniedAction} action`
  return refusal(service, 'AccessDeniedException', message)
}

function refusal(service: keyof AwsServices, type: string, message: string): HttpResponse {
  return {
    status: service === 'sqs' ? 403 : 400,
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      // SQS also returns the error's name from its older query API, in this header.
      ...(service === 'sqs' && { 'x-amzn-query-error': `${type.replace('Exception', '')};Sender` }),
    },
    text: JSON.stringify({ __type: `com.amazon.coral.service#${type}`, message }),
  }
}
