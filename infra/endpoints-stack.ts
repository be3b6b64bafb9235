import { Duration, Stack, type StackProps } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import type { ErrorCode } from '../lib/core/errors.ts'
import type { ENDPOINTS } from './functions.ts'
import { GradualDeploys } from './gradual-deploys.ts'
import { ServiceFunction } from './service-function.ts'
import type { SharedStack } from './shared-stack.ts'

type Settings = StackProps & { readonly shared: SharedStack; readonly endpoints: typeof ENDPOINTS }

const FUNCTION_SETTINGS = {
  // With this memory, Lambda gives a function one whole vCPU. Less memory lengthens cold starts. More memory gains nothing, because a
  // request runs on one thread.
  memoryMiB: 1769,
  // Time limit of a request, including all calls to nodes and APIs. The function itself responds with 504 half a second earlier.
  timeout: Duration.seconds(10),
}

/** Endpoints of one area of the API: their functions and alarms. */
export class EndpointsStack extends Stack {
  constructor(scope: Construct, area: string, { shared, endpoints, ...props }: Settings) {
    super(scope, area, props)
    const { alarms } = shared
    const deploys = shared.isGradual ? new GradualDeploys(this, shared.name) : undefined
    for (const [name, contract] of endpoints) {
      const deployed = new ServiceFunction(this, name, { ...FUNCTION_SETTINGS, ...shared.settingsFor(name, contract) })
      deploys?.add(name, deployed)
      alarms.onEndpoint(name, deployed, contract.impact)
      if (contract.caller !== 'anyone') alarms.count('requests not counted', [deployed.logGroup])
      const errors: readonly ErrorCode[] = contract.errors ?? []
      if (errors.includes('nodes_disagree')) alarms.count('nodes disagree on what is signed', [deployed.logGroup])
    }
  }
}
