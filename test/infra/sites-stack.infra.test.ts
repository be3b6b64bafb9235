import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { App, Validations } from 'aws-cdk-lib/core'
import { DEFAULT_CROSS_STACK_REFERENCES, VALIDATE_AGAINST_DEFAULT_RULES } from 'aws-cdk-lib/cx-api'
import { AwsSolutionsChecks } from 'cdk-nag'
import { Construct } from 'constructs'
import { afterAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { ApiStack } from '../../infra/api-stack.ts'
import { buildDocsCsp } from '../../infra/docs-policy.ts'
import { SharedStack } from '../../infra/shared-stack.ts'
import { SitesStack } from '../../infra/sites-stack.ts'
import { ServiceStage } from '../../infra/stage.ts'
import type { Sites, StageEnvironment } from '../../infra/stages.ts'
import { EVM_CHAINS } from '../../lib/chain/registry.ts'
import { createApiKey } from '../../lib/clients/api-key.ts'
import { DEV, readStage } from './synthesize.ts'

const STAGE = 'vaultline-dev'
const API_URL = 'api/Api.ApiEndpoint'
const signingKeys = [{ kty: 'OKP', crv: 'Ed25519', x: 'x'.repeat(43), kid: 'k'.repeat(43) }] as const
const apiKey = createApiKey('test', 'client0001', (size) => Buffer.alloc(size, 7))
const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/12345678-1234-1234-1234-123456789012'
const OWN_NAMES: StageEnvironment = {
  ...DEV,
  corsOrigins: ['https://wallet.vaultline.test', 'https://reference.vaultline.test'],
  relyingParty: { ...DEV.relyingParty, id: 'vaultline.test' },
}

const Copy = z.object({
  SourceObjectKeys: z.array(z.string()),
  SourceMarkers: z.array(z.record(z.string(), z.string())).optional(),
  DestinationBucketName: z.string(),
  DestinationBucketKeyPrefix: z.string().optional(),
  Prune: z.literal(false),
  SystemMetadata: z.object({ 'cache-control': z.string() }),
})

const folder = mkdtempSync(join(tmpdir(), 'vaultline-sites-'))
afterAll(() => rmSync(folder, { recursive: true }))

const built = {
  docs: build('docs', {
    'index.html': '<!doctype html>',
    'guides/deposits.md': '# Deposits',
    'assets/app.1a2b.js': 'run()',
    'config.json': '{}',
  }),
  wallet: build('wallet', { 'index.html': '<!doctype html>', 'assets/index-1a2b.js': 'run()', 'icon.svg': '<svg/>' }),
}

/** Synthesizes a complete stage with both web sites, as it is deployed. */
async function synthesizeWhole() {
  return await synthesize(async (app) => {
    const stage = new ServiceStage(app, 'dev', DEV, '0.0.0')
    stage.addSites({}, built)
    expect(stage.node.tryFindChild('sites'), 'an environment without sites').toBeUndefined()
    stage.addSites({ reference: {}, wallet: { apiKey, signingKeys } }, built)
  })
}

/** Synthesizes only the stack of these web sites and the shared stack of their stage. */
async function synthesizeSites(sites: Sites, { corsOrigins, relyingParty }: StageEnvironment, folders = built) {
  return await synthesize((app) => {
    const stage = new Construct(app, STAGE)
    const props = { stackName: `${STAGE}-sites`, tags: { stage: 'dev' }, terminationProtection: false }
    const propsOf = (stack: string) =>
      ({ ...props, stackName: `${STAGE}-${stack}`, stage: 'dev', environment: DEV }) as const
    const shared = new SharedStack(stage, { ...propsOf('shared'), version: '0.0.0' })
    const { publicUrl } = new ApiStack(stage, { ...propsOf('api'), shared })
    const { logs } = shared
    new SitesStack(stage, { ...props, publicUrl, logs, sites, corsOrigins, relyingParty, built: folders })
  })
}

/** Synthesizes the app that `add` fills. Returns the stage, its messages about the web sites, and the files copied into each bucket. */
async function synthesize(add: (app: App) => void | Promise<void>) {
  const outdir = mkdtempSync(join(folder, 'app-'))
  const context = {
    'aws:cdk:bundling-stacks': [],
    [VALIDATE_AGAINST_DEFAULT_RULES]: true,
    [DEFAULT_CROSS_STACK_REFERENCES]: 'weak',
  }
  const app = new App({ outdir, context })
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
  await add(app)
  const assembly = app.synth()
  const stage = await readStage(assembly.directory, STAGE)
  const stack = assembly.stacks.find(({ stackName }) => stackName === `${STAGE}-sites`)
  return { ...stage, problems: (stack?.messages ?? []).map(({ entry }) => entry.data), copied: copies(stage, outdir) }
}

/** Returns the files that CDK's deployment function copies, by bucket and path, with their content and cache time. */
function copies({ ofType }: Awaited<ReturnType<typeof readStage>>, outdir: string) {
  return Object.fromEntries(
    Object.values(ofType('Custom::CDKBucketDeployment')).flatMap((properties) => {
      const copy = Copy.parse(properties)
      return copy.SourceObjectKeys.flatMap((key, index) => {
        const source = join(outdir, `asset.${key.replace('.zip', '')}`)
        const markers = Object.entries(copy.SourceMarkers?.[index] ?? {})
        return readdirSync(source, { recursive: true, encoding: 'utf8' }).flatMap((path) => {
          if (!statSync(join(source, path)).isFile()) return []
          const text = readFileSync(join(source, path), 'utf8')
          const content = markers.reduce((filled, [marker, value]) => filled.replaceAll(marker, value), text)
          const place = join(copy.DestinationBucketName, copy.DestinationBucketKeyPrefix ?? '', path)
          return [[place, [content, copy.SystemMetadata['cache-control']]] as const]
        })
      })
    }),
  )
}

/** Returns the path to which the CloudFront function rewrites a request for `uri`. */
function findPage(properties: Readonly<Record<string, unknown>> | undefined, uri: string) {
  return runInNewContext(`${properties?.['FunctionCode']}; handler(${JSON.stringify({ request: { uri } })})`)
}

function build(name: string, files: Readonly<Record<string, string>>): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name, path)), { recursive: true })
    writeFileSync(join(folder, name, path), content)
  }
  return join(folder, name)
}

