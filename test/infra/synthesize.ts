import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import * as z from 'zod'
import type { Stage } from '../../infra/environments.ts'
import { ServiceStack } from '../../infra/stack.ts'

const Resource = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  DeletionPolicy: z.string().optional(),
  UpdateReplacePolicy: z.string().optional(),
})
const Template = z.object({ Resources: z.record(z.string(), Resource), Outputs: z.record(z.string(), z.unknown()) })
const PSEUDO: Record<string, string> = {
  'AWS::Partition': 'aws',
  'AWS::Region': 'region',
  'AWS::AccountId': 'account',
}

/**
 * A stage's template, made without bundling. Each resource is named by its place in the stack alone (`VaultsListRole`),
 * without the hash, and what refers to a resource is that name, whether by `Ref` or by ARN.
 */
export function synthesize(stage: Stage) {
  const outdir = mkdtempSync(join(tmpdir(), 'vaultline-synth-'))
  try {
    const app = new App({ context: { 'aws:cdk:bundling-stacks': [] }, analyticsReporting: false, outdir })
    new ServiceStack(app, stage, '1.2.3')
    const { template, tags, terminationProtection } = app.synth().getStackByName(`vaultline-${stage}`)
    const { Resources, Outputs } = Template.parse(readable(template))
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
  } finally {
    rmSync(outdir, { recursive: true })
  }
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
