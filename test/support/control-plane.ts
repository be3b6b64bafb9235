import type { IncomingHttpHeaders } from 'node:http'
import { EDGE_REGION } from '../../infra/environments.ts'
import { listen } from '../../sandbox/listen.ts'

type PlaneStack = { status: string; reason?: string; isProtected?: boolean; outputs?: Record<string, string> }

/** Error response of AWS. */
export type AwsError = { readonly status: number; readonly code: string; readonly message: string }

/** Simulated STS, IAM, Lambda and CloudFormation of one AWS account, all at one URL. */
export type ControlPlane = {
  readonly url: string
  /**
   * CloudFormation stacks by name, oldest first. Tests change the stacks as CloudFormation would. Stacks whose names end in
   * `-edge` are in CloudFront's region, us-east-1.
   */
  readonly stacks: Map<string, PlaneStack>
  /**
   * Actions of the received requests in order. An action on a stack includes the stack's name: `DeleteStack
   * vaultline-dev-shared`.
   */
  readonly requests: string[]
  readonly failures: Map<string, AwsError[]>
  readonly denied: Set<string>
  /** Condition keys and values that the IAM policy simulation requires before it allows an action. */
  readonly conditions: Map<string, string>
  readonly account: { executions: number; arn: string }
  stop(): Promise<void>
}

/** Returns the AWS region in the `authorization` header of a signed request. */
export function regionOf({ authorization = '' }: IncomingHttpHeaders): string {
  const [, region = ''] = /Credential=[^/]+\/\d+\/([\w-]+)\//.exec(authorization) ?? []
  return region
}

const NAMESPACES: Readonly<Record<string, string>> = {
  '2011-06-15': 'https://sts.amazonaws.com/doc/2011-06-15/',
  '2010-05-08': 'https://iam.amazonaws.com/doc/2010-05-08/',
  '2010-05-15': 'http://cloudformation.amazonaws.com/doc/2010-05-15/',
}
const CREATED = Date.parse('2026-11-01T10:00:00Z')

/** Error responses with the texts that AWS returns. */
export const AWS_ERRORS = {
  expired: { status: 403, code: 'ExpiredToken', message: 'The security token included in the request is expired' },
  unknown: {
    status: 403,
    code: 'InvalidClientTokenId',
    message: 'The security token included in the request is invalid.',
  },
  throttled: { status: 400, code: 'Throttling', message: 'Rate exceeded' },
  denied: (action: string, resource: string) => ({
    status: 403,
    code: 'AccessDenied',
    message: `User: arn:aws:sts::123456789012:assumed-role/Dev/me is not authorized to perform: ${action} on resource: ${resource} because no identity-based policy allows the ${action} action`,
  }),
} as const satisfies Record<string, AwsError | ((...words: string[]) => AwsError)>

/**
 * Starts a simulated AWS account that responds in AWS's formats. STS, IAM and CloudFormation use AWS Query; Lambda uses REST
 * with JSON (https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/CommonErrors.html). A deleted stack is gone at
 * the next request.
 */
