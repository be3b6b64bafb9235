import { createServer } from 'node:net'
import type { IndexName } from '../backends.ts'
import { isNodeProfile, NODE_PROFILES, type NodeProfileName } from '../node-profiles.ts'

/** What the environment of `npm start` chooses. */
export type Settings = {
  /** The API's port: PORT, or the first free one from 4000 up. */
  readonly port: number
  /** The demo wallet's port: WALLET_PORT, or the first free one from 3000 up. */
  readonly walletPort: number
  /** Origins whose pages may call the API, besides the usual ones of this machine: ORIGINS. */
  readonly origins: readonly string[]
  /** Whether prices, charts and lists of tokens are those of the real services: MARKETS=real. */
  readonly realMarkets: boolean
  /** Whether the chains have some months of a past; PAST=none leaves it out. */
  readonly withPast: boolean
  /** The kinds of nodes at which the chains are read, in their order: NODES, or two that refuse nothing. */
  readonly nodes: readonly NodeProfileName[]
  /** The indexes of wallets in the order in which they are asked: INDEXES, or GoldRush; INDEXES=none has none. */
  readonly indexes: readonly IndexName[]
  /** BLOCK_SECONDS, or 1. */
  readonly blockSeconds: number
}

/** Where the API is, and the demo wallet, unless another has the port. */
const API_PORT = 4000
const WALLET_PORT = 3000
/** How many ports are tried. */
const PORTS = 100

/** The settings that these variables choose; throws, with what is wrong, for one that cannot be. */
export async function readSettings(env: NodeJS.ProcessEnv): Promise<Settings> {
  const port = await choosePort('PORT', env['PORT'], API_PORT)
  return {
    port,
    walletPort: await choosePort('WALLET_PORT', env['WALLET_PORT'], WALLET_PORT, port),
    origins: listOf(env['ORIGINS']).map(parseOrigin),
    realMarkets: isChosen('MARKETS', env['MARKETS'], 'real'),
    withPast: !isChosen('PAST', env['PAST'], 'none'),
    nodes: listOf(env['NODES'] || 'plain,plain').map(parseNodeProfile),
    indexes: env['INDEXES'] === 'none' ? [] : listOf(env['INDEXES'] || 'goldRush').map(parseIndex),
    blockSeconds: parseBlockSeconds(env['BLOCK_SECONDS']),
  }
}

async function choosePort(name: string, value: string | undefined, first: number, taken?: number): Promise<number> {
  if (value) {
    const port = Number(value)
    if (!(Number.isInteger(port) && port > 0 && port < 65_536))
      throw new Error(`${name} is ${value}, which is no port.`)
    if (port === taken || !(await isFree(port))) throw new Error(`Port ${port} is taken; choose another with ${name}.`)
    return port
  }
  for (let port = first; port < first + PORTS; port += 1) {
    if (port !== taken && (await isFree(port))) return port
  }
  throw new Error(`No free port between ${first} and ${first + PORTS - 1}; choose one with ${name}.`)
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer()
  const answer = await new Promise<boolean>((resolve) => {
    probe.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
  })
  probe.close()
  return answer
}

function listOf(value = ''): string[] {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
}

function parseOrigin(text: string): string {
  if (URL.canParse(text) && new URL(text).origin === text) return text
  throw new Error(`ORIGINS has ${text}, which is no origin such as http://localhost:5173.`)
}

function parseIndex(name: string): IndexName {
  if (name === 'alchemy' || name === 'goldRush') return name
  throw new Error(`INDEXES is ${name}, which is none of alchemy, goldRush, none.`)
}

function parseNodeProfile(name: string): NodeProfileName {
  if (isNodeProfile(name)) return name
  throw new Error(`NODES is ${name}, which is none of ${Object.keys(NODE_PROFILES).join(', ')}.`)
}

/** Whether a variable has the only word that it can have. */
function isChosen(name: string, value: string | undefined, word: string): boolean {
  if (value && value !== word) throw new Error(`${name} is ${value}; it can be ${word}, or left out.`)
  return value === word
}

function parseBlockSeconds(value: string | undefined): number {
  if (!value) return 1
  const seconds = Number(value)
  if (!(seconds >= 0.1 && seconds <= 60)) throw new Error(`BLOCK_SECONDS is ${value}; it can be 0.1 to 60.`)
  return seconds
}
