import type { Stage } from '../infra/environments.ts'
import { readStages } from '../infra/stages.ts'
import type { RecordsStore } from '../lib/activity/store.ts'
import type { SharedCache } from '../lib/cache/cache.ts'
import { EVM_CHAINS } from '../lib/chain/registry.ts'
import { Config } from '../lib/config.ts'
import { once } from '../lib/core/once.ts'
import type { PinStore } from '../lib/vaults/pin-store.ts'
import type { ClientsAdminStore } from './clients.ts'
import type { DeadLetters } from './dead-letters.ts'
import { type AwsAccountReader, checkPermissions, checkQuota } from './doctor/account.ts'
import { type AlarmScope, checkSubscribers, type SubscriberCounts } from './doctor/alarms.ts'
import { checkTables, type TableProbe } from './doctor/aws.ts'
import { checkClients, checkVaults } from './doctor/clients.ts'
import { checkEdge, checkRates } from './doctor/edge.ts'
import { describeFindings, runChecks } from './doctor/examine.ts'
import { type Check, type Finding, guideSection } from './doctor/finding.ts'
import { checkMarket, checkRecords } from './doctor/jobs.ts'
import { checkChainNodes, readNodes } from './doctor/nodes.ts'
import { checkPasskeyDomain } from './doctor/passkeys.ts'
import { checkSecrets, type ReadSecret } from './doctor/secrets.ts'
import { checkSources } from './doctor/sources.ts'

/** Services of one environment that the command `doctor` uses. The command changes nothing. */
export type DoctorServices = {
  /** Deployed stage; undefined for the local service. */
  readonly stage: Stage | undefined
  /** Lists reasons why AWS cannot be called at all; empty for the local service. */
  readonly checkAccess: () => Promise<readonly Finding[]>
  readonly probeTable: TableProbe
  readonly readSecret: ReadSecret
  /** Counts the subscribers of alarms; undefined for the local service. */
  readonly countSubscribers: ((stage: Stage, alarmsOf: AlarmScope) => Promise<SubscriberCounts>) | undefined
  /** Opens the AWS account; undefined for the local service. */
  readonly openAccount: (() => Promise<AwsAccountReader>) | undefined
  readonly cache: Pick<SharedCache, 'get'>
  readonly fetch: typeof fetch
  /** Time limit of one check in milliseconds; `questionMs` is the limit of one request to another server. */
  readonly limitMs: number
  readonly questionMs: number
}

type Admin = {
  readonly clients: Pick<ClientsAdminStore, 'listWithKeys' | 'listVaultsOnChain'>
  readonly pinStore: Pick<PinStore, 'get'>
  readonly records: Pick<RecordsStore, 'getProgress'>
  readonly deadLetters: Pick<DeadLetters, 'queues' | 'count'>
  readonly nodes: { readonly say: (line: string) => void }
  /** Returns the present time in epoch milliseconds. */
  readonly now: () => number
  readonly examined: DoctorServices
}

const NOT_LOCAL = 'not on the local service'

/** Error if a finding has the mark FAIL. The command prints the error's lines as usual output and ends with exit code 1. */
export class FailedExamination extends Error {
  readonly lines: readonly string[]

  constructor(lines: readonly string[]) {
    super(lines.join('\n'))
    this.lines = lines
  }
}

/**
 * Runs all checks of an environment. Returns one line per finding, with the remedy on the next line. Throws FailedExamination with the same
 * lines if a finding is FAIL. Calls each node URL at most five times, each data source once, the passkeys' domain twice, CloudFront's
 * domain once, and the API's own URL once. Reads the clients' table. Sends AWS at most 53 other requests, and two more per hundred vaults.
 * If AWS cannot be called, returns only the reason.
 */
export async function runDoctor(admin: Admin, stagesFile: string | undefined): Promise<string[]> {
  const { limitMs, checkAccess, openAccount } = admin.examined
  const limits = { limitMs, say: admin.nodes.say }
  const hindrances = await runChecks([{ name: 'AWS', look: checkAccess }], limits)
  // The account's AWS clients load before the checks begin: loading them later would delay the checks' requests.
  const account = await openAccount?.()
  const findings = hindrances.length > 0 ? hindrances : await runChecks(listChecks(admin, account, stagesFile), limits)
  const lines = describeFindings(findings)
  if (findings.some(({ mark }) => mark === 'FAIL')) throw new FailedExamination(lines)
  return lines
}

