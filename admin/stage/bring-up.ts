import { configSecretName, EDGE_REGION, stackName } from '../../infra/environments.ts'
import { stackNames } from '../../infra/functions.ts'
import type { StageEnvironment } from '../../infra/stages.ts'
import { type Admin, AdminError } from '../admin.ts'
import { createClient, issueKey } from '../operations/clients.ts'
import { addSigningKey } from '../operations/keys.ts'
import { addVault } from '../operations/vaults.ts'
import type { Answers } from './answers.ts'
import { type AwsAccount, type AwsIdentity, removeStack, waitForSettledStacks } from './aws-account.ts'
import { describeAwsFailure, explainError } from './aws-failure.ts'
import { MIN_CONCURRENT_EXECUTIONS, RAISE_EXECUTIONS_COMMAND } from './quota.ts'
import { listDeployPermissions } from './rights.ts'
import { deriveRequiredAction, type StackState } from './stacks.ts'
import { planStagesFile, type StagesFilePlan } from './stages-file.ts'

/** Result of a child process: its exit code, and the end of its output. */
export type ProcessResult = { readonly code: number; readonly tail: string }

/** Services that the command `up` uses to create a stage. */
export type UpServices = {
  /** Opens the operator's AWS account, by default in the region of the process's environment. */
  readonly accountIn: (region?: string) => AwsAccount
  readonly connect: (stage: Answers['stage']) => Admin
  readonly cdk: (words: readonly string[]) => Promise<ProcessResult>
  /** Sends a client's requests to a stage's API, and returns the result of these checks. */
  readonly smoke: (url: string, apiKey: string | undefined) => Promise<ProcessResult>
  readonly doctor: (stage: Answers['stage']) => Promise<ProcessResult>
  readonly agree: (question: string) => Promise<boolean>
  /** Reports progress to the operator. */
  readonly say: (line: string) => void
  /** Prints output that the operator should keep, such as the API key. */
  readonly print: (line: string) => void
  /** Path of the operator's file of stages; undefined for stages.json, which may be absent. */
  readonly stagesFile: string | undefined
  /** Returns the monthly price of a stage without users, in dollars. */
  readonly priceOf: (environment: StageEnvironment, hasOwnNodes: boolean) => number
  readonly sleep: (milliseconds: number) => Promise<unknown>
}

/** Operator's answers, and the state of the AWS account before the first change. */
type Plan = {
  readonly answers: Answers
  readonly identity: AwsIdentity
  readonly file: StagesFilePlan
  readonly isBootstrapped: boolean
  readonly failed: readonly StackState[]
}

/** Results of steps that later steps need. `apiKey` is undefined unless this run of the command issued the key. */
type Results = { clientId: string; apiKey: string | undefined; url: string }

/**
 * Name of a step, and the function that runs the step. The function skips work that an earlier run of the command did, and returns a phrase
 * about the result.
 */
type Step = readonly [name: string, run: (environment: UpServices, plan: Plan, results: Results) => Promise<string>]

const BOOTSTRAP_STACK = 'CDKToolkit'
const CLIENT_NAME = 'Our wallet'
/**
 * Maximum tries of a final check, one every 30 seconds. A check can fail at first, because the job of market data first runs up to ten
 * minutes after the deploy.
 */
const MAX_TRIES = 30
const TRY_AGAIN_MS = 30_000

/**
 * Creates a stage. Inspects the AWS account, requests the operator's consent once, and creates what is missing, step by step. Each step
 * checks what exists, so that the command can run again after a failure. Prints the URL and a new API key. Throws an AdminError with the
 * remedy if it cannot continue.
 */
export async function bringUpStage(answers: Answers, environment: UpServices): Promise<void> {
  try {
    const plan = await inspect(answers, environment)
    const question = [...describePlan(plan, environment), 'Go on?'].join('\n')
    if (!(await environment.agree(question))) throw new AdminError('Nothing was made.')
    const results: Results = { clientId: '', apiKey: undefined, url: '' }
    for (const [name, run] of STEPS) {
      environment.say(`${name} …`)
      environment.say(`ok    ${name}: ${await run(environment, plan, results)}`)
    }
    environment.print(`URL: ${results.url}`)
  } catch (error) {
    throw explainError(error)
  }
}

/**
 * Inspects the account before the operator consents. Changes nothing. Throws an AdminError for the first problem that would stop a later
 * step.
 */
