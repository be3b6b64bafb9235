import { FederatedPrincipal, type IPrincipal, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam'
import { CfnOutput, DefaultStackSynthesizer, Duration, Stack, type StackProps } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import type { Stage } from './environments.ts'

type Settings = StackProps & {
  readonly stage: Stage
  readonly deployedFrom: string
  /** Regions in which the stage's other stacks are deployed. */
  readonly regions: readonly string[]
}

/** Issuer and audience of the OIDC tokens by which GitHub identifies a workflow. */
const ISSUER = 'token.actions.githubusercontent.com'
const AUDIENCE = 'sts.amazonaws.com'

/** Names of roles that `cdk bootstrap` creates and that CDK assumes at a deploy. */
type BootstrapRole = 'deploy' | 'file-publishing' | 'lookup'

/**
 * IAM roles that GitHub Actions workflows assume in the stage's account, without stored keys. A workflow in the GitHub environment with the
 * stage's name may deploy. A workflow in the environment with the suffix `-diff` may only read deployed stacks.
 */
export class DeployerStack extends Stack {
  readonly #deployedFrom: string
  readonly #regions: readonly string[]

  constructor(scope: Construct, { stage, deployedFrom, regions, ...props }: Settings) {
    super(scope, 'deployer', props)
    this.#deployedFrom = deployedFrom
    this.#regions = [this.region, ...regions]
    this.#role('Deploy', stage, ['deploy', 'file-publishing', 'lookup'])
    this.#role('Diff', `${stage}-diff`, ['lookup'])
  }

  /** Adds a role whose only permission is to assume roles of `cdk bootstrap`. Those roles change the account. */
  #role(id: string, environment: string, assumes: readonly BootstrapRole[]): void {
    const role = new Role(this, id, {
      assumedBy: this.#workflow(environment),
      // Two hours cover the deploy job of .github/workflows/stage.yml, which may take 90 minutes.
      maxSessionDuration: Duration.hours(2),
    })
    const { partition, account } = this
    const qualifier = DefaultStackSynthesizer.DEFAULT_QUALIFIER
    role.addToPolicy(
      new PolicyStatement({
        actions: ['sts:AssumeRole'],
        resources: this.#regions.flatMap((region) =>
          assumes.map(
            (name) => `arn:${partition}:iam::${account}:role/cdk-${qualifier}-${name}-role-${account}-${region}`,
          ),
        ),
      }),
    )
    new CfnOutput(this, `${id}Role`, { value: role.roleArn })
  }

  #workflow(environment: string): IPrincipal {
    const provider = `arn:${this.partition}:iam::${this.account}:oidc-provider/${ISSUER}`
    return new FederatedPrincipal(
      provider,
      {
        StringEquals: {
          [`${ISSUER}:aud`]: AUDIENCE,
          [`${ISSUER}:sub`]: `repo:${this.#deployedFrom}:environment:${environment}`,
        },
      },
      'sts:AssumeRoleWithWebIdentity',
    )
  }
}
