import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Address, encodeFunctionData, formatUnits, getAddress, numberToHex, parseAbi } from 'viem'
import * as z from 'zod'
import { ACCOUNTS } from './accounts.ts'
import type { LocalWorld } from './chains/world.ts'
import type { RunningChain } from './chains.ts'
import {
  Account,
  type ActiveChange,
  buildControl,
  type Control,
  chainName,
  Digits,
  DurationBody,
  jsonOnly,
  requireToken,
  TokenAddress,
  VaultAddress,
} from './controls/control.ts'
import { buildNodeControls } from './controls/nodes.ts'
import { buildRewardControls } from './controls/rewards.ts'
import type { ShownState } from './controls/states.ts'
import { buildTransferControls } from './controls/transfers.ts'
import { buildWebhookControls } from './controls/webhooks.ts'
import type { Curator } from './curator.ts'
import { upgradeToCopy } from './deploy.ts'
import type { FakeService } from './fake.ts'
import { listen } from './listen.ts'
import type { Node } from './nodes.ts'
import type { Receiver } from './receiver.ts'
import type { Relayer, TrackedDeposit } from './relayer.ts'
import type { RewardOperator } from './rewards.ts'
import { callRpc } from './rpc.ts'
import { transact } from './transactions.ts'

/** Parts of the sandbox that the controls (operations of the control page) read and change. */
export type ControlledParts = {
  readonly chains: readonly (RunningChain &
    Pick<LocalWorld, 'vaults' | 'tokens' | 'unlisted' | 'rewardToken'> & { readonly hosts: readonly Node[] })[]
  readonly relayer: Relayer
  readonly rewards: RewardOperator
  readonly curator: Pick<Curator, 'settle'>
  /** Fakes of the outside services by name, such as `coingecko`. */
  readonly sources: Readonly<Record<string, FakeService>>
  readonly receiver: Pick<Receiver, 'behave' | 'behaviour' | 'listArrivals'>
  /**
   * Confirms a vault's current code and share price, as an operator does after a review. The API then accepts deposits into the vault
   * again.
   */
  readonly confirmVault: (vault: VaultKey) => Promise<unknown>
  /** Makes the API respond with 429 to every request for this number of seconds; 0 ends the effect. */
  readonly throttle: (seconds: number) => void
  /** Starts or stops the imitation of a man in the middle, who replaces the user's address in signed responses. */
  readonly tamper: (isOn: boolean) => void
  readonly states: readonly ShownState[]
}

/** Options of the HTTP server of the controls. Pages of `origins` may call the server. */
export type ControlsOptions = {
  readonly origins: readonly string[]
  /** URL of the controls in the curl commands that developers see; by default the server's own URL. */
  readonly shownUrl?: string
  /** URL of the control page, to which browsers are redirected. */
  readonly roomUrl?: string
}

/** Running HTTP server of the controls. */
export type Controls = { readonly url: string; stop(): Promise<void> }

type VaultKey = { readonly chainId: number; readonly address: Address }
/**
 * Control with its name, which is also its path. `group` is the control's heading on the control page; undefined if the page has no form
 * for this control.
 */
type Listed = Control & { readonly name: string; readonly group: string | undefined }
/** Choice in a form: a value of one field, or the values of several fields. A token's choice also has `decimals`. */
type Choice = { readonly label: string; readonly decimals?: number } & (
  | { readonly value: string | number }
  | { readonly body: object }
)

const TOKEN = parseAbi(['function mint(address to, uint256 amount)'])
const PAUSABLE = parseAbi(['function pause()', 'function unpause()'])
const MINTER = ACCOUNTS.feeReceiver.address
const BASE = 8453
/** Words for states of bridge transfers in a form's choices. Other states appear under their own names. */
const STATE_WORDS: Partial<Record<TrackedDeposit['state'], string>> = {
  ignored: 'not filled',
  stranded: 'to a chain outside the sandbox',
}
/** Maximum depth in blocks of a reorganisation that a developer can request. */
const MAX_REORGANISED = 100

/**
 * Serves the controls on a free port as `POST /sandbox/<what>/<do>`. `GET /sandbox` lists the controls. `GET
 * /sandbox/webhooks/received?after=<number>` lists webhook deliveries with a higher number, oldest first. Pages of origins that are not
 * allowed get 403. `stop` also resumes paused chains.
 */
