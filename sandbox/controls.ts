import type { IncomingMessage, ServerResponse } from 'node:http'
import { encodeFunctionData, numberToHex, parseAbi } from 'viem'
import * as z from 'zod'
import { ACCOUNTS } from './accounts.ts'
import type { RunningChain } from './chains.ts'
import { AnyAddress, type Control, control, Digits, Seconds } from './controls/control.ts'
import { transferControls } from './controls/transfers.ts'
import { webhookControls } from './controls/webhooks.ts'
import type { Curator } from './curator.ts'
import { upgradeToCopy } from './deploy.ts'
import type { Fake } from './fake.ts'
import { listen } from './listen.ts'
import type { Receiver } from './receiver.ts'
import type { Relayer } from './relayer.ts'
import { callRpc } from './rpc.ts'
import { transact } from './transactions.ts'

/** What can be controlled. */
export type Controlled = {
  readonly chains: readonly RunningChain[]
  readonly relayer: Relayer
  readonly curator: Pick<Curator, 'settle'>
  /** The services outside by the names that a caller knows. */
  readonly sources: Readonly<Record<string, Fake>>
  /** What the demo wallet's client is told of arrives there. */
  readonly receiver: Pick<Receiver, 'behave' | 'listArrivals'>
  /** Answers 429 to every call of the API for so many seconds. */
  readonly throttle: (seconds: number) => void
}

/** For whom, and under which URL. */
export type ControlsOptions = {
  /** Whose pages may use them. */
  readonly origins: readonly string[]
  /** Where they are reached; at the server itself unless given. */
  readonly shownUrl?: string
}

/** The controls as a server on this machine. */
export type Controls = { readonly url: string; stop(): Promise<void> }

const TOKEN = parseAbi(['function mint(address to, uint256 amount)'])
const MINTER = ACCOUNTS.feeReceiver.address
const BASE = 8453

/**
 * Serves the controls on a free port: `POST /sandbox/<what>/<do>`, listed at `GET /sandbox` with a command for each.
 * `GET /sandbox/webhooks/received?after=<number>` lists what has arrived at the receiver since that one, the oldest first.
 * Pages of other origins are refused with 403. `stop` resumes the chains too.
 */
export async function startControls(controlled: Controlled, { origins, shownUrl }: ControlsOptions): Promise<Controls> {
  const controls = controlsOf(controlled)
  const { url: origin, stop } = await listen((request, response) => {
    if (!isAllowed(request, origins)) return void response.writeHead(403).end()
    serve(request, response, controls, controlled.receiver, shownUrl ?? url).catch(() => response.writeHead(500).end())
  })
  const url = `${origin}/sandbox`
  return {
    url,
    async stop() {
      for (const chain of controlled.chains) resume(chain)
      await stop()
    },
  }
}

