import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, vi } from 'vitest'
import type { Admin } from '../../admin/admin.ts'
import type { Answers } from '../../admin/stage/answers.ts'
import { openAwsAccount } from '../../admin/stage/aws-account.ts'
import { bringUpStage, type UpServices } from '../../admin/stage/bring-up.ts'
import { takeDownStage } from '../../admin/stage/take-down.ts'
import type { SigningKey } from '../../lib/signing/keys.ts'
import type { BackendsOptions } from '../../sandbox/backends.ts'
import { AWS_ERRORS, startControlPlane } from '../support/control-plane.ts'
import { test as base } from '../support/service.ts'

const BASE = 8453
const API = 'https://a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com'
const STACKS = ['vaultline-dev-shared', 'vaultline-dev-vaults', 'vaultline-dev-jobs']

const test = base
  .extend('backendsOptions', { scope: 'file' }, (): BackendsOptions => ({ chainIds: [BASE] }))
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('plane', async ({}, { onCleanup }) => {
    const plane = await startControlPlane()
    vi.stubEnv('AWS_ENDPOINT_URL', plane.url)
    vi.stubEnv('AWS_REGION', 'eu-west-1')
    onCleanup(async () => {
      vi.unstubAllEnvs()
      await plane.stop()
    })
    return plane
  })
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('stagesFile', async ({}, { onCleanup }) => {
    const directory = await mkdtemp(join(tmpdir(), 'up-'))
    onCleanup(() => rm(directory, { recursive: true }))
    return join(directory, 'stages.json')
  })
  /**
   * An empty stage on the local chain and tables; the command `up` creates its clients and keys. `written` collects the stored keys and
   * configuration.
   */
  .extend('stage', ({ service: { backends } }) => {
    const { admin } = backends
    const written = { keys: [] as readonly SigningKey[], config: {} as Record<string, unknown> }
    const before = admin.clients.list()
    const fresh: Admin = {
      ...admin,
      clients: {
        ...admin.clients,
        list: async () => {
          const seeded = (await before).map(({ clientId }) => clientId)
          return (await admin.clients.list()).filter(({ clientId }) => !seeded.includes(clientId))
        },
      },
      signingKeys: {
        read: async () => written.keys,
        write: async (keys) => {
          written.keys = keys
        },
      },
      config: {
        merge: async (fields) => {
          Object.assign(written.config, fields)
        },
      },
    }
    return { admin: fresh, written }
  })
  /**
   * Environment of the command `up`, with a simulated CDK that creates stacks instantly. It collects all output and the started processes.
   */
  .extend('environment', ({ plane, stage, stagesFile }) => {
    const said: string[] = []
    const printed: string[] = []
    const ran: string[] = []
    const environment: UpServices = {
      accountIn: openAwsAccount,
      connect: () => stage.admin,
      cdk: async (words) => {
        ran.push(`cdk ${words.join(' ')}`)
        if (words[0] === 'bootstrap') plane.stacks.set('CDKToolkit', { status: 'CREATE_COMPLETE' })
        else for (const name of STACKS) plane.stacks.set(name, { status: 'CREATE_COMPLETE', outputs: { ApiUrl: API } })
        return { code: 0, tail: '' }
      },
      smoke: async (url, apiKey) => {
        ran.push(`smoke ${url}${apiKey ? ' with the key' : ''}`)
        return { code: 0, tail: 'All 13 passed.' }
      },
      doctor: async () => ({ code: 0, tail: '0 failed and 1 warned of 20.' }),
      agree: async (question) => {
        said.push(question)
        return true
      },
      say: (line) => said.push(line),
      print: (line) => printed.push(line),
      stagesFile,
      priceOf: () => 49.6,
      sleep: async () => undefined,
    }
    return { ...environment, said, printed, ran }
  })
  .extend('answers', ({ service: { backends } }): Answers => {
    const [vault] = backends.chains.flatMap((chain) => chain.vaults)
    if (!vault) throw new Error('There is no vault.')
    const { chainId, address } = vault
    return {
      stage: 'dev',
      domain: undefined,
      alarmEmail: 'on-call@harbor.dev',
      config: { rpcUrls: {} },
      vault: { chainId, address },
    }
  })

