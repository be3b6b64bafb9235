import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import {
  AllowedMethods,
  CacheHeaderBehavior,
  CachePolicy,
  Distribution,
  HttpVersion,
  OriginProtocolPolicy,
  OriginRequestCookieBehavior,
  OriginRequestHeaderBehavior,
  OriginRequestPolicy,
  OriginRequestQueryStringBehavior,
  OriginSslPolicy,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront'
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins'
import { CfnOutput, Duration, SecretValue, Stack, type StackProps, Validations } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import type { EndpointContract } from '../lib/frame/contract.ts'
import { EDGE_HEADER } from '../lib/frame/edge.ts'
import { Alarms, addAlarmsTopic } from './alarms.ts'
import { EDGE_REGION, edgeAlarmsTopicName, edgeSecretName, type Stage } from './environments.ts'
import { Firewall } from './firewall.ts'
import type { EdgeEnvironment, StageEnvironment } from './stages.ts'

type Settings = StackProps &
  Pick<StageEnvironment, 'observe' | 'alarmEmail'> & {
    readonly stage: Stage
    readonly edge: EdgeEnvironment
    readonly endpoints: readonly EndpointContract[]
  }

/**
 * HTTP error statuses that CloudFront caches for ten seconds by default, for all callers of the same path. An error can concern a single
 * caller, so the cache time of errors is set to 0.
 */
const CACHED_ERRORS = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504]

/**
 * CloudFront distribution in front of a stage's API, with its firewall and alarms. The whole stack is in us-east-1, the only region where
 * CloudFront reads certificates and firewalls and publishes metrics. The stack refers to no other stack.
 */
export class EdgeStack extends Stack {
  constructor(scope: Construct, { stage, edge, endpoints, observe, alarmEmail: email, ...props }: Settings) {
    super(scope, 'edge', { ...props, env: { region: EDGE_REGION } })
    const name = `vaultline-${stage}`
    const firewall = new Firewall(this, { ...edge, name, endpoints })
    const origin = new HttpOrigin(new URL(edge.origin).hostname, {
      protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
      originSslProtocols: [OriginSslPolicy.TLS_V1_2],
      customHeaders: { [EDGE_HEADER]: keyReference(stage, edge) },
    })
    const behavior = {
      origin,
      viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
      allowedMethods: AllowedMethods.ALLOW_ALL,
      originRequestPolicy: this.#requestPolicy(),
      // CloudFront does not compress, because a response's signature covers the bytes that the function sends.
      compress: false,
    }
    // CloudFront caches only public documents, by their cache-control header. Cached responses of other endpoints would bypass the check of
    // the API key.
    const documents = { ...behavior, cachePolicy: this.#documentsPolicy() }
    const distribution = new Distribution(this, 'Distribution', {
      comment: this.node.path,
      domainNames: [edge.domain.name],
      certificate: Certificate.fromCertificateArn(this, 'Certificate', edge.domain.certificateArn),
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      httpVersion: HttpVersion.HTTP2_AND_3,
      // IPv6 is off: the firewall counts requests per address, and one user can have countless IPv6 addresses.
      enableIpv6: false,
      webAclId: firewall.acl.attrArn,
      errorResponses: CACHED_ERRORS.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
      defaultBehavior: { ...behavior, cachePolicy: CachePolicy.CACHING_DISABLED },
      additionalBehaviors: Object.fromEntries(listDocuments(endpoints).map((path) => [path, documents])),
    })
    Validations.of(distribution).acknowledge(
      { id: 'AwsSolutions::AwsSolutions-CFR1', reason: 'Wallets call from all countries.' },
      {
        id: 'AwsSolutions::AwsSolutions-CFR3',
        reason: "Its logs would have callers' addresses beside wallets' addresses; the gateway's log has the routes.",
      },
    )
    const topicName = edgeAlarmsTopicName(stage)
    addAlarmsTopic(this, { topicName, email })
    const { distributionId } = distribution
    new Alarms({ namespace: name, topicName, observe }).onEdge(this, { distributionId, firewall: name })
    new CfnOutput(this, 'EdgeUrl', { value: `https://${edge.domain.name}` })
    new CfnOutput(this, 'EdgeDnsTarget', { value: distribution.domainName })
  }

  /**
   * Returns a policy that forwards all headers but the host, and no cookies. API Gateway needs its own host name to find the API. The API
   * uses no cookies; if CloudFront forwarded them, it would remove If-None-Match
   * (https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/Cookies.html).
   */
  #requestPolicy(): OriginRequestPolicy {
    return new OriginRequestPolicy(this, 'Requests', {
      comment: 'All but the host and cookies',
      headerBehavior: OriginRequestHeaderBehavior.denyList('host'),
      queryStringBehavior: OriginRequestQueryStringBehavior.all(),
      cookieBehavior: OriginRequestCookieBehavior.none(),
    })
  }

  /** Returns a policy whose cache key has the path, the accepted encoding, and the header Origin. Responses depend on all three. */
  #documentsPolicy(): CachePolicy {
    return new CachePolicy(this, 'Documents', {
      comment: 'Public documents, by their cache-control',
      minTtl: Duration.seconds(0),
      defaultTtl: Duration.seconds(0),
      maxTtl: Duration.days(1),
      headerBehavior: CacheHeaderBehavior.allowList('origin'),
      enableAcceptEncodingGzip: true,
    })
  }
}

/** Lists the paths of public documents that CloudFront may cache. */
function listDocuments(endpoints: readonly EndpointContract[]): readonly string[] {
  return endpoints.flatMap(({ method, path, caller, cacheControl }) =>
    method === 'GET' && caller === 'anyone' && cacheControl !== 'no-store' ? [path] : [],
  )
}

/**
 * Returns a reference that CloudFormation replaces by CloudFront's secret key at the deploy, so that the template contains no key. The
 * reference names the hash of the key, so a new key changes the template.
 */
function keyReference(stage: Stage, { keys: [sent] }: EdgeEnvironment): string {
  return SecretValue.secretsManager(edgeSecretName(stage), { jsonField: sent }).unsafeUnwrap()
}
