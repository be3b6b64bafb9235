import { isHex } from 'viem'
import * as z from 'zod'
import type { Relayer, TrackedDeposit } from '../relayer.ts'
import {
  Account,
  type ActiveChange,
  buildControl,
  type Control,
  chainName,
  Digits,
  jsonOnly,
  TransferHash,
} from './control.ts'

const Which = {
  transactionHash: TransferHash.optional(),
  depositId: Digits.optional(),
  originChainId: z.int().optional(),
}
type Which = z.output<z.ZodObject<typeof Which>>

const isNamed = ({ transactionHash, depositId }: Which) => transactionHash !== undefined || depositId !== undefined
/** The check `isNamed` as JSON Schema: the body needs a transaction hash or a deposit id. */
const NAMED = { anyOf: [{ required: ['transactionHash'] }, { required: ['depositId'] }] }
const buildNamedSchema = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z
    .strictObject({ ...Which, ...shape })
    // The cast is safe: TypeScript loses the properties of `Which` in a spread of a generic type.
    .refine((body) => isNamed(body as Which), 'must have transactionHash or depositId')
    .meta(NAMED)
const OutputAmount = Digits.optional().meta({ title: 'Output amount' })
const One = buildNamedSchema({})
const OneOrAll = z.strictObject(Which)
const Refund = z.strictObject({ ...Which, deferred: z.boolean().default(false) })
const SlowFill = buildNamedSchema({ outputAmount: OutputAmount })
const Claim = buildNamedSchema({ to: Account.optional().meta({ title: 'Receiver', none: 'The sender' }) })
const SpeedUp = buildNamedSchema({
  outputAmount: OutputAmount,
  recipient: Account.optional().meta({ title: 'Recipient', none: 'Unchanged' }),
  message: z
    .string()
    .refine((text) => isHex(text), 'must be hex')
    .optional(),
})

const SOME = { transactionHash: '0x…' }

