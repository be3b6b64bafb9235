/** Error response of an imitated RPC node. */
export type NodeError = {
  /** HTTP status; 200 if only one call of a batch fails. */
  readonly status: number
  readonly code: number
  readonly message: string
  /**
   * Form of the error response. `item`: the error is in the result of one call. `object`: one error replaces the whole response. `items`:
   * every call of a batch has the same error. `bare`: code and message without a JSON-RPC envelope.
   */
  readonly form: 'item' | 'object' | 'items' | 'bare'
}

/** Limits and faults of an imitated RPC node. If a limit has several `refusals`, the node returns them in rotation. */
export type NodeProfile = {
  readonly about: string
  /** Maximum calls in a batch; 0 rejects every batch, even one with a single call. */
  readonly batch?: { readonly most: number; readonly refusals: readonly NodeError[] }
  /** Maximum of `toBlock - fromBlock` in eth_getLogs. */
  readonly range?: { readonly most: number; readonly refusals: readonly NodeError[] }
  /** Number of blocks below the head whose state and events the node still has. Calls for older blocks fail. */
  readonly archive?: { readonly blocks: number; readonly refusals: readonly NodeError[] }
  /** Errors of calls with state overrides; undefined if the node supports overrides. */
  readonly overrides?: readonly NodeError[]
  readonly methods?: Readonly<Record<string, readonly NodeError[]>>
  /** Faults: one in `every` calls fails, although the node could serve it. */
  readonly faults?: { readonly every: number; readonly refusal: NodeError }
  /** Lag in blocks of each server behind the node's URL. Calls rotate over the servers, even within a batch. */
  readonly behind?: readonly number[]
  readonly delayMs?: number
  /** Maximum requests in a period of `retryAfterSeconds`; further requests get a 429. */
  readonly rate?: { readonly requests: number; readonly retryAfterSeconds: number }
  /** True if the node redirects every request with a 307 to the chain's own URL. */
  readonly redirects?: boolean
  /** Values of the field `blockTimestamp` in events, in rotation; undefined leaves the field out. */
  readonly eventTimes?: readonly unknown[]
  readonly chainIdOffset?: number
  /** True if the node returns wrong amounts and blocks, marks transactions as failed, and returns no events. */
  readonly lies?: boolean
}

const BASE_TOO_MANY_CALLS = { code: -32014, message: 'maximum 10 calls in 1 batch', form: 'object' } as const

