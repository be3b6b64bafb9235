import { randomBytes, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { SNSClient } from '@aws-sdk/client-sns'
import { bytesToHex } from 'viem'
import * as z from 'zod'
import {
  configSecretName,
  EDGE_REGION,
  edgeSecretName,
  identitySecretName,
  type Stage,
  signingSecretName,
  webhookKeySecretName,
} from '../infra/environments.ts'
import { queueName } from '../infra/queues.ts'
import { type TableKey, tableName } from '../infra/tables.ts'
import { usersStore } from '../lib/accounts/store.ts'
import { type RecordingStore, recordingStore } from '../lib/activity/store.ts'
import { CLIENT_DEFAULTS } from '../lib/aws/client-defaults.ts'
import { dynamoClient } from '../lib/aws/dynamo.ts'
import { connectOperator, createOperatorTable } from '../lib/aws/operator-table.ts'
import { findQueueUrl, sendMessages, sqsClient } from '../lib/aws/queue.ts'
import type { OperatorDynamo } from '../lib/aws/requests.ts'
import { readSecretJson } from '../lib/aws/secrets.ts'
import type { Table } from '../lib/aws/table.ts'
import { transfersStore } from '../lib/bridge/store.ts'
import { sharedCache } from '../lib/cache/cache.ts'
import { cacheStore } from '../lib/cache/store.ts'
import { createAgreedReaders } from '../lib/chain/agreed-reader.ts'
import { createRpc } from '../lib/chain/nodes.ts'
import { createChainReaders } from '../lib/chain/readers.ts'
import { EVM_CHAINS, evmChain } from '../lib/chain/registry.ts'
import { Config } from '../lib/config.ts'
import { checksumAddress } from '../lib/core/codecs.ts'
import { KeysByAge } from '../lib/core/keys-by-age.ts'
import { describeVault } from '../lib/protocols/describe.ts'
import { simulateRoundTrip } from '../lib/protocols/round-trip.ts'
import { readPin } from '../lib/vaults/pin.ts'
import { pinStore } from '../lib/vaults/pin-store.ts'
import { attemptsStore } from '../lib/webhooks/attempts-store.ts'
import { eventLogStore } from '../lib/webhooks/log-store.ts'
import { parseMessageGroup } from '../lib/webhooks/queue.ts'
import { webhooksStore } from '../lib/webhooks/store.ts'
import { localConfig } from '../sandbox/dynamo.ts'
import { type Admin, AdminError } from './admin.ts'
import { clientsAdminStore } from './clients.ts'
import { createServerClock } from './clock.ts'
import { configSecret } from './config-secret.ts'
import { createDeadLetters } from './dead-letters.ts'
import { countSubscribers } from './doctor/alarms.ts'
import { checkAccess, createTableProbe } from './doctor/aws.ts'
import type { DoctorServices } from './doctor.ts'
import { edgeKeysSecret } from './edge-keys.ts'
import { createItemsRestorer } from './restore.ts'
import { signingKeysSecret } from './signing-keys.ts'
import { webhooksAdmin } from './webhooks.ts'

/** Prints progress to stderr, because the result on stdout may be redirected. */
const say = (line: string) => process.stderr.write(`${line}\n`)

type Urls = readonly [string, ...string[]]

const LocalState = z.object({
  dynamoEndpoint: z.url(),
  providersUrl: z.url(),
  deliveryQueueUrl: z.url(),
  tables: z.object({
    clients: z.string(),
    users: z.string(),
    deposits: z.string(),
    webhooks: z.string(),
    cache: z.string(),
  }),
  chains: z.array(z.object({ chainId: z.number(), rpcUrl: z.url(), nodeUrls: z.tuple([z.url()], z.url()).optional() })),
})

/**
 * Returns the operator's services for the local service that wrote this state file. Throws an AdminError if that service is not running.
 */
export async function connectLocal(stateFile: string): Promise<Admin> {
  const { dynamoEndpoint, ...state } = await readLocalState(stateFile)
  const client = dynamoClient(localConfig(dynamoEndpoint))
  return localAdmin({ ...state, dynamo: connectOperator(client), sharedNow: createServerClock(client, Date.now) })
}

type LocalParts = Omit<z.output<typeof LocalState>, 'dynamoEndpoint'> & {
  readonly dynamo: OperatorDynamo
  /** Clock in epoch milliseconds that is comparable with the functions' clocks. */
  readonly sharedNow: () => number
}

/** Returns the operator's services for a local service with these tables, queue and chains. */
export function localAdmin({ dynamo, sharedNow, providersUrl, deliveryQueueUrl, tables, chains }: LocalParts): Admin {
  const chainIds = chains.map(({ chainId }) => chainId)
  const open = (table: TableKey) => createOperatorTable(dynamo, tables[table])
  const secrets = new SecretsManagerClient(localConfig(providersUrl))
  const queues = sqsClient(localConfig(new URL(deliveryQueueUrl).origin))
  return {
    ...buildServices(chainIds, recordingStore(open('deposits')), (chainId) => {
      const chain = chains.find((candidate) => candidate.chainId === chainId)
      if (!chain) throw new AdminError(`The local service has no chain ${chainId}.`)
      return chain.nodeUrls ?? [chain.rpcUrl]
    }),
    clients: clientsAdminStore(open('clients')),
    users: usersStore(open('users')),
    transfers: transfersStore(open('deposits')),
    pinStore: pinStore(open('deposits')),
    deadLetters: createDeadLetters(queues, 'local', { sleep, say }),
    webhooks: webhooksAdmin({
      ...webhookStores(open('webhooks'), sharedNow),
      readWebhookKeys: () => readSecretJson(webhookKeySecretName('local'), KeysByAge, secrets),
      webhookReach: 'loopback',
      enqueue: (messages, options) =>
        sendMessages(deliveryQueueUrl, messages, { ...options, groupOf: parseMessageGroup, client: queues }),
    }),
    config: configSecret(configSecretName('local'), secrets),
    signingKeys: signingKeysSecret(signingSecretName('local'), secrets),
    edgeKeys: undefined,
    restoreItems: createItemsRestorer({ dynamo, nameOf: (table) => tables[table], now: Date.now, say }),
    keyEnvironment: 'local',
    examined: {
      ...examinedOf('local', open, secrets),
      checkAccess: async () => [],
      stage: undefined,
      countSubscribers: undefined,
      openAccount: undefined,
    },
  }
}

/** Returns the operator's services for a deployed stage. AWS credentials and region come from the process's environment. */
export function connectStage(stage: Stage): Admin {
  const client = dynamoClient()
  const dynamo = connectOperator(client)
  const sharedNow = createServerClock(client, Date.now)
  const open = (table: TableKey) => createOperatorTable(dynamo, tableName(stage, table))
  const examined = examinedOf(stage, open)
  const chainIds = EVM_CHAINS.map(({ id }) => id)
  return {
    ...buildServices(chainIds, recordingStore(open('deposits')), async (chainId) => {
      const { rpcUrls } = await readSecretJson(configSecretName(stage), Config)
      const urls = rpcUrls[chainId] ?? evmChain(chainId)?.rpcUrls
      if (!urls) throw new AdminError(`Chain ${chainId} is not supported.`)
      return urls
    }),
    clients: clientsAdminStore(open('clients')),
    users: usersStore(open('users')),
    transfers: transfersStore(open('deposits')),
    pinStore: pinStore(open('deposits')),
    deadLetters: createDeadLetters(sqsClient(), stage, { sleep, say }),
    webhooks: webhooksAdmin({
      ...webhookStores(open('webhooks'), sharedNow),
      readWebhookKeys: () => readSecretJson(webhookKeySecretName(stage), KeysByAge),
      webhookReach: 'public',
      enqueue: async (messages, options) =>
        await sendMessages(await findQueueUrl(queueName(stage, 'deliveryQueue')), messages, {
          ...options,
          groupOf: parseMessageGroup,
        }),
    }),
    config: configSecret(configSecretName(stage)),
    signingKeys: signingKeysSecret(signingSecretName(stage)),
    edgeKeys: edgeKeysSecret(
      edgeSecretName(stage),
      new SecretsManagerClient({ ...CLIENT_DEFAULTS, region: EDGE_REGION }),
    ),
    restoreItems: createItemsRestorer({ dynamo, nameOf: (table) => tableName(stage, table), now: Date.now, say }),
    examined: {
      ...examined,
      checkAccess: () => checkAccess(client, examined.probeTable),
      stage,
      // The module loads only when needed: its AWS clients take a quarter of a second, and `npm start` does not use them.
      openAccount: async () => (await import('./stage/aws-account.ts')).openAwsAccount(),
      countSubscribers: (...args) => countSubscribers({ snsIn, sqs: sqsClient() }, ...args),
    },
    keyEnvironment: stage === 'prod' ? 'live' : 'test',
  }
}

/** Builds an SNS client, by default for the region of the AWS configuration. */
function snsIn(region?: string): SNSClient {
  return new SNSClient({ ...CLIENT_DEFAULTS, ...(region && { region }) })
}

/** Time limit of one check of `doctor`, in milliseconds. A check can call AWS several times. */
const LIMIT_MS = 20_000
/** Time limit of one request of `doctor` to a node, a data source or a domain, in milliseconds. */
const QUESTION_MS = 5_000

function examinedOf(
  stage: Stage | 'local',
  open: (table: TableKey) => Table,
  secrets?: SecretsManagerClient,
): Omit<DoctorServices, 'stage' | 'checkAccess' | 'countSubscribers' | 'openAccount'> {
  const names = {
    config: configSecretName(stage),
    identity: identitySecretName(stage),
    signing: signingSecretName(stage),
    'webhook-key': webhookKeySecretName(stage),
  }
  return {
    probeTable: createTableProbe(open),
    readSecret: (name) => readSecretJson(names[name], z.unknown(), secrets),
    cache: sharedCache({ table: cacheStore(open('cache')), now: Date.now }),
    fetch,
    limitMs: LIMIT_MS,
    questionMs: QUESTION_MS,
  }
}

function webhookStores(table: Table, now: () => number) {
  return {
    webhooks: webhooksStore(table),
    eventLog: eventLogStore(table),
    attempts: attemptsStore(table),
    randomBytes,
    randomUUID,
    now,
  }
}

function buildServices(
  chainIds: readonly number[],
  records: RecordingStore,
  urlsOf: (chainId: number) => Urls | Promise<Urls>,
): Pick<Admin, 'records' | 'randomBytes' | 'now' | 'describeVault' | 'readPin' | 'simulateRoundTrip' | 'nodes'> {
  const environment = { fetch, random: Math.random, now: Date.now }
  const readerOf = async (chainId: number) => {
    const [first, ...others] = await urlsOf(chainId)
    return createAgreedReaders({ [chainId]: [first, ...others] }, environment)(chainId)
  }
  return {
    records,
    randomBytes,
    now: Date.now,
    describeVault: async (chainId, address) => {
      const archive = createRpc(await urlsOf(chainId), environment, { chainId })
      return await describeVault({ reader: await readerOf(chainId), archive }, address)
    },
    readPin: async (vault) => await readPin(await readerOf(vault.chainId), vault),
    simulateRoundTrip: async (vault) => {
      const { chainId } = vault
      const reader = createChainReaders({ [chainId]: [...(await urlsOf(chainId))] }, environment)(chainId)
      // The simulated user is a random account: it has nothing on any chain, and no one can send it anything in advance.
      return await simulateRoundTrip(reader, vault, checksumAddress(bytesToHex(randomBytes(20))))
    },
    nodes: {
      chainIds,
      urlsOf: async (chainId) => await urlsOf(chainId),
      fetch,
      now: Date.now,
      say,
    },
  }
}

async function readLocalState(stateFile: string): Promise<z.output<typeof LocalState>> {
  const notRunning = new AdminError('The local service is not running. Start it with npm start, or give --stage.')
  const text = await readFile(stateFile, 'utf8').catch(() => {
    throw notRunning
  })
  const state = LocalState.parse(JSON.parse(text))
  // The state file remains if the service was killed, so this request checks that the database still responds.
  await fetch(state.dynamoEndpoint).catch(() => {
    throw notRunning
  })
  return state
}