async function inspect(answers: Answers, environment: UpServices): Promise<Plan> {
  const { accountIn, say, stagesFile } = environment
  const account = accountIn()
  const { stage } = answers
  const file = await planStagesFile(stagesFile, answers)
  const identity = await account.identify()
  say(`ok    AWS: account ${identity.account}, ${identity.region}`)
  const [executions, bootstrap, stacks] = [
    await account.countExecutions(),
    await waitForSettledStacks(account, [BOOTSTRAP_STACK], environment),
    await waitForSettledStacks(account, stackNames(stage), environment),
  ]
  const isBootstrapped = bootstrap.some((stack) => deriveRequiredAction(stack) === 'deploy')
  const denied = await account.listDenied(listDeployPermissions(identity, stage, isBootstrapped))
  if (denied && denied.length > 0) {
    say(`WARN  rights: IAM's simulation says that your role ${identity.arn} may not ${denied.join(', ')}. If AWS`)
    say('      refuses them, the run stops there. A first stage needs AdministratorAccess (docs/deploy.md).')
  } else {
    say(denied ? 'ok    rights: they suffice' : 'skip  rights: AWS does not let your role look at them')
  }
  if (executions < MIN_CONCURRENT_EXECUTIONS) {
    say(`WARN  quota: the account runs ${executions} functions at a time, and users get 503 beyond. Request more:`)
    say(`      ${RAISE_EXECUTIONS_COMMAND}`)
  }
  for (const stack of [...bootstrap, ...stacks]) {
    const todo = adviceOn(stack, stage)
    if (todo) throw new AdminError(`${stack.name} is ${stack.status}: ${stack.reason || 'no reason given'}. ${todo}`)
  }
  const failed = [...bootstrap, ...stacks].filter((stack) => deriveRequiredAction(stack) === 'delete')
  return { answers, identity, file, isBootstrapped, failed }
}

/** Returns advice with the command that repairs a stack, if only the operator can decide on it; undefined for other stacks. */
function adviceOn(stack: StackState, stage: Answers['stage']): string | undefined {
  const { name } = stack
  const treatment = deriveRequiredAction(stack)
  if (treatment === 'finish the deletion') {
    return `It can hold data: see in the console what it still holds. If that may go, run aws cloudformation delete-stack --stack-name ${name}, then this command again.`
  }
  if (treatment !== 'roll back') return undefined
  // CDK selects a stack by its path in the app. CDK's own bootstrap stack is not in the app, so an AWS command rolls the bootstrap stack
  // back.
  const command =
    name === BOOTSTRAP_STACK
      ? `aws cloudformation continue-update-rollback --stack-name ${name}`
      : `npx cdk rollback ${name.replace(stackName(stage, ''), `vaultline-${stage}/`)}`
  return `Run ${command}, then this command again.`
}

function describePlan({ answers, identity, file, isBootstrapped, failed }: Plan, { priceOf }: UpServices): string[] {
  const { stage, vault } = answers
  const price = Math.round(priceOf(file.environment, answers.config?.['rpcUrls'] !== undefined))
  return [
    `In account ${identity.account}, ${identity.region}, this`,
    ...(file.changes.length > 0 ? [`- changes stages.json: ${file.changes.join(', ')}`] : []),
    ...(isBootstrapped ? [] : ['- bootstraps CDK: a bucket and roles, once for each account and region']),
    ...failed.map(({ name, status }) => `- deletes ${name}, which is ${status} and holds no data`),
    `- deploys the stacks vaultline-${stage}-*: the API, its tables, jobs and queues`,
    ...(answers.config ? [`- stores your node URLs and keys in the secret ${configSecretName(stage)}`] : []),
    `- makes a signing key, a client with a key, and its vault ${vault.chainId}:${vault.address}`,
    `It takes about 40 minutes (an estimate) and costs about $${price} a month without users (docs/cost.md).`,
  ]
}

