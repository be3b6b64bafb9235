import { CfnIPSet, CfnWebACL } from 'aws-cdk-lib/aws-wafv2'
import { Construct } from 'constructs'
import { AppError, type ErrorCode } from '../lib/core/errors.ts'
import type { EndpointContract } from '../lib/frame/contract.ts'
import { errorReply } from '../lib/frame/replies.ts'
import { MAX_BODY_BYTES } from '../lib/frame/request.ts'
import type { EdgeEnvironment } from './stages.ts'

type Settings = Pick<EdgeEnvironment, 'requestsPerMinute' | 'servers'> & {
  /** Name of the firewall's metrics, such as `vaultline-dev`. */
  readonly name: string
  readonly endpoints: readonly EndpointContract[]
}
type Rule = CfnWebACL.RuleProperty
type Statement = CfnWebACL.StatementProperty

const KEY_HEADER = 'x-join-key'
const WINDOW_SECONDS = 60

/** Error codes of the firewall's responses. Each response body is registered under its error code. */
const REFUSALS = ['payload_too_large', 'too_many_requests', 'rate_limit_exceeded'] as const satisfies ErrorCode[]
type Refusal = (typeof REFUSALS)[number]

/** Headers that samples of requests show redacted. */
const SECRET_HEADERS = [KEY_HEADER, 'authorization']

/**
 * Firewall in front of the CloudFront distribution of a stage. It refuses bodies that no function accepts, and callers over their rate. AWS
 * WAF counts with a delay of some seconds and roughly; the functions enforce the exact limits of keys and attempts. It writes no logs,
 * which would show who reads which wallet. Metrics and samples show the refused requests.
 */
export class Firewall extends Construct {
  readonly acl: CfnWebACL

