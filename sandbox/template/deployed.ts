import { createHash } from 'node:crypto'
import * as z from 'zod'
import { resolveReferences, type SynthesizedStack } from '../assembly.ts'
import { localCredentials } from '../dynamo.ts'
import { secretArn } from '../providers/secrets-manager.ts'

/** CloudFormation resource after deployment. `id` is the value of `Ref`. The references in `properties` are resolved. */
export type DeployedResource<Properties = unknown> = {
  readonly id: string
  readonly arn: string
  readonly properties: Properties
}

/** Function that returns all deployed resources of a CloudFormation type. Throws if their properties do not match the schema. */
export type ResourceFinder = <T extends z.ZodType>(type: string, properties: T) => DeployedResource<z.output<T>>[]

/** AWS account id of all local resources. */
export const ACCOUNT_ID = '000000000000'
/** AWS region of all local resources. */
export const REGION = localCredentials.AWS_REGION
const PSEUDO: Readonly<Record<string, string>> = {
  'AWS::Partition': 'aws',
  'AWS::Region': REGION,
  'AWS::AccountId': ACCOUNT_ID,
  'AWS::URLSuffix': 'amazonaws.com',
}

/** Returns the ARN of a service's resource. */
export function arnOf(service: string, resource: string): string {
  return `arn:aws:${service}:${service === 'iam' ? '' : REGION}:${ACCOUNT_ID}:${resource}`
}

/** Attributes of a resource that `Fn::GetAtt` returns; `id` is the value of `Ref`. */
type Attributes = { readonly [name: string]: string; readonly id: string; readonly Arn: string }
type Kind = {
  readonly nameProperty?: string
  /** Name of the property that references the parent resource. The resource's name begins with the parent's name. */
  readonly partOf?: string
  readonly attributes: (name: string) => Attributes
}

const Reference = z.object({ Ref: z.string() })

/**
 * Returns a function that finds the resources of these stacks, as CloudFormation would create them. `sqsUrl` is the base URL of the queues.
 */
export function deploy(stacks: readonly SynthesizedStack[], sqsUrl: string): ResourceFinder {
  const kinds = kindsAt(sqsUrl)
  const nameOf = ({ name, template }: SynthesizedStack, logicalId: string) => {
    const { Type = '', Properties = {} } = template.Resources[logicalId] ?? {}
    const declaredName = Properties[kinds[Type]?.nameProperty ?? '']
    return typeof declaredName === 'string' ? declaredName : generatedName(name, logicalId)
  }
  const all = stacks.flatMap((stack) =>
    Object.entries(stack.template.Resources).map(([logicalId, resource]) => {
      const { partOf = '', attributes } = kinds[resource.Type] ?? OTHER
      const whole = Reference.safeParse(resource.Properties[partOf]).data
      const prefix = whole ? `${nameOf(stack, whole.Ref)}:` : ''
      return { stack, logicalId, resource, attributes: attributes(`${prefix}${nameOf(stack, logicalId)}`) }
    }),
  )
  const places = new Map(all.map((each) => [`${each.stack.name} ${each.logicalId}`, each]))
  const attributesOf = (stack: SynthesizedStack, logicalId: string) => {
    const place = places.get(`${stack.name} ${logicalId}`)
    if (!place) throw new Error(`The stack ${stack.name} has no ${logicalId}.`)
    return place.attributes
  }
  const resolve = (value: unknown, stack: SynthesizedStack): unknown =>
    resolveReferences(value, {
      ref: (logicalId) => PSEUDO[logicalId] ?? attributesOf(stack, logicalId).id,
      attribute(logicalId, name) {
        const attribute = attributesOf(stack, logicalId)[name]
        if (attribute === undefined) throw new Error(`${logicalId} has no attribute ${name} here.`)
        return attribute
      },
      output(stackName, name) {
        const other = stacks.find((each) => each.name === stackName)
        const output = other?.template.Outputs[name]
        if (!other || !output) throw new Error(`The stack ${stackName} has no output ${name}.`)
        return resolve(output.Value, other)
      },
    })
  return (type, properties) =>
    all
      .filter(({ resource }) => resource.Type === type)
      .map(({ stack, resource, attributes }) => ({
        id: attributes.id,
        arn: attributes.Arn,
        properties: properties.parse(resolve(resource.Properties, stack)),
      }))
}

const OTHER: Kind = { attributes: (name) => ({ id: name, Arn: arnOf('other', name) }) }

function kindsAt(sqsUrl: string): Readonly<Record<string, Kind>> {
  return {
    'AWS::DynamoDB::Table': {
      nameProperty: 'TableName',
      attributes: (name) => ({ id: name, Arn: arnOf('dynamodb', `table/${name}`) }),
    },
    'AWS::SQS::Queue': {
      nameProperty: 'QueueName',
      attributes: (name) => ({ id: `${sqsUrl}/${ACCOUNT_ID}/${name}`, Arn: arnOf('sqs', name), QueueName: name }),
    },
    'AWS::SecretsManager::Secret': {
      nameProperty: 'Name',
      attributes: (name) => ({ id: secretArn(name), Arn: secretArn(name) }),
    },
    'AWS::Lambda::Function': {
      nameProperty: 'FunctionName',
      attributes: (name) => ({ id: name, Arn: arnOf('lambda', `function:${name}`) }),
    },
    'AWS::Lambda::Version': {
      attributes: (name) => ({ id: arnOf('lambda', `function:${name}`), Arn: arnOf('lambda', name), Version: '1' }),
    },
    'AWS::Lambda::Alias': {
      ...{ nameProperty: 'Name', partOf: 'FunctionName' },
      attributes: (name) => {
        const arn = arnOf('lambda', `function:${name}`)
        return { id: arn, Arn: arn, AliasArn: arn }
      },
    },
    'AWS::IAM::Role': { attributes: (name) => ({ id: name, Arn: arnOf('iam', `role/${name}`) }) },
    'AWS::Logs::LogGroup': { attributes: (name) => ({ id: name, Arn: arnOf('logs', `log-group:${name}:*`) }) },
    'AWS::SNS::Topic': { attributes: (name) => ({ id: arnOf('sns', name), Arn: arnOf('sns', name) }) },
    'AWS::ApiGatewayV2::Api': {
      attributes: (name) => ({
        id: idOf(name),
        Arn: arnOf('apigateway', idOf(name)),
        ApiEndpoint: 'https://api.invalid',
      }),
    },
  }
}

/**
 * Returns a name like those that CloudFormation generates for unnamed resources. It has at most 64 characters, the limit of IAM and Lambda.
 */
function generatedName(stackName: string, logicalId: string): string {
  return `${`${stackName}-${logicalId}`.slice(0, 51)}-${idOf(`${stackName} ${logicalId}`).toUpperCase()}`
}

function idOf(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 10)
}
