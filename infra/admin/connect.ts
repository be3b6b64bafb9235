import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { documentClient, dynamo } from '../../lib/aws/dynamo.ts'
import { readSecretJson } from '../../lib/aws/secrets.ts'
import { transfersTable } from '../../lib/bridge/table.ts'
import { createRpc } from '../../lib/chain/nodes.ts'
import { EVM_CHAINS, evmChain } from '../../lib/chain/registry.ts'
import { clientsTable } from '../../lib/clients/table.ts'
import { usersTable } from '../../lib/identity/table.ts'
import { Config } from '../../lib/lambda/config.ts'
import { describeVault } from '../../lib/vaults/describe.ts'
import { configSecretName, type Stage } from '../environments.ts'
import { localConfig } from '../local/dynamo.ts'
import { tableName } from '../tables.ts'
import { type Admin, AdminError } from './operations.ts'

type Urls = readonly [string, ...string[]]

const LocalState = z.object({
  dynamoEndpoint: z.url(),
  tables: z.object({ clients: z.string(), users: z.string(), deposits: z.string() }),
  chains: z.array(z.object({ chainId: z.number(), rpcUrl: z.url(), nodeUrls: z.tuple([z.url()], z.url()).optional() })),
})

/** The local service that wrote this state file; throws AdminError when it is not running. */
export async function connectLocal(stateFile: string): Promise<Admin> {
  return localAdmin(await readLocalState(stateFile))
}

/** The local service whose parts are here. */
export function localAdmin({ dynamoEndpoint, tables, chains }: z.output<typeof LocalState>): Admin {
  const chainIds = chains.map(({ chainId }) => chainId)
  return {
    ...surroundings(chainIds, (chainId) => {
      const chain = chains.find((candidate) => candidate.chainId === chainId)
      if (!chain) throw new AdminError(`The local service has no chain ${chainId}.`)
      return chain.nodeUrls ?? [chain.rpcUrl]
    }),
    clients: clientsTable(documentClient(localConfig(dynamoEndpoint)), tables.clients),
    users: usersTable(documentClient(localConfig(dynamoEndpoint)), tables.users),
    transfers: transfersTable(documentClient(localConfig(dynamoEndpoint)), tables.deposits),
    keyEnvironment: 'local',
  }
}

/** A deployed stage, with the AWS credentials and region of the environment. */
export function connectStage(stage: Stage): Admin {
  const chainIds = EVM_CHAINS.map(({ id }) => id)
  return {
    ...surroundings(chainIds, async (chainId) => {
      const { rpcUrls } = await readSecretJson(configSecretName(stage), Config)
      const urls = rpcUrls[chainId] ?? evmChain(chainId)?.rpcUrls
      if (!urls) throw new AdminError(`Chain ${chainId} is not supported.`)
      return urls
    }),
    clients: clientsTable(dynamo(), tableName(stage, 'clients')),
    users: usersTable(dynamo(), tableName(stage, 'users')),
    transfers: transfersTable(dynamo(), tableName(stage, 'deposits')),
    keyEnvironment: stage === 'prod' ? 'live' : 'test',
  }
}

function surroundings(
  chainIds: readonly number[],
  urlsOf: (chainId: number) => Urls | Promise<Urls>,
): Pick<Admin, 'randomBytes' | 'now' | 'describeVault' | 'nodes'> {
  const environment = { fetch, random: Math.random, now: Date.now }
  return {
    randomBytes,
    now: Date.now,
    describeVault: async (chainId, address) =>
      await describeVault(createRpc(await urlsOf(chainId), environment, { chainId }), chainId, address),
    nodes: {
      chainIds,
      urlsOf: async (chainId) => await urlsOf(chainId),
      fetch,
      now: Date.now,
      // Beside what the command prints in the end, which may be redirected.
      say: (line) => process.stderr.write(`${line}\n`),
    },
  }
}

async function readLocalState(stateFile: string): Promise<z.output<typeof LocalState>> {
  const notRunning = new AdminError('The local service is not running. Start it with npm start, or give --stage.')
  const text = await readFile(stateFile, 'utf8').catch(() => {
    throw notRunning
  })
  const state = LocalState.parse(JSON.parse(text))
  // The file outlives a service that was killed.
  await fetch(state.dynamoEndpoint).catch(() => {
    throw notRunning
  })
  return state
}