  constructor(scope: Construct, { name, endpoints, requestsPerMinute, servers }: Settings) {
    super(scope, 'Firewall')
    const rules: readonly Pick<Rule, 'name' | 'statement' | 'action' | 'overrideAction'>[] = [
      {
        // The rule only counts: blocking by reputation could stop a withdrawal by mistake.
        name: 'reputation',
        statement: {
          managedRuleGroupStatement: { vendorName: 'AWS', name: 'AWSManagedRulesAmazonIpReputationList' },
        },
        overrideAction: { count: {} },
      },
      { name: 'large-bodies', statement: largeBodies(), action: blockWith('payload_too_large') },
      {
        name: 'accounts-by-address',
        statement: perAddress(requestsPerMinute.accounts, allOf(notPreflights(), accountPaths(endpoints))),
        action: blockWith('too_many_requests'),
      },
      {
        name: 'by-address',
        statement: perAddress(requestsPerMinute.address, allOf(notPreflights(), this.#notServers(servers))),
        action: blockWith('too_many_requests'),
      },
      {
        // Preflights have a count of their own: a page whose preflight is refused can read neither the error nor retry-after.
        name: 'preflights-by-address',
        statement: perAddress(requestsPerMinute.address, preflights()),
        action: blockWith('too_many_requests'),
      },
      { name: 'by-key', statement: perKey(requestsPerMinute.key), action: blockWith('rate_limit_exceeded') },
    ]
    this.acl = new CfnWebACL(this, 'Acl', {
      name,
      scope: 'CLOUDFRONT',
      defaultAction: { allow: {} },
      visibilityConfig: visibilityOf(name),
      customResponseBodies: Object.fromEntries(
        REFUSALS.map((code) => [code, { contentType: 'APPLICATION_JSON', content: bodyOf(code) }]),
      ),
      dataProtectionConfig: {
        dataProtections: SECRET_HEADERS.map((header) => ({
          action: 'SUBSTITUTION',
          field: { fieldType: 'SINGLE_HEADER', fieldKeys: [header] },
        })),
      },
      rules: rules.map((rule, priority) => ({ ...rule, priority, visibilityConfig: visibilityOf(rule.name) })),
    })
  }

  /** Returns a statement that excludes these servers' addresses from a rule; undefined, which excludes none, if there are no servers. */
  #notServers(servers: readonly string[]): Statement | undefined {
    if (servers.length === 0) return undefined
    const addresses = [...servers]
    const set = new CfnIPSet(this, 'Servers', { scope: 'CLOUDFRONT', ipAddressVersion: 'IPV4', addresses })
    return { notStatement: { statement: { ipSetReferenceStatement: { arn: set.attrArn } } } }
  }
}

/** Matches bodies larger than a function accepts, including those longer than the part that WAF inspects. */
function largeBodies(): Statement {
  return {
    sizeConstraintStatement: {
      fieldToMatch: { body: { oversizeHandling: 'MATCH' } },
      comparisonOperator: 'GT',
      size: MAX_BODY_BYTES,
      textTransformations: [{ priority: 0, type: 'NONE' }],
    },
  }
}

/**
 * Matches paths of accounts that need no user session: to register, log in and recover. They need only a client's key, which is no secret.
 */
function accountPaths(endpoints: readonly EndpointContract[]): Statement {
  const paths = endpoints.flatMap(({ tag, caller, path }) => (tag === 'Accounts' && caller !== 'user' ? [path] : []))
  return {
    orStatement: {
      statements: paths.map((searchString) => ({
        byteMatchStatement: {
          fieldToMatch: { uriPath: {} },
          positionalConstraint: 'EXACTLY',
          searchString,
          // The text is decoded first, because API Gateway decodes paths before it routes them.
          textTransformations: [{ priority: 0, type: 'URL_DECODE' }],
        },
      })),
    },
  }
}

function preflights(): Statement {
  return {
    byteMatchStatement: {
      fieldToMatch: { method: {} },
      positionalConstraint: 'EXACTLY',
      searchString: 'OPTIONS',
      textTransformations: [{ priority: 0, type: 'NONE' }],
    },
  }
}

function notPreflights(): Statement {
  return { notStatement: { statement: preflights() } }
}

function allOf(one: Statement, other: Statement | undefined): Statement {
  return other ? { andStatement: { statements: [one, other] } } : one
}

function perAddress(limit: number, scopeDownStatement: Statement): Statement {
  return {
    rateBasedStatement: { limit, evaluationWindowSec: WINDOW_SECONDS, aggregateKeyType: 'IP', scopeDownStatement },
  }
}

/** Matches requests above the limit per API key; does not count requests without a key. */
function perKey(limit: number): Statement {
  return {
    rateBasedStatement: {
      ...{ limit, evaluationWindowSec: WINDOW_SECONDS, aggregateKeyType: 'CUSTOM_KEYS' },
      customKeys: [{ header: { name: KEY_HEADER, textTransformations: [{ priority: 0, type: 'NONE' }] } }],
    },
  }
}

function blockWith(code: Refusal): CfnWebACL.RuleActionProperty {
  const { statusCode = 0 } = errorReply(new AppError(code), '')
  const isTooOften = statusCode === 429
  return {
    block: {
      customResponse: {
        responseCode: statusCode,
        customResponseBodyKey: code,
        responseHeaders: [
          { name: 'cache-control', value: 'no-store' },
          // The response needs CORS headers of its own, because it bypasses the gateway. Without them no page could read the error.
          { name: 'access-control-allow-origin', value: '*' },
          ...(isTooOften
            ? [
                { name: 'access-control-expose-headers', value: 'retry-after' },
                { name: 'retry-after', value: String(WINDOW_SECONDS) },
              ]
            : []),
        ],
      },
    },
  }
}

/** Returns the usual error body with `edge` as request id, because a firewall's response has no id. */
function bodyOf(code: Refusal): string {
  return errorReply(new AppError(code), 'edge').body ?? ''
}

function visibilityOf(metricName: string): CfnWebACL.VisibilityConfigProperty {
  return { metricName, cloudWatchMetricsEnabled: true, sampledRequestsEnabled: true }
}
