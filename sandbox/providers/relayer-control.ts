import { isAddress, isHex } from 'viem'
import * as z from 'zod'
import type { Provider, ProviderReply, ProviderRequest } from '../fake.ts'
import type { Relay, Relayer } from '../relayer.ts'

const COMMANDS = {
  'GET /relayer': 'the settings, every deposit with what became of it, and these commands',
  'POST /relayer/stop': 'fills nothing by itself',
  'POST /relayer/resume': 'fills by itself again',
  'POST /relayer/settings {delaySeconds}': 'fills so many seconds after it saw a deposit',
  'POST /relayer/fill {depositId?}': 'fills one, or all that wait, at once',
  'POST /relayer/ignore {depositId}': 'never fills it by itself, so that it expires',
  'POST /relayer/slow-fill {depositId}': 'asks for a slow fill instead of filling',
  'POST /relayer/execute-slow-fill {depositId, outputAmount?}': 'makes the slow fill, with another amount if given',
  'POST /relayer/speed-up {depositId, outputAmount?, recipient?, message?}':
    'has the depositor agree to less (by 1 unless told), to another recipient or another message; fills follow it',
  'POST /relayer/refund {depositId?, deferred?}':
    'pays one or all expired deposits back, those of a chain in one bundle; deferred ones are left for their depositors to claim',
  'POST /relayer/claim {depositId, to?}': 'claims a deferred refund, for the depositor or for another account',
  'POST /relayer/pause {chainId, what, pause}': "has a chain's pool take no deposits or make no fills; and again",
  'POST /relayer/advance {seconds}': 'puts the clocks of all chains forward',
}

const Digits = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform(BigInt)
const Which = { depositId: Digits, originChainId: z.int().optional() }
const One = z.strictObject(Which)
const OneOrAll = z.strictObject({ ...Which, depositId: Digits.optional() })
const Nothing = z.strictObject({})
const Settings = z.strictObject({ delaySeconds: z.number().min(0) })
const SlowFill = z.strictObject({ ...Which, outputAmount: Digits.optional() })
const AnyAddress = z
  .string()
  .refine((text) => isAddress(text))
  .optional()
const SpeedUp = z.strictObject({
  ...Which,
  outputAmount: Digits.optional(),
  recipient: AnyAddress,
  message: z
    .string()
    .refine((text) => isHex(text))
    .optional(),
})
const Refund = z.strictObject({ ...OneOrAll.shape, deferred: z.boolean().default(false) })
const Claim = z.strictObject({ ...Which, to: AnyAddress })
const Pause = z.strictObject({ chainId: z.int(), what: z.enum(['deposits', 'fills']), pause: z.boolean() })
const Advance = z.strictObject({ seconds: z.int().min(1) })

/** Controls a relayer over HTTP under /relayer; `GET /relayer` lists the commands. */
export function relayerControl(relayer: Relayer): Provider {
  const one = async (which: { depositId: bigint; originChainId?: number | undefined }): Promise<Relay> => {
    const { depositId, originChainId } = which
    const relays = await relayer.look({ depositId, ...(originChainId !== undefined && { originChainId }) })
    const [relay, ...more] = relays
    if (!relay) throw new Error(`There is no deposit ${depositId}`)
    if (more.length > 0) throw new Error(`Two chains have a deposit ${depositId}: give originChainId`)
    return relay
  }
  const commands: { readonly [name: string]: (body: unknown) => Promise<unknown> } = {
    async stop(body) {
      Nothing.parse(body)
      relayer.settings.running = false
    },
    async resume(body) {
      Nothing.parse(body)
      relayer.settings.running = true
    },
    async settings(body) {
      relayer.settings.delaySeconds = Settings.parse(body).delaySeconds
    },
    async fill(body) {
      const { depositId, ...rest } = OneOrAll.parse(body)
      if (depositId === undefined) await relayer.fillAll()
      else await relayer.fill((await one({ depositId, ...rest })).deposit)
    },
    async ignore(body) {
      await relayer.ignore((await one(One.parse(body))).deposit)
    },
    async 'slow-fill'(body) {
      await relayer.requestSlowFill((await one(One.parse(body))).deposit)
    },
    async 'execute-slow-fill'(body) {
      const { outputAmount, ...which } = SlowFill.parse(body)
      await relayer.executeSlowFill((await one(which)).deposit, outputAmount)
    },
    async 'speed-up'(body) {
      const { depositId, originChainId, outputAmount, recipient, message } = SpeedUp.parse(body)
      const { deposit } = await one({ depositId, originChainId })
      await relayer.speedUp(deposit, {
        ...(outputAmount !== undefined && { outputAmount }),
        ...(recipient !== undefined && { recipient }),
        ...(message !== undefined && { message }),
      })
    },
    async refund(body) {
      const { depositId, deferred, ...rest } = Refund.parse(body)
      const deposits = depositId === undefined ? undefined : [(await one({ depositId, ...rest })).deposit]
      await relayer.refundTogether(deposits, { deferred })
    },
    async claim(body) {
      const { to, ...which } = Claim.parse(body)
      await relayer.claimRefund((await one(which)).deposit, to)
    },
    async pause(body) {
      const { chainId, what, pause } = Pause.parse(body)
      await relayer.pause(chainId, what, pause)
    },
    async advance(body) {
      await relayer.advance(Advance.parse(body).seconds)
    },
  }
  const report = async (): Promise<ProviderReply> => {
    const { address, settings } = relayer
    const deposits = (await relayer.look()).map(describe)
    return { status: 200, body: { address, ...settings, deposits, commands: COMMANDS } }
  }

  return async ({ method, url, body }: ProviderRequest) => {
    const [, root, name, ...more] = url.pathname.split('/')
    if (root !== 'relayer') return undefined
    if (name === undefined && method === 'GET') return report()
    const command =
      name !== undefined && Object.hasOwn(commands, name) && more.length === 0 ? commands[name] : undefined
    if (!command || method !== 'POST') {
      return { status: 404, body: { error: 'No such command', commands: COMMANDS } }
    }
    try {
      await command(JSON.parse(body || '{}'))
    } catch (error) {
      if (error instanceof z.ZodError || error instanceof SyntaxError) return { status: 400, body: explain(error) }
      return { status: 409, body: explain(error) }
    }
    return report()
  }
}

function explain(error: unknown): { error: string } {
  if (error instanceof z.ZodError) return { error: z.prettifyError(error) }
  return { error: error instanceof Error ? error.message : String(error) }
}

function describe({ deposit, relayHash, state, trouble, fillTransaction, refundTransaction }: Relay) {
  const { originChainId, destinationChainId, depositId, inputAmount, outputAmount, fillDeadline } = deposit
  return {
    originChainId,
    depositId: depositId.toString(),
    destinationChainId,
    state,
    inputAmount: inputAmount.toString(),
    outputAmount: outputAmount.toString(),
    fillDeadline: new Date(fillDeadline * 1000).toISOString(),
    relayHash,
    depositTransaction: deposit.transactionHash,
    fillTransaction: fillTransaction ?? null,
    refundTransaction: refundTransaction ?? null,
    ...(trouble !== undefined && { trouble }),
  }
}
