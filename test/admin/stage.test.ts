import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test as base, describe, expect } from 'vitest'
import { type Prompter, readAnswers } from '../../admin/stage/answers.ts'
import { describeAwsFailure } from '../../admin/stage/aws-failure.ts'
import { deriveRequiredAction } from '../../admin/stage/stacks.ts'
import { planStagesFile } from '../../admin/stage/stages-file.ts'

const NONE = { stage: undefined, domain: undefined, alarms: undefined, nodes: undefined, vault: undefined }
const ALL = { stage: 'dev', domain: 'none', alarms: 'none', nodes: 'public', vault: 'example' }
const EXAMPLE = { chainId: 8453, address: '0xc1256Ae5FF1cf2719D4937adb3bbCCab2E00A2Ca' }

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('folder', async ({}, { onCleanup }) => {
    const folder = await mkdtemp(join(tmpdir(), 'stage-'))
    onCleanup(() => rm(folder, { recursive: true }))
    return folder
  })

/** Simulates an operator who types these lines, one for each question. Records the questions. */
function typist(...lines: string[]) {
  const questions: string[] = []
  const ask: Prompter = async (question) => {
    questions.push(question)
    return lines.shift() ?? ''
  }
  return { ask, questions }
}

describe('The five questions', () => {
  test('are asked on a terminal, again after a wrong answer, and take an empty line as the default', async () => {
    const { ask, questions } = typist('devv', '', 'none', 'not-a-mail', 'on-call@harbor.dev', '', '')
    const answers = await readAnswers(NONE, { ask, acceptsDefaults: false })
    expect(questions).toHaveLength(7)
    expect(questions[1]).toMatch(/^It must be one of dev, staging, prod\.\nStage/)
    expect(questions[4]).toMatch(/^It must be an e-mail address, or none\.\n/)
    expect(answers).toEqual({
      ...{ stage: 'dev', domain: undefined, alarmEmail: 'on-call@harbor.dev', config: undefined, vault: EXAMPLE },
    })
  })

  test('are answered by flags, or by their defaults for a machine', async () => {
    const expected = { stage: 'dev', domain: undefined, alarmEmail: undefined, config: undefined, vault: EXAMPLE }
    expect(await readAnswers(ALL, { ask: undefined, acceptsDefaults: false })).toEqual(expected)
    expect(await readAnswers(NONE, { ask: undefined, acceptsDefaults: true })).toEqual(expected)
    const vault = '42161:0xc1256ae5ff1cf2719d4937adb3bbccab2e00a2ca'
    const { ask, questions } = typist()
    const answers = await readAnswers(
      { ...ALL, stage: 'prod', domain: 'wallet.harbor.dev', vault },
      { ask, acceptsDefaults: false },
    )
    expect(questions).toEqual([])
    expect(answers).toMatchObject({
      ...{ stage: 'prod', domain: 'wallet.harbor.dev', vault: { chainId: 42161, address: EXAMPLE.address } },
    })
  })

  test('name the missing flags if there is no terminal', async () => {
    const { domain: _, nodes: __, ...flags } = ALL
    await expect(readAnswers({ ...NONE, ...flags }, { ask: undefined, acceptsDefaults: false })).rejects.toThrow(
      'There is no terminal to ask on. Give --domain, --nodes; or --yes for their defaults.',
    )
  })

  test.for([
    [{ stage: 'qa' }, '--stage must be one of dev, staging, prod.'],
    [{ domain: 'https://wallet.harbor.dev' }, '--domain must be a domain, as wallet.example.com, or none.'],
    [{ alarms: 'me' }, '--alarms must be an e-mail address, or none.'],
    [{ nodes: 'no-such-file.json' }, '--nodes must be a file that can be read, or public: no-such-file.json is not.'],
    [{ vault: '8453' }, '--vault must be a chain id and an address, as 8453:0x…, or example.'],
    [{ vault: `1:${EXAMPLE.address.replace('c1', '')}` }, '--vault must be a chain id and an address'],
    [{ vault: `999:${EXAMPLE.address}` }, '--vault must be the id of a supported chain.'],
  ] as const)('refuse the flag %o', async ([flag, sentence]) => {
    await expect(readAnswers({ ...ALL, ...flag }, { ask: undefined, acceptsDefaults: false })).rejects.toThrow(sentence)
  })

  test('take node URLs and keys from a file and never print its contents', async ({ folder }) => {
    const nodes = join(folder, 'config.json')
    const config = { rpcUrls: { '8453': ['https://one.example/secret', 'https://two.example/secret'] } }
    await writeFile(nodes, JSON.stringify(config))
    const read = () => readAnswers({ ...ALL, nodes }, { ask: undefined, acceptsDefaults: false })
    expect((await read()).config).toEqual(config)
    await writeFile(nodes, JSON.stringify({ rpcUrls: 'https://one.example/secret' }))
    const { message } = await read().then(
      () => new Error('read'),
      (error: Error) => error,
    )
    expect(message).toBe(`--nodes must be a file as docs/operate/secrets.md shows: ${nodes} has another form.`)
  })
})

