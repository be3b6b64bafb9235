import { createServer } from 'node:net'
import type { IndexName } from '../backends.ts'
import { isNodeProfile, NODE_PROFILES, type NodeProfileName } from '../node-profiles.ts'

/** Settings of `npm start`. The comment of each field begins with its environment variable. */
export type Settings = {
  /** PORT: port of the API; by default the first free port from 4000. */
  readonly port: number
  /** WALLET_PORT: port of the demo wallet; by default the first free port from 3000. */
  readonly walletPort: number
  /** ORIGINS: further origins whose pages may call the API. */
  readonly origins: readonly string[]
  /** MARKETS: true for the value `real`, which uses prices, charts and token lists of the real services. */
  readonly realMarkets: boolean
  /** PAST: false for the value `none`, which starts chains without history (past deposits and withdrawals). */
  readonly withPast: boolean
  /** NODES: profiles of the imitated RPC nodes in front of each chain; by default two nodes without limits. */
  readonly nodes: readonly NodeProfileName[]
  /** INDEXES: wallet indexes (APIs that list a wallet's tokens) in the order of their use, or none; by default GoldRush. */
  readonly indexes: readonly IndexName[]
  /** BLOCK_SECONDS: seconds between two blocks, from 0.1 to 60; by default 1. */
  readonly blockSeconds: number
}

const API_PORT = 4000
const WALLET_PORT = 3000
const PORTS = 100

/** Returns the settings in these environment variables; throws an Error with an explanation for invalid ones. */
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
      throw new Error(`${name} is ${value}, which is not a port.`)
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
  throw new Error(`ORIGINS contains ${text}, which is not an origin such as http://localhost:5173.`)
}

function parseIndex(name: string): IndexName {
  if (name === 'alchemy' || name === 'goldRush') return name
  throw new Error(`INDEXES contains ${name}; valid are alchemy, goldRush, none.`)
}

function parseNodeProfile(name: string): NodeProfileName {
  if (isNodeProfile(name)) return name
  throw new Error(`NODES contains ${name}; valid are ${Object.keys(NODE_PROFILES).join(', ')}.`)
}

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
