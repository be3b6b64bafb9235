import { FederatedPrincipal, type IPrincipal, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam'
import { CfnOutput, DefaultStackSynthesizer, Duration, Stack, type StackProps } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import type { Stage } from './environments.ts'

type Settings = StackProps & {
  readonly stage: Stage
  readonly deployedFrom: string
  /** Where the stage has stacks besides its own region. */
  readonly regions: readonly string[]
}

/** Whose tokens tell which workflow runs, and for whom they are made. */
const ISSUER = 'token.actions.githubusercontent.com'
const AUDIENCE = 'sts.amazonaws.com'

/** The roles that `cdk bootstrap` makes, with which CDK works. */
type BootstrapRole = 'deploy' | 'file-publishing' | 'lookup'

/**
 * What a workflow of GitHub Actions may be in the stage's account, without a key that is kept anywhere: in the environment that
 * is named like the stage who deploys, in that with `-diff` behind it who only reads what is deployed.
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

  /** The account's roles of `cdk bootstrap` do all the work: what may be assumed is all that is granted. */
  #role(id: string, environment: string, assumes: readonly BootstrapRole[]): void {
    const role = new Role(this, id, {
      assumedBy: this.#workflow(environment),
      // As long as the job that deploys may take.
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