async function summarizeStage({ admin, written }: { admin: Admin; written: { keys: readonly SigningKey[] } }) {
  const clients = await admin.clients.list()
  const records = await Promise.all(clients.map(async ({ clientId }) => await admin.clients.get(clientId)))
  return {
    signingKeys: written.keys.length,
    clients: records.map((record) => ({ vaults: record?.client.vaults.length, keys: record?.keys.length })),
  }
}
const WHOLE = { signingKeys: 1, clients: [{ vaults: 1, keys: 1 }] }

describe('npm run up', () => {
  test('asks once, creates a whole stage from nothing, and prints its URL and its key', async ({
    answers,
    environment,
    stage,
    stagesFile,
  }) => {
    await bringUpStage(answers, environment)
    expect(environment.said.filter((line) => line.endsWith('Go on?'))).toEqual([
      expect.stringMatching(
        /^In account 123456789012, eu-west-1, this\n- changes stages\.json: dev\.alarmEmail\n- bootstraps CDK.*\n- deploys the stacks vaultline-dev-\*.*\n- stores your node URLs.*\n- makes a signing key.*8453:0x\w{40}\n.*about \$50 a month/,
      ),
    ])
    expect(environment.ran).toEqual([
      'cdk bootstrap aws://123456789012/eu-west-1',
      `cdk deploy vaultline-dev/* --context stages=${stagesFile} --require-approval never`,
      `smoke ${API} with the key`,
    ])
    expect(environment.printed).toEqual([expect.stringMatching(/^API key, shown once: jk_\w+$/), `URL: ${API}`])
    const [key = ''] = environment.printed.map((line) => line.split(': ')[1])
    expect([...environment.said, ...environment.ran].join('\n')).not.toContain(key)
    expect(await summarizeStage(stage)).toEqual(WHOLE)
    expect(stage.written.config).toEqual({ rpcUrls: {} })
    expect(JSON.parse(await readFile(stagesFile, 'utf8'))).toEqual({ dev: { alarmEmail: 'on-call@harbor.dev' } })
  })

  test('stopped after any step, can be completed by the next run without duplicates', async ({
    answers,
    environment,
    stage,
    plane,
  }) => {
    const names = [
      'stages.json',
      'failed stacks',
      'bootstrap',
      'stacks',
      'node URLs',
      'signing key',
      'client',
      'vault',
      'API key',
      'smoke',
      'doctor',
    ]
    for (const [index, last] of names.entries()) {
      const say = (line: string) => {
        environment.said.push(line)
        if (line.startsWith(`ok    ${last}:`)) throw new Error('The process is killed.')
      }
      await expect(bringUpStage(answers, { ...environment, say }), last).rejects.toThrow('is killed')
      const steps = environment.said.filter((line) => line.endsWith(' …')).map((line) => line.replace(' …', ''))
      expect(steps.slice(-index - 1), last).toEqual(names.slice(0, index + 1))
    }
    await bringUpStage(answers, environment)
    expect(await summarizeStage(stage)).toEqual(WHOLE)
    expect(environment.printed.filter((line) => line.startsWith('API key'))).toHaveLength(1)
    expect(environment.ran.filter((line) => line.startsWith('cdk bootstrap'))).toHaveLength(1)
    expect([...plane.stacks.keys()]).toEqual(['CDKToolkit', ...STACKS])
  })

  test.for([
    ['an ended session', 'GetCallerIdentity', AWS_ERRORS.expired, /^Your AWS session has ended\. Log in again/],
    [
      'credentials that AWS does not know',
      'GetCallerIdentity',
      AWS_ERRORS.unknown,
      /^AWS does not know your credentials/,
    ],
    [
      'a role that may not look',
      'DescribeStacks',
      AWS_ERRORS.denied('cloudformation:DescribeStacks', '*'),
      /^Your AWS role may not cloudformation:DescribeStacks\. A first stage needs AdministratorAccess/,
    ],
    [
      'a role that may not read quotas',
      'GetAccountSettings',
      { ...AWS_ERRORS.denied('lambda:GetAccountSettings', '*'), code: 'AccessDeniedException' },
      /^Your AWS role may not lambda:GetAccountSettings/,
    ],
  ] as const)(
    'stops before it creates anything because of %s, and says what to do',
    async ([, action, refusal, sentence], { answers, environment, plane, stagesFile }) => {
      plane.failures.set(action, Array(9).fill(refusal))
      await expect(bringUpStage(answers, environment)).rejects.toThrow(sentence)
      expect(environment.ran).toEqual([])
      await expect(readFile(stagesFile)).rejects.toThrow('ENOENT')
    },
  )

  test('continues after AWS throttles its requests', async ({ answers, environment, plane }) => {
    plane.failures.set('DescribeStacks', [AWS_ERRORS.throttled, AWS_ERRORS.throttled])
    await bringUpStage(answers, environment)
    expect(environment.printed).toContain(`URL: ${API}`)
  })

  test('warns of apparently missing rights, or rights that it cannot read, and continues', async ({
    answers,
    environment,
    plane,
  }) => {
    plane.denied.add('iam:CreateRole').add('dynamodb:Scan')
    await bringUpStage(answers, environment)
    expect(environment.said.filter((line) => line.startsWith('WARN'))).toEqual([
      expect.stringMatching(
        /^WARN {2}rights: IAM's simulation says that your role .*:assumed-role\/Dev\/me may not iam:CreateRole, dynamodb:Scan\. /,
      ),
    ])
    plane.failures.set('GetRole', [AWS_ERRORS.denied('iam:GetRole', 'role Dev')])
    await bringUpStage(answers, environment)
    expect(environment.said).toContain('skip  rights: AWS does not let your role look at them')
  })

  test('accepts rights that depend on the region, on MFA, or on an unknown condition', async ({
    answers,
    environment,
    plane,
  }) => {
    for (const [key, value] of [
      ['aws:RequestedRegion', 'eu-west-1'],
      ['aws:MultiFactorAuthPresent', 'true'],
      ['aws:SourceVpc', 'vpc-1'],
    ] as const) {
      plane.conditions.set(key, value)
      environment.said.length = 0
      await bringUpStage(answers, environment)
      expect(environment.said, key).toContain('ok    rights: they suffice')
    }
  })

  test('warns of the ten executions of a new account, with the command that requests more', async ({
    answers,
    environment,
    plane,
  }) => {
    plane.account.executions = 10
    await bringUpStage(answers, environment)
    expect(environment.said.join('\n')).toMatch(
      /WARN {2}quota: the account runs 10 functions at a time.*\n.*request-service-quota-increase --service-code lambda --quota-code L-B99A9384/,
    )
  })

  test('deletes stacks whose creation failed, even protected ones, and says so before', async ({
    answers,
    environment,
    plane,
  }) => {
    plane.stacks.set('vaultline-dev-shared', { status: 'ROLLBACK_COMPLETE', isProtected: true })
    plane.stacks.set('vaultline-dev-vaults', { status: 'CREATE_FAILED' })
    await bringUpStage(answers, environment)
    const [question] = environment.said.filter((line) => line.endsWith('Go on?'))
    expect(question).toContain('- deletes vaultline-dev-shared, which is ROLLBACK_COMPLETE and holds no data')
    expect(plane.requests.filter((request) => request.startsWith('Delete'))).toEqual([
      'DeleteStack vaultline-dev-shared',
      'DeleteStack vaultline-dev-vaults',
    ])
  })

  test('leaves other stages’ stacks unchanged, whatever their names begin with', async ({
    answers,
    environment,
    plane,
  }) => {
    const others = ['CDKToolkit-payments-team', 'vaultline-dev-payments', 'vaultline-dev-shared-copy']
    plane.stacks.set(others[0] ?? '', { status: 'ROLLBACK_COMPLETE' })
    plane.stacks.set(others[1] ?? '', { status: 'UPDATE_ROLLBACK_FAILED' })
    plane.stacks.set(others[2] ?? '', { status: 'UPDATE_IN_PROGRESS' })
    await bringUpStage(answers, environment)
    await takeDownStage('dev', { isForced: true }, { ...environment, ask: async () => 'dev' })
    expect([...plane.stacks.keys()]).toEqual([...others, 'CDKToolkit'])
  })

  test.for([
    [
      'vaultline-dev-shared',
      'see in the console what it still holds.* aws cloudformation delete-stack --stack-name vaultline-dev-shared',
    ],
    ['CDKToolkit', 'aws cloudformation delete-stack --stack-name CDKToolkit'],
  ] as const)(
    'never finishes the deletion of %s itself, because it can hold data',
    async ([name, advice], { answers, environment, plane }) => {
      plane.stacks.set(name, { status: 'DELETE_FAILED', reason: 'Resource x is in use' })
      await expect(bringUpStage(answers, environment)).rejects.toThrow(
        new RegExp(`^${name} is DELETE_FAILED: Resource x is in use\\. .*${advice}`),
      )
      expect(plane.requests.filter((request) => request.startsWith('Delete'))).toEqual([])
    },
  )

  test('waits for the deploy of a run that was stopped', async ({ answers, environment, plane }) => {
    plane.stacks.set('vaultline-dev-jobs', { status: 'UPDATE_IN_PROGRESS' })
    const sleep = async () => plane.stacks.set('vaultline-dev-jobs', { status: 'UPDATE_COMPLETE' })
    await bringUpStage(answers, { ...environment, sleep })
    expect(environment.said).toContain('Waiting for vaultline-dev-jobs (UPDATE_IN_PROGRESS) …')
  })

  test.for([
    ['vaultline-dev-jobs', 'npx cdk rollback vaultline-dev/jobs'],
    ['CDKToolkit', 'aws cloudformation continue-update-rollback --stack-name CDKToolkit'],
  ] as const)(
    'leaves %s to its operator if its rollback failed',
    async ([name, command], { answers, environment, plane }) => {
      plane.stacks.set(name, { status: 'UPDATE_ROLLBACK_FAILED', reason: 'Resource x is gone' })
      await expect(bringUpStage(answers, environment)).rejects.toThrow(
        `${name} is UPDATE_ROLLBACK_FAILED: Resource x is gone. Run ${command}, then this command again.`,
      )
      expect(environment.ran).toEqual([])
    },
  )

  test('says what to do if the session ends during a deploy, and the next run completes the stage', async ({
    answers,
    environment,
    stage,
  }) => {
    const cdk: UpServices['cdk'] = async (words) =>
      words[0] === 'bootstrap'
        ? await environment.cdk(words)
        : {
            code: 1,
            tail: ' ❌  vaultline-dev-jobs failed: ExpiredToken: The security token included in the request is expired',
          }
    await expect(bringUpStage(answers, { ...environment, cdk })).rejects.toThrow(
      /^cdk deploy failed\. Your AWS session has ended\. Log in again, .* run the same command again: it continues/,
    )
    await bringUpStage(answers, environment)
    expect(await summarizeStage(stage)).toEqual(WHOLE)
  })

  test('creates nothing without consent', async ({ answers, environment, stagesFile }) => {
    await expect(bringUpStage(answers, { ...environment, agree: async () => false })).rejects.toThrow(
      'Nothing was made.',
    )
    expect(environment.ran).toEqual([])
    await expect(readFile(stagesFile)).rejects.toThrow('ENOENT')
  })

  test('repeats the checks until the jobs have run, and ends with the remaining problems', async ({
    answers,
    environment,
  }) => {
    const tails = ['FAIL  coins', 'FAIL  coins', 'All 13 passed.']
    const smoke = async () => ({ code: tails.length > 1 ? 1 : 0, tail: tails.shift() ?? '' })
    const doctor = async () => ({ code: 1, tail: 'FAIL  market  unknown' })
    await expect(bringUpStage(answers, { ...environment, smoke, doctor })).rejects.toThrow(
      /^FAIL {2}market {2}unknown\nThe stage is there, and this is not right yet/,
    )
    expect(environment.said.join('\n')).toContain('ok    smoke: \nAll 13 passed.')
  })
})

