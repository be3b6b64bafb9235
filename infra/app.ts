import { App } from 'aws-cdk-lib'
import { VALIDATE_AGAINST_DEFAULT_RULES } from 'aws-cdk-lib/cx-api'
import manifest from '../package.json' with { type: 'json' }
import { STAGES } from './environments.ts'
import { ServiceStack } from './stack.ts'

// One stack per stage, each deployed by its name. Account and region are those of the deployer's credentials.
// A template that CloudFormation would refuse is an error here; without this it is a warning.
const app = new App({ context: { [VALIDATE_AGAINST_DEFAULT_RULES]: true } })
for (const stage of STAGES) new ServiceStack(app, stage, manifest.version)
