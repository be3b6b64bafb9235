import { dirname } from 'node:path/posix'
import { Stage as CdkStage, type StackProps } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import { EndpointsStack } from './endpoints-stack.ts'
import { ENVIRONMENTS, type Stage } from './environments.ts'
import { ENDPOINTS } from './functions.ts'
import { JobsStack } from './jobs-stack.ts'
import { SharedStack } from './shared-stack.ts'

/**
 * One stage of the service on AWS, what the contracts ask for and nothing else: a stack for each folder of `functions/`,
 * which depends on the stack of what all share and on no other.
 */
export class ServiceStage extends CdkStage {
  constructor(scope: Construct, stage: Stage, version: string) {
    super(scope, `vaultline-${stage}`)
    const props: StackProps = {
      description: `The Vaultline wallet service, ${stage}`,
      tags: { service: 'vaultline', stage },
      terminationProtection: ENVIRONMENTS[stage].retain,
    }
    const shared = new SharedStack(this, { ...props, stage, version })
    for (const [area, endpoints] of Map.groupBy(ENDPOINTS, ([name]) => dirname(name))) {
      new EndpointsStack(this, area, { ...props, shared, endpoints })
    }
    new JobsStack(this, { ...props, shared })
  }
}
