import { dirname } from 'node:path/posix'
import { Construct } from 'constructs'
import { ApiStack } from './api-stack.ts'
import { DeployerStack } from './deployer-stack.ts'
import { EdgeStack } from './edge-stack.ts'
import { EndpointsStack } from './endpoints-stack.ts'
import { EDGE_REGION, type Stage, stackName } from './environments.ts'
import { ENDPOINTS } from './functions.ts'
import { JobsStack } from './jobs-stack.ts'
import { QueuesStack } from './queues-stack.ts'
import { SharedStack } from './shared-stack.ts'
import { type BuiltFolders, SitesStack } from './sites-stack.ts'
import type { Sites, StageEnvironment } from './stages.ts'

/**
 * One stage of the service on AWS, with only the resources that the contracts of its functions require. The shared
 * stack comes first, then a stack for each folder of `functions/`, then the API's stack. CloudFront and the roles of
 * GitHub's deploy workflows have separate stacks. The class extends Construct, because `cdk deploy --all` does not find
 * the stacks of a CDK Stage.
 */
export class ServiceStage extends Construct {
  readonly #shared: SharedStack
  readonly #api: ApiStack
  readonly #stage: Stage
  readonly #environment: StageEnvironment

  constructor(scope: Construct, stage: Stage, environment: StageEnvironment, version: string) {
    super(scope, `vaultline-${stage}`)
    this.#stage = stage
    this.#environment = environment
    const shared = new SharedStack(this, { ...this.#propsOf('shared'), stage, environment, version })
    this.#shared = shared
    const areas = [...Map.groupBy(ENDPOINTS, ([name]) => dirname(name))].map(
      ([area, endpoints]) => new EndpointsStack(this, area, { ...this.#propsOf(area), shared, endpoints }),
    )
    const others = [
      new JobsStack(this, { ...this.#propsOf('jobs'), shared }),
      new QueuesStack(this, { ...this.#propsOf('queues'), shared }),
    ]
    for (const stack of [...areas, ...others]) stack.addStackDependency(shared)
    this.#api = new ApiStack(this, { ...this.#propsOf('api'), stage, environment, shared })
    for (const area of areas) this.#api.addStackDependency(area)
    const { deployedFrom, edge } = environment
    if (edge) {
      const endpoints = ENDPOINTS.map(([, contract]) => contract)
      const { observe, alarmEmail } = environment
      new EdgeStack(this, { ...this.#propsOf('edge'), stage, edge, endpoints, observe, alarmEmail })
    }
    const regions = edge ? [EDGE_REGION] : []
    if (deployedFrom) new DeployerStack(this, { ...this.#propsOf('deployer'), stage, deployedFrom, regions })
  }

  /** Adds a stack with these websites from the built folders. Adds nothing if `sites` is empty. */
  addSites(sites: Sites = {}, built: BuiltFolders): void {
    if (Object.keys(sites).length === 0) return
    const { publicUrl } = this.#api
    const { logs } = this.#shared
    const { corsOrigins, relyingParty } = this.#environment
    new SitesStack(this, { ...this.#propsOf('sites'), publicUrl, logs, sites, corsOrigins, relyingParty, built })
  }

  /** Returns the properties of a stack: its name, and the properties that all stacks of the stage share. */
  #propsOf(stack: string) {
    return {
      stackName: stackName(this.#stage, stack),
      description: `The Vaultline wallet service, ${this.#stage}`,
      tags: { service: 'vaultline', stage: this.#stage },
      terminationProtection: this.#environment.retain,
    }
  }
}
