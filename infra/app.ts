import { App, Validations } from 'aws-cdk-lib/core'
import { DEFAULT_CROSS_STACK_REFERENCES, VALIDATE_AGAINST_DEFAULT_RULES } from 'aws-cdk-lib/cx-api'
import { AwsSolutionsChecks } from 'cdk-nag'
import manifest from '../package.json' with { type: 'json' }
import { ServiceStage } from './stage.ts'
import { readStages } from './stages.ts'

// The account and region of all stacks are those of the deployer's AWS credentials.
const app = new App({
  context: {
    // With this setting, synthesis fails for a template that CloudFormation would refuse. The default is only a warning.
    [VALIDATE_AGAINST_DEFAULT_RULES]: true,
    // Stacks read each other's outputs at deploy time. With CloudFormation exports, no output could change while another stack imports it.
    [DEFAULT_CROSS_STACK_REFERENCES]: 'weak',
  },
})
// Folders of the built documentation (`npm run docs:build`) and the built wallet (`npm run build --workspace wallet`).
const built = { docs: 'dist/docs', wallet: 'wallet/dist' }
// Each finding of these security checks stops the synthesis, unless the code acknowledges the finding with a reason.
Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
const stages = await readStages(app.node.tryGetContext('stages')).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
for (const [stage, environment] of stages) {
  new ServiceStage(app, stage, environment, manifest.version).addSites(environment.sites, built)
}
