import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as z from 'zod'

const Resource = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  DeletionPolicy: z.string().optional(),
  UpdateReplacePolicy: z.string().optional(),
})
const Template = z.object({ Resources: z.record(z.string(), Resource), Outputs: z.record(z.string(), z.unknown()) })
const Manifest = z.object({ artifacts: z.record(z.string(), z.unknown()) })
const StackArtifact = z.object({
  type: z.literal('aws:cloudformation:stack'),
  properties: z.object({
    templateFile: z.string(),
    terminationProtection: z.boolean(),
    tags: z.record(z.string(), z.string()),
  }),
})
const PSEUDO: Record<string, string> = {
  'AWS::Partition': 'aws',
  'AWS::Region': 'region',
  'AWS::AccountId': 'account',
}

/** A stack as it is synthesized. */
export type Synthesized = Awaited<ReturnType<typeof readStack>>

/**
 * What the app synthesizes, by the stacks' names, without bundling, in a process that has no AWS credentials. Each
 * resource is named by its place in the stack alone (`VaultsListRole`), without the hash, and what refers to a resource
 * is that name, whether by `Ref` or by ARN. Throws when CloudFormation would refuse a template.
 */
export async function synthesizeApp(): Promise<Readonly<Record<string, Synthesized>>> {
  const outdir = await mkdtemp(join(tmpdir(), 'vaultline-app-'))
  try {
    const CDK_CONTEXT_JSON = JSON.stringify({ 'aws:cdk:bundling-stacks': [] })
    const env = { CDK_OUTDIR: outdir, CDK_CONTEXT_JSON, HOME: outdir }
    await promisify(execFile)(process.execPath, ['infra/app.ts'], { env })
    const { artifacts } = Manifest.parse(await readJson(join(outdir, 'manifest.json')))
    const stacks = Object.entries(artifacts).flatMap(([name, artifact]) => {
      const { success, data } = StackArtifact.safeParse(artifact)
      return success ? [[name, data.properties] as const] : []
    })
    return Object.fromEntries(
      await Promise.all(stacks.map(async ([name, properties]) => [name, await readStack(outdir, properties)] as const)),
    )
  } finally {
    await rm(outdir, { recursive: true })
  }
}

async function readStack(
  outdir: string,
  { templateFile, tags, terminationProtection }: z.output<typeof StackArtifact>['properties'],
) {
  const { Resources, Outputs } = Template.parse(readable(await readJson(join(outdir, templateFile))))
  return {
    resources: Resources,
    outputs: Outputs,
    tags,
    terminationProtection,
    /** The properties of all resources of a type, by the resources' names. */
    ofType: (type: string) =>
      Object.fromEntries(
        Object.entries(Resources).flatMap(([name, { Type, Properties }]) =>
          Type === type ? [[name, Properties] as const] : [],
        ),
      ),
  }
}

async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, 'utf8'))
}

/** The same value with every reference as text. */
function readable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readable)
  if (typeof value !== 'object' || value === null) return value
  return (
    reference(value) ?? Object.fromEntries(Object.entries(value).map(([key, child]) => [name(key), readable(child)]))
  )
}

function reference(value: object): string | undefined {
  if ('Ref' in value) return PSEUDO[String(value.Ref)] ?? name(String(value.Ref))
  if ('Fn::GetAtt' in value && Array.isArray(value['Fn::GetAtt'])) {
    const [id, attribute] = value['Fn::GetAtt']
    return attribute === 'Arn' ? name(String(id)) : `${name(String(id))}.${attribute}`
  }
  if ('Fn::Join' in value && Array.isArray(value['Fn::Join'])) {
    const [separator, parts] = value['Fn::Join']
    return parts.map(readable).join(separator)
  }
  return undefined
}

function name(logicalId: string): string {
  return logicalId.replace(/(?<=^[A-Za-z0-9]+)[0-9A-F]{8}$/, '')
}