describe('A stage with both sites', async () => {
  const { stacks, outputs, ofType, problems, copied } = await synthesizeWhole()

  test('has a separate stack for them, deployed after the API, at CloudFront’s generated names', () => {
    expect(problems).toEqual([])
    expect(stacks.find(({ name }) => name === 'sites')?.dependsOn).toEqual([`${STAGE}-api`])
    expect(outputs).toMatchObject({
      [`${STAGE}-sites.ReferenceOrigin`]: 'https://sites/ReferenceDistribution.DomainName',
      [`${STAGE}-sites.WalletOrigin`]: 'https://sites/WalletDistribution.DomainName',
    })
  })

  test('keeps their files in buckets that only CloudFront reads, over TLS', () => {
    const buckets = ofType('AWS::S3::Bucket')
    expect(Object.keys(buckets)).toEqual(['sites/ReferenceFiles', 'sites/WalletFiles'])
    for (const bucket of Object.values(buckets)) {
      expect(bucket).toMatchObject({
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
      })
      expect(bucket).not.toHaveProperty('WebsiteConfiguration')
    }
    const [policy] = Object.values(ofType('AWS::S3::BucketPolicy')).filter(
      ({ Bucket }) => Bucket === 'sites/WalletFiles',
    )
    expect(policy).toMatchObject({
      PolicyDocument: {
        Statement: [
          { Effect: 'Deny', Action: 's3:*', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
          { Principal: { AWS: expect.stringContaining('CustomS3AutoDeleteObjects') } },
          {
            Action: 's3:GetObject',
            Condition: {
              StringEquals: {
                'AWS:SourceArn': 'arn:aws:cloudfront::account:distribution/sites/WalletDistribution',
              },
            },
            Effect: 'Allow',
            Principal: { Service: 'cloudfront.amazonaws.com' },
            Resource: 'sites/WalletFiles/*',
          },
        ],
      },
    })
  })

  test('serves them only over HTTPS, by HTTP/2 and 3, compressed', () => {
    for (const { DistributionConfig } of Object.values(ofType('AWS::CloudFront::Distribution'))) {
      expect(DistributionConfig).toMatchObject({
        DefaultRootObject: 'index.html',
        HttpVersion: 'http2and3',
        DefaultCacheBehavior: { Compress: true, ViewerProtocolPolicy: 'redirect-to-https' },
        Origins: [
          {
            OriginAccessControlId: expect.stringContaining('OriginAccessControl'),
            S3OriginConfig: { OriginAccessIdentity: '' },
          },
        ],
      })
    }
  })

  test('lets a page run its own code, and no other page frame it', () => {
    const policies = ofType('AWS::CloudFront::ResponseHeadersPolicy')
    const headersOf = (site: string) =>
      expect.objectContaining({
        ContentSecurityPolicy: { ContentSecurityPolicy: POLICIES[site], Override: true },
        ContentTypeOptions: { Override: true },
        ReferrerPolicy: { Override: true, ReferrerPolicy: 'no-referrer' },
        StrictTransportSecurity: {
          AccessControlMaxAgeSec: 31_536_000,
          IncludeSubdomains: false,
          Override: true,
        },
      })
    const rpcOrigins = EVM_CHAINS.map(({ rpcUrls: [url] }) => new URL(url).origin)
    const POLICIES: Record<string, unknown> = {
      Reference: buildDocsCsp(API_URL),
      Wallet: [
        "default-src 'self'",
        `connect-src 'self' ${[API_URL, ...rpcOrigins].join(' ')}`,
        "img-src 'self' data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
      ].join('; '),
    }
    for (const site of ['Reference', 'Wallet']) {
      expect(policies[`sites/${site}Headers`]).toMatchObject({
        ResponseHeadersPolicyConfig: { SecurityHeadersConfig: headersOf(site) },
      })
    }
  })

  test("serves the wallet's one page at all its paths, and its files unchanged", () => {
    const functions = ofType('AWS::CloudFront::Function')
    const uriFor = (uri: string) => findPage(functions['sites/WalletFindPage'], uri).uri
    expect(['/', '/vaults', '/vaults/8453/0x1234', '/account/'].map(uriFor)).toEqual(Array(4).fill('/index.html'))
    expect(uriFor('/assets/index-1a2b.js')).toBe('/assets/index-1a2b.js')
    expect(uriFor('/config.json')).toBe('/config.json')
  })

  test('lets browsers keep files with a hash in their name, and revalidate all others', () => {
    const forEver = 'public, max-age=31536000, immutable'
    expect(
      Object.fromEntries(Object.entries(copied).map(([path, [, cacheControl]]) => [path, cacheControl])),
    ).toMatchObject({
      'sites/ReferenceFiles/docs/assets/app.1a2b.js': forEver,
      'sites/ReferenceFiles/docs/index.html': 'no-cache',
      'sites/ReferenceFiles/docs/guides/deposits.md': 'no-cache',
      'sites/ReferenceFiles/docs/config.json': 'no-cache',
      'sites/WalletFiles/assets/index-1a2b.js': forEver,
      'sites/WalletFiles/index.html': 'no-cache',
      'sites/WalletFiles/icon.svg': 'no-cache',
      'sites/WalletFiles/config.json': 'no-cache',
    })
  })

  test('configures the wallet with the API’s URL, key and signing keys, and each chain’s public nodes', () => {
    expect(JSON.parse(copied['sites/WalletFiles/config.json']?.[0] ?? '')).toEqual({
      apiUrl: API_URL,
      apiKey,
      signingKeys,
      chains: EVM_CHAINS.map(({ id, rpcUrls, explorerUrl }) => ({ chainId: id, rpcUrl: rpcUrls[0], explorerUrl })),
    })
  })

  test('configures the documentation with the API’s URL and no key; its pages call no other host', () => {
    expect(JSON.parse(copied['sites/ReferenceFiles/docs/config.json']?.[0] ?? '')).toEqual({ apiUrl: API_URL })
    expect(buildDocsCsp(API_URL)).toContain(`connect-src 'self' ${API_URL};`)
  })

  test('redirects to the documentation below /docs/ and finds a folder’s page', () => {
    const find = (uri: string) => findPage(ofType('AWS::CloudFront::Function')['sites/ReferenceFindPage'], uri)
    for (const uri of ['/', '/docs']) {
      expect(find(uri)).toMatchObject({ statusCode: 302, headers: { location: { value: '/docs/' } } })
    }
    expect(find('/docs/').uri).toBe('/docs/index.html')
    expect(find('/docs/guides/deposits.md').uri).toBe('/docs/guides/deposits.md')
  })

  test('serves a missing page of the documentation as a not-found page with 404', () => {
    const { DistributionConfig } = ofType('AWS::CloudFront::Distribution')['sites/ReferenceDistribution'] as {
      DistributionConfig: object
    }
    expect(DistributionConfig).toMatchObject({
      CustomErrorResponses: [{ ErrorCode: 403, ResponseCode: 404, ResponsePagePath: '/docs/404.html' }],
    })
  })

  test('lets the copying function only read CDK’s uploads and write these two buckets', () => {
    const policies = Object.values(ofType('AWS::IAM::Policy')).filter(({ Roles }) => `${Roles}` === 'sites/CopyingRole')
    const Policy = z.object({
      PolicyDocument: z.object({
        Statement: z.array(
          z.object({
            Action: z.union([z.string(), z.array(z.string())]),
            Resource: z.union([z.string(), z.array(z.unknown())]),
          }),
        ),
      }),
    })
    const statements = policies.flatMap((policy) => Policy.parse(policy).PolicyDocument.Statement)
    const resources = new Set(
      statements.flatMap(({ Resource }) => Resource).map((resource) => JSON.stringify(resource)),
    )
    expect([...resources].filter((resource) => !resource.includes('cdk-hnb659fds-assets'))).toEqual(
      [
        'sites/CopyingLogs',
        'sites/ReferenceFiles',
        'sites/ReferenceFiles/*',
        'sites/WalletFiles',
        'sites/WalletFiles/*',
      ].map((resource) => JSON.stringify(resource)),
    )
  })
})

test('A stage has only the site that it names, with its certificate, and outputs its DNS target', async () => {
  const wallet = { domain: { name: 'wallet.vaultline.test', certificateArn }, apiKey, signingKeys }
  const { ofType, outputs, problems } = await synthesizeSites({ wallet }, OWN_NAMES)
  expect(problems).toEqual([])
  expect(ofType('AWS::CloudFront::Distribution')).toEqual({
    'sites/WalletDistribution': {
      DistributionConfig: expect.objectContaining({
        Aliases: ['wallet.vaultline.test'],
        ViewerCertificate: {
          AcmCertificateArn: certificateArn,
          MinimumProtocolVersion: 'TLSv1.2_2021',
          SslSupportMethod: 'sni-only',
        },
      }),
    },
  })
  expect(outputs).toMatchObject({
    [`${STAGE}-sites.WalletOrigin`]: 'https://wallet.vaultline.test',
    [`${STAGE}-sites.WalletDnsTarget`]: 'sites/WalletDistribution.DomainName',
  })
  expect(outputs).not.toHaveProperty([`${STAGE}-sites.ReferenceOrigin`])
})

test('Sites that cannot work are refused with each reason, and the rest of their stage is not', async () => {
  const elsewhere = certificateArn.replace('us-east-1', 'eu-west-1')
  const { stacks, problems, ofType } = await synthesizeSites(
    {
      reference: { domain: { name: 'docs.vaultline.test', certificateArn: elsewhere } },
      wallet: { domain: { name: 'wallet.vaultline.test', certificateArn }, apiKey: 'jk_test_', signingKeys: [] },
    },
    { ...OWN_NAMES, relyingParty: { ...OWN_NAMES.relyingParty, id: 'let.vaultline.test' } },
    { docs: 'no/docs', wallet: 'no/wallet' },
  )
  expect(problems).toEqual([
    'The reference at https://docs.vaultline.test could not call the API: put that origin into corsOrigins.',
    'The certificate of docs.vaultline.test is not in us-east-1, where CloudFront looks for it.',
    'The wallet at wallet.vaultline.test could use no passkey: they are for let.vaultline.test (relyingParty.id).',
    "The wallet's apiKey is no API key.",
    'The wallet could send nothing: give it the signingKeys of its stage, as list-signing-keys prints them.',
    'The documentation is not built in no/docs: build it with npm run docs:build.',
    'The wallet is not built in no/wallet: build it with npm run build --workspace wallet.',
  ])
  expect(ofType('AWS::CloudFront::Distribution')).toEqual({})
  expect(stacks.map(({ name }) => name)).toContain('shared')
})
