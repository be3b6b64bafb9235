import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'

/** Resource of a CloudFormation template. */
export type TemplateResource = z.output<typeof Resource>

/** CloudFormation stack that CDK synthesized. */
export type SynthesizedStack = {
  readonly name: string
  readonly terminationProtection: boolean
  readonly tags: Readonly<Record<string, string>>
  readonly dependsOn: readonly string[]
  readonly template: z.output<typeof Template>
  /** Local folders of the stack's assets (such as Lambda code), by S3 object key. */
  readonly assets: Readonly<Record<string, string>>
}

/** Functions that resolve a template's references: `Ref`, `Fn::GetAtt`, and outputs of other stacks. */
export type References = {
  readonly ref: (logicalId: string) => string
  readonly attribute: (logicalId: string, name: string) => string
  readonly output: (stackName: string, name: string) => unknown
}

const Resource = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  DeletionPolicy: z.string().optional(),
  UpdateReplacePolicy: z.string().optional(),
  UpdatePolicy: z.record(z.string(), z.unknown()).optional(),
})
const Template = z.object({
  Resources: z.record(z.string(), Resource),
  Outputs: z.record(z.string(), z.object({ Value: z.unknown() })).default({}),
})
const Manifest = z.object({ artifacts: z.record(z.string(), z.unknown()) })
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
const AssetArtifact = z.object({ type: z.literal('cdk:asset-manifest'), properties: z.object({ file: z.string() }) })
const AssetManifest = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.object({ path: z.string() }),
      destinations: z.record(z.string(), z.object({ objectKey: z.string() })),
    }),
  ),
})
const StackOutput = z.object({ StackName: z.string(), OutputName: z.string() })

/** Returns the CloudFormation stacks that CDK synthesized into a folder. */
export async function readStacks(directory: string): Promise<SynthesizedStack[]> {
  const artifacts = await readArtifacts(directory, StackArtifact)
  return await Promise.all(
    [...artifacts].map(async ([id, { dependencies, properties }]) => {
      const { stackName, templateFile, ...rest } = properties
      return {
        name: stackName,
        ...rest,
        dependsOn: dependencies.flatMap((other) => artifacts.get(other)?.properties.stackName ?? []),
        template: Template.parse(await readJson(join(directory, templateFile))),
        assets: await readAssets(directory, `${id}.assets`),
      }
    }),
  )
}

async function readArtifacts<T extends z.ZodType>(directory: string, form: T): Promise<Map<string, z.output<T>>> {
  const { artifacts } = Manifest.parse(await readJson(join(directory, 'manifest.json')))
  return new Map(
    Object.entries(artifacts).flatMap(([id, artifact]) => {
      const { success, data } = form.safeParse(artifact)
      return success ? [[id, data] as const] : []
    }),
  )
}

/** Resolves CloudFormation's functions in a template value, such as `Ref` and `Fn::Join`. Returns the resolved value. */
export function resolveReferences(value: unknown, references: References): unknown {
  const resolve = (child: unknown) => resolveReferences(child, references)
  if (Array.isArray(value)) return value.map(resolve)
  if (typeof value !== 'object' || value === null) return value
  if ('Ref' in value) return references.ref(String(value.Ref))
  if ('Fn::GetAtt' in value && Array.isArray(value['Fn::GetAtt'])) {
    const [id, name] = value['Fn::GetAtt']
    return references.attribute(id, name)
  }
  if ('Fn::Join' in value && Array.isArray(value['Fn::Join'])) {
    const [separator, parts] = value['Fn::Join']
    return parts.map((part: unknown) => textOf(resolve(part))).join(separator)
  }
  if ('Fn::Split' in value && Array.isArray(value['Fn::Split'])) {
    const [separator, text] = value['Fn::Split']
    return textOf(resolve(text)).split(separator)
  }
  if ('Fn::Select' in value && Array.isArray(value['Fn::Select'])) {
    const [index, parts] = value['Fn::Select']
    const resolved = resolve(parts)
    return Array.isArray(resolved) ? resolved[index] : undefined
  }
  if ('Fn::GetStackOutput' in value) {
    const { StackName, OutputName } = StackOutput.parse(value['Fn::GetStackOutput'])
    return references.output(StackName, OutputName)
  }
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, resolve(child)]))
}

async function readAssets(directory: string, artifact: string): Promise<Record<string, string>> {
  const manifest = (await readArtifacts(directory, AssetArtifact)).get(artifact)
  if (!manifest) return {}
  const { files } = AssetManifest.parse(await readJson(join(directory, manifest.properties.file)))
  return Object.fromEntries(
    Object.values(files).flatMap(({ source, destinations }) =>
      Object.values(destinations).map(({ objectKey }) => [objectKey, join(directory, source.path)]),
    ),
  )
}

async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, 'utf8'))
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
