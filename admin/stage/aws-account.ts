import {
  CloudFormationClient,
  DeleteStackCommand,
  DescribeStacksCommand,
  type Stack,
  UpdateTerminationProtectionCommand,
} from '@aws-sdk/client-cloudformation'
import { GetRoleCommand, IAMClient, SimulatePrincipalPolicyCommand } from '@aws-sdk/client-iam'
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import * as z from 'zod'
import { CLIENT_DEFAULTS } from '../../lib/aws/client-defaults.ts'
import { AdminError } from '../admin.ts'
import type { StackState } from './stacks.ts'

/** Identity with which a command calls AWS, and the region of its calls. */
export type AwsIdentity = { readonly account: string; readonly region: string; readonly arn: string }

/** Actions that an operator's role needs on one resource. */
export type ResourcePermission = { readonly resource: string; readonly actions: readonly string[] }

/** AWS account in one region, for an operator's commands. */
export type AwsAccount = {
  /** Returns the caller. Throws if there are no credentials, or AWS refuses them. */
  identify(): Promise<AwsIdentity>
  /** Returns the account's limit of concurrent functions. */
  countExecutions(): Promise<number>
  /**
   * Lists the actions that IAM's simulation denies the caller; undefined if AWS refuses to simulate them. The simulation assumes a login
   * with MFA. It omits denials that depend on conditions with unknown values.
   */
  listDenied(rights: readonly ResourcePermission[]): Promise<readonly string[] | undefined>
  /** Lists those stacks that exist among the stacks with these names. */
  listStacks(names: readonly string[]): Promise<readonly StackState[]>
  /** Removes a stack's protection and starts to delete the stack. */
  deleteStack(stack: StackState): Promise<void>
}

const StackForm = z.object({
  StackName: z.string(),
  StackStatus: z.string(),
  StackStatusReason: z.string().default(''),
  CreationTime: z.date(),
  EnableTerminationProtection: z.boolean().default(false),
  Outputs: z.array(z.object({ OutputKey: z.string(), OutputValue: z.string() })).default([]),
})

