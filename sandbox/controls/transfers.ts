import { isHex } from 'viem'
import * as z from 'zod'
import type { Relay, Relayer } from '../relayer.ts'
import { AnyAddress, AnyHash, type Control, control, Digits } from './control.ts'

const Which = {
  transactionHash: AnyHash.optional(),
  depositId: Digits.optional(),
  originChainId: z.int().optional(),
}
type Which = z.output<z.ZodObject<typeof Which>>

const isNamed = ({ transactionHash, depositId }: Which) => transactionHash !== undefined || depositId !== undefined
const NAMED = 'must have transactionHash or depositId'
const One = z.strictObject(Which).refine(isNamed, NAMED)
const OneOrAll = z.strictObject(Which)
const Refund = z.strictObject({ ...Which, deferred: z.boolean().default(false) })
const SlowFill = z.strictObject({ ...Which, outputAmount: Digits.optional() }).refine(isNamed, NAMED)
const Claim = z.strictObject({ ...Which, to: AnyAddress.optional() }).refine(isNamed, NAMED)
const SpeedUp = z
  .strictObject({
    ...Which,
    outputAmount: Digits.optional(),
    recipient: AnyAddress.optional(),
    message: z
      .string()
      .refine((text) => isHex(text), 'must be hex')
      .optional(),
  })
  .refine(isNamed, NAMED)

const SOME = { transactionHash: '0x…' }

/** What can be done with the transfers between the chains, by its name; each tells all transfers as they then are. */
export function transferControls(relayer: Relayer): Readonly<Record<string, Control>> {
  const one = async (which: Which): Promise<Relay> => {
    const [relay, ...more] = await relayer.look(queryOf(which))
    if (!relay) throw new Error('There is no such transfer')
    if (more.length > 0) throw new Error('This names several transfers: add originChainId or depositId')
    return relay
  }
  const told = async () => ({ ...relayer.settings, transfers: (await relayer.look()).map(describe) })
  /** A control after which all transfers are told. */
  const telling = <Schema extends z.ZodType>(
    does: string,
    schema: Schema,
    example: z.input<Schema> & object,
    work: (body: z.output<Schema>) => unknown,
  ) =>
    control(does, schema, example, async (body) => {
      await work(body)
      return told()
    })

  return {
    list: telling('tells all transfers', z.strictObject({}), {}, () => {}),
    hold: telling('fills no transfer by itself', z.strictObject({}), {}, () => {
      relayer.settings.running = false
    }),
    resume: telling('fills transfers by itself again', z.strictObject({}), {}, () => {
      relayer.settings.running = true
    }),
    delay: telling(
      'fills each transfer so many seconds after it was sent',
      z.strictObject({ seconds: z.number().min(0) }),
      { seconds: 60 },
      ({ seconds }) => {
        relayer.settings.delaySeconds = seconds
      },
    ),
    fill: telling('fills one transfer, or all that wait, at once', OneOrAll, {}, async (which) => {
      if (isNamed(which)) await relayer.fill((await one(which)).deposit)
      else await relayer.fillAll()
    }),
    ignore: telling('never fills this transfer by itself', One, SOME, async (which) =>
      relayer.ignore((await one(which)).deposit),
    ),
    expire: telling(
      'moves the clocks of all chains past the end of this transfer, which nobody has filled',
      One,
      SOME,
      async (which) => relayer.expire((await one(which)).deposit),
    ),
    refund: telling(
      'refunds one expired transfer, or all; a deferred refund is left for its sender to claim',
      Refund,
      { deferred: false },
      async ({ deferred, ...which }) => {
        const deposits = isNamed(which) ? [(await one(which)).deposit] : undefined
        await relayer.refundTogether(deposits, { deferred })
      },
    ),
    claim: telling(
      'claims a deferred refund, for its sender or for another account',
      Claim,
      SOME,
      async ({ to, ...which }) => relayer.claimRefund((await one(which)).deposit, to),
    ),
    'slow-fill': telling('asks for a slow fill instead of filling', One, SOME, async (which) =>
      relayer.requestSlowFill((await one(which)).deposit),
    ),
    'execute-slow-fill': telling(
      'makes the slow fill, with another amount if given',
      SlowFill,
      SOME,
      async ({ outputAmount, ...which }) => relayer.executeSlowFill((await one(which)).deposit, outputAmount),
    ),
    'speed-up': telling(
      'has the sender agree to less (by 1 unless told), to another recipient or another message; fills follow it',
      SpeedUp,
      SOME,
      async ({ outputAmount, recipient, message, ...which }) =>
        relayer.speedUp((await one(which)).deposit, {
          ...(outputAmount !== undefined && { outputAmount }),
          ...(recipient !== undefined && { recipient }),
          ...(message !== undefined && { message }),
        }),
    ),
    pause: telling(
      "has a chain's pool take no deposits or make no fills; and again",
      z.strictObject({ chainId: z.int(), what: z.enum(['deposits', 'fills']), pause: z.boolean() }),
      { chainId: 8453, what: 'deposits', pause: true },
      ({ chainId, what, pause }) => relayer.pause(chainId, what, pause),
    ),
  }
}

/** Without the fields that are undefined. */
function queryOf({ transactionHash, depositId, originChainId }: Which) {
  return {
    ...(transactionHash !== undefined && { transactionHash }),
    ...(depositId !== undefined && { depositId }),
    ...(originChainId !== undefined && { originChainId }),
  }
}

function describe({ deposit, relayHash, state, trouble, fillTransaction, refundTransaction }: Relay) {
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
    ...(trouble !== undefined && { trouble }),
  }
}
