import { App } from 'aws-cdk-lib'
import manifest from '../package.json' with { type: 'json' }
import { STAGES } from './environments.ts'
import { ServiceStack } from './stack.ts'

// One stack per stage, each deployed by its name. Account and region are those of the deployer's credentials.
const app = new App()
for (const stage of STAGES) new ServiceStack(app, stage, manifest.version)
