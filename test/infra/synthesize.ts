import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { App } from 'aws-cdk-lib/core'
import { DEFAULT_CROSS_STACK_REFERENCES } from 'aws-cdk-lib/cx-api'
import * as z from 'zod'
import { STAGES } from '../../infra/environments.ts'
import { ServiceStage } from '../../infra/stage.ts'
import { parseStages, type StageEnvironment } from '../../infra/stages.ts'
import { readStacks, resolveReferences, type SynthesizedStack, type TemplateResource } from '../../sandbox/assembly.ts'

const Properties = z.record(z.string(), z.unknown())
const Report = z.object({
  pluginReports: z.array(
    z.object({
      pluginName: z.string(),
      violations: z.array(z.unknown()),
      suppressedViolations: z.array(z.object({ ruleName: z.string() })),
    }),
  ),
})
const PSEUDO: Record<string, string> = {
  'AWS::Partition': 'aws',
  'AWS::Region': 'region',
  'AWS::AccountId': 'account',
  'AWS::URLSuffix': 'amazonaws.com',
}

/**
 * Path of a test file that configures stages as an operator's file does. It has no example names, because `parseStages`
 * refuses them.
 */
export const STAGES_FILE = fileURLToPath(new URL('stages.json', import.meta.url))

/** Settings of the stage `dev` without an operator's file of stages. */
// The cast is safe because `parseStages` always returns `dev`.
export const DEV = parseStages('{}').get('dev') as StageEnvironment

/**
 * Returns the settings of `dev` with all alarms and a CloudFront distribution (the edge). `keyHash` is the hash of the
 * secret key with which CloudFront calls the API. Callers cannot reach the API without CloudFront.
 */
export function devWithEdge(keyHash: string): StageEnvironment {
  const edge = {
    domain: {
      name: 'api.wallet.vaultline.app',
      certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/12345678-1234-1234-1234-123456789012',
    },
    origin: 'https://a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com',
    keys: [keyHash],
    isOnlyWay: true,
  }
  // The cast is safe because `parseStages` always returns `dev`.
  return parseStages(JSON.stringify({ dev: { edge, observe: 'all' } })).get('dev') as StageEnvironment
}

/** A synthesized stage with its resources. */
export type SynthesizedStage = Awaited<ReturnType<typeof readStage>>

/**
 * Synthesizes the app without bundling and without AWS credentials. Omits the stacks of web sites, which need built
 * files. Returns the stages by name, and the reports of violated rules. Throws if CloudFormation would refuse a
 * template.
 *
 * A resource's name is its stack and construct path (`vaults/ListRole`), without CDK's hash. Templates refer to a
 * resource by `Ref`, by ARN, or by another stack's output. Each such reference is replaced by the resource's name.
 */
export async function synthesizeApp() {
  const outdir = await mkdtemp(join(tmpdir(), 'vaultline-app-'))
  try {
    const CDK_CONTEXT_JSON = JSON.stringify({ 'aws:cdk:bundling-stacks': [], stages: STAGES_FILE })
    const env = { CDK_OUTDIR: outdir, CDK_CONTEXT_JSON, HOME: outdir }
    await promisify(execFile)(process.execPath, ['infra/app.ts'], { env })
    const read = await Promise.all(
      STAGES.map(async (name) => {
        const stage = `vaultline-${name}`
        return [stage, await readStage(outdir, stage, (stack) => stack !== `${stage}-sites`)] as const
      }),
    )
    const { pluginReports } = Report.parse(await readJson(join(outdir, 'validation-report.json')))
    return { stages: Object.fromEntries(read), pluginReports }
  } finally {
    await rm(outdir, { recursive: true })
  }
}

/** Synthesizes the stacks of `dev` and the code of its functions into a folder. Skips the checks that the whole app runs. */
export async function synthesizeDev(outdir: string, environment: StageEnvironment): Promise<SynthesizedStack[]> {
  const app = new App({ outdir, analyticsReporting: false, context: { [DEFAULT_CROSS_STACK_REFERENCES]: 'weak' } })
  new ServiceStage(app, 'dev', environment, '0.0.0-test')
  return await readStacks(app.synth().directory)
}

/** Synthesizes `dev` with CloudFront (the edge) and gradual deploys. Skips the code of functions and the checks that the whole app runs. */
export async function synthesizeBareDev(): Promise<SynthesizedStage> {
  const outdir = await mkdtemp(join(tmpdir(), 'vaultline-bare-'))
  try {
    const context = { [DEFAULT_CROSS_STACK_REFERENCES]: 'weak', 'aws:cdk:bundling-stacks': [] }
    const app = new App({ outdir, analyticsReporting: false, context })
    new ServiceStage(app, 'dev', { ...devWithEdge('0'.repeat(64)), gradual: true }, '0')
    return await readStage(app.synth().directory, 'vaultline-dev')
  } finally {
    await rm(outdir, { recursive: true })
  }
}

/** Reads the stacks of a stage that `isRead` selects, from a folder with synthesized templates. */
export async function readStage(directory: string, stage: string, isRead: (stack: string) => boolean = () => true) {
  const all = await readStacks(directory)
  const read = all.filter(({ name }) => name.startsWith(`${stage}-`) && isRead(name))
  const stacks = read.map((stack) => ({ ...stack, name: stack.name.replace(`${stage}-`, '') }))
  const outputs: Record<string, unknown> = {}
  const readable = (value: unknown, stack: string) =>
    resolveReferences(value, {
      ref: (id) => PSEUDO[id] ?? qualify(stack, id),
      attribute: (id, name) => (name === 'Arn' ? qualify(stack, id) : `${qualify(stack, id)}.${name}`),
      output: (stackName, name) => outputs[`${stackName}.${name}`],
    })
  for (const { name, template } of stacks) {
    for (const [key, { Value }] of Object.entries(template.Outputs)) {
      outputs[`${stage}-${name}.${key}`] = readable(Value, name)
    }
  }
  const resources = Object.fromEntries(
    stacks.flatMap(({ name, template }) =>
      Object.entries(template.Resources).map(([id, resource]): [string, TemplateResource] => [
        qualify(name, id),
        {
          ...resource,
          Properties: Properties.parse(readable(resource.Properties, name)),
          ...(resource.UpdatePolicy && { UpdatePolicy: Properties.parse(readable(resource.UpdatePolicy, name)) }),
        },
      ]),
    ),
  )
  return {
    stacks,
    resources,
    outputs,
    /** Returns the properties of all resources of a type, by the resources' names. */
    ofType: (type: string) =>
      Object.fromEntries(
        Object.entries(resources).flatMap(([name, { Type, Properties }]) =>
          Type === type ? [[name, Properties] as const] : [],
        ),
      ),
  }
}

async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, 'utf8'))
}

function qualify(stack: string, logicalId: string): string {
  return `${stack}/${logicalId.replace(/(?<=^[A-Za-z0-9]+)[0-9A-F]{8}$/, '')}`
}