export async function startControlPlane(): Promise<ControlPlane> {
  const stacks: ControlPlane['stacks'] = new Map()
  const failures: ControlPlane['failures'] = new Map()
  const denied: ControlPlane['denied'] = new Set()
  const conditions: ControlPlane['conditions'] = new Map()
  const requests: string[] = []
  const account = { executions: 1000, arn: 'arn:aws:sts::123456789012:assumed-role/Dev/me' }

  const results: Readonly<Record<string, (question: URLSearchParams, region: string) => string | AwsError>> = {
    GetCallerIdentity: () => `<Arn>${account.arn}</Arn><UserId>AROA:me</UserId><Account>123456789012</Account>`,
    GetRole: () =>
      '<Role><Path>/</Path><RoleName>Dev</RoleName><RoleId>AROA</RoleId><CreateDate>2026-01-01T00:00:00Z</CreateDate><Arn>arn:aws:iam::123456789012:role/Dev</Arn></Role>',
    SimulatePrincipalPolicy: (question) => {
      const actions = [...question].flatMap(([name, value]) => (/^ActionNames\.member/.test(name) ? [value] : []))
      const context = contextOf(question)
      const missing = [...conditions.keys()].filter((key) => !context.has(key))
      const isMet = [...conditions].every(([key, value]) => context.get(key) === value)
      const missingText = missing.map((key) => `<member>${key}</member>`).join('')
      const members = actions.map(
        (action) =>
          `<member><EvalActionName>${action}</EvalActionName><EvalDecision>${isMet && !denied.has(action) ? 'allowed' : 'implicitDeny'}</EvalDecision><MissingContextValues>${missingText}</MissingContextValues></member>`,
      )
      return `<EvaluationResults>${members.join('')}</EvaluationResults><IsTruncated>false</IsTruncated>`
    },
    DescribeStacks: (_, region) => {
      const here = [...stacks].flatMap(([name, stack], index) =>
        (region === EDGE_REGION) === name.endsWith('-edge') ? [stackText(name, stack, index)] : [],
      )
      return `<Stacks>${here.join('')}</Stacks>`
    },
    UpdateTerminationProtection: (question) => {
      const stack = stacks.get(question.get('StackName') ?? '')
      if (stack) stack.isProtected = false
      return '<StackId>some-id</StackId>'
    },
    DeleteStack: (question) => {
      const name = question.get('StackName') ?? ''
      if (stacks.get(name)?.isProtected) {
        const message = `Stack [${name}] cannot be deleted while TerminationProtection is enabled`
        return { status: 400, code: 'ValidationError', message }
      }
      stacks.delete(name)
      return ''
    },
  }

  const server = await listen(async (request, response) => {
    const question = new URLSearchParams(Buffer.concat(await request.toArray()).toString())
    const isLambda = request.url?.startsWith('/2016-08-19/account-settings')
    const action = isLambda ? 'GetAccountSettings' : (question.get('Action') ?? '')
    requests.push([action, question.get('StackName')].filter(Boolean).join(' '))
    const failure = failures.get(action)?.shift()
    if (isLambda) {
      const limit = { ConcurrentExecutions: account.executions, TotalCodeSize: 80_530_636_800 }
      const [status, body] = failure ? [failure.status, { Message: failure.message }] : [200, { AccountLimit: limit }]
      const type = failure && { 'x-amzn-errortype': failure.code }
      response.writeHead(status, { 'content-type': 'application/json', ...type }).end(JSON.stringify(body))
      return
    }
    const xmlns = NAMESPACES[question.get('Version') ?? '']
    const result = failure ??
      results[action]?.(question, regionOf(request.headers)) ?? { status: 400, code: 'InvalidAction', message: action }
    const [status, text] =
      typeof result === 'string'
        ? [200, `<${action}Response xmlns="${xmlns}"><${action}Result>${result}</${action}Result></${action}Response>`]
        : [
            result.status,
            `<ErrorResponse xmlns="${xmlns}"><Error><Type>Sender</Type><Code>${result.code}</Code><Message>${result.message}</Message></Error><RequestId>some-id</RequestId></ErrorResponse>`,
          ]
    response.writeHead(status, { 'content-type': 'text/xml' }).end(text)
  })
  return { ...server, stacks, requests, failures, denied, conditions, account }
}

function contextOf(question: URLSearchParams): Map<string, string> {
  return new Map(
    [...question].flatMap(([name, key]) =>
      name.endsWith('.ContextKeyName')
        ? [[key, question.get(name.replace(/ContextKeyName$/, 'ContextKeyValues.member.1')) ?? ''] as const]
        : [],
    ),
  )
}

function stackText(name: string, { status, reason, isProtected = false, outputs = {} }: PlaneStack, index: number) {
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  )
  return (
    `<member><StackName>${name}</StackName><StackId>some-id</StackId><StackStatus>${status}</StackStatus>` +
    `${reason ? `<StackStatusReason>${reason}</StackStatusReason>` : ''}` +
    `<CreationTime>${new Date(CREATED + index * 60_000).toISOString()}</CreationTime>` +
    `<EnableTerminationProtection>${isProtected}</EnableTerminationProtection>` +
    `<Outputs>${members.join('')}</Outputs></member>`
  )
}