function listChecks(
  admin: Admin,
  account: AwsAccountReader | undefined,
  stagesFile: string | undefined,
): readonly Check[] {
  const { clients, pinStore, records, deadLetters, examined, now } = admin
  const { stage, readSecret, countSubscribers } = examined
  const command = (text: string) => `npm run admin -- ${text}${stage ? ` --stage ${stage}` : ''}`

  // Several checks use the functions below; each function reads its data only once.
  const getConfig = once(async () => {
    const { data } = Config.safeParse(await readSecret('config'))
    if (!data) throw new Error('the secret config is not of its form')
    return data
  })
  const listClients = once(() => clients.listWithKeys())
  const listVaults = once(() =>
    Promise.all(EVM_CHAINS.map(async (chain) => ({ chain, vaults: await clients.listVaultsOnChain(chain.id) }))),
  )
  const listUsedChains = async () => (await listVaults()).filter(({ vaults }) => vaults.length > 0)
  const askAllNodes = once(async () => {
    const { rpcUrls } = await getConfig()
    return await Promise.all(EVM_CHAINS.map((chain) => readNodes({ ...examined, now }, chain, rpcUrls[chain.id])))
  })

  const readStage = once(async () => (stage ? (await readStages(stagesFile)).get(stage) : undefined))

  const inAccount = (name: string, check: typeof checkQuota) => ({
    name,
    look: async (): Promise<readonly Finding[]> =>
      stage && account ? await check(account, stage) : [{ mark: 'skip', name, result: NOT_LOCAL }],
  })

  return [
    inAccount('quota', checkQuota),
    inAccount('grants', checkPermissions),
    { name: 'secrets', look: () => checkSecrets(readSecret, command) },
    { name: 'tables', look: () => checkTables(examined.probeTable) },
    {
      name: 'nodes',
      look: async () => {
        // Every chain counts as used by vaults if the list of vaults cannot be read.
        const [chains, used] = await Promise.all([askAllNodes(), listUsedChains().catch(() => undefined)])
        return chains.map((nodes) => {
          const hasVaults = used?.some(({ chain }) => chain === nodes.chain) ?? true
          return checkChainNodes(nodes, { hasVaults, isProduction: stage === 'prod', isLocal: !stage, command })
        })
      },
    },
    { name: 'sources', look: async () => checkSources(examined, await getConfig()) },
    { name: 'passkeys', look: () => checkPasskeys(examined, stagesFile) },
    {
      name: 'edge',
      look: async () => {
        const edge = (await readStage())?.edge
        if (!edge) return [{ mark: 'skip', name: 'edge', result: stage ? 'the stage has none' : NOT_LOCAL }]
        const [edgeFindings, withKeys] = await Promise.all([checkEdge(examined, edge), listClients()])
        return [...edgeFindings, ...checkRates(withKeys, edge)]
      },
    },
    {
      name: 'alarms',
      look: async () => {
        if (!stage || !countSubscribers) return [{ mark: 'skip', name: 'alarms', result: NOT_LOCAL }]
        // An invalid file of stages counts as absent here, because the check `passkeys` reports it.
        const { edge, observe } = (await readStage().catch(() => undefined)) ?? {}
        if (observe === 'none') return [{ mark: 'skip', name: 'alarms', result: 'the stage observes nothing' }]
        const topics: readonly AlarmScope[] = edge ? ['stage', 'edge'] : ['stage']
        return await Promise.all(
          topics.map(async (alarmsOf) => checkSubscribers(await countSubscribers(stage, alarmsOf), stage, alarmsOf)),
        )
      },
    },
    { name: 'clients', look: async () => checkClients(await listClients(), now(), command) },
    {
      name: 'vaults',
      look: async () => {
        const vaults = (await listVaults()).flatMap((ofChain) => ofChain.vaults)
        return checkVaults(vaults, await pinStore.get(vaults), command)
      },
    },
    {
      name: 'records',
      look: async () => {
        // The check can compute the lag of records without a node's last block, so failing nodes do not stop the check.
        const [used, chains] = await Promise.all([listUsedChains(), askAllNodes().catch(() => [])])
        return await Promise.all(
          used.map(async ({ chain, vaults }) => {
            const head = chains.find((nodes) => nodes.chain === chain)?.head
            return checkRecords(chain, { progress: await records.getProgress(vaults), head, now: now() }, command)
          }),
        )
      },
    },
    { name: 'market', look: () => checkMarket(examined.cache, now()) },
    {
      name: 'dead letters',
      look: async () => {
        const counted = deadLetters.queues.map(async (queue) => ({ queue, count: await deadLetters.count(queue) }))
        const waiting = (await Promise.all(counted)).filter(({ count }) => count > 0)
        if (waiting.length === 0) return [{ mark: 'ok', name: 'dead letters', result: 'none' }]
        const result = waiting.map(({ queue, count }) => `${count} of ${queue}`).join(', ')
        return [
          {
            mark: 'WARN',
            name: 'dead letters',
            result,
            remedy: `${command('list-dead-letters')}, and docs/runbooks/undone-messages.md`,
          },
        ]
      },
    },
  ]
}

async function checkPasskeys(
  { stage, ...environment }: DoctorServices,
  stagesFile: string | undefined,
): Promise<Finding[]> {
  const name = 'passkeys'
  if (!stage) return [{ mark: 'skip', name, result: NOT_LOCAL }]
  const relyingParty = (await readStages(stagesFile)).get(stage)?.relyingParty
  if (relyingParty) return await checkPasskeyDomain(environment, relyingParty)
  const remedy = `Go where stages.json is, or name the file with --stages: ${guideSection('stages', 'Settings')}`
  return [{ mark: 'WARN', name, result: `no file of stages names ${stage}`, remedy }]
}