/** Steps of the command `up`, in the order in which it runs them. Each step needs the results of the steps before it. */
const STEPS: readonly Step[] = [
  [
    'stages.json',
    async (_, { file }) => {
      await file.write()
      return file.changes.length > 0 ? 'written' : 'needs no change'
    },
  ],
  [
    'failed stacks',
    async (environment, { failed }) => {
      for (const stack of failed) await removeStack(environment.accountIn(), stack, environment)
      return failed.length > 0 ? `${failed.length} deleted` : 'none'
    },
  ],
  [
    'bootstrap',
    async (environment, { identity: { account, region }, file, isBootstrapped }) => {
      // The certificates and the firewall of CloudFront (the edge) must be in CloudFront's region, so CDK's bootstrap stack must exist
      // there too.
      const elsewhere = file.environment.edge && region !== EDGE_REGION ? [EDGE_REGION] : []
      const regions = [...(isBootstrapped ? [] : [region]), ...elsewhere]
      if (regions.length === 0) return 'there already'
      await runCdk(environment, ['bootstrap', ...regions.map((one) => `aws://${account}/${one}`)])
      return regions.join(', ')
    },
  ],
  [
    'stacks',
    async (environment, { answers: { stage }, file }, results) => {
      const { accountIn, stagesFile } = environment
      const stacks = `vaultline-${stage}/*`
      const context = stagesFile === undefined ? [] : ['--context', `stages=${stagesFile}`]
      await runCdk(environment, ['deploy', stacks, ...context, '--require-approval', 'never'])
      const deployed = await accountIn().listStacks(stackNames(stage))
      const apiUrl = deployed.map(({ outputs }) => outputs['ApiUrl']).find((url) => url)
      if (!apiUrl) throw new AdminError(`No stack of ${stage} has the output ApiUrl.`)
      // A stage with CloudFront may refuse direct calls of the API's own URL, so the checks use CloudFront's domain.
      const { edge } = file.environment
      results.url = edge ? `https://${edge.domain.name}` : apiUrl
      return `${deployed.length} deployed`
    },
  ],
  [
    'node URLs',
    async ({ connect }, { answers: { stage, config } }) => {
      if (!config) return 'as they are: public ones unless the secret has others'
      await connect(stage).config.merge(config)
      return 'stored'
    },
  ],
  [
    'signing key',
    async ({ connect }, { answers: { stage } }) => {
      const admin = connect(stage)
      if ((await admin.signingKeys.read()).length > 0) return 'there already'
      return `${(await addSigningKey(admin)).keyId}, which signs within five minutes`
    },
  ],
  [
    'client',
    async ({ connect }, { answers: { stage } }, results) => {
      const admin = connect(stage)
      const own = (await admin.clients.list()).find(({ name }) => name === CLIENT_NAME)
      results.clientId = own?.clientId ?? (await createClient(admin, CLIENT_NAME)).clientId
      return `${results.clientId}${own ? ', there already' : ''}`
    },
  ],
  [
    'vault',
    async ({ connect }, { answers: { stage, vault } }, { clientId }) => {
      const admin = connect(stage)
      const { client } = (await admin.clients.get(clientId)) ?? {}
      const isThere = client?.vaults.some(
        ({ chainId, address }) => chainId === vault.chainId && address === vault.address,
      )
      if (isThere) return 'there already'
      const added = await addVault(admin, { ...vault, clientId }).catch((error: unknown) => {
        if (!(error instanceof AdminError)) throw error
        const byHand = `npm run admin -- add-vault --stage ${stage} --client ${clientId} --chain ${vault.chainId} --address ${vault.address}`
        throw new AdminError(
          `${error.message}\nGive another one with --vault, or add it by hand and run this again:\n${byHand}`,
        )
      })
      return added.vault.name
    },
  ],
  [
    'API key',
    async ({ connect, print }, { answers: { stage } }, results) => {
      const admin = connect(stage)
      const { keys = [] } = (await admin.clients.get(results.clientId)) ?? {}
      const [key] = keys.filter(({ revokedAt }) => !revokedAt)
      if (key) {
        return `…${key.lastFour}, there already. The checks use it if you set API_KEY. If you lost it: npm run admin -- issue-key --stage ${stage} --client ${results.clientId} --name second`
      }
      results.apiKey = (await issueKey(admin, { clientId: results.clientId, name: 'first key' })).text
      print(`API key, shown once: ${results.apiKey}`)
      return 'issued'
    },
  ],
  [
    'smoke',
    async (environment, _, { url, apiKey }) => await untilGood(environment, () => environment.smoke(url, apiKey)),
  ],
  [
    'doctor',
    async (environment, { answers: { stage } }) => await untilGood(environment, () => environment.doctor(stage)),
  ],
]

async function runCdk({ cdk }: UpServices, words: readonly string[]): Promise<void> {
  const { code, tail } = await cdk(words)
  if (code === 0) return
  const todo = describeAwsFailure(tail) ?? 'Read the failure above. Remove its cause and run the same command again.'
  throw new AdminError(`cdk ${words[0]} failed. ${todo}`)
}

/**
 * Repeats a check until it succeeds, because jobs first run some minutes after the deploy. Returns the last lines of the check's output.
 */
async function untilGood({ say, sleep: pause }: UpServices, check: () => Promise<ProcessResult>): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    const { code, tail } = await check()
    if (code === 0) return `\n${tail}`
    if (tries === MAX_TRIES) {
      throw new AdminError(
        `${tail}\nThe stage is there, and this is not right yet. Do what it says, and run the same command again.`,
      )
    }
    if (tries === 1)
      say(`${tail}\nWaiting for the first runs of the jobs, at most ${(MAX_TRIES * TRY_AGAIN_MS) / 60_000} minutes …`)
    await pause(TRY_AGAIN_MS)
  }
}
