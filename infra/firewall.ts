import { CfnIPSet, CfnWebACL } from 'aws-cdk-lib/aws-wafv2'
import { Construct } from 'constructs'
import { AppError, type ErrorCode } from '../lib/core/errors.ts'
import type { EndpointContract } from '../lib/frame/contract.ts'
import { errorReply } from '../lib/frame/replies.ts'
import { MAX_BODY_BYTES } from '../lib/frame/request.ts'
import type { EdgeEnvironment } from './stages.ts'

type Settings = Pick<EdgeEnvironment, 'requestsPerMinute' | 'servers'> & {
  /** Name of the firewall and of its metrics, such as `vaultline-dev`. */
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

/** Headers whose values AWS WAF hides in its samples of requests, because they contain secrets. */
const SECRET_HEADERS = [KEY_HEADER, 'authorization']

/**
 * Firewall in front of a stage's CloudFront distribution. It refuses bodies that no function accepts, and callers that exceed their rate.
 * AWS WAF counts roughly and some seconds late; the functions enforce the exact limits of keys and attempts. The firewall writes no logs,
 * because logs would show who reads which wallet. Metrics and samples show the refused requests.
 */
export class Firewall extends Construct {
  readonly acl: CfnWebACL

  constructor(scope: Construct, { name, endpoints, requestsPerMinute, servers }: Settings) {
    super(scope, 'Firewall')
    const rules: readonly Pick<Rule, 'name' | 'statement' | 'action' | 'overrideAction'>[] = [
      {
        // This rule only counts requests: blocking by the reputation of an IP address could stop a user's withdrawal by mistake.
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
        // Preflights have a separate limit, so that other requests do not use it up. A page whose preflight is refused can read neither the
        // error nor the header retry-after.
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

  /** Returns a statement that exempts the addresses of these servers from a rule; undefined if there are no servers. */
  #notServers(servers: readonly string[]): Statement | undefined {
    if (servers.length === 0) return undefined
    const addresses = [...servers]
    const set = new CfnIPSet(this, 'Servers', { scope: 'CLOUDFRONT', ipAddressVersion: 'IPV4', addresses })
    return { notStatement: { statement: { ipSetReferenceStatement: { arn: set.attrArn } } } }
  }
}

/** Matches bodies larger than any function accepts. `oversizeHandling` makes it also match bodies too large for WAF to inspect. */
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
 * Matches the paths to register, log in and recover an account. These requests need no user session, only a client's API key, which is no
 * secret.
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
          // The path is decoded before the comparison, because API Gateway decodes paths before it routes them. An encoded path would
          // otherwise bypass the rule.
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

/** Matches requests above the limit per API key. Ignores requests without a key. */
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
          // The firewall's response needs its own CORS headers, because it bypasses API Gateway. Without them no page could read the error.
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

/** Returns the usual error body with `edge` in place of a request id, because the firewall assigns no ids. */
function bodyOf(code: Refusal): string {
  return errorReply(new AppError(code), 'edge').body ?? ''
}

function visibilityOf(metricName: string): CfnWebACL.VisibilityConfigProperty {
  return { metricName, cloudWatchMetricsEnabled: true, sampledRequestsEnabled: true }
}
