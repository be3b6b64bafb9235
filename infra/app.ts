import { App, Validations } from 'aws-cdk-lib/core'
import { DEFAULT_CROSS_STACK_REFERENCES, VALIDATE_AGAINST_DEFAULT_RULES } from 'aws-cdk-lib/cx-api'
import { AwsSolutionsChecks } from 'cdk-nag'
import manifest from '../package.json' with { type: 'json' }
import { ServiceStage } from './stage.ts'
import { readStages } from './stages.ts'

// The account and region of all stacks are those of the deployer's AWS credentials.
const app = new App({
  context: {
    // The setting makes synthesis fail for a template that CloudFormation would refuse; the default is a warning.
    [VALIDATE_AGAINST_DEFAULT_RULES]: true,
    // Stacks read each other's outputs at deploy time. With CloudFormation exports, a value could not change while another stack imports
    // it.
    [DEFAULT_CROSS_STACK_REFERENCES]: 'weak',
  },
})
// Folders into which `npm run docs:build` and `npm run build --workspace wallet` write.
const built = { docs: 'dist/docs', wallet: 'wallet/dist' }
// A finding of these security checks stops the synthesis unless the code acknowledges it with a reason.
Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
const stages = await readStages(app.node.tryGetContext('stages')).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
for (const [stage, environment] of stages) {
  new ServiceStage(app, stage, environment, manifest.version).addSites(environment.sites, built)
}
