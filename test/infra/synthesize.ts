import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import * as z from 'zod'

const Resource = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  DeletionPolicy: z.string().optional(),
  UpdateReplacePolicy: z.string().optional(),
})
const Template = z.object({
  Resources: z.record(z.string(), Resource),
  Outputs: z.record(z.string(), z.object({ Value: z.unknown() })).default({}),
})
const Manifest = z.object({ artifacts: z.record(z.string(), z.unknown()) })
const StageArtifact = z.object({
  type: z.literal('cdk:cloud-assembly'),
  properties: z.object({ directoryName: z.string() }),
})
const StackArtifact = z.object({
  type: z.literal('aws:cloudformation:stack'),
  properties: z.object({
    templateFile: z.string(),
    stackName: z.string(),
    terminationProtection: z.boolean(),
    tags: z.record(z.string(), z.string()),
  }),
  dependencies: z.array(z.string()),
})
const Report = z.object({
  pluginReports: z.array(
    z.object({
      pluginName: z.string(),
      violations: z.array(z.unknown()),
      suppressedViolations: z.array(z.object({ ruleName: z.string() })),
    }),
  ),
})
const StackOutput = z.object({ StackName: z.string(), OutputName: z.string() })
const PSEUDO: Record<string, string> = {
  'AWS::Partition': 'aws',
  'AWS::Region': 'region',
  'AWS::AccountId': 'account',
}

/** A file of stages as an operator has it: all three, with names that somebody could own. */
export const STAGES_FILE = fileURLToPath(new URL('stages.json', import.meta.url))

/** A stage as it is synthesized. */
export type Synthesized = Awaited<ReturnType<typeof readStage>>

/**
 * What the app synthesizes, by the stages' names, without bundling, in a process that has no AWS credentials, and without
 * the stacks of sites, which rest on what was built. Each resource is named by its stack and its place there alone
 * (`vaults/ListRole`), without the hash, and what refers to a resource is that name, whether by `Ref`, by ARN or as the
 * output of another stack. Besides, what was reported of rules. Throws when CloudFormation would refuse a template.
 */
export async function synthesizeApp() {
  const outdir = await mkdtemp(join(tmpdir(), 'vaultline-app-'))
  try {
    const CDK_CONTEXT_JSON = JSON.stringify({ 'aws:cdk:bundling-stacks': [], stages: STAGES_FILE })
    const env = { CDK_OUTDIR: outdir, CDK_CONTEXT_JSON, HOME: outdir }
    await promisify(execFile)(process.execPath, ['infra/app.ts'], { env })
    const stages = await readArtifacts(outdir, StageArtifact)
    const read = await Promise.all(
      [...stages.values()].map(async ({ properties: { directoryName } }) => {
        const stage = directoryName.replace('assembly-', '')
        const isRead = (stack: string) => stack !== `${stage}-sites`
        return [stage, await readStage(join(outdir, directoryName), stage, isRead)] as const
      }),
    )
    const { pluginReports } = Report.parse(await readJson(join(outdir, 'validation-report.json')))
    return { stages: Object.fromEntries(read), pluginReports }
  } finally {
    await rm(outdir, { recursive: true })
  }
}

/** A stage, by its name, in the folder that it was synthesized into, with those of its stacks that are to be read. */
export async function readStage(directory: string, stage: string, isRead: (stack: string) => boolean = () => true) {
  const artifacts = await readArtifacts(directory, StackArtifact)
  const read = [...artifacts.values()].filter(({ properties: { stackName } }) => isRead(stackName))
  const stacks = await Promise.all(
    read.map(async ({ dependencies, properties: { templateFile, stackName, ...properties } }) => ({
      name: stackName.replace(`${stage}-`, ''),
      ...properties,
      dependsOn: dependencies.flatMap((id) => artifacts.get(id)?.properties.stackName ?? []),
      template: Template.parse(await readJson(join(directory, templateFile))),
    })),
  )
  const outputs: Record<string, unknown> = {}
  for (const { name, template } of stacks) {
    for (const [key, { Value }] of Object.entries(template.Outputs)) {
      outputs[`${stage}-${name}.${key}`] = readable(Value, name, outputs)
    }
  }
  const resources = Object.fromEntries(
    stacks.flatMap(({ name, template }) =>
      Object.entries(template.Resources).map(([id, resource]) => [
        qualify(name, id),
        Resource.parse(readable(resource, name, outputs)),
      ]),
    ),
  )
  return {
    stacks,
    resources,
    outputs,
    /** The properties of all resources of a type, by the resources' names. */
    ofType: (type: string) =>
      Object.fromEntries(
        Object.entries(resources).flatMap(([name, { Type, Properties }]) =>
          Type === type ? [[name, Properties] as const] : [],
        ),
      ),
  }
}

/** The artifacts of one form in the manifest of a directory, by their ids. */
async function readArtifacts<T extends z.ZodType>(directory: string, form: T): Promise<Map<string, z.output<T>>> {
  const { artifacts } = Manifest.parse(await readJson(join(directory, 'manifest.json')))
  return new Map(
    Object.entries(artifacts).flatMap(([id, artifact]) => {
      const { success, data } = form.safeParse(artifact)
      return success ? [[id, data] as const] : []
    }),
  )
}

async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, 'utf8'))
}

/** The same value of a stack with every reference as text. */
function readable(value: unknown, stack: string, outputs: Readonly<Record<string, unknown>>): unknown {
  const read = (child: unknown) => readable(child, stack, outputs)
  if (Array.isArray(value)) return value.map(read)
  if (typeof value !== 'object' || value === null) return value
  if ('Ref' in value) return PSEUDO[String(value.Ref)] ?? qualify(stack, String(value.Ref))
  if ('Fn::GetAtt' in value && Array.isArray(value['Fn::GetAtt'])) {
    const [id, attribute] = value['Fn::GetAtt']
    return attribute === 'Arn' ? qualify(stack, id) : `${qualify(stack, id)}.${attribute}`
  }
  if ('Fn::Join' in value && Array.isArray(value['Fn::Join'])) {
    const [separator, parts] = value['Fn::Join']
    const texts = parts.map((part: unknown) => textOf(read(part)))
    return texts.join(separator)
  }
  if ('Fn::GetStackOutput' in value) {
    const { StackName, OutputName } = StackOutput.parse(value['Fn::GetStackOutput'])
    return outputs[`${StackName}.${OutputName}`]
  }
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, read(child)]))
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function qualify(stack: string, logicalId: string): string {
  return `${stack}/${logicalId.replace(/(?<=^[A-Za-z0-9]+)[0-9A-F]{8}$/, '')}`
}
