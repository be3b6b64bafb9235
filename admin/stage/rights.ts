import { configSecretName, type Stage, signingSecretName } from '../../infra/environments.ts'
import { tableName } from '../../infra/tables.ts'
import type { AwsIdentity, ResourcePermission } from './aws-account.ts'

/**
 * Returns the IAM permissions that an operator of a stage needs: to read and write the tables of clients and deposits, and to fill the
 * secrets of configuration and signing keys.
 */
export function listOperatorPermissions({ account, region, arn }: AwsIdentity, stage: Stage): ResourcePermission[] {
  const [, partition] = arn.split(':')
  const own = (service: string, resource: string) => `arn:${partition}:${service}:${region}:${account}:${resource}`
  return [
    ...(['clients', 'deposits'] as const).map((table) => ({
      resource: own('dynamodb', `table/${tableName(stage, table)}`),
      actions: ['GetItem', 'BatchGetItem', 'Query', 'Scan', 'PutItem', 'UpdateItem'].map((one) => `dynamodb:${one}`),
    })),
    ...[configSecretName(stage), signingSecretName(stage)].map((secret) => ({
      // Secrets Manager appends six random characters to the ARN of a secret, so the simulated ARN needs six characters too.
      resource: own('secretsmanager', `secret:${secret}-AAAAAA`),
      actions: ['secretsmanager:GetSecretValue', 'secretsmanager:PutSecretValue'],
    })),
  ]
}

/**
 * Returns the IAM permissions that a deploy needs: to assume CDK's deploy role, to create this role if CDK is not bootstrapped, and those
 * of an operator.
 */
export function listDeployPermissions(
  identity: AwsIdentity,
  stage: Stage,
  isBootstrapped: boolean,
): ResourcePermission[] {
  const { account, region, arn } = identity
  const [, partition] = arn.split(':')
  const role = `arn:${partition}:iam::${account}:role/cdk-hnb659fds-deploy-role-${account}-${region}`
  const bucket = `arn:${partition}:s3:::cdk-hnb659fds-assets-${account}-${region}`
  const toolkit = `arn:${partition}:cloudformation:${region}:${account}:stack/CDKToolkit/*`
  const bootstrap: ResourcePermission[] = [
    { resource: role, actions: ['iam:CreateRole', 'iam:AttachRolePolicy', 'iam:PutRolePolicy', 'iam:PassRole'] },
    { resource: bucket, actions: ['s3:CreateBucket', 's3:PutBucketPolicy'] },
    { resource: toolkit, actions: ['cloudformation:CreateChangeSet', 'cloudformation:ExecuteChangeSet'] },
  ]
  return [
    ...(isBootstrapped ? [] : bootstrap),
    { resource: role, actions: ['sts:AssumeRole'] },
    ...listOperatorPermissions(identity, stage),
  ]
}
