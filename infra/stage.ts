import { dirname } from 'node:path/posix'
import { Stage as CdkStage, type StackProps } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import { buildReference } from '../reference/files.ts'
import { EndpointsStack } from './endpoints-stack.ts'
import { ENVIRONMENTS, type Stage, type StageEnvironment } from './environments.ts'
import { ENDPOINTS } from './functions.ts'
import { JobsStack } from './jobs-stack.ts'
import { SharedStack } from './shared-stack.ts'
import { type BuiltFolders, SitesStack } from './sites-stack.ts'

/**
 * One stage of the service on AWS, what the contracts ask for and nothing else: a stack for each folder of `functions/`,
 * which depends on the stack of what all share and on no other.
 */
export class ServiceStage extends CdkStage {
  readonly #shared: SharedStack
  readonly #props: StackProps

  constructor(scope: Construct, stage: Stage, version: string) {
    super(scope, `vaultline-${stage}`)
    this.#props = {
      description: `The Vaultline wallet service, ${stage}`,
      tags: { service: 'vaultline', stage },
      terminationProtection: ENVIRONMENTS[stage].retain,
    }
    this.#shared = new SharedStack(this, { ...this.#props, stage, version })
    for (const [area, endpoints] of Map.groupBy(ENDPOINTS, ([name]) => dirname(name))) {
      new EndpointsStack(this, area, { ...this.#props, shared: this.#shared, endpoints })
    }
    new JobsStack(this, { ...this.#props, shared: this.#shared })
  }

  /** Adds the stack of the sites that this environment names, from what was built in these folders; none where it names none. */
  async addSites({ sites = {}, corsOrigins, relyingParty }: StageEnvironment, built: BuiltFolders): Promise<void> {
    if (Object.keys(sites).length === 0) return
    const shared = this.#shared
    const reference = await buildReference({ apiOrigin: shared.api.url })
    new SitesStack(this, { ...this.#props, shared, sites, corsOrigins, relyingParty, reference, built })
  }
}