function controlsOf({
  chains,
  relayer,
  curator,
  sources,
  receiver,
  throttle,
}: Controlled): ReadonlyMap<string, Control> {
  const Chain = z.literal(chains.map(({ chainId }) => chainId))
  const Source = z.enum(Object.keys(sources))
  const chainOf = (chainId: number) => {
    const chain = chains.find((candidate) => candidate.chainId === chainId)
    if (!chain) throw new Error(`There is no chain ${chainId}`)
    return chain
  }

  const groups: Readonly<Record<string, Readonly<Record<string, Control>>>> = {
    vaults: {
      settle: control(
        'settles what waits in one vault, in all of a chain, or in all',
        z.strictObject({ chainId: Chain.optional(), vaultAddress: AnyAddress.optional() }),
        {},
        async (which) => ({
          settled: (await curator.settle(which)).map((done) => ({ ...done, totalAssets: `${done.totalAssets}` })),
        }),
      ),
      upgrade: control(
        'upgrades a vault that is a proxy, as those of the protocol lagoon are, which stops its deposits until npm run admin -- confirm-vault',
        z.strictObject({ chainId: Chain, vaultAddress: AnyAddress }),
        { chainId: BASE, vaultAddress: '0x…' },
        async ({ chainId, vaultAddress }) => ({ implementation: await upgradeToCopy(chainOf(chainId), vaultAddress) }),
      ),
    },
    accounts: {
      mint: control(
        'gives an account test money in the smallest unit: of a token, or without one the coin of the chain',
        z.strictObject({ chainId: Chain, to: AnyAddress, amount: Digits, token: AnyAddress.optional() }),
        { chainId: BASE, to: ACCOUNTS.users[0].address, amount: '1000000000000000000' },
        async ({ chainId, to, amount, token }) => {
          const chain = chainOf(chainId)
          if (token === undefined) {
            const [balance] = await callRpc(chain, [{ method: 'eth_getBalance', params: [to, 'latest'] }])
            const sum = numberToHex(BigInt(String(balance)) + amount)
            await callRpc(chain, [{ method: 'anvil_setBalance', params: [to, sum] }])
            return { transactionHash: null }
          }
          const [code] = await callRpc(chain, [{ method: 'eth_getCode', params: [token, 'latest'] }])
          if (code === '0x') throw new Error(`There is no token ${token} on chain ${chainId}`)
          const data = encodeFunctionData({ abi: TOKEN, functionName: 'mint', args: [to, amount] })
          const [transactionHash] = await transact(chain, [{ label: 'mint', from: MINTER, to: token, data }])
          return { transactionHash }
        },
      ),
    },
    chains: {
      stop: control(
        "has a chain's nodes answer nothing",
        z.strictObject({ chainId: Chain }),
        { chainId: BASE },
        (body) => chainOf(body.chainId).nodes.turn('off'),
      ),
      hold: control(
        'has a chain make no blocks: what is sent waits',
        z.strictObject({ chainId: Chain }),
        { chainId: BASE },
        (body) => chainOf(body.chainId).hold(true),
      ),
      resume: control(
        'ends both for a chain, or for all',
        z.strictObject({ chainId: Chain.optional() }),
        {},
        ({ chainId }) => {
          for (const chain of chains) if (chainId === undefined || chain.chainId === chainId) resume(chain)
        },
      ),
      advance: control('moves the clocks of all chains forward, for good', Seconds, { seconds: 3600 }, ({ seconds }) =>
        relayer.advance(seconds),
      ),
    },
    transfers: transferControls(relayer),
    sources: {
      fail: control(
        `has a service outside answer 503: ${Object.keys(sources).join(', ')}`,
        z.strictObject({ source: Source }),
        { source: Object.keys(sources)[0] ?? '' },
        ({ source }) => {
          const fake = sources[source]
          if (fake) fake.rewrite = () => ({ status: 503, body: { error: 'Switched off at /sandbox' } })
        },
      ),
      resume: control(
        'has one of them, or all, answer again',
        z.strictObject({ source: Source.optional() }),
        {},
        ({ source }) => {
          for (const [name, fake] of Object.entries(sources)) {
            if (source === undefined || source === name) fake.rewrite = undefined
          }
        },
      ),
    },
    webhooks: webhookControls(receiver),
    api: {
      throttle: control(
        'has the API answer 429 to every call for so many seconds',
        Seconds,
        { seconds: 10 },
        ({ seconds }) => throttle(seconds),
      ),
    },
  }
  return new Map(
    Object.entries(groups).flatMap(([what, group]) =>
      Object.entries(group).map(([name, control]): [string, Control] => [`${what}/${name}`, control]),
    ),
  )
}

function resume({ nodes, hold }: RunningChain): void {
  nodes.turn('on')
  hold(false)
}

/** Browsers let any page send such a request. What is no page names no origin. */
function isAllowed({ headers: { origin } }: IncomingMessage, origins: readonly string[]): boolean {
  return origin === undefined || origins.includes(origin)
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  controls: ReadonlyMap<string, Control>,
  receiver: Controlled['receiver'],
  shownUrl: string,
): Promise<void> {
  const send = (status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body, null, 2)}\n`)
  const list = [...controls].map(([name, { does, example }]) => ({
    does,
    try: `curl -s ${shownUrl}/${name} -d '${JSON.stringify(example)}'`,
  }))
  const { pathname: path, searchParams } = new URL(`http://localhost${request.url ?? '/'}`)
  const body = Buffer.concat(await request.toArray()).toString()
  if (path === '/sandbox' && request.method === 'GET') return void send(200, { controls: list })
  if (path === '/sandbox/webhooks/received' && request.method === 'GET') {
    return void send(200, { received: receiver.listArrivals(Number(searchParams.get('after') ?? 0)) })
  }
  const found = request.method === 'POST' ? controls.get(path.replace(/^\/sandbox\//, '')) : undefined
  if (!found) return void send(404, { error: `There is no ${request.method} ${path}`, controls: list })
  try {
    send(200, (await found.run(JSON.parse(body || '{}'))) ?? {})
  } catch (error) {
    if (error instanceof z.ZodError) send(400, { error: z.prettifyError(error) })
    else if (error instanceof SyntaxError) send(400, { error: 'The body is no JSON' })
    // What it is told to do cannot be done as things stand.
    else send(409, { error: error instanceof Error ? error.message : String(error) })
  }
}
