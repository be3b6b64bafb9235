import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch'
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy'
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { type Stack, Validations } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import type { ServiceFunction } from './service-function.ts'
import type { SharedStack } from './shared-stack.ts'

/**
 * Gives new versions of a stack's functions a tenth of their traffic for ten minutes, and takes it away where their alarms
 * go off: CloudFormation then takes the whole stack back. Ten, for alarms look at periods of five.
 */
export class GradualDeploys extends Construct {
  readonly #application: LambdaApplication
  readonly #role: Role
  readonly #isGradual: boolean

  constructor(stack: Stack, { isGradual }: Pick<SharedStack, 'isGradual'>) {
    super(stack, 'Deploys')
    this.#isGradual = isGradual
    this.#application = new LambdaApplication(this, 'Application')
    this.#role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('codedeploy.amazonaws.com'),
      managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName('service-role/AWSCodeDeployRoleForLambdaLimited')],
    })
    const policy = 'arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited'
    Validations.of(this.#role).acknowledge({
      id: `AwsSolutions::AwsSolutions-IAM4[Policy::${policy}]`,
      reason: "What CodeDeploy needs is AWS's to say, and this is what it says.",
    })
  }

  /** The same for one function; at once, and whatever its alarm says, where the stage is not gradual. */
  add(deployed: ServiceFunction, alarm: Alarm): void {
    new LambdaDeploymentGroup(deployed, 'Deploys', {
      application: this.#application,
      role: this.#role,
      alias: deployed.live,
      deploymentConfig: this.#isGradual
        ? LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES
        : LambdaDeploymentConfig.ALL_AT_ONCE,
      ...(this.#isGradual && { alarms: [alarm] }),
    })
  }
}