export async function startControls(
  controlled: ControlledParts,
  { origins, shownUrl, roomUrl }: ControlsOptions,
): Promise<Controls> {
  const controls = controlsOf(controlled)
  const { url: origin, stop } = await listen((request, response) => {
    if (!isAllowed(request, origins)) return void response.writeHead(403).end()
    if (roomUrl && isPageVisit(request)) return void response.writeHead(302, { location: roomUrl }).end()
    serve(request, response, controls, controlled, shownUrl ?? url).catch(() => response.writeHead(500).end())
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

function controlsOf(controlled: ControlledParts): readonly Listed[] {
  const { chains, relayer, rewards, curator, sources, receiver, confirmVault, throttle, tamper } = controlled
  const Chain = z.literal(chains.map(({ chainId }) => chainId)).meta({ title: 'Chain', choices: 'chains' })
  const Source = z.enum(Object.keys(sources))
  const OneVault = z.strictObject({ chainId: Chain, vaultAddress: VaultAddress })
  const vaultExample = { chainId: BASE, vaultAddress: '0x…' }
  const chainOf = (chainId: number) => {
    const chain = chains.find((candidate) => candidate.chainId === chainId)
    if (!chain) throw new Error(`There is no chain ${chainId}`)
    return chain
  }
  const changed = { 'vaults/upgrade': new Map<string, ActiveChange>(), 'vaults/pause': new Map<string, ActiveChange>() }
  type Change = keyof typeof changed
  const recordChange = (kind: Change, body: z.output<typeof OneVault>, endName: string, what: string) => {
    const { name } = findVault(chainOf(body.chainId), body.vaultAddress) ?? { name: body.vaultAddress }
    changed[kind].set(body.vaultAddress.toLowerCase(), { what: `${name} ${what}`, end: { name: endName, body } })
  }
  const listChanged = (kind: Change) => () => [...changed[kind].values()]
  const callAsAdmin = ({ chainId, vaultAddress }: z.output<typeof OneVault>, functionName: 'pause' | 'unpause') =>
    transact(chainOf(chainId), [
      {
        ...{ label: functionName, from: ACCOUNTS.admin.address, to: vaultAddress },
        data: encodeFunctionData({ abi: PAUSABLE, functionName }),
      },
    ])
  const stopped = new Set<number>()
  const pausedChains = new Set<number>()
  const listChains = (ids: ReadonlySet<number>, what: string) => () =>
    [...ids].map((chainId) => ({
      what: `${chainName(chainId)} ${what}`,
      end: { name: 'chains/resume', body: { chainId } },
    }))
  let throttledUntil = 0
  let isTampering = false
  const untilResumed = (what: string) => [{ what, end: { name: 'api/resume', body: {} } }]

  const groups: Readonly<Record<string, Readonly<Record<string, Control>>>> = {
    'A vault': {
      'vaults/settle': buildControl(
        'A curator settles the requests of one vault, or of all. The wallet shows them as ready to claim.',
        z.strictObject({ chainId: Chain.optional(), vaultAddress: VaultAddress.optional() }),
        {},
        async (which) => ({
          settled: (await curator.settle(which)).map((done) => ({ ...done, totalAssets: `${done.totalAssets}` })),
        }),
      ),
      'vaults/pause': buildControl(
        'The owner pauses a vault. The API refuses deposits, and the wallet says why.',
        OneVault,
        vaultExample,
        async (body) => {
          await callAsAdmin(body, 'pause')
          recordChange('vaults/pause', body, 'vaults/unpause', 'is paused')
        },
        listChanged('vaults/pause'),
      ),
      'vaults/unpause': jsonOnly(
        buildControl('The owner opens a paused vault again.', OneVault, vaultExample, async (body) => {
          await callAsAdmin(body, 'unpause')
          changed['vaults/pause'].delete(body.vaultAddress.toLowerCase())
        }),
      ),
      'vaults/upgrade': buildControl(
        'The owner changes the code of a Lagoon vault. Deposits stop until you confirm the vault; withdrawals go on.',
        OneVault,
        vaultExample,
        async (body) => {
          const implementation = await upgradeToCopy(chainOf(body.chainId), body.vaultAddress)
          recordChange('vaults/upgrade', body, 'vaults/confirm', 'has changed')
          return { implementation }
        },
        listChanged('vaults/upgrade'),
      ),
      'vaults/confirm': jsonOnly(
        buildControl(
          'The operator confirms a changed vault, as with npm run admin -- confirm-vault. Deposits go on.',
          OneVault,
          vaultExample,
          async ({ chainId, vaultAddress }) => {
            await confirmVault({ chainId, address: getAddress(vaultAddress) })
            changed['vaults/upgrade'].delete(vaultAddress.toLowerCase())
          },
        ),
      ),
    },
    'The bridge': buildTransferControls(relayer, Chain),
    Rewards: buildRewardControls(rewards, chains, Chain),
    'A chain': {
      'chains/stop': buildControl(
        'All nodes of a chain stop. The wallet shows the last known figures; deposits get 503.',
        z.strictObject({ chainId: Chain }),
        { chainId: BASE },
        ({ chainId }) => {
          chainOf(chainId).nodes.turn('off')
          stopped.add(chainId)
        },
        listChains(stopped, 'cannot be read'),
      ),
      'chains/hold': buildControl(
        'A chain makes no blocks. The wallet waits for what you send.',
        z.strictObject({ chainId: Chain }),
        { chainId: BASE },
        ({ chainId }) => {
          chainOf(chainId).hold(true)
          pausedChains.add(chainId)
        },
        listChains(pausedChains, 'makes no blocks'),
      ),
      'chains/resume': jsonOnly(
        buildControl(
          'A chain, or all, can be read and makes blocks again.',
          z.strictObject({ chainId: Chain.optional() }),
          {},
          ({ chainId }) => {
            for (const chain of chains) {
              if (chainId !== undefined && chain.chainId !== chainId) continue
              resume(chain)
              stopped.delete(chain.chainId)
              pausedChains.delete(chain.chainId)
            }
          },
        ),
      ),
      'chains/reorganise': buildControl(
        'Empty blocks replace the last ones. What you sent in them is gone, and its events are reverted.',
        z.strictObject({ chainId: Chain, blocks: z.int().min(1).max(MAX_REORGANISED) }),
        { chainId: BASE, blocks: 10 },
        async ({ chainId, blocks }) => {
          await callRpc(chainOf(chainId), [{ method: 'anvil_reorg', params: [blocks, []] }])
        },
      ),
    },
    Nodes: buildNodeControls(chains, Chain),
    'The API': {
      'api/tamper': buildControl(
        'A man in the middle changes the receiver in deposits and withdrawals. The wallet refuses them before you sign.',
        z.strictObject({}),
        {},
        () => {
          isTampering = true
          tamper(true)
        },
        () => (isTampering ? untilResumed('Responses are changed on their way') : []),
      ),
      'api/throttle': buildControl(
        'The API responds 429 to every call for so many seconds. The wallet waits and tries again.',
        DurationBody,
        { seconds: 10 },
        ({ seconds }) => {
          throttledUntil = Date.now() + seconds * 1000
          throttle(seconds)
        },
        () => (Date.now() < throttledUntil ? untilResumed('The API responds 429') : []),
      ),
      'api/resume': jsonOnly(
        buildControl('The API responds as usual again. Ends tamper and throttle.', z.strictObject({}), {}, () => {
          throttledUntil = 0
          isTampering = false
          throttle(0)
          tamper(false)
        }),
      ),
    },
    'Other services': {
      'sources/fail': buildControl(
        'A service that ours asks responds 503. The wallet shows older figures, or says what is missing.',
        z.strictObject({ source: Source }),
        { source: Object.keys(sources)[0] ?? '' },
        ({ source }) => {
          const fake = sources[source]
          if (fake) fake.rewrite = () => ({ status: 503, body: { error: 'Switched off at /sandbox' } })
        },
        () =>
          Object.entries(sources).flatMap(([source, { rewrite }]) =>
            rewrite ? [{ what: `${source} responds 503`, end: { name: 'sources/resume', body: { source } } }] : [],
          ),
      ),
      'sources/resume': jsonOnly(
        buildControl(
          'One of these services, or all, works again.',
          z.strictObject({ source: Source.optional() }),
          {},
          ({ source }) => {
            for (const [name, fake] of Object.entries(sources)) {
              if (source === undefined || source === name) fake.rewrite = undefined
            }
          },
        ),
      ),
    },
    Webhooks: buildWebhookControls(receiver),
    Money: {
      'accounts/mint': buildControl(
        'An account gets test money.',
        z.strictObject({
          ...{ token: TokenAddress.optional(), amount: Digits.meta({ format: 'amount' }), to: Account },
          chainId: Chain,
        }),
        { chainId: BASE, to: ACCOUNTS.users[0].address, amount: '1000000000000000000' },
        async ({ chainId, to, amount, token }) => {
          const chain = chainOf(chainId)
          if (token === undefined) {
            const [balance] = await callRpc(chain, [{ method: 'eth_getBalance', params: [to, 'latest'] }])
            const sum = numberToHex(BigInt(String(balance)) + amount)
            await callRpc(chain, [{ method: 'anvil_setBalance', params: [to, sum] }])
            return { transactionHash: null }
          }
          await requireToken(chain, token)
          const data = encodeFunctionData({ abi: TOKEN, functionName: 'mint', args: [to, amount] })
          const [transactionHash] = await transact(chain, [{ label: 'mint', from: MINTER, to: token, data }])
          return { transactionHash }
        },
      ),
    },
    Time: {
      'chains/advance': buildControl(
        'The clocks of all chains move forward, for good. Events become final, cooldowns end, transfers expire.',
        DurationBody,
        { seconds: 3600 },
        ({ seconds }) => relayer.advance(seconds),
      ),
    },
  }
  return Object.entries(groups).flatMap(([group, controls]) =>
    Object.entries(controls).map(([name, control]) => ({
      ...control,
      name,
      group: control.isJsonOnly ? undefined : group,
    })),
  )
}

function findVault({ vaults }: Pick<LocalWorld, 'vaults'>, address: string) {
  return vaults.find((vault) => vault.address.toLowerCase() === address.toLowerCase())
}

async function listChoices({ chains, relayer }: ControlledParts): Promise<Readonly<Record<string, readonly Choice[]>>> {
  const onChain = (name: string, chainId: number) => `${name} on ${chainName(chainId)}`
  const users = ACCOUNTS.users.map(({ address }, index) => ({ label: `Account ${index + 1}`, value: address }))
  const tokens = chains.flatMap(({ tokens }) => tokens)
  const rewardTokens = chains.flatMap(({ rewardToken = [], unlisted = [] }) =>
    unlisted.concat(rewardToken).toReversed(),
  )
  const choiceOf = ({ chainId, address, symbol, decimals }: (typeof tokens)[number]) => ({
    ...{ label: onChain(symbol, chainId), body: { chainId, token: address }, decimals },
  })
  const relays = await relayer.listDeposits().catch(() => [])
  return {
    chains: chains.map(({ chainId }) => ({ label: chainName(chainId), value: chainId })),
    vaults: chains.flatMap(({ chainId, vaults }) =>
      vaults.map(({ address, name }) => ({ label: onChain(name, chainId), body: { chainId, vaultAddress: address } })),
    ),
    tokens: [
      ...chains.map(({ chainId }) => ({ label: onChain('ETH', chainId), body: { chainId }, decimals: 18 })),
      ...tokens.map(choiceOf),
    ],
    rewardTokens: rewardTokens.map(choiceOf),
    accounts: users,
    transfers: relays.toReversed().map(({ state, deposit }) => {
      const { depositId, originChainId, transactionHash, inputAmount, inputToken } = deposit
      const { decimals, symbol } = tokens.find(
        // The deposit's token is a 32-byte word, so only its end is compared with the address.
        ({ chainId, address }) =>
          chainId === originChainId && inputToken.toLowerCase().endsWith(address.slice(2).toLowerCase()),
      ) ?? { decimals: 0, symbol: '' }
      return {
        label: `${formatUnits(inputAmount, decimals)} ${symbol} from ${chainName(originChainId)}, ${STATE_WORDS[state] ?? state.replaceAll('_', ' ')}`,
        body: { transactionHash, depositId: depositId.toString(), originChainId },
      }
    }),
  }
}

function resume({ nodes, hold }: RunningChain): void {
  nodes.turn('on')
  hold(false)
}

/**
 * Returns false for a page whose origin is not allowed. CORS alone does not stop such pages, because browsers send simple requests without
 * a preflight. Programs other than browsers send no Origin header and are allowed.
 */
function isAllowed({ headers: { origin } }: IncomingMessage, origins: readonly string[]): boolean {
  return origin === undefined || origins.includes(origin)
}

/** Returns whether a browser opens the page. Programs that accept any content type get JSON instead. */
function isPageVisit({ method, url, headers: { accept = '' } }: IncomingMessage): boolean {
  return method === 'GET' && url === '/sandbox' && accept.includes('text/html')
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  controls: readonly Listed[],
  controlled: ControlledParts,
  shownUrl: string,
): Promise<void> {
  const send = (status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body, null, 2)}\n`)
  const list = controls.map(({ name, group, does, schema, example, listOn }) => ({
    ...{ name, group, does, schema, example, on: listOn() },
    try: `curl -s ${shownUrl}/${name} -d '${JSON.stringify(example)}'`,
  }))
  const { pathname: path, searchParams } = new URL(`http://localhost${request.url ?? '/'}`)
  const body = Buffer.concat(await request.toArray()).toString()
  if (path === '/sandbox' && request.method === 'GET') {
    return void send(200, { controls: list, choices: await listChoices(controlled), states: controlled.states })
  }
  if (path === '/sandbox/webhooks/received' && request.method === 'GET') {
    return void send(200, { received: controlled.receiver.listArrivals(Number(searchParams.get('after') ?? 0)) })
  }
  const control = request.method === 'POST' ? controls.find(({ name }) => path === `/sandbox/${name}`) : undefined
  if (!control) return void send(404, { error: `There is no ${request.method} ${path}`, controls: list })
  try {
    send(200, (await control.run(JSON.parse(body || '{}'))) ?? {})
  } catch (error) {
    if (error instanceof z.ZodError) send(400, { error: z.prettifyError(error) })
    else if (error instanceof SyntaxError) send(400, { error: 'The body is no JSON' })
    // The status 409 means that the request is valid but cannot be executed in the current state.
    else send(409, { error: error instanceof Error ? error.message : String(error) })
  }
}
