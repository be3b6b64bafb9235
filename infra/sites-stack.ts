import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { LogGroup, type LogGroupProps } from 'aws-cdk-lib/aws-logs'
import { CfnBucket } from 'aws-cdk-lib/aws-s3'
import { Source } from 'aws-cdk-lib/aws-s3-deployment'
import { Annotations, CfnOutput, IgnoreMode, Stack, type StackProps, Validations } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import { EVM_CHAINS } from '../lib/chain/registry.ts'
import { parseApiKey } from '../lib/clients/api-key.ts'
import { buildDocsCsp } from './docs-policy.ts'
import { type CopySettings, Site } from './site.ts'
import type { SiteDomain, Sites, StageEnvironment } from './stages.ts'
import { buildWalletCsp, type WalletConfig } from './wallet-config.ts'

/** Folders with the built documentation and wallet; both are built before a deploy. */
export type BuiltFolders = { readonly docs: string; readonly wallet: string }

type Settings = StackProps &
  Pick<StageEnvironment, 'corsOrigins' | 'relyingParty'> & {
    /** URL of the API that the pages call. */
    readonly publicUrl: string
    readonly logs: Pick<LogGroupProps, 'retention' | 'removalPolicy'>
    readonly sites: Sites
    readonly built: BuiltFolders
  }

/** Websites of a stage. A wrong setting of a website is an error of this stack only, so that all other stacks can still be deployed. */
export class SitesStack extends Stack {
  readonly #settings: Settings

  constructor(scope: Construct, settings: Settings) {
    super(scope, 'sites', settings)
    this.#settings = settings
    const logGroup = new LogGroup(this, 'CopyingLogs', settings.logs)
    const role = new Role(this, 'CopyingRole', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
    logGroup.grantWrite(role)

    const problems = [...findProblems(settings)]
    for (const problem of problems) Annotations.of(this).addError(problem)
    if (problems.length > 0) return
    const { reference, wallet } = settings.sites
    if (reference) this.#addReference(reference.domain, { role, logGroup })
    if (wallet) this.#addWallet(wallet, { role, logGroup })
    this.#acknowledgeCopying(role)
  }

  #addReference(domain: SiteDomain | undefined, copying: CopySettings): void {
    const { publicUrl, built } = this.#settings
    this.#show(
      'Reference',
      new Site(this, 'Reference', {
        ...{ domain, copying },
        pages: 'folder',
        contentSecurityPolicy: buildDocsCsp(publicUrl),
        lasting: Source.asset(built.docs, { exclude: ['/*', '!/assets'], ignoreMode: IgnoreMode.GIT }),
        changing: [
          Source.asset(built.docs, { exclude: ['/assets', '/config.json'], ignoreMode: IgnoreMode.GIT }),
          Source.jsonData('config.json', { apiUrl: publicUrl }),
        ],
      }),
      domain,
    )
  }

  #addWallet({ domain, apiKey, signingKeys }: NonNullable<Sites['wallet']>, copying: CopySettings): void {
    const { publicUrl, built } = this.#settings
    const config: WalletConfig = {
      apiUrl: publicUrl,
      apiKey,
      signingKeys,
      chains: EVM_CHAINS.map(({ id, rpcUrls: [rpcUrl], explorerUrl }) => ({ chainId: id, rpcUrl, explorerUrl })),
    }
    this.#show(
      'Wallet',
      new Site(this, 'Wallet', {
        ...{ domain, copying },
        pages: 'one',
        contentSecurityPolicy: buildWalletCsp(config),
        lasting: Source.asset(built.wallet, { exclude: ['/*', '!/assets'], ignoreMode: IgnoreMode.GIT }),
        changing: [
          Source.asset(built.wallet, { exclude: ['/assets'], ignoreMode: IgnoreMode.GIT }),
          Source.jsonData('config.json', config),
        ],
      }),
      domain,
    )
  }

  /** Acknowledges findings about CDK's function that copies files into the websites' buckets: CDK gives it wide permissions. */
  #acknowledgeCopying(role: Role): void {
    const actions = ['GetObject', 'GetBucket', 'List', 'DeleteObject', 'Abort'].map((name) => `Action::s3:${name}*`)
    const buckets = this.node.findAll().filter((construct) => construct instanceof CfnBucket)
    const resources = [
      'arn:<AWS::Partition>:s3:::cdk-hnb659fds-assets-<AWS::AccountId>-<AWS::Region>',
      ...buckets.map((bucket) => `<${this.resolve(bucket.logicalId)}.Arn>`),
    ]
    const reason = 'The function of CDK that copies the built files only reads its assets and writes these buckets.'
    for (const finding of [...actions, ...resources.map((resource) => `Resource::${resource}/*`)]) {
      Validations.of(role).acknowledge({ id: `AwsSolutions::AwsSolutions-IAM5[${finding}]`, reason })
    }
    const L1 = 'AwsSolutions::AwsSolutions-L1'
    Validations.of(this).acknowledge({ id: L1, reason: "The runtime of CDK's function is CDK's choice." })
  }

  #show(name: string, { origin, distribution }: Site, domain: SiteDomain | undefined): void {
    new CfnOutput(this, `${name}Origin`, { value: origin })
    if (domain) new CfnOutput(this, `${name}DnsTarget`, { value: distribution.domainName })
  }
}

function* findProblems({ sites, corsOrigins, relyingParty, built }: Settings): Iterable<string> {
  for (const [name, site] of Object.entries(sites)) {
    const domain = site?.domain
    if (!domain) continue
    const origin = `https://${domain.name}`
    if (!corsOrigins.includes(origin)) {
      yield `The ${name} at ${origin} could not call the API: put that origin into corsOrigins.`
    }
    if (!domain.certificateArn.startsWith('arn:aws:acm:us-east-1:')) {
      yield `The certificate of ${domain.name} is not in us-east-1, where CloudFront looks for it.`
    }
  }
  const { reference, wallet } = sites
  if (wallet?.domain && !`.${wallet.domain.name}`.endsWith(`.${relyingParty.id}`)) {
    yield `The wallet at ${wallet.domain.name} could use no passkey: they are for ${relyingParty.id} (relyingParty.id).`
  }
  if (wallet && !parseApiKey(wallet.apiKey)) yield "The wallet's apiKey is no API key."
  if (wallet?.signingKeys.length === 0) {
    yield 'The wallet could send nothing: give it the signingKeys of its stage, as list-signing-keys prints them.'
  }
  if (reference && !existsSync(join(built.docs, 'index.html'))) {
    yield `The documentation is not built in ${built.docs}: build it with npm run docs:build.`
  }
  if (wallet && !existsSync(join(built.wallet, 'index.html'))) {
    yield `The wallet is not built in ${built.wallet}: build it with npm run build --workspace wallet.`
  }
}