describe('The file of stages', () => {
  test('gets an entry for the stage and keeps fields that no answer names', async ({ folder }) => {
    const path = join(folder, 'stages.json')
    const answers = { stage: 'prod', domain: 'wallet.harbor.dev', alarmEmail: 'on-call@harbor.dev' } as const
    const plan = await planStagesFile(path, answers)
    expect(plan.changes).toEqual(['prod.corsOrigins', 'prod.relyingParty', 'prod.alarmEmail'])
    expect(plan.environment).toMatchObject({ retain: true, relyingParty: { id: 'wallet.harbor.dev' } })
    await expect(readFile(path)).rejects.toThrow('ENOENT')
    await plan.write()
    const again = await planStagesFile(path, { stage: 'prod', domain: undefined, alarmEmail: undefined })
    expect(again.changes).toEqual([])
    expect(again.environment).toEqual(plan.environment)
    const dev = await planStagesFile(path, { stage: 'dev', domain: undefined, alarmEmail: 'dev@harbor.dev' })
    await dev.write()
    expect(Object.keys(JSON.parse(await readFile(path, 'utf8')))).toEqual(['prod', 'dev'])
  })

  test.for([
    [
      'another domain than its passkeys have',
      '{"dev":{"relyingParty":{"id":"old.harbor.dev"}}}',
      { stage: 'dev', domain: 'new.harbor.dev' },
      /names old\.harbor\.dev for the passkeys of dev\. With another domain no passkey works/,
    ],
    ['staging without a domain', '{}', { stage: 'staging' }, /^Stage staging needs a domain for its passkeys/],
    [
      'prod without alarms',
      '{}',
      { stage: 'prod', domain: 'wallet.harbor.dev' },
      /alarmEmail: its alarms would reach nobody/,
    ],
    [
      'a domain that nobody can own',
      '{}',
      { stage: 'staging', domain: 'wallet.example.com' },
      /nobody can own wallet\.example\.com/,
    ],
    ['a file that is none', '{"dev":', { stage: 'dev' }, /has another form\. Mend it, or move it away/],
  ] as const)('is not written with %s', async ([, text, answers, sentence], { folder }) => {
    const path = join(folder, 'stages.json')
    await writeFile(path, text)
    await expect(planStagesFile(path, { domain: undefined, alarmEmail: undefined, ...answers })).rejects.toThrow(
      sentence,
    )
  })
})

