import { dirname } from 'node:path/posix'
import { Stage as CdkStage, type StackProps } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import { DeployerStack } from './deployer-stack.ts'
import { EdgeStack } from './edge-stack.ts'
import { EndpointsStack } from './endpoints-stack.ts'
import { EDGE_REGION, type Stage } from './environments.ts'
import { ENDPOINTS } from './functions.ts'
import { JobsStack } from './jobs-stack.ts'
import { QueuesStack } from './queues-stack.ts'
import { SharedStack } from './shared-stack.ts'
import { type BuiltFolders, SitesStack } from './sites-stack.ts'
import type { Sites, StageEnvironment } from './stages.ts'

/**
 * One stage of the service on AWS, what the contracts ask for and nothing else: a stack for each folder of `functions/`,
 * which depends on the stack of what all share and on no other; one of what stands before its API, where something does; and one
 * for who deploys it, where that is a workflow.
 */
export class ServiceStage extends CdkStage {
  readonly #shared: SharedStack
  readonly #props: StackProps
  readonly #environment: StageEnvironment

  constructor(scope: Construct, stage: Stage, environment: StageEnvironment, version: string) {
    super(scope, `vaultline-${stage}`)
    this.#environment = environment
    this.#props = {
      description: `The Vaultline wallet service, ${stage}`,
      tags: { service: 'vaultline', stage },
      terminationProtection: environment.retain,
    }
    this.#shared = new SharedStack(this, { ...this.#props, stage, environment, version })
    for (const [area, endpoints] of Map.groupBy(ENDPOINTS, ([name]) => dirname(name))) {
      new EndpointsStack(this, area, { ...this.#props, shared: this.#shared, endpoints })
    }
    new JobsStack(this, { ...this.#props, shared: this.#shared })
    new QueuesStack(this, { ...this.#props, shared: this.#shared })
    const { deployedFrom, edge, alarmEmail } = environment
    if (edge) {
      const endpoints = ENDPOINTS.map(([, contract]) => contract)
      new EdgeStack(this, { ...this.#props, stage, edge, endpoints, alarmEmail })
    }
    const regions = edge ? [EDGE_REGION] : []
    if (deployedFrom) new DeployerStack(this, { ...this.#props, stage, deployedFrom, regions })
  }

  /** Adds the stack of these sites, from what was built in these folders; none where there are none. */
  addSites(sites: Sites = {}, built: BuiltFolders): void {
    if (Object.keys(sites).length === 0) return
    const shared = this.#shared
    const { corsOrigins, relyingParty } = this.#environment
    new SitesStack(this, { ...this.#props, shared, sites, corsOrigins, relyingParty, built })
  }
}