/** Returns controls of bridge transfers. The result of each control is the list of all transfers. */
export function buildTransferControls(relayer: Relayer, Chain: z.ZodType<number>): Readonly<Record<string, Control>> {
  const one = async (which: Which): Promise<TrackedDeposit> => {
    const [relay, ...more] = await relayer.listDeposits(queryOf(which))
    if (!relay) throw new Error('There is no such transfer')
    if (more.length > 0) throw new Error('This names several transfers: add originChainId or depositId')
    return relay
  }
  const { delaySeconds } = relayer.settings
  const paused = new Map<string, ActiveChange>()
  const describeTransfers = async () => ({
    ...relayer.settings,
    transfers: (await relayer.listDeposits()).map(describe),
  })
  const buildTransferControl = <Schema extends z.ZodType>(
    does: string,
    schema: Schema,
    example: z.input<Schema> & object,
    work: (body: z.output<Schema>) => unknown,
    listOn?: Control['listOn'],
  ) =>
    buildControl(
      does,
      schema,
      example,
      async (body) => {
        await work(body)
        return describeTransfers()
      },
      listOn,
    )

  return {
    'transfers/hold': buildTransferControl(
      'The bridge fills no transfer by itself. The wallet shows them on their way.',
      z.strictObject({}),
      {},
      () => {
        relayer.settings.running = false
      },
      () =>
        relayer.settings.running
          ? []
          : [{ what: 'The bridge fills no transfers', end: { name: 'transfers/resume', body: {} } }],
    ),
    'transfers/fill': buildTransferControl(
      'The bridge fills one transfer now, or all that wait. The wallet shows the money on the other chain.',
      OneOrAll,
      {},
      async (which) => {
        if (isNamed(which)) await relayer.fill((await one(which)).deposit)
        else await relayer.fillAll()
      },
    ),
    'transfers/resume': jsonOnly(
      buildTransferControl('The bridge fills transfers by itself again.', z.strictObject({}), {}, () => {
        relayer.settings.running = true
      }),
    ),
    'transfers/delay': buildTransferControl(
      'The bridge fills each transfer so many seconds after it was sent.',
      z.strictObject({ seconds: z.number().min(0) }),
      { seconds: 60 },
      ({ seconds }) => {
        relayer.settings.delaySeconds = seconds
      },
      () =>
        relayer.settings.delaySeconds === delaySeconds
          ? []
          : [
              {
                what: `The bridge fills transfers after ${relayer.settings.delaySeconds} seconds`,
                end: { name: 'transfers/delay', body: { seconds: delaySeconds } },
              },
            ],
    ),
    'transfers/ignore': buildTransferControl(
      'The bridge does not fill this transfer until you use “Fill”.',
      One,
      SOME,
      async (which) => relayer.ignore((await one(which)).deposit),
    ),
    'transfers/expire': buildTransferControl(
      'The clocks of all chains move past the deadline of an unfilled transfer. The wallet shows it as expired.',
      One,
      SOME,
      async (which) => relayer.expire((await one(which)).deposit),
    ),
    'transfers/refund': buildTransferControl(
      'The bridge refunds one expired transfer, or all. A deferred refund waits until its sender claims it.',
      Refund,
      { deferred: false },
      async ({ deferred, ...which }) => {
        const deposits = isNamed(which) ? [(await one(which)).deposit] : undefined
        await relayer.refundTogether(deposits, { deferred })
      },
    ),
    'transfers/claim': buildTransferControl(
      'The sender of a transfer claims its deferred refund, for itself or for another account.',
      Claim,
      SOME,
      async ({ to, ...which }) => relayer.claimRefund((await one(which)).deposit, to),
    ),
    'transfers/slow-fill': buildTransferControl(
      'The bridge requests a slow fill. The wallet shows that the transfer takes longer.',
      One,
      SOME,
      async (which) => relayer.requestSlowFill((await one(which)).deposit),
    ),
    'transfers/execute-slow-fill': buildTransferControl(
      'The bridge makes the slow fill, with another amount if you give one.',
      SlowFill,
      SOME,
      async ({ outputAmount, ...which }) => relayer.executeSlowFill((await one(which)).deposit, outputAmount),
    ),
    'transfers/speed-up': buildTransferControl(
      'The sender accepts less (by 1 by default), another recipient or another message. Fills follow it.',
      SpeedUp,
      SOME,
      async ({ outputAmount, recipient, message, ...which }) =>
        relayer.speedUp((await one(which)).deposit, {
          ...(outputAmount !== undefined && { outputAmount }),
          ...(recipient !== undefined && { recipient }),
          ...(message !== undefined && { message }),
        }),
    ),
    'transfers/pause': buildTransferControl(
      'The bridge’s contract on a chain takes no deposits, or makes no fills, until you turn “pause” off.',
      z.strictObject({ chainId: Chain, what: z.enum(['deposits', 'fills']), pause: z.boolean() }),
      { chainId: 8453, what: 'deposits', pause: true },
      async (body) => {
        const { chainId, what, pause } = body
        await relayer.pause(chainId, what, pause)
        const end = { name: 'transfers/pause', body: { ...body, pause: false } }
        if (pause) paused.set(`${chainId} ${what}`, { what: `No ${what} on the bridge of ${chainName(chainId)}`, end })
        else paused.delete(`${chainId} ${what}`)
      },
      () => [...paused.values()],
    ),
    'transfers/list': jsonOnly(buildTransferControl('Lists all transfers.', z.strictObject({}), {}, () => {})),
  }
}

function queryOf({ transactionHash, depositId, originChainId }: Which) {
  return {
    ...(transactionHash !== undefined && { transactionHash }),
    ...(depositId !== undefined && { depositId }),
    ...(originChainId !== undefined && { originChainId }),
  }
}

function describe({ deposit, relayHash, state, fillError, fillTransaction, refundTransaction }: TrackedDeposit) {
  const { originChainId, destinationChainId, depositId, inputAmount, outputAmount, fillDeadline } = deposit
  return {
    transactionHash: deposit.transactionHash,
    originChainId,
    destinationChainId,
    depositId: depositId.toString(),
    state,
    inputAmount: inputAmount.toString(),
    outputAmount: outputAmount.toString(),
    fillDeadline: new Date(fillDeadline * 1000).toISOString(),
    relayHash,
    fillTransaction: fillTransaction ?? null,
    refundTransaction: refundTransaction ?? null,
    ...(fillError !== undefined && { trouble: fillError }),
  }
}