/** Profiles of real RPC nodes, from tests and documentation of 2026. Providers change their limits without notice. */
export const NODE_PROFILES = {
  plain: { about: 'a node that refuses nothing' },
  'base.org': {
    about: 'mainnet.base.org: 10 calls a request, 500 blocks a call for events, single calls that fail',
    batch: {
      most: 10,
      // Older versions of the node's software refuse a batch that is too large with HTTP 200, and newer versions with
      // 413.
      refusals: [
        { status: 200, ...BASE_TOO_MANY_CALLS },
        { status: 413, ...BASE_TOO_MANY_CALLS },
      ],
    },
    range: {
      most: 500,
      refusals: [{ status: 413, code: -32614, message: 'eth_getLogs is limited to a 500 range', form: 'object' }],
    },
    faults: {
      every: 29,
      refusal: {
        status: 200,
        code: -32011,
        message: 'no backend is currently healthy to serve traffic',
        form: 'item',
      },
    },
  },
  'optimism.io': {
    about: 'mainnet.optimism.io: 10 calls a request, each served by one of two backends, of which one is behind',
    batch: {
      most: 10,
      refusals: [{ status: 413, code: -32014, message: 'over maximum batch size: 10', form: 'object' }],
    },
    behind: [0, 2],
  },
  publicnode: {
    about: 'PublicNode: 100 calls a request, the last 128 blocks only, 50,000 blocks a call for events',
    batch: {
      most: 100,
      refusals: [{ status: 400, code: -32600, message: 'batch size is too large, maximum 100', form: 'object' }],
    },
    range: {
      most: 50_000,
      refusals: [{ status: 200, code: -32701, message: 'exceed maximum block range: 50000', form: 'item' }],
    },
    archive: {
      blocks: 128,
      refusals: [
        {
          status: 403,
          code: -32602,
          message: 'Archive requests require a personal token. Get one at: https://www.allnodes.com/publicnode',
          form: 'object',
        },
      ],
    },
  },
  'drpc-free': {
    about: "dRPC's free plan: 3 calls a request, 10,000 blocks a call for events, no state overrides",
    batch: {
      most: 3,
      refusals: (['items', 'object', 'bare'] as const).map((form) => ({
        status: 500,
        code: 31,
        message:
          'Batch of more than 3 requests are not allowed on free tier, to use this feature register paid account at drpc.org',
        form,
      })),
    },
    range: {
      most: 10_000,
      refusals: [
        { status: 400, code: 35, message: 'ranges over 10000 blocks are not supported on freetier', form: 'object' },
      ],
    },
    overrides: [
      {
        status: 400,
        code: 35,
        message: 'eth_call with state override is not available on freetier, please upgrade to paid tier',
        form: 'object',
      },
    ],
  },
  'alchemy-free': {
    about: "Alchemy's free plan: 10 blocks a call for events",
    range: {
      most: 9,
      refusals: [
        {
          status: 400,
          code: -32600,
          message:
            'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x1, 0xa]. Upgrade to PAYG for expanded block range.',
          form: 'object',
        },
      ],
    },
  },
  quicknode: {
    about: 'QuickNode, paid: 10,000 blocks a call for events',
    range: {
      most: 10_000,
      refusals: [{ status: 413, code: -32614, message: 'eth_getLogs is limited to a 10,000 range', form: 'object' }],
    },
  },
  'quicknode-trial': {
    about: "QuickNode's trial: 5 blocks a call for events",
    range: {
      most: 5,
      refusals: [
        {
          status: 413,
          code: -32615,
          message:
            'eth_getLogs is limited to a 5 range, upgrade from discover plan at https://dashboard.quicknode.com/billing/plan to increase the limit',
          form: 'object',
        },
      ],
    },
  },
  'no-batches': {
    about: "Helius' free plan: one call a request",
    batch: {
      most: 0,
      refusals: [
        {
          status: 403,
          code: -32403,
          message: 'Batch requests are only available for paid plans. Please upgrade if you would like to gain access',
          form: 'object',
        },
      ],
    },
  },
  'no-logs': {
    about: 'bsc-dataseed.bnbchain.org: no events at all',
    methods: { eth_getLogs: [{ status: 200, code: -32005, message: 'limit exceeded', form: 'item' }] },
  },
  'no-simulation': {
    about: 'a node without eth_simulateV1, or one whose simulation crashes',
    methods: {
      eth_simulateV1: [
        {
          status: 200,
          code: -32601,
          message: 'the method eth_simulateV1 does not exist/is not available',
          form: 'item',
        },
        { status: 200, code: -32603, message: 'method handler crashed', form: 'item' },
      ],
    },
  },
  'rate-limited': {
    about: 'a node that takes 4 requests in 2 s',
    rate: { requests: 4, retryAfterSeconds: 2 },
  },
  behind: { about: 'a node whose head is 5 blocks old', behind: [5] },
  'missing-times': {
    about: 'a node whose events have 0, a number or nothing for the time of their block',
    eventTimes: ['0x0', 1_700_000_000, undefined],
  },
  slow: { about: 'a node whose responses take 2.2 s', delayMs: 2_200 },
  redirecting: { about: 'a node that sends every request elsewhere', redirects: true },
  'wrong-chain': { about: 'a node that reports the id of another chain', chainIdOffset: 1 },
  lying: { about: 'a node that returns wrong amounts, wrong blocks, failed transactions and no events', lies: true },
} as const satisfies Readonly<Record<string, NodeProfile>>

/** Name of a node profile. */
export type NodeProfileName = keyof typeof NODE_PROFILES

/** Returns whether a node profile has this name. */
export function isNodeProfile(name: string): name is NodeProfileName {
  return Object.hasOwn(NODE_PROFILES, name)
}