/** Opens the account of the environment's AWS credentials, in the region `elsewhere` or, by default, the environment's region. */
export function openAwsAccount(elsewhere?: string): AwsAccount {
  // Retries and timeouts are higher than for other AWS clients. CloudFormation is slower than the services that functions call, and limits
  // the rate of requests.
  const settings = {
    ...CLIENT_DEFAULTS,
    maxAttempts: 8,
    requestHandler: { connectionTimeout: 5000, requestTimeout: 30_000, throwOnRequestTimeout: true },
    ...(elsewhere && { region: elsewhere }),
  }
  const sts = new STSClient(settings)
  const iam = new IAMClient(settings)
  const lambda = new LambdaClient(settings)
  const cloudFormation = new CloudFormationClient(settings)

  const identify = async () => {
    const region = await sts.config.region()
    const { Account: account = '', Arn: arn = '' } = await sts.send(new GetCallerIdentityCommand({}))
    return { account, region, arn }
  }

  /** Returns the ARN of the user or role whose policies IAM simulates; undefined for the account's root user, who may do everything. */
  const policySourceOf = async (arn: string) => {
    const roleName = /:assumed-role\/([^/]+)\//.exec(arn)?.[1]
    // The ARN of an assumed role's session lacks the role's path, so the role's own ARN is read.
    if (roleName) return (await iam.send(new GetRoleCommand({ RoleName: roleName }))).Role?.Arn
    return arn.endsWith(':root') ? undefined : arn
  }

  return {
    identify,
    async countExecutions() {
      const { AccountLimit } = await lambda.send(new GetAccountSettingsCommand({}))
      return z.number().parse(AccountLimit?.ConcurrentExecutions)
    },
    async listDenied(rights) {
      const { arn, region } = await identify()
      try {
        const source = await policySourceOf(arn)
        if (!source) return []
        const denied = await Promise.all(
          rights.map(async ({ resource, actions }) => {
            const { EvaluationResults = [] } = await iam.send(
              new SimulatePrincipalPolicyCommand({
                PolicySourceArn: source,
                ActionNames: [...actions],
                ResourceArns: [resource],
                ContextEntries: [
                  { ContextKeyName: 'aws:RequestedRegion', ContextKeyType: 'string', ContextKeyValues: [region] },
                  {
                    ContextKeyName: 'aws:MultiFactorAuthPresent',
                    ContextKeyType: 'boolean',
                    ContextKeyValues: ['true'],
                  },
                ],
              }),
            )
            return EvaluationResults.flatMap(({ EvalActionName = '', EvalDecision, MissingContextValues = [] }) =>
              EvalDecision === 'allowed' || MissingContextValues.length > 0 ? [] : [EvalActionName],
            )
          }),
        )
        return [...new Set(denied.flat())]
      } catch (error) {
        if (error instanceof Error && /^AccessDenied/.test(error.name)) return undefined
        throw error
      }
    },
    async listStacks(names) {
      const stacks: Stack[] = []
      let NextToken: string | undefined
      do {
        const page = await cloudFormation.send(new DescribeStacksCommand({ ...(NextToken && { NextToken }) }))
        stacks.push(...(page.Stacks ?? []))
        NextToken = page.NextToken
      } while (NextToken)
      return stacks
        .filter(({ StackName = '' }) => names.includes(StackName))
        .map((stack) => StackForm.parse(stack))
        .map((stack) => ({
          name: stack.StackName,
          status: stack.StackStatus,
          reason: stack.StackStatusReason,
          createdAt: stack.CreationTime,
          isProtected: stack.EnableTerminationProtection,
          outputs: Object.fromEntries(stack.Outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue])),
        }))
    },
    async deleteStack({ name, isProtected }) {
      if (isProtected) {
        const unprotected = { StackName: name, EnableTerminationProtection: false }
        await cloudFormation.send(new UpdateTerminationProtectionCommand(unprotected))
      }
      await cloudFormation.send(new DeleteStackCommand({ StackName: name }))
    },
  }
}

type Patience = { readonly say: (line: string) => void; readonly sleep: (milliseconds: number) => Promise<unknown> }

/** Pause between two polls of CloudFormation. With `MAX_POLLS`, polling ends after an hour. */
const PAUSE_MS = 10_000
const MAX_POLLS = 360

/**
 * Waits until CloudFormation works on none of the stacks with these names. Returns those of them that exist. Throws an
 * AdminError after an hour.
 */
export async function waitForSettledStacks(
  account: AwsAccount,
  names: readonly string[],
  { say, sleep }: Patience,
): Promise<readonly StackState[]> {
  for (let poll = 0; poll < MAX_POLLS; poll += 1) {
    const stacks = await account.listStacks(names)
    const busy = stacks.filter(({ status }) => status.endsWith('_IN_PROGRESS') && status !== 'REVIEW_IN_PROGRESS')
    if (busy.length === 0) return stacks
    if (poll % 6 === 0) say(`Waiting for ${busy.map(({ name, status }) => `${name} (${status})`).join(', ')} …`)
    await sleep(PAUSE_MS)
  }
  throw new AdminError(
    `CloudFormation still works on ${names.join(', ')} after an hour. See its events in the console.`,
  )
}

/** Deletes a stack and waits until the stack is gone. Throws an AdminError with CloudFormation's reason if the stack remains. */
export async function removeStack(account: AwsAccount, stack: StackState, patience: Patience): Promise<void> {
  await account.deleteStack(stack)
  const [left] = await waitForSettledStacks(account, [stack.name], patience)
  if (!left) return
  throw new AdminError(
    `CloudFormation could not delete ${stack.name}: ${left.reason || `${left.status}.`} Remove what it names, and run the same command again.`,
  )
}