describe('npm run down', () => {
  const typed = async () => 'dev'

  test('deletes the newest stacks first after the name is typed, and keeps the bootstrap', async ({
    plane,
    environment,
  }) => {
    const stacks = [...STACKS, 'vaultline-dev-edge']
    for (const name of ['CDKToolkit', ...stacks]) plane.stacks.set(name, { status: 'CREATE_COMPLETE' })
    await expect(
      takeDownStage('dev', { isForced: false }, { ...environment, ask: async () => 'prod' }),
    ).rejects.toThrow('Nothing was deleted.')
    expect([...plane.stacks.keys()]).toHaveLength(5)
    await takeDownStage('dev', { isForced: false }, { ...environment, ask: typed })
    expect([...plane.stacks.keys()]).toEqual(['CDKToolkit'])
    expect(plane.requests.filter((request) => request.startsWith('Delete'))).toEqual(
      stacks.toReversed().map((name) => `DeleteStack ${name}`),
    )
  })

  test('refuses a protected stage and names what would stay; with force it deletes the stacks', async ({
    plane,
    environment,
  }) => {
    plane.stacks.set('vaultline-dev-shared', { status: 'UPDATE_COMPLETE', isProtected: true })
    await expect(takeDownStage('dev', { isForced: false }, { ...environment, ask: typed })).rejects.toThrow(
      /^Stage dev is protected\. With --force its stacks go\.\nThese stay, with all data.*\n- tables: vaultline-dev-clients/,
    )
    await takeDownStage('dev', { isForced: true }, { ...environment, ask: typed })
    expect(plane.requests).toContain('UpdateTerminationProtection vaultline-dev-shared')
    expect(plane.stacks.size).toBe(0)
  })

  test('names the resource that blocks a stack’s deletion and continues there in the next run', async ({
    plane,
    environment,
  }) => {
    for (const name of STACKS) plane.stacks.set(name, { status: 'CREATE_COMPLETE' })
    const reason = 'The following resource(s) failed to delete: [Bucket].'
    const accountIn: UpServices['accountIn'] = (region) => ({
      ...openAwsAccount(region),
      deleteStack: async ({ name }) => {
        plane.stacks.set(name, { status: 'DELETE_FAILED', reason })
      },
    })
    await expect(takeDownStage('dev', { isForced: false }, { ...environment, accountIn, ask: typed })).rejects.toThrow(
      `CloudFormation could not delete vaultline-dev-jobs: ${reason} Remove what it names, and run the same command again.`,
    )
    await takeDownStage('dev', { isForced: false }, { ...environment, ask: typed })
    expect(plane.stacks.size).toBe(0)
  })

  test('reports a missing stage', async ({ plane: _, environment }) => {
    await expect(takeDownStage('dev', { isForced: false }, { ...environment, ask: typed })).rejects.toThrow(
      'Account 123456789012 has no stage dev in eu-west-1.',
    )
  })
})

test('A stage without answers for its file needs no file, also under the name stages.json', async ({
  answers,
  environment,
  stagesFile,
}) => {
  const plain = { ...answers, alarmEmail: undefined }
  await bringUpStage(plain, { ...environment, stagesFile: undefined })
  expect(environment.ran).toContain('cdk deploy vaultline-dev/* --require-approval never')
  await expect(bringUpStage(plain, environment)).rejects.toThrow(`There is no file ${stagesFile}.`)
})

test('The file of stages keeps the fields that no answer names', async ({ answers, environment, stagesFile }) => {
  await writeFile(stagesFile, JSON.stringify({ dev: { monthlyBudgetUsd: 50, alarmEmail: 'on-call@harbor.dev' } }))
  await bringUpStage(answers, environment)
  expect(JSON.parse(await readFile(stagesFile, 'utf8'))).toEqual({
    dev: { monthlyBudgetUsd: 50, alarmEmail: 'on-call@harbor.dev' },
  })
})