test.for([
  ['ExpiredToken: The security token included in the request is expired', /session has ended\. Log in again/],
  ['ExpiredTokenException: The security token included in the request is expired', /session has ended/],
  ['CredentialsProviderError: Could not load credentials from any providers', /There are no AWS credentials/],
  [
    'Unable to resolve AWS account to use. It must be either configured when you define your CDK Stack, or through the environment',
    /There are no AWS credentials/,
  ],
  ['Error: Region is missing', /Set AWS_REGION/],
  [
    'UnrecognizedClientException: The security token included in the request is invalid.',
    /does not know your credentials/,
  ],
  [
    'AccessDenied: User: arn:aws:iam::123456789012:user/me is not authorized to perform: cloudformation:CreateChangeSet on resource: arn:aws:cloudformation:eu-west-1:123456789012:stack/x/* because no identity-based policy allows the cloudformation:CreateChangeSet action',
    /may not cloudformation:CreateChangeSet/,
  ],
  ['Error: connect ECONNREFUSED 127.0.0.1:443', /AWS cannot be reached/],
  ['LimitExceededException: Cannot exceed quota for RolesPerAccount: 1000', /A quota of the account is used up/],
  ['ThrottlingException: Rate exceeded', /limits requests at the moment/],
  ['TooManyRequestsException: Rate Exceeded.', /limits requests at the moment/],
  [
    'ValidationError: Stack:arn:aws:cloudformation:eu-west-1:123456789012:stack/vaultline-dev-shared/id is in ROLLBACK_COMPLETE state and can not be updated.',
    /in a state that no deploy can change/,
  ],
  [
    "vaultline-dev-shared: SSM parameter /cdk-bootstrap/hnb659fds/version not found. Has the environment been bootstrapped? Please run 'cdk bootstrap'",
    /finds no bootstrap here/,
  ],
  [
    "Resource of type 'AWS::DynamoDB::Table' with identifier 'vaultline-prod-users' already exists.",
    /retained is in the way\. .*tables.*secrets and queues.*docs\/operate\/stages\.md/i,
  ],
  [
    'The following hook(s)/validation failed: [AWS::EarlyValidation::ResourceExistenceCheck].',
    /retained is in the way/,
  ],
  [
    "You can't create this secret because a secret with this name is already scheduled for deletion.",
    /aws secretsmanager restore-secret.*delete-secret --secret-id <name> --force-delete-without-recovery/,
  ],
  [
    'Resource handler returned message: "null" (RequestToken: x, HandlerErrorCode: ServiceLimitExceeded)',
    /A quota of the account is used up/,
  ],
  [
    "vaultline-dev-shared: This CDK deployment requires bootstrap stack version '6', found '5' in aws://1/eu-west-1. Please run 'cdk bootstrap'.",
    /CDK's bootstrap is too old\. Run npx cdk bootstrap/,
  ],
  [
    "TokenProviderError: Token is expired. To refresh this SSO session run 'aws sso login' with the corresponding profile.",
    /session has ended/,
  ],
  [
    "CredentialsProviderError: Token is expired. To refresh this SSO session run 'aws sso login' with the corresponding profile.",
    /session has ended/,
  ],
  ['UnauthorizedException: Session token not found or invalid', /session has ended/],
  ["TokenProviderError: Profile 'x' could not be found in shared credentials file.", /There are no AWS credentials/],
  ['OptInRequired: The AWS Access Key Id needs a subscription for the service', /account cannot use this service yet/],
  [
    'SubscriptionRequiredException: The AWS Access Key Id needs a subscription for the service',
    /account cannot use this service yet/,
  ],
  [
    'ValidationError: Stack:arn:aws:cloudformation:eu-west-1:123456789012:stack/vaultline-dev-jobs/id is in UPDATE_IN_PROGRESS state and can not be updated.',
    /still works on a stack.*waits/,
  ],
  [
    'ValidationError: Stack:arn:aws:cloudformation:eu-west-1:123456789012:stack/vaultline-dev-jobs/id is in DELETE_FAILED state and can not be updated.',
    /in a state that no deploy can change/,
  ],
  [
    "Access denied for operation 'AWS::CloudFront::Distribution: Your account must be verified before you can add new CloudFront resources. To verify your account, please contact AWS Support' (HandlerErrorCode: AccessDenied)",
    /^AWS has to verify your account.*AWS Support/,
  ],
  [
    'AccessDenied: User: arn:aws:iam::123456789012:user/me is not authorized to perform: iam:CreateRole on resource: x with an explicit deny in a service control policy',
    /^A service control policy of your organization denies iam:CreateRole\. Ask its administrators/,
  ],
] as const)('"%s" has a sentence that says what to do', ([text, sentence]) => {
  expect(describeAwsFailure(text)).toMatch(sentence)
})

test('An unexpected failure keeps its own message', () => {
  expect(describeAwsFailure('Error: Bundling failed')).toBeUndefined()
})

test('Each status of CloudFormation has its treatment, and an unknown one is left to the operator', () => {
  const of = (status: string) => deriveRequiredAction({ status })
  expect(['CREATE_COMPLETE', 'UPDATE_ROLLBACK_COMPLETE', 'REVIEW_IN_PROGRESS'].map(of)).toEqual(Array(3).fill('deploy'))
  expect(['ROLLBACK_COMPLETE', 'ROLLBACK_FAILED', 'CREATE_FAILED'].map(of)).toEqual(Array(3).fill('delete'))
  expect(of('DELETE_FAILED')).toBe('finish the deletion')
  expect(['CREATE_IN_PROGRESS', 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS'].map(of)).toEqual(Array(2).fill('wait'))
  expect(['UPDATE_ROLLBACK_FAILED', 'A_NEW_STATUS'].map(of)).toEqual(Array(2).fill('roll back'))
})
