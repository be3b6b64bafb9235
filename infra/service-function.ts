import { basename } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import {
  type Alias,
  Architecture,
  Code,
  type EventInvokeConfigOptions,
  type IFunction,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
} from 'aws-cdk-lib/aws-lambda'
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { AssetHashType, DockerImage, type Duration, type RemovalPolicy } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import { readBundle, writeBundle } from './bundling.ts'
import type { FunctionName } from './functions.ts'

/** Settings of one function. */
export type FunctionSettings = {
  /** Fixed name, so that other stacks can address the function without an output of this stack. */
  readonly functionName: string
  readonly description: string
  readonly variables: Readonly<Record<string, string>>
  readonly permissions: readonly PolicyStatement[]
  readonly memoryMiB: number
  readonly timeout: Duration
  /** Retries of failed asynchronous runs, for functions without a waiting caller. */
  readonly retries?: Pick<EventInvokeConfigOptions, 'retryAttempts' | 'maxEventAge'>
  /** True if the function may send messages to its own queue without end. Lambda otherwise stops such a loop after 16 invocations. */
  readonly enqueuesItself?: boolean
  /** Queue that receives the input of a run that failed after all retries. */
  readonly deadLetters?: Queue
  readonly logs: { readonly retention: RetentionDays; readonly removalPolicy: RemovalPolicy }
}

/** Function of the service, with its own role and log group. */
export class ServiceFunction extends Construct {
  readonly lambda: LambdaFunction
  /** Alias by which all callers invoke the function. It leads to the current version, and during a deploy also to the previous one. */
  readonly live: Alias & IFunction
  readonly logGroup: LogGroup
  /** Name as plain text and not as a CDK token, so that it can be part of other names. */
  readonly functionName: string

  constructor(scope: Construct, name: FunctionName, settings: FunctionSettings) {
    super(scope, pascalCase(basename(name)))
    this.functionName = settings.functionName
    this.logGroup = new LogGroup(this, 'Logs', settings.logs)

    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
    this.logGroup.grantWrite(role)
    for (const permission of settings.permissions) role.addToPolicy(permission)

    this.lambda = new LambdaFunction(this, 'Function', {
      functionName: settings.functionName,
      description: settings.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: 'index.handler',
      code: bundledCode(name),
      memorySize: settings.memoryMiB,
      timeout: settings.timeout,
      ...(settings.enqueuesItself && { recursiveLoop: RecursiveLoop.ALLOW }),
      ...(settings.deadLetters && { deadLetterQueue: settings.deadLetters }),
      environment: settings.variables,
      role,
      logGroup: this.logGroup,
      loggingFormat: LoggingFormat.JSON,
    })
    // The cast: CDK's Alias has `role: IRole | undefined` and its IFunction has `role?: IRole`, which exactOptionalPropertyTypes
    // distinguishes.
    this.live = this.lambda.addAlias('live', settings.retries) as Alias & IFunction
  }
}

function bundledCode(name: FunctionName): Code {
  return Code.fromAsset(fileURLToPath(new URL(`../functions/${name}`, import.meta.url)), {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      image: DockerImage.fromRegistry('never-used'),
      local: {
        tryBundle: (directory) => {
          writeBundle(readBundle(name), directory)
          return true
        },
      },
    },
  })
}

function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|\W)(\w)/g, (_, letter: string) => letter.toUpperCase())
}
