import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import {
  Distribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HeadersReferrerPolicy,
  HttpVersion,
  ResponseHeadersPolicy,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront'
import { S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins'
import type { IRole } from 'aws-cdk-lib/aws-iam'
import type { ILogGroup } from 'aws-cdk-lib/aws-logs'
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket } from 'aws-cdk-lib/aws-s3'
import { BucketDeployment, CacheControl, type ISource } from 'aws-cdk-lib/aws-s3-deployment'
import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import type { SiteDomain } from './stages.ts'

/** IAM role and log group of the function that copies a site's files into its bucket at a deploy. */
export type CopySettings = { readonly role: IRole; readonly logGroup: ILogGroup }

type Settings = {
  /** Files whose names change with their content, so that browsers may keep them. */
  readonly lasting: ISource
  /** Files whose names stay the same when their content changes. Browsers revalidate these files at each use. */
  readonly changing: readonly ISource[]
  readonly contentSecurityPolicy: string
  /** `one`: a path that names no file shows the site's only HTML document. `folder`: the files are HTML pages below /docs/. */
  readonly pages: keyof typeof FIND_PAGE
  readonly domain: SiteDomain | undefined
  readonly copying: CopySettings
}

/** CloudFront functions that replace the path of a page by the path of its HTML document; paths of files stay unchanged. */
const FIND_PAGE = {
  one: `function handler(event) {
  var request = event.request
  if (!request.uri.split('/').pop().includes('.')) request.uri = '/index.html'
  return request
}`,
  folder: `function handler(event) {
  var request = event.request
  if (request.uri === '/' || request.uri === '/docs') {
    return { statusCode: 302, statusDescription: 'Found', headers: { location: { value: '/docs/' } } }
  }
  if (request.uri.endsWith('/')) request.uri += 'index.html'
  return request
}`,
} as const

/** Static website in a private bucket, which only CloudFront reads and serves over HTTPS. */
export class Site extends Construct {
  readonly distribution: Distribution
  readonly origin: string

  constructor(scope: Construct, name: string, settings: Settings) {
    super(scope, name)
    const { domain, contentSecurityPolicy, pages } = settings
    const bucket = new Bucket(this, 'Files', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      // The bucket may be deleted with the stack, because its files can be built again.
      removalPolicy: RemovalPolicy.DESTROY,
      autoDeleteObjects: true,
      // The cast: optional properties of CDK's class may be undefined, which its interface does not declare.
    }) as IBucket
    this.distribution = new Distribution(this, 'Distribution', {
      comment: this.node.path,
      defaultRootObject: 'index.html',
      httpVersion: HttpVersion.HTTP2_AND_3,
      // Without a domain of its own, the site uses CloudFront's domain name and TLS versions.
      ...(domain && {
        domainNames: [domain.name],
        certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
        minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      }),
      // S3 returns 403 instead of 404 for a missing file, because CloudFront may not list the bucket.
      ...(pages === 'folder' && {
        errorResponses: [{ httpStatus: 403, responseHttpStatus: 404, responsePagePath: '/docs/404.html' }],
      }),
      // CloudFront caches each file as its cache-control says, and compresses it.
      defaultBehavior: {
        origin: S3BucketOrigin.withOriginAccessControl(bucket),
        viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
        responseHeadersPolicy: this.#headers(contentSecurityPolicy),
        functionAssociations: [this.#findPage(pages)],
      },
    })
    this.origin = `https://${domain?.name ?? this.distribution.domainName}`
    const files = 'Only CloudFront reads it, and its files are built from the repository.'
    Validations.of(bucket).acknowledge({ id: 'AwsSolutions::AwsSolutions-S1', reason: files })
    Validations.of(this.distribution).acknowledge(
      { id: 'AwsSolutions::AwsSolutions-CFR1', reason: 'The site is public in all countries.' },
      {
        id: 'AwsSolutions::AwsSolutions-CFR2',
        reason: 'It serves public files, which need no firewall.',
      },
      { id: 'AwsSolutions::AwsSolutions-CFR3', reason: 'Its logs would only show who reads the site.' },
      ...(domain
        ? []
        : [{ id: 'AwsSolutions::AwsSolutions-CFR4', reason: "CloudFront's own certificate leaves no choice of TLS." }]),
    )
    this.#copy(bucket, settings)
  }

  #headers(contentSecurityPolicy: string): ResponseHeadersPolicy {
    return new ResponseHeadersPolicy(this, 'Headers', {
      securityHeadersBehavior: {
        contentSecurityPolicy: { contentSecurityPolicy, override: true },
        contentTypeOptions: { override: true },
        referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.NO_REFERRER, override: true },
        // Subdomains are not included, because they may belong to somebody else.
        strictTransportSecurity: {
          accessControlMaxAge: Duration.days(365),
          includeSubdomains: false,
          override: true,
        },
      },
    })
  }

  #findPage(pages: Settings['pages']) {
    const code = FunctionCode.fromInline(FIND_PAGE[pages])
    return {
      eventType: FunctionEventType.VIEWER_REQUEST,
      function: new EdgeFunction(this, 'FindPage', { code, runtime: FunctionRuntime.JS_2_0 }),
    }
  }

  /**
   * Copies files into the bucket, those with lasting names first. Deletes no old files, because a page that a user opened yesterday may
   * still load them.
   */
  #copy(destinationBucket: IBucket, { lasting, changing, copying, pages }: Settings): void {
    const folder = pages === 'folder' && { destinationKeyPrefix: 'docs' }
    const options = { ...copying, ...folder, destinationBucket, prune: false, outputObjectKeys: false }
    const first = new BucketDeployment(this, 'Lasting', {
      ...options,
      sources: [lasting],
      cacheControl: [CacheControl.setPublic(), CacheControl.maxAge(Duration.days(365)), CacheControl.immutable()],
    })
    const second = new BucketDeployment(this, 'Changing', {
      ...options,
      sources: [...changing],
      cacheControl: [CacheControl.noCache()],
    })
    second.node.addDependency(first)
  }
}
