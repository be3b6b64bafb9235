import { App, Validations } from 'aws-cdk-lib/core'
import { DEFAULT_CROSS_STACK_REFERENCES, VALIDATE_AGAINST_DEFAULT_RULES } from 'aws-cdk-lib/cx-api'
import { AwsSolutionsChecks } from 'cdk-nag'
import manifest from '../package.json' with { type: 'json' }
import { ServiceStage } from './stage.ts'
import { readStages } from './stages.ts'

// Account and region are those of the deployer's credentials.
const app = new App({
  context: {
    // Reports a template that CloudFormation would refuse as an error; the default is a warning.
    [VALIDATE_AGAINST_DEFAULT_RULES]: true,
    // Stacks read each other's outputs: an export could not change while another stack imports it.
    [DEFAULT_CROSS_STACK_REFERENCES]: 'weak',
  },
})
// `npm run docs:build` and `npm run build --workspace wallet` write into these folders.
const built = { docs: 'dist/docs', wallet: 'wallet/dist' }
// A finding that is not acknowledged with a reason stops the synthesis.
Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
const stages = await readStages(app.node.tryGetContext('stages')).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
for (const [stage, environment] of stages) {
  new ServiceStage(app, stage, environment, manifest.version).addSites(environment.sites, built)
}
