import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy'
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { type Stack, Validations } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import { addNewVersionAlarm } from './alarms.ts'
import type { FunctionName } from './functions.ts'
import type { ServiceFunction } from './service-function.ts'

/**
 * Gradual deployment: a new version gets a tenth of its function's traffic for ten minutes, then all. If the version's alarm goes off,
 * CodeDeploy shifts the traffic back, and CloudFormation rolls the stack back.
 */
export class GradualDeploys extends Construct {
  readonly #application: LambdaApplication
  readonly #role: Role
  readonly #namespace: string

  constructor(stack: Stack, namespace: string) {
    super(stack, 'Deploys')
    this.#namespace = namespace
    this.#application = new LambdaApplication(this, 'Application')
    this.#role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('codedeploy.amazonaws.com'),
      managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName('service-role/AWSCodeDeployRoleForLambdaLimited')],
    })
    const policy = 'arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited'
    Validations.of(this.#role).acknowledge({
      id: `AwsSolutions::AwsSolutions-IAM4[Policy::${policy}]`,
      reason: "It is AWS's own policy for CodeDeploy.",
    })
  }

  /** Adds one function to the gradual deployment. */
  add(name: FunctionName, deployed: ServiceFunction): void {
    new LambdaDeploymentGroup(deployed, 'Deploys', {
      application: this.#application,
      role: this.#role,
      alias: deployed.live,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
      alarms: [addNewVersionAlarm(deployed, this.#namespace, name)],
    })
  }
}
