import { BlockList } from 'node:net'
import * as z from 'zod'
import { decodeOnce } from '../http-api.ts'
import type { ResourceFinder } from '../template/deployed.ts'

type Inspected = {
  readonly address: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly bodyBytes: number
}

type Refusal = {
  readonly rule: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Function that inspects a request. It returns the firewall's response to a blocked request; undefined if the request passes. */
export type RequestInspector = (request: Inspected) => Refusal | undefined

const Transformations = z.array(z.strictObject({ Priority: z.number(), Type: z.enum(['NONE', 'URL_DECODE']) }))
const ByteMatch = z.strictObject({
  FieldToMatch: z.union([
    z.strictObject({ UriPath: z.strictObject({}) }),
    z.strictObject({ Method: z.strictObject({}) }),
  ]),
  PositionalConstraint: z.literal('EXACTLY'),
  SearchString: z.string(),
  TextTransformations: Transformations,
})
const SizeConstraint = z.strictObject({
  FieldToMatch: z.strictObject({ Body: z.strictObject({ OversizeHandling: z.literal('MATCH') }) }),
  ComparisonOperator: z.literal('GT'),
  Size: z.number(),
  TextTransformations: Transformations,
})
type Statement = {
  ByteMatchStatement?: z.output<typeof ByteMatch> | undefined
  SizeConstraintStatement?: z.output<typeof SizeConstraint> | undefined
  IPSetReferenceStatement?: { Arn: string } | undefined
  AndStatement?: { Statements: Statement[] } | undefined
  OrStatement?: { Statements: Statement[] } | undefined
  NotStatement?: { Statement: Statement } | undefined
  ManagedRuleGroupStatement?: { VendorName: string; Name: string } | undefined
  RateBasedStatement?: RateBased | undefined
}
type RateBased = {
  Limit: number
  EvaluationWindowSec: number
  AggregateKeyType: 'IP' | 'CUSTOM_KEYS'
  CustomKeys?: { Header: { Name: string; TextTransformations: unknown[] } }[] | undefined
  ScopeDownStatement?: Statement | undefined
}
// TypeScript needs a declared type here, because the schema is recursive.
const Statement: z.ZodType<Statement> = z.lazy(() =>
  z.strictObject({
    ByteMatchStatement: ByteMatch.optional(),
    SizeConstraintStatement: SizeConstraint.optional(),
    IPSetReferenceStatement: z.strictObject({ Arn: z.string() }).optional(),
    AndStatement: z.strictObject({ Statements: z.array(Statement).min(2) }).optional(),
    OrStatement: z.strictObject({ Statements: z.array(Statement).min(2) }).optional(),
    NotStatement: z.strictObject({ Statement }).optional(),
    ManagedRuleGroupStatement: z.strictObject({ VendorName: z.string(), Name: z.string() }).optional(),
    RateBasedStatement: z
      .strictObject({
        Limit: z.number().min(10),
        EvaluationWindowSec: z.literal([60, 120, 300, 600]),
        AggregateKeyType: z.enum(['IP', 'CUSTOM_KEYS']),
        CustomKeys: z
          .array(
            z.strictObject({
              Header: z.strictObject({ Name: z.string(), TextTransformations: Transformations }),
            }),
          )
          .optional(),
        ScopeDownStatement: Statement.optional(),
      })
      .optional(),
  }),
)
const Block = z.strictObject({
  Block: z.strictObject({
    CustomResponse: z.strictObject({
      ResponseCode: z.number(),
      CustomResponseBodyKey: z.string(),
      ResponseHeaders: z.array(
        z.strictObject({ Name: z.string().refine((name) => name !== 'content-type'), Value: z.string() }),
      ),
    }),
  }),
})
const Rule = z.object({
  Name: z.string(),
  Priority: z.number(),
  Statement,
  Action: Block.optional(),
  OverrideAction: z.strictObject({ Count: z.strictObject({}) }).optional(),
})
const Acl = z.object({
  Scope: z.literal('CLOUDFRONT'),
  DefaultAction: z.strictObject({ Allow: z.strictObject({}) }),
  CustomResponseBodies: z.record(
    z.string(),
    z.strictObject({ Content: z.string().max(10_240), ContentType: z.literal('APPLICATION_JSON') }),
  ),
  Rules: z.array(Rule),
})
const IpSet = z.object({ Addresses: z.array(z.string()), IPAddressVersion: z.enum(['IPV4', 'IPV6']) })

/**
 * Returns an imitation of AWS WAF, configured by the web ACL with this ARN. A rate-based rule also counts the requests that it blocks.
 * Unlike in AWS, counts are exact and managed rule groups match nothing. Throws for an unknown ARN or an unsupported rule.
 */
export function createFirewall(deployed: ResourceFinder, aclArn: string, now: () => number): RequestInspector {
  const acl = deployed('AWS::WAFv2::WebACL', Acl).find(({ arn }) => arn === aclArn)
  if (!acl) throw new Error(`There is no web ACL ${aclArn}.`)
  const { Rules, CustomResponseBodies } = acl.properties
  const ipSets = new Map(deployed('AWS::WAFv2::IPSet', IpSet).map(({ arn, properties }) => [arn, listOf(properties)]))

  function matches(statement: Statement, request: Inspected): boolean {
    const { ByteMatchStatement, SizeConstraintStatement, IPSetReferenceStatement } = statement
    const { AndStatement, OrStatement, NotStatement } = statement
    if (ByteMatchStatement) {
      const { FieldToMatch, SearchString } = ByteMatchStatement
      return ('Method' in FieldToMatch ? request.method : decodeOnce(request.path)) === SearchString
    }
    if (SizeConstraintStatement) return request.bodyBytes > SizeConstraintStatement.Size
    if (IPSetReferenceStatement) {
      const { address } = request
      const list = ipSets.get(IPSetReferenceStatement.Arn)
      if (!list) throw new Error(`There is no IP set ${IPSetReferenceStatement.Arn}.`)
      return list.check(address, address.includes(':') ? 'ipv6' : 'ipv4')
    }
    if (AndStatement) return AndStatement.Statements.every((each) => matches(each, request))
    if (OrStatement) return OrStatement.Statements.some((each) => matches(each, request))
    if (NotStatement) return !matches(NotStatement.Statement, request)
    if (statement.ManagedRuleGroupStatement) return false
    throw new Error(`A statement is not known here: ${Object.keys(statement)}`)
  }

  function createRateCheck(rate: RateBased) {
    const counted = new Map<string, number[]>()
    return (request: Inspected) => {
      const key = instanceOf(rate, request)
      if (key === undefined || (rate.ScopeDownStatement && !matches(rate.ScopeDownStatement, request))) return false
      const since = now() - rate.EvaluationWindowSec * 1000
      const times = [...(counted.get(key) ?? []).filter((time) => time > since), now()]
      counted.set(key, times)
      return times.length > rate.Limit
    }
  }

  const rules = Rules.toSorted((left, right) => left.Priority - right.Priority).map((rule) => {
    const rate = rule.Statement.RateBasedStatement
    return { rule, isHit: rate ? createRateCheck(rate) : (request: Inspected) => matches(rule.Statement, request) }
  })
  return (request) => {
    for (const { rule, isHit } of rules) {
      if (!isHit(request) || !rule.Action) continue
      const { ResponseCode, CustomResponseBodyKey, ResponseHeaders } = rule.Action.Block.CustomResponse
      const body = CustomResponseBodies[CustomResponseBodyKey]
      if (!body) throw new Error(`There is no body ${CustomResponseBodyKey}.`)
      const responseHeaders = ResponseHeaders.map(({ Name, Value }) => [Name, Value])
      const headers = { 'content-type': 'application/json', ...Object.fromEntries(responseHeaders) }
      return { rule: rule.Name, status: ResponseCode, headers, body: body.Content }
    }
    return undefined
  }
}

/**
 * Returns the value by which a rate-based rule counts a request, such as the client's address. Returns undefined if the request lacks the
 * value, so that the rule does not count the request.
 */
function instanceOf({ AggregateKeyType, CustomKeys = [] }: RateBased, request: Inspected): string | undefined {
  if (AggregateKeyType === 'IP') return request.address
  const values = CustomKeys.map(({ Header: { Name } }) => request.headers[Name.toLowerCase()])
  return values.includes(undefined) ? undefined : JSON.stringify(values)
}

function listOf({ Addresses }: z.output<typeof IpSet>): BlockList {
  const list = new BlockList()
  for (const range of Addresses) {
    const [address = '', bits] = range.split('/')
    list.addSubnet(address, Number(bits), address.includes(':') ? 'ipv6' : 'ipv4')
  }
  return list
}
